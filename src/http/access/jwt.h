/* jwt.h: access tokens that an issuer has signed (RFC 7519, RFC 9068), and the issuer's keys (RFC 7517).
 *
 * No files, no clock: what comes from outside is judged here, before anything believes it. */
#pragma once

#include "base/json.h"

enum {
  JWKS_MAX = 64,   /* keys of a set */
  JWT_LEEWAY = 60, /* seconds that clocks may differ */
};

struct jwk;
struct jwks {
  struct jwk *v;
  size_t n;
};
/* The keys of a set that sign by RS256 (2,048 bits at least), ES256 or EdDSA and have a name (kid); others are left
 * out. A set without any is refused. The keys go with the arena. */
NODISCARD enum status jwks_read(struct arena *a, struct str json, struct jwks *ret_keys, struct error *err);

struct jwt_rules {
  struct str issuer, audience;
  int64_t now; /* ms */
};
/* What the token claims, when it is signed by one of the keys, by that key's own algorithm, for us, and valid now, give
 * or take a minute, because clocks differ; NULL when anything at all is wrong with it. */
yyjson_val *jwt_read(struct arena *a, const struct jwks *keys, const struct jwt_rules *rules, struct str token);
