/* oauth.h: OAuth 2.1 resource server: verifies access tokens of an issuer and maps them to principals.
 *
 * The issuer's keys come from a file, which is reread when it changes. Scopes or claims of a token name its team and
 * permissions; docs/http.md has the list. Nothing is fetched over the network, and tokens are not passed on. */
#pragma once

#include "base/json.h"
#include "op/access/authenticate.h"

#define OAUTH_METADATA "/.well-known/oauth-protected-resource" /* RFC 9728 */
#define OAUTH_SCOPES "cairn:read cairn:write"

struct oauth;

struct oauth_options {
  const char *issuer;
  const char *audience;     /* URL of this server's MCP endpoint, as clients know it */
  const char *jwks;         /* file with the issuer's keys */
  const char *claim_prefix; /* prefix of our claims: "cairn_" for cairn_team */
};

/* The strings in `options` must outlive it. */
NODISCARD enum status oauth_new(const struct oauth_options *options, struct oauth **ret_oauth, struct error *err);
void oauth_free(struct oauth **oauth);

/* The principal of an access token at `now` (ms), allocated in `a`. STATUS_UNKNOWN_CALLER with the
 * reason, which is not for the client, if the token is invalid; STATUS_DENIED if it is valid but incomplete or
 * contradictory. */
NODISCARD enum status oauth_identify(struct oauth *o, struct str token, int64_t now, struct arena *a,
                                     struct principal *ret_principal, struct error *err);
/* Maps claims to a principal; pure. */
NODISCARD enum status oauth_principal(struct arena *a, yyjson_val *claims, struct str prefix,
                                      struct principal *ret_principal, struct error *err);

/* URL and content of the resource metadata. */
struct str oauth_metadata_url(const struct oauth *o, struct arena *a);
struct str oauth_metadata(const struct oauth *o, struct arena *a);
