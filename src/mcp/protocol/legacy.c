/* legacy.c: clients of the revisions with a handshake: initialize, sessions, log level. */
#include <assert.h>
#include <sodium.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "mcp/protocol/server.h"
#include "op/access/authenticate.h"

/* SESSIONS_MAX: of all callers. OWN_MAX: of a token; it replaces its own least recently used one. Local callers may
 * have more, but once there are SESSIONS_MAX they replace their own, too. A team replaces its own if it has TEAM_MAX,
 * so it cannot evict all sessions of other teams. */
enum { SESSIONS_MAX = 1024, OWN_MAX = 64, TEAM_MAX = SESSIONS_MAX / 2 };
enum { SESSION_RANDOM = 20, CAPABILITIES_MAX = 64 * 1024, NAME_MAX_BYTES = 200 };

static const char *const newest_legacy = "2025-11-25";

/* ---- description of the server, in both eras ---- */

yyjson_mut_val *server_capabilities(struct exchange *x) {
  yyjson_mut_doc *doc = x->doc;
  yyjson_mut_val *caps = yyjson_mut_obj(doc);
  yyjson_mut_val *tools = json_put_obj(doc, caps, "tools"), *prompts = json_put_obj(doc, caps, "prompts");
  yyjson_mut_val *resources = json_put_obj(doc, caps, "resources");
  if (x->server->options.conformance) {
    json_put_bool(doc, tools, "listChanged", true);
    json_put_bool(doc, prompts, "listChanged", true);
  }
  if (x->server->options.feed || x->server->options.conformance) {
    json_put_bool(doc, resources, "subscribe", true);
    json_put_bool(doc, resources, "listChanged", true);
  }
  json_put_obj(doc, caps, "completions");
  if (!x->modern)
    json_put_obj(doc, caps, "logging");
  return caps;
}

yyjson_mut_val *server_info(const struct exchange *x, yyjson_mut_doc *doc) {
  yyjson_mut_val *info = yyjson_mut_obj(doc);
  json_put(doc, info, "name", STR("cairn"));
  json_put(doc, info, "title", x->profile->title ? str_from(x->profile->title) : STR("Cairn"));
  json_put(doc, info, "version", STR(CAIRN_VERSION));
  return info;
}

/* ---- sessions ---- */

static struct str copy_into(char **at, struct str s) {
  if (s.n)
    memcpy(*at, s.p, s.n);
  struct str copy = {*at, s.n};
  *at += s.n + 1;
  return copy;
}

/* One allocation with all its texts, which never change. */
static struct mcp_session *mcp_session_new(const struct caller *c, struct str version, struct str client,
                                           struct str client_version, struct str capabilities) {
  struct str texts[] = {version, client, client_version, capabilities, c->team, c->project, c->source, c->trust};
  size_t size = sizeof(struct mcp_session);
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    size += texts[i].n + 1;
  struct mcp_session *s = mem_zalloc(size);
  struct principal *who = c->principal ? principal_dup(c->principal) : NULL;
  if (!s || (c->principal && !who)) {
    mem_free(who);
    mem_free(s);
    return NULL;
  }
  char *at = (char *)(s + 1);
  const char *end = (const char *)s + size;
  s->refs = 1;
  s->log_level = -1;
  s->version = copy_into(&at, version);
  s->client = copy_into(&at, client);
  s->client_version = copy_into(&at, client_version);
  s->capabilities = copy_into(&at, capabilities);
  s->team = copy_into(&at, c->team);
  s->caller = (struct caller){.team = s->team,
                              .project = copy_into(&at, c->project),
                              .project_given = c->project_given,
                              .source = copy_into(&at, c->source),
                              .trust = copy_into(&at, c->trust),
                              .principal = who};
  assert(at == end);
  (void)end;
  s->who = who;
  return s;
}

static void mcp_session_free(struct mcp_session *s) {
  assert(s->refs == 0);
  for (struct watched *w = s->watched, *next; w; w = next) {
    next = w->next;
    mem_free(w);
  }
  mem_free(s->who);
  mem_free(s);
}

