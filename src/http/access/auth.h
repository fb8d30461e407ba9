/* auth.h: who calls over HTTP, and whether they may come in now.
 *
 * Who comes with a token is its bearer, wherever from: its team is the team of the call. Who comes without one is the
 * local user, if the connection is from this machine, nothing says that somebody forwarded it, and tokens are not
 * required; nobody else comes in. Wrong tokens are counted for each address, calls for each bearer. */
#pragma once

#include "http/access/oauth.h"
#include "http/http.h"

struct auth_options {
  bool require_token;  /* of the local user, too */
  bool behind_proxy;   /* connections are a proxy's: who called is in X-Forwarded-For, and nobody is local */
  int64_t rate, burst; /* calls of one bearer, a second and at once; 0: any number */
  struct oauth *oauth; /* NULL: tokens of the store alone */
  struct clock clock;
};

NODISCARD enum status auth_new(const struct auth_options *options, struct auth **ret_auth, struct error *err);
void auth_free(struct auth **auth);

/* Looks at the head of a request, before its body is read: no store, no waiting. False: it is answered. Sets
 * call->token when there is one to be verified. */
bool auth_read(struct http_call *call);
/* Verifies call->token, on a worker; the caller of the call is then its bearer. False: it is answered. */
bool auth_verify(struct http_call *call);

/* The figures for /metrics; "" without an auth. */
struct str auth_metrics(struct arena *a, struct auth *auth);

/* Routes: what a client of an OAuth issuer asks for first (RFC 9728). */
void auth_metadata(struct http_call *call);
