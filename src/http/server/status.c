/* status.c: overview, liveness, readiness and metrics. */
#include "http/server/status.h"

#include "http/access/auth.h"
#include "op/access/roles.h"
#include "op/run/paths.h"
#include "op/telemetry/metrics_text.h"

bool status_is_allowed(struct http_call *call, const char *op) {
  struct engine *engine;
  struct error err;
  if (!call->server->bound && !call->caller.principal)
    return true;
  enum status s = pool_acquire(call->server->pool, &engine, &err);
  if (s == STATUS_OK) {
    s = roles_check(engine, &call->caller, op, &err);
    pool_release(call->server->pool, engine);
  }
  if (s != STATUS_OK && call->caller.principal)
    paths_shorten(pool_path(call->server->pool), NULL, &err);
  if (s != STATUS_OK)
    http_reply_problem(call, &err);
  return s == STATUS_OK;
}

void status_root(struct http_call *call) {
  http_reply_text(call, 200, "text/plain; charset=utf-8",
                  STR("Cairn " CAIRN_VERSION "\n\n"
                      "/mcp       Model Context Protocol, Streamable HTTP; /mcp/PROFILE for another set of tools\n"
                      "/api/v1    REST\n"
                      "/events    event log, as server-sent events\n"
                      "/healthz   the process is alive\n"
                      "/readyz    the store answers\n"
                      "/metrics   metrics for Prometheus\n"));
}

/* Version, process id and paths are for the local user, who sends no token. */
static bool shows_machine(const struct http_call *call) {
  return auth_is_local_user(call) && !http_header(call, "authorization").p;
}

void status_healthz(struct http_call *call) {
  struct telemetry *t = call->server ? call->server->telemetry : NULL;
  http_reply_json(call, 200, healthz_json(call->arena, t, shows_machine(call)));
}

void status_readyz(struct http_call *call) {
  struct str json;
  bool ready = readyz_json(call->arena, call->server->pool, shows_machine(call), &json);
  http_reply_json(call, ready ? 200 : 503, json);
}

void status_metrics(struct http_call *call) {
  const struct http_server *s = call->server;
  if (!status_is_allowed(call, "metrics"))
    return;
  struct buf page = BUF(call->arena);
  buf_add(&page, metrics_page(call->arena, s->telemetry, s->pool, call->caller.team));
  buf_add(&page, auth_metrics(call->arena, s->auth));
  http_reply_text(call, 200, METRICS_CONTENT_TYPE, buf_str(&page));
}
