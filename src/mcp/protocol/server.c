/* server.c: dispatcher: the table of methods, and the processing of one message. */
#include "mcp/protocol/server.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "base/secret_pool.h"

enum { ERA_LEGACY = 1, ERA_MODERN = 2, ERA_BOTH = 3 };

enum { DISCOVER_TTL_MS = 3600 * 1000 };

static void method_ping(struct exchange *x) { exchange_result(x, yyjson_mut_obj(x->doc)); }

static void method_discover(struct exchange *x) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc);
  json_add_str(x->doc, json_put_arr(x->doc, result, "supportedVersions"), STR(MCP_MODERN));
  yyjson_mut_obj_add_val(x->doc, result, "capabilities", server_capabilities(x));
  if (x->profile->instructions)
    json_put(x->doc, result, "instructions", str_from(x->profile->instructions));
  exchange_cached(x, result, DISCOVER_TTL_MS);
}

static const struct method {
  const char *name;
  unsigned eras;
  bool quick; /* neither opens the store nor blocks */
  method_fn run;
} methods[] = {
    {"initialize", ERA_LEGACY, true, legacy_initialize},
    {"ping", ERA_LEGACY, true, method_ping},
    {"logging/setLevel", ERA_LEGACY, true, legacy_set_level},
    {"resources/subscribe", ERA_LEGACY, false, method_subscribe},
    {"resources/unsubscribe", ERA_LEGACY, false, method_unsubscribe},
    {"server/discover", ERA_MODERN, true, method_discover},
    {"subscriptions/listen", ERA_MODERN, false, method_listen},
    {"tools/list", ERA_BOTH, true, list_tools},
    {"tools/call", ERA_BOTH, false, method_tools_call},
    {"prompts/list", ERA_BOTH, true, list_prompts},
    {"prompts/get", ERA_BOTH, false, method_prompts_get},
    {"resources/list", ERA_BOTH, false, list_resources},
    {"resources/templates/list", ERA_BOTH, true, list_templates},
    {"resources/read", ERA_BOTH, false, method_resources_read},
    {"completion/complete", ERA_BOTH, false, method_complete},
};

static const struct method *method_find(struct str name) {
  for (size_t i = 0; i < ARRAY_LEN(methods); i++)
    if (str_is(name, methods[i].name))
      return &methods[i];
  return NULL;
}

bool server_is_quick(const struct rpc_message *in) {
  const struct method *m = in->kind == RPC_REQUEST ? method_find(in->method) : NULL;
  return m ? m->quick : true; /* an unknown method fails at once */
}

/* ---- requests ---- */

static void enter(struct exchange *x) {
  pthread_mutex_lock(&x->server->lock);
  x->next = x->server->running;
  x->server->running = x;
  if (x->server->closing)
    atomic_store(&x->cancelled, true);
  pthread_mutex_unlock(&x->server->lock);
}

static void leave(struct exchange *x) {
  pthread_mutex_lock(&x->server->lock);
  struct exchange **at = &x->server->running;
  while (*at && *at != x)
    at = &(*at)->next;
  if (*at)
    *at = x->next;
  pthread_mutex_unlock(&x->server->lock);
}

static void run_request(struct exchange *x) {
  const struct method *m = method_find(x->in->method);
  if (!m || !(m->eras & (x->modern ? ERA_MODERN : ERA_LEGACY))) {
    exchange_error(x, x->modern ? 404 : 200, RPC_NO_METHOD, NULL, "Method not found: %.*s",
                   STR_ARG(x->in->method.n > 100 ? STR("(a long name)") : x->in->method));
    return;
  }
  x->method = m->name;
  x->quick = m->quick;
  x->caller.part = true; /* note() records one call, however many operations it takes */
  enter(x);
  if (!m->quick)
    roots_find_project(x);
  m->run(x);
  assert(!x->engine); /* a method gives its engine back */
  if (!x->answered && !x->reply->stream)
    exchange_error(x, 500, RPC_INTERNAL, NULL, "Internal error: no answer");
}

/* ---- notifications and responses ---- */

static void cancel(struct exchange *x) {
  yyjson_val *id = yyjson_obj_get(x->in->params, "requestId");
  struct mcp_server *server = x->server;
  if (!id || (x->modern && x->head->http))
    return;
  pthread_mutex_lock(&server->lock);
  for (struct exchange *r = server->running; r; r = r->next)
    if (rpc_same_id(r->in->id, id) && (server->options.one_connection || r->session == x->session))
      atomic_store(&r->cancelled, true);
  pthread_cond_broadcast(&server->answered); /* the call may be waiting for the client */
  pthread_mutex_unlock(&server->lock);
  if (server->options.one_connection)
    subscriptions_cancel(server, x->arena, id);
}

/* Notifications and responses. Over HTTP an invalid one gets a status; on stdio nothing is ever sent. */
static void run_one_way(struct exchange *x) {
  struct str header = str_trim(x->head->version);
  x->modern = (x->in->meta && yyjson_obj_get(x->in->meta, MCP_META "protocolVersion")) ||
              (x->head->http && header.n && !era_is_legacy(header));
  x->answered = !x->head->http;
  if (!x->modern && !era_determine(x))
    return;
  if (x->in->kind == RPC_RESPONSE)
    question_answer(x->server, x->session, x->in, x->arena);
  else if (str_is(x->in->method, "notifications/cancelled"))
    cancel(x);
  else if (str_is(x->in->method, "notifications/roots/list_changed"))
    roots_changed(x);
  x->answered = true;
  x->reply->status = 202;
}

static void run_bad(struct exchange *x) { exchange_error(x, 400, x->in->code, NULL, "%s", x->in->why); }