static void unlink_session(struct mcp_server *server, struct mcp_session *session) {
  assert(mutex_is_locked(&server->lock));
  struct mcp_session **at = &server->sessions;
  while (*at && *at != session)
    at = &(*at)->next;
  if (!*at)
    return;
  assert(server->session_count > 0);
  *at = session->next;
  server->session_count--;
}

void mcp_session_drop(struct mcp_server *server, struct mcp_session *session) {
  pthread_mutex_lock(&server->lock);
  assert(session->refs > 0);
  bool last = --session->refs == 0;
  pthread_mutex_unlock(&server->lock);
  if (last)
    mcp_session_free(session);
}

/* Ends the memory session that a boot of the client has begun. */
static void end_handle(struct mcp_server *server, const struct mcp_session *session) {
  const struct op *op = op_find(STR("session end"));
  struct engine *engine;
  struct error err;
  if (!op || !session->handle[0] || !server->options.pool ||
      pool_acquire(server->options.pool, &engine, &err) != STATUS_OK)
    return;
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    struct origin origin = {.client = session->client};
    struct caller caller = session->caller;
    caller.origin = &origin;
    caller.session = str_from(session->handle);
    yyjson_val *args;
    yyjson_mut_val *result;
    if (json_read(&a, STR("{}"), &args, &err) != STATUS_OK ||
        op_run(engine, op, &caller, NULL, &a, args, &result, &err) != STATUS_OK)
      caller.session = STR_NONE; /* it expires for lack of heartbeats */
  }
  arena_release(&a);
  pool_release(server->options.pool, engine);
}

void mcp_session_end(struct mcp_server *server, struct mcp_session *session) {
  pthread_mutex_lock(&server->lock);
  assert(session->refs > 0);
  bool first = !session->ended;
  session->ended = true;
  if (first)
    unlink_session(server, session);
  pthread_mutex_unlock(&server->lock);
  if (!first)
    return;
  subscriptions_end_session(server, session);
  end_handle(server, session);
  mcp_session_drop(server, session);
}

static bool is_same_principal(const struct principal *a, const struct principal *b) {
  return str_eq(a->name, b->name) && str_eq(a->token, b->token); /* names are reused, token ids are not */
}

/* A session of another caller counts as unknown: knowing the id gives no access. */
static bool is_owner(const struct caller *c, const struct mcp_session *s) {
  return str_eq(s->team, c->team) &&
         (s->who && c->principal ? is_same_principal(s->who, c->principal) : !s->who && !c->principal);
}

struct mcp_session *mcp_session_find(struct mcp_server *server, struct str id, const struct caller *caller) {
  pthread_mutex_lock(&server->lock);
  struct mcp_session *s = server->sessions;
  while (s && !(str_is(id, s->id) && is_owner(caller, s)))
    s = s->next;
  if (s) {
    assert(s->refs > 0 && !s->ended); /* the list holds a reference */
    s->refs++;
    s->used = clock_ticks_us();
  }
  pthread_mutex_unlock(&server->lock);
  return s;
}

struct mcp_session *mcp_session_only(struct mcp_server *server) {
  pthread_mutex_lock(&server->lock);
  assert(server->options.one_connection && server->session_count <= 1);
  if (!server->sessions) {
    static const struct caller unknown = {0};
    server->sessions = mcp_session_new(&unknown, STR(""), STR(""), STR(""), STR(""));
    server->session_count = server->sessions ? 1 : 0;
  }
  struct mcp_session *s = server->sessions;
  if (s)
    s->refs++;
  pthread_mutex_unlock(&server->lock);
  return s;
}

/* The least recently used session of a group, and the size of the group. */
struct group {
  struct mcp_session *oldest;
  size_t n;
};

static void group_add(struct group *g, struct mcp_session *s) {
  if (!g->oldest || s->used < g->oldest->used)
    g->oldest = s;
  g->n++;
}

