/* exchange.c: responses, notifications, progress and operations of one exchange. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/secrets/redact.h"
#include "mcp/protocol/server.h"
#include "op/access/roles.h"

enum { PROGRESS_EVERY_US = 50 * 1000 };

bool exchange_cancelled(struct exchange *x) {
  if (atomic_load(&x->cancelled) || (x->in->cancelled && atomic_load(x->in->cancelled)))
    return true;
  /* Since 2026-07-28 a disconnect cancels a call over HTTP; before, it did not. */
  return x->modern && x->head->http && x->out->gone && x->out->gone(x->out->arg);
}

static void announce_secret(struct exchange *x) {
  if (x->out->secret)
    x->out->secret(x->out->arg,
                   rpc_error(x->arena, x->doc, x->in->id, RPC_INTERNAL,
                             STR("the answer may have held a secret and was not stored: repeat the call"), NULL));
}

/* The arena stays guarded only for operations that handle secrets. */
static bool is_secret(const struct exchange *x) { return x->arena->guarded && !x->arena->undecided; }

/* No response is sent to a cancelled call. */
static void send_answer(struct exchange *x, int http, struct str text) {
  bool cancelled = exchange_cancelled(x);
  pthread_mutex_lock(&x->sending);
  if (!x->answered) {
    x->answered = true;
    x->reply->status = cancelled ? 202 : http;
    if (!cancelled && is_secret(x))
      announce_secret(x);
    if (!cancelled)
      x->out->send(x->out->arg, text, true);
  }
  pthread_mutex_unlock(&x->sending);
}

void exchange_result(struct exchange *x, yyjson_mut_val *result) {
  yyjson_mut_doc *doc = x->doc;
  assert(x->in->kind == RPC_REQUEST && yyjson_mut_is_obj(result));
  if (x->modern) {
    if (!yyjson_mut_obj_get(result, "resultType"))
      json_put(doc, result, "resultType", STR("complete"));
    yyjson_mut_val *meta = yyjson_mut_obj_get(result, "_meta");
    meta = meta ? meta : json_put_obj(doc, result, "_meta");
    yyjson_mut_obj_add_val(doc, meta, MCP_META "serverInfo", server_info(x, doc));
  }
  send_answer(x, 200, rpc_result(x->arena, doc, x->in->id, result));
}

/* Lists differ by token and team, so shared caches must not store them. */
void exchange_cached(struct exchange *x, yyjson_mut_val *result, int64_t ttl_ms) {
  if (x->modern) {
    json_put_int(x->doc, result, "ttlMs", ttl_ms);
    json_put(x->doc, result, "cacheScope", STR("private"));
  }
  exchange_result(x, result);
}

static enum status status_of(int code) {
  bool is_call = code == RPC_PARAMS || code == RPC_INVALID || code == RPC_PARSE;
  bool is_missing = code == RPC_NO_METHOD || code == MCP_NO_RESOURCE;
  return is_call                ? STATUS_USAGE
         : is_missing           ? STATUS_NOT_FOUND
         : code == RPC_INTERNAL ? STATUS_INTERNAL
                                : STATUS_REFUSED;
}

void exchange_error(struct exchange *x, int http, int code, yyjson_mut_val *data, const char *fmt, ...) {
  va_list ap;
  assert(code < 0 && http >= 200 && http < 600);
  va_start(ap, fmt);
  struct str message = arena_vprintf(x->arena, fmt, ap);
  va_end(ap);
  /* It may quote the client's input. The store's patterns may be unavailable. */
  message = redact_all(x->arena, message, NULL);
  error_set(&x->failure, status_of(code), "%.*s", STR_ARG(message));
  send_answer(x, http, rpc_error(x->arena, x->doc, x->in->id, code, message, data));
}

void exchange_failed(struct exchange *x, const struct error *err) {
  assert(err->code != STATUS_OK);
  exchange_error(x, 200, RPC_INTERNAL, NULL, "%s%s%s", err->message, err->fix[0] ? ": " : "", err->fix);
  x->failure = *err;
}

