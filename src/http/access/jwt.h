/* jwt.h: signed access tokens (RFC 7519, RFC 9068) and the issuer's keys (RFC 7517). Pure: no files, no clock. */
#pragma once

#include "base/json.h"

enum {
  JWKS_MAX = 64,   /* maximum keys in a set */
  JWT_LEEWAY = 60, /* seconds of allowed clock skew */
};

struct jwk;
struct jwks {
  struct jwk *v;
  size_t n;
};
/* Reads the usable keys of a set: RS256 (at least 2,048 bits), ES256 or EdDSA, with a kid. Others are skipped; a set
 * without usable keys is refused. The keys are freed with the arena. */
NODISCARD enum status jwks_read(struct arena *a, struct str json, struct jwks *ret_keys, struct error *err);

struct jwt_rules {
  struct str issuer, audience;
  int64_t now; /* ms */
};
/* Claims of a token that one of the keys signed with that key's algorithm, for our issuer and audience, and that is
 * valid now (with JWT_LEEWAY). NULL if anything is wrong; ret_why (may be NULL) is then the reason, for the log of the
 * server and never for the client. */
yyjson_val *jwt_read(struct arena *a, const struct jwks *keys, const struct jwt_rules *rules, struct str token,
                     const char **ret_why);