static void run_message(struct exchange *x) {
  if (x->in->kind == RPC_BAD)
    run_bad(x);
  else if (x->in->kind != RPC_REQUEST)
    run_one_way(x);
  else if (era_determine(x))
    run_request(x);
}

/* Records the call. A request that is no call, or whose caller is unknown, is only counted. */
static void note(struct exchange *x) {
  bool failed = x->failure.code != STATUS_OK, is_call = x->method && !x->quick;
  struct pool *pool = x->server->options.pool;
  if (!pool || x->recorded || (!failed && (x->unfinished || !is_call)) || x->in->kind == RPC_RESPONSE ||
      x->in->kind == RPC_NOTIFICATION)
    return;
  struct str method = str_from(x->method ? x->method : "unknown method");
  if (!x->caller.tool.p)
    x->caller.tool = method;
  pool_note(pool, &x->caller, method, x->began, failed ? &x->failure : NULL, is_call);
}

/* Without memory, not even the request's id can be echoed. */
static void answer_no_memory(struct exchange *x) {
  static const struct str text =
      STR_INIT("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"out of memory\"}}");
  x->reply->status = 503;
  error_set(&x->failure, STATUS_NOMEM, "out of memory");
  if (!x->answered)
    x->out->send(x->out->arg, text, true);
  x->answered = true;
}

static void run_guarded(struct exchange *x) {
  jmp_buf oom, *outer = x->arena->oom;
  if (ARENA_BOUNDARY(x->arena, oom)) {
    answer_no_memory(x);
  } else {
    x->doc = json_new(x->arena);
    run_message(x);
  }
  x->arena->oom = outer;
}

void server_dispatch(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                     struct arena *arena, struct rpc_message *in, struct mcp_out *out, struct mcp_reply *reply) {
  struct exchange x = {.server = server,
                       .sender = sender,
                       .profile = sender->profile ? sender->profile : server->options.profile,
                       .head = head,
                       .out = out,
                       .reply = reply,
                       .arena = arena,
                       .in = in,
                       .progress = -1};
  assert(x.profile && out->send && in->kind <= RPC_BAD);
  x.began = clock_ticks_us();
  pthread_mutex_init(&x.sending, NULL);
  run_guarded(&x);
  exchange_give_back(&x);
  note(&x);
  leave(&x);
  if (x.session)
    mcp_session_drop(server, x.session);
  pthread_mutex_destroy(&x.sending);
}

/* Only tools handle secrets; whether a call does is known when it runs its operation. */
static bool may_be_secret(const struct rpc_message *in) {
  return in->kind == RPC_BAD || (in->kind == RPC_REQUEST && str_is(in->method, "tools/call"));
}

void rpc_read_guarded(struct mcp_server *server, struct arena *a, struct str text, struct rpc_message *ret_message) {
  jmp_buf oom;
  assert(!a->head && !a->oom);
  if (text.n <= MCP_GUARDED_MAX)
    arena_guard_undecided(a, server->message_pool);
  if (ARENA_BOUNDARY(a, oom)) {
    *ret_message = (struct rpc_message){.kind = RPC_BAD, .code = RPC_INTERNAL, .why = "out of memory"};
    arena_release(a);
  } else {
    rpc_read(a, text, ret_message);
  }
  if (!may_be_secret(ret_message))
    arena_unguard(a);
  a->oom = NULL;
}

void mcp_handle(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                struct str message, struct mcp_out *out, struct mcp_reply *ret_reply) {
  struct arena arena;
  struct rpc_message in;
  arena_init(&arena);
  *ret_reply = (struct mcp_reply){0};
  rpc_read_guarded(server, &arena, message, &in);
  server_dispatch(server, sender, head, &arena, &in, out, ret_reply);
  arena_release(&arena);
}

/* ---- lifetime ---- */

const struct mcp_fixtures *mcp_fixtures;

enum status mcp_new(const struct mcp_options *options, struct mcp_server **ret_server, struct error *err) {
  struct mcp_server *server = mem_zalloc(sizeof(*server));
  if (!server)
    return error_set(err, STATUS_NOMEM, "out of memory");
  if (sodium_init() < 0) {
    mem_free(server);
    return error_set(err, STATUS_INTERNAL, "no source of random numbers is available");
  }
  server->options = *options;
  server->options.conformance = options->conformance && mcp_fixtures;
  server->message_pool = secret_pool_new();
  randombytes_buf(server->secret, sizeof(server->secret));
  pthread_mutex_init(&server->lock, NULL);
  pthread_mutex_init(&server->following, NULL);
  cond_init(&server->answered);
  cond_init(&server->lost_more);
  *ret_server = server;
  return STATUS_OK;
}

void server_cancel_all(struct mcp_server *server) {
  pthread_mutex_lock(&server->lock);
  server->closing = true;
  for (struct exchange *x = server->running; x; x = x->next)
    atomic_store(&x->cancelled, true);
  pthread_cond_broadcast(&server->answered);
  pthread_mutex_unlock(&server->lock);
}

void mcp_close(struct mcp_server **server) {
  struct mcp_server *s = *server;
  if (!s)
    return;
  subscriptions_end(s);
  lost_stop(s);
  while (s->sessions)
    mcp_session_end(s, s->sessions);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->following);
  pthread_cond_destroy(&s->answered);
  pthread_cond_destroy(&s->lost_more);
  sodium_memzero(s->secret, sizeof(s->secret));
  secret_pool_free(&s->message_pool);
  assert(!s->running && !s->streams && !s->questions && !s->followers && !s->lost && s->session_count == 0);
  mem_free(s);
  *server = NULL;
}