/* The session that makes room for another one of this caller; holds a reference. NULL: there is room. */
static struct mcp_session *eviction_candidate(struct mcp_server *server, const struct caller *caller) {
  struct group own = {0}, team = {0}, all = {0};
  pthread_mutex_lock(&server->lock);
  for (struct mcp_session *s = server->sessions; s; s = s->next) {
    group_add(&all, s);
    if (str_eq(s->team, caller->team))
      group_add(&team, s);
    if (is_owner(caller, s))
      group_add(&own, s);
  }
  struct mcp_session *found = NULL;
  if (own.n >= OWN_MAX && (caller->principal || all.n >= SESSIONS_MAX))
    found = own.oldest;
  else if (all.n >= SESSIONS_MAX)
    found = team.n >= TEAM_MAX ? team.oldest : all.oldest;
  if (found)
    found->refs++;
  pthread_mutex_unlock(&server->lock);
  return found;
}

static void evict_session(struct mcp_server *server, const struct caller *caller) {
  struct mcp_session *old = eviction_candidate(server, caller);
  if (!old)
    return;
  mcp_session_end(server, old);
  mcp_session_drop(server, old);
}

/* On stdio the new session replaces the one before and keeps its streams. */
static void add_session(struct exchange *x, struct mcp_session *s) {
  struct mcp_server *server = x->server;
  assert(s->refs == 1 && !s->next);
  if (!server->options.one_connection) {
    uint8_t bytes[SESSION_RANDOM];
    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2hex(s->id, sizeof(s->id), bytes, sizeof(bytes));
    memcpy(x->reply->session, s->id, sizeof(s->id));
    evict_session(server, &x->caller);
  }
  pthread_mutex_lock(&server->lock);
  struct mcp_session *before = server->options.one_connection ? server->sessions : NULL;
  if (before) {
    memcpy(s->handle, before->handle, sizeof(s->handle));
    unlink_session(server, before);
  }
  s->used = clock_ticks_us();
  s->next = server->sessions;
  server->sessions = s;
  server->session_count++;
  pthread_mutex_unlock(&server->lock);
  if (before)
    mcp_session_drop(server, before);
}

static struct str limit_name(struct str s) { return s.n > NAME_MAX_BYTES ? str_slice(s, 0, NAME_MAX_BYTES) : s; }

void legacy_initialize(struct exchange *x) {
  struct str wanted = json_str(x->in->params, "protocolVersion");
  if (!wanted.p) {
    exchange_error(x, 400, RPC_PARAMS, NULL, "Invalid params: protocolVersion is missing");
    return;
  }
  struct str version = era_is_legacy(wanted) ? wanted : str_from(newest_legacy);
  struct str caps = yyjson_is_obj(x->capabilities) ? json_write_val(x->arena, x->capabilities) : STR("");
  if (caps.n > CAPABILITIES_MAX)
    caps = STR("");
  struct mcp_session *s =
      mcp_session_new(&x->caller, version, limit_name(x->origin.client), limit_name(x->origin.client_version), caps);
  if (!s) {
    exchange_error(x, 503, RPC_INTERNAL, NULL, "out of memory");
    return;
  }
  add_session(x, s);
  yyjson_mut_val *result = yyjson_mut_obj(x->doc);
  json_put(x->doc, result, "protocolVersion", version);
  yyjson_mut_obj_add_val(x->doc, result, "capabilities", server_capabilities(x));
  yyjson_mut_obj_add_val(x->doc, result, "serverInfo", server_info(x, x->doc));
  if (x->profile->instructions)
    json_put(x->doc, result, "instructions", str_from(x->profile->instructions));
  exchange_result(x, result);
}

void legacy_set_level(struct exchange *x) {
  static const char *const levels[] = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  struct str level = json_str(x->in->params, "level");
  assert(x->session);
  for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
    if (!str_is(level, levels[i]))
      continue;
    pthread_mutex_lock(&x->server->lock);
    x->session->log_level = (int)i;
    pthread_mutex_unlock(&x->server->lock);
    exchange_result(x, yyjson_mut_obj(x->doc));
    return;
  }
  exchange_error(x, 200, RPC_PARAMS, NULL,
                 "Invalid params: level is one of debug, info, notice, warning, error, "
                 "critical, alert, emergency");
}
