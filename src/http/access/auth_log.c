/* auth_log.c: what becomes known of wrong tokens: events in the log of the server's own team, and figures. */
#include <sodium.h>

#include "core/secrets/access_token.h"
#include "http/access/auth_internal.h"
#include "http/server/event.h"

enum { LOG_RATE = 1, LOG_BURST = 60 }; /* events a second, and at once: nobody fills the disk by guessing */

/* A token says which one it claims to be; that may be written down, and the rest never. */
static struct str claimed_id(struct str token) {
  struct token_text text;
  bool ours = token_parse(token, &text);
  sodium_memzero(text.secret, sizeof(text.secret));
  return ours ? text.id : STR_NONE;
}

void auth_log_wrong(struct http_call *call, bool locked) {
  struct auth *auth = call->server->auth;
  pthread_mutex_lock(&auth->lock);
  bool quiet = limit_take(&auth->bearers, STR("the log"), LOG_RATE, LOG_BURST, clock_ticks_us()) > 0;
  pthread_mutex_unlock(&auth->lock);
  if (quiet)
    return;
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "peer", call->network);
  json_put_opt(doc, detail, "token", claimed_id(call->token));
  struct event e = {.action = locked ? STR("auth:locked") : STR("auth:failed"),
                    .detail = json_write(call->arena, detail, false)};
  server_event(call->server, &e);
}

struct str auth_metrics(struct arena *a, struct auth *auth) {
  static const char *const names[AUTH_RESULTS] = {
      [AUTH_ACCEPTED] = "accepted", [AUTH_REFUSED] = "refused", [AUTH_LOCKED] = "locked", [AUTH_LIMITED] = "limited"};
  struct buf b = BUF(a);
  if (!auth)
    return STR("");
  buf_adds(&b, "# HELP cairn_tokens_total Requests with a token, by what came of it.\n"
               "# TYPE cairn_tokens_total counter\n");
  for (int i = 0; i < AUTH_RESULTS; i++)
    buf_addf(&b, "cairn_tokens_total{result=\"%s\"} %lld\n", names[i], (long long)atomic_load(&auth->counts[i]));
  return buf_str(&b);
}
