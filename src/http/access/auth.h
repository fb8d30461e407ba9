/* auth.h: authentication of HTTP requests.
 *
 * A request with a token acts as the token's principal, wherever it comes from; the token's team is the team of the
 * call. A request without a token acts as the local user if the connection is from this machine, no header shows that
 * it was forwarded, and tokens are not required. All others are refused. Wrong tokens are counted per address, calls
 * per principal; request bytes and processor time per principal and team. */
#pragma once

#include "http/access/oauth.h"
#include "http/http.h"

struct auth_options {
  bool require_token;  /* also from the local user */
  bool behind_proxy;   /* connections come from a proxy: the client is in X-Forwarded-For, and no client is local */
  int64_t rate, burst; /* calls per principal: per second, and at once; 0: unlimited */
  int64_t concurrency; /* requests of a principal that wait or run; 0: unlimited */
  int64_t kilobytes;   /* of request bodies per principal and second; 0: unlimited. A team has twice as many */
  int64_t cpu_percent; /* of the processor time of all cores, per principal; 0: unlimited. A team has half of the rest
                          besides */
  struct oauth *oauth; /* NULL: only tokens of the store */
  struct clock clock;
};

NODISCARD enum status auth_new(const struct auth_options *options, struct auth **ret_auth, struct error *err);
void auth_free(struct auth **auth);

/* Reads the request head, before the body arrives; uses no store and never blocks. Returns false if it has replied.
 * Sets call->token if there is a token to verify. */
bool auth_read(struct http_call *call);
/* Verifies call->token, on a worker, and makes its principal the caller. Returns false if it has replied. */
bool auth_verify(struct http_call *call);

/* Charges the processor time of a call to its principal and team. */
void auth_charge(struct http_call *call, int64_t cpu_us);
/* Requests of a token that may wait or run at the same time; 0: unlimited. */
size_t auth_concurrency(const struct auth *auth);
/* Counts a request that was refused for that reason. */
void auth_count_refused(struct auth *auth);

/* True if a request without a token acts as the local user. */
bool auth_is_local_user(const struct http_call *call);

/* Metrics for /metrics; "" without an auth. */
struct str auth_metrics(struct arena *a, struct auth *auth);

/* Route: OAuth protected resource metadata (RFC 9728). */
void auth_metadata(struct http_call *call);