void exchange_notify(struct exchange *x, const char *method, yyjson_mut_val *params) {
  if (exchange_cancelled(x))
    return;
  struct str text = rpc_send(x->arena, x->doc, STR_NONE, method, params);
  pthread_mutex_lock(&x->sending);
  if (!x->answered)
    x->out->send(x->out->arg, text, false);
  pthread_mutex_unlock(&x->sending);
}

/* Operations may report progress from their own threads, so the exchange's arena is not used. */
void exchange_progress(struct exchange *x, const char *what, double done, double total) {
  int64_t now = clock_ticks_us();
  bool last = total > 0 && done >= total;
  if (!x->progress_token || exchange_cancelled(x))
    return;
  struct arena scratch;
  jmp_buf oom;
  arena_init(&scratch);
  pthread_mutex_lock(&x->sending);
  bool due = x->progress_tick == 0 || now - x->progress_tick >= PROGRESS_EVERY_US || last;
  if (!x->answered && due && done > x->progress && !ARENA_BOUNDARY(&scratch, oom)) {
    x->progress = done;
    x->progress_tick = now;
    yyjson_mut_doc *doc = json_new(&scratch);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, params, "progressToken", yyjson_val_mut_copy(doc, x->progress_token));
    json_put_num(doc, params, "progress", done);
    if (total > 0)
      json_put_num(doc, params, "total", total);
    if (what && what[0])
      json_put(doc, params, "message", str_from(what));
    x->out->send(x->out->arg, rpc_send(&scratch, doc, STR_NONE, "notifications/progress", params), false);
  }
  pthread_mutex_unlock(&x->sending);
  arena_release(&scratch);
}

enum status exchange_borrow(struct exchange *x, struct error *err) {
  assert(!x->engine);
  return pool_acquire_for(x->server->options.pool, &x->caller, &x->engine, err);
}

void exchange_give_back(struct exchange *x) {
  if (x->engine)
    pool_release(x->server->options.pool, x->engine);
  x->engine = NULL;
}

enum status exchange_op(struct exchange *x, const char *name, struct str args, yyjson_val **ret_result,
                        struct error *err) {
  const struct op *op = op_find(str_from(name));
  if (!op)
    return error_set(err, STATUS_NOT_FOUND, "this version has no operation '%s'", name);
  return exchange_call(x, op, args, ret_result, err);
}

enum status exchange_call(struct exchange *x, const struct op *op, struct str args, yyjson_val **ret_result,
                          struct error *err) {
  struct engine *engine;
  yyjson_val *values;
  yyjson_mut_val *result;
  assert(!x->engine); /* a thread that waits for a second engine could block the pool */
  TRY(json_read(x->arena, args, &values, err));
  TRY(pool_acquire_for(x->server->options.pool, &x->caller, &engine, err));
  enum status s = op_run(engine, op, &x->caller, NULL, x->arena, values, &result, err);
  pool_release(x->server->options.pool, engine);
  TRY(s);
  return json_read(x->arena, json_write(x->arena, result, false), ret_result, err);
}

bool exchange_principal(struct exchange *x, const struct principal **ret_who) {
  struct pool *pool = x->server->options.pool;
  struct engine *engine;
  struct error err;
  *ret_who = x->caller.principal;
  if (!pool || !pool_agent(pool)[0])
    return true;
  enum status s = pool_acquire(pool, &engine, &err);
  if (s == STATUS_OK) {
    s = roles_principal(engine, &x->caller, x->arena, ret_who, &err);
    pool_release(pool, engine);
  }
  if (s != STATUS_OK)
    exchange_failed(x, &err);
  return s == STATUS_OK;
}

yyjson_val *exchange_capability(const struct exchange *x, const char *name) {
  yyjson_val *v = x->capabilities ? yyjson_obj_get(x->capabilities, name) : NULL;
  return yyjson_is_obj(v) ? v : NULL;
}

/* An empty object means forms: the only mode in older revisions. */
bool exchange_can_elicit(const struct exchange *x) {
  yyjson_val *e = exchange_capability(x, "elicitation");
  return e && (yyjson_obj_size(e) == 0 || yyjson_obj_get(e, "form"));
}
