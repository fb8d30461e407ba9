/* oauth.h: the server as an OAuth 2.1 resource server: whom an issuer of access tokens vouches for, and how far.
 *
 * The issuer's keys come from a file, which is read again when it changes. A token says by its scopes, or by claims of
 * its own, which team its bearer belongs to and what it may do there; docs/http.md has the list. Nothing is asked over
 * the network, and no token is handed on. */
#pragma once

#include "base/json.h"
#include "op/access/authenticate.h"

#define OAUTH_METADATA "/.well-known/oauth-protected-resource" /* RFC 9728 */
#define OAUTH_SCOPES "cairn:read cairn:write"

struct oauth;

struct oauth_options {
  const char *issuer;
  const char *audience;     /* the address of this server's MCP endpoint, as clients know it */
  const char *jwks;         /* the file with the issuer's keys */
  const char *claim_prefix; /* of its own claims: "cairn_" for cairn_team */
};

/* The options' texts must outlive it. */
NODISCARD enum status oauth_new(const struct oauth_options *options, struct oauth **ret_oauth, struct error *err);
void oauth_free(struct oauth **oauth);

/* The bearer of an access token, as of `now` (ms); in `a`. Whatever is wrong with it is STATUS_UNKNOWN_CALLER; one that
 * is right but says too little, or contradicts itself, is STATUS_DENIED. */
NODISCARD enum status oauth_identify(struct oauth *o, struct str token, int64_t now, struct arena *a,
                                     struct principal *ret_principal, struct error *err);
/* What the claims of a token say of its bearer; pure. */
NODISCARD enum status oauth_principal(struct arena *a, yyjson_val *claims, struct str prefix,
                                      struct principal *ret_principal, struct error *err);

/* Where the metadata of the resource is, and what it says. */
struct str oauth_metadata_url(const struct oauth *o, struct arena *a);
struct str oauth_metadata(const struct oauth *o, struct arena *a);
