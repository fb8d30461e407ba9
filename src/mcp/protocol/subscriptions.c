/* subscriptions.c: long-lived streams: subscriptions/listen, and the stream of a legacy session. Both follow the event
 * log, so clients also hear of changes by other processes. */
#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "mcp/protocol/resources.h"
#include "op/session/session.h"

enum { WATCHED_MAX = 1000, URI_MAX = 2048, STREAMS_MAX = 4096, ID_MAX = 1024 };

struct mcp_stream {
  struct mcp_stream *next;
  struct mcp_server *server;
  int refs;             /* under the server's lock; the stream is in the list until it is 0 */
  pthread_mutex_t lock; /* recursive: a send may find that the client has disconnected, and hang up */
  atomic_bool closed;
  struct mcp_out out;
  struct mcp_session *session; /* of a legacy stream; NULL with one connection: the server's only session */
  bool modern, tools, prompts, resources;
  struct watched *watched; /* of a modern stream; a legacy session has its own list */
  int64_t list_told;       /* transaction of the last list_changed */
  struct follower *own;    /* of a stream opened with a token; else the team's follower serves it */
  struct str team, id;     /* id: the request's id as JSON */
  struct lost *lost; /* session that ends with the stream, or NULL; under the server's lock once the stream is listed */
};

/* Follows the log for all streams of a team, or for one stream whose token sees less. */
struct follower {
  struct follower *next;
  struct mcp_server *server;
  struct feed_subscriber *subscriber;
  bool of_one;
  atomic_bool ended; /* its token has expired or was revoked */
  atomic_bool
      over; /* its stream is gone; the next stream_follow() frees it, since the current thread may be the feed's */
  struct str team;
};

/* ---- lists of URIs ---- */

/* The memory that has this key now; 0 if there is none. Events of later changes name the memory, not its key. */
static int64_t memory_of_key(struct exchange *x, const struct resource *resource, struct str key) {
  yyjson_val *result;
  struct error ignored;
  int64_t number;
  if (!resource || strcmp(resource->op, "get") != 0 || str_int64(key, &number))
    return 0;
  yyjson_mut_val *args = yyjson_mut_obj(x->doc);
  json_put(x->doc, args, "id", key);
  enum status s = exchange_op(x, "history", json_write(x->arena, args, false), &result, &ignored);
  return s == STATUS_OK ? json_int(result, "head", 0) : 0;
}

/* Resolves the URI here, so comparing it with an event allocates nothing. */
static bool watch(struct exchange *x, struct watched **list, struct str uri) {
  size_t count = 0;
  struct mcp_server *server = x->server;
  struct str variable = STR_NONE;
  const struct resource *resource = resource_watched(x, uri, &variable);
  int64_t memory_id = memory_of_key(x, resource, variable);
  struct watched *w = uri.n <= URI_MAX ? mem_zalloc(sizeof(*w) + uri.n + variable.n) : NULL;
  if (!w)
    return false;
  char *at = (char *)(w + 1);
  memcpy(at, uri.p, uri.n);
  if (variable.n)
    memcpy(at + uri.n, variable.p, variable.n);
  assert(!resource || resource->concerns);
  w->uri = (struct str){at, uri.n};
  w->variable = (struct str){at + uri.n, variable.n};
  w->resource = resource;
  w->memory_id = memory_id;
  pthread_mutex_lock(&server->lock);
  bool known = false;
  for (struct watched *other = *list; other; other = other->next, count++)
    known = known || str_eq(other->uri, uri);
  bool add = !known && count < WATCHED_MAX;
  if (add) {
    w->next = *list;
    *list = w;
  }
  pthread_mutex_unlock(&server->lock);
  if (!add)
    mem_free(w);
  return add || known;
}

/* With the server's lock, or while no other thread knows the list. */
static void unwatch(struct watched **list, struct str uri) {
  while (*list && !str_eq((*list)->uri, uri))
    list = &(*list)->next;
  struct watched *w = *list;
  if (!w)
    return;
  *list = w->next;
  mem_free(w);
}

/* ---- lifetime of a stream ---- */

static struct mcp_stream *stream_new(struct mcp_server *server, const struct mcp_out *out, struct str team,
                                     struct str id) {
  struct mcp_stream *s = mem_zalloc(sizeof(*s) + team.n + id.n + 2);
  if (!s)
    return NULL;
  char *at = (char *)(s + 1);
  if (team.n)
    memcpy(at, team.p, team.n);
  s->team = (struct str){at, team.n};
  at += team.n + 1;
  if (id.n)
    memcpy(at, id.p, id.n);
  s->id = (struct str){at, id.n};
  s->server = server;
  s->out = *out;
  s->refs = 1;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&s->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  return s;
}

static void stream_free(struct mcp_stream *s) {
  while (s->watched)
    unwatch(&s->watched, s->watched->uri);
  if (s->session)
    mcp_session_drop(s->server, s->session);
  if (s->own)
    atomic_store(&s->own->over, true);
  mem_free(s->lost);
  pthread_mutex_destroy(&s->lock);
  mem_free(s);
}

/* Token expired before registration. */
static bool token_ended_early(const struct mcp_stream *s) { return s->own && atomic_load(&s->own->ended); }

static bool stream_link(struct mcp_stream *s) {
  struct mcp_server *server = s->server;
  size_t count = 0;
  assert(s->refs == 1 && !s->next);
  pthread_mutex_lock(&server->lock);
  for (struct mcp_stream *other = server->streams; other; other = other->next)
    count++;
  bool room = count < STREAMS_MAX && !server->closing;
  if (room) {
    s->next = server->streams;
    server->streams = s;
  }
  pthread_mutex_unlock(&server->lock);
  return room;
}

static void stream_drop(struct mcp_stream *s) {
  struct mcp_server *server = s->server;
  pthread_mutex_lock(&server->lock);
  assert(s->refs > 0);
  bool last = --s->refs == 0;
  if (last) {
    struct mcp_stream **at = &server->streams;
    while (*at && *at != s)
      at = &(*at)->next;
    if (*at)
      *at = s->next;
  }
  pthread_mutex_unlock(&server->lock);
  if (last)
    stream_free(s);
}

/* The next stream with a reference; drops that of the former. NULL starts. */
static struct mcp_stream *next_stream(struct mcp_server *server, struct mcp_stream *former) {
  pthread_mutex_lock(&server->lock);
  assert(!former || former->refs > 0);
  struct mcp_stream *s = former ? former->next : server->streams;
  if (s)
    s->refs++;
  pthread_mutex_unlock(&server->lock);
  if (former)
    stream_drop(former);
  return s;
}

/* ---- sending ---- */

/* {"_meta": {subscriptionId}} for modern streams, else {}. */
static yyjson_mut_val *params_for(const struct mcp_stream *s, yyjson_mut_doc *doc) {
  yyjson_mut_val *params = yyjson_mut_obj(doc);
  if (s->modern)
    yyjson_mut_obj_add_val(doc, json_put_obj(doc, params, "_meta"), MCP_META "subscriptionId",
                           yyjson_mut_rawncpy(doc, s->id.p, s->id.n));
  return params;
}

static void stream_send(struct mcp_stream *s, struct str text, bool last) {
  pthread_mutex_lock(&s->lock);
  if (!s->closed) {
    s->closed = last;
    s->out.send(s->out.arg, text, last);
  }
  pthread_mutex_unlock(&s->lock);
}

/* Never jumps: callers hold a reference to the stream. Without memory the stream misses this message. */
static void stream_notify(struct mcp_stream *s, const char *method, struct str uri) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *params = params_for(s, doc);
    json_put_opt(doc, params, "uri", uri);
    stream_send(s, rpc_send(&a, doc, STR_NONE, method, s->modern || uri.p ? params : NULL), false);
  }
  arena_release(&a);
}

/* A legacy session sends each message only on its newest stream. */
static bool is_newest_stream(struct mcp_stream *s) {
  struct mcp_server *server = s->server;
  pthread_mutex_lock(&server->lock);
  struct mcp_stream *first = server->streams;
  while (first && (first->modern || first->session != s->session || first->closed))
    first = first->next;
  pthread_mutex_unlock(&server->lock);
  return s->modern || first == s;
}

/* ---- notifications ---- */

struct news {
  const struct event *event; /* NULL: `list` has changed */
  yyjson_val *before, *after;
  const char *list;
  int64_t txn;
  uint64_t number;
  const struct follower *from; /* follower whose streams are notified; NULL, or the team's: streams without their own */
};

static bool concerns(const struct news *news, struct watched *w) {
  int64_t id = news->event->memory_id;
  if (!w->resource || !w->resource->concerns(w->variable, news->event, news->before, news->after))
    return w->memory_id && w->memory_id == id;
  if (id && json_str(news->after, "key").p && str_eq(json_str(news->after, "key"), w->variable))
    w->memory_id = id; /* a new version */
  return true;
}

/* Copies the next changed URI that was not notified in this transaction; returns its length, 0: none. */
static size_t next_changed(struct watched *list, const struct news *news, char out[URI_MAX]) {
  for (struct watched *w = list; w; w = w->next) {
    if (w->seen == news->number)
      continue;
    w->seen = news->number;
    if (!concerns(news, w) || (news->txn && w->told == news->txn))
      continue;
    w->told = news->txn;
    assert(w->uri.n <= URI_MAX);
    memcpy(out, w->uri.p, w->uri.n);
    return w->uri.n;
  }
  return 0;
}

static void notify_updates(struct mcp_stream *s, const struct news *news) {
  struct mcp_server *server = s->server;
  char uri[URI_MAX];
  size_t n;
  do {
    pthread_mutex_lock(&server->lock);
    struct mcp_session *session = s->session ? s->session : server->sessions;
    struct watched *list = s->modern ? s->watched : session ? session->watched : NULL;
    n = next_changed(list, news, uri);
    pthread_mutex_unlock(&server->lock);
    if (n)
      stream_notify(s, "notifications/resources/updated", (struct str){uri, n});
  } while (n);
}

static void notify_list(struct mcp_stream *s, const struct news *news) {
  assert(news->list);
  bool wanted = !s->modern || (strcmp(news->list, "tools") == 0     ? s->tools
                               : strcmp(news->list, "prompts") == 0 ? s->prompts
                                                                    : s->resources);
  pthread_mutex_lock(&s->server->lock);
  bool told = news->txn && s->list_told == news->txn;
  s->list_told = news->txn;
  /* With one connection the stream exists before a legacy client initializes, if one ever does. */
  const struct mcp_session *session = s->session ? s->session : s->server->sessions;
  wanted = wanted && (s->modern || (session && session->version.n > 0));
  pthread_mutex_unlock(&s->server->lock);
  if (!wanted || told)
    return;
  char method[64];
  snprintf(method, sizeof(method), "notifications/%s/list_changed", news->list);
  stream_notify(s, method, STR_NONE);
}

static const struct follower *of_one(const struct follower *f) { return f && f->of_one ? f : NULL; }

/* Nothing here may jump: the stream whose turn it is would never be released. */
static void tell(struct mcp_server *server, struct str team, struct news *news) {
  pthread_mutex_lock(&server->lock);
  news->number = ++server->news;
  pthread_mutex_unlock(&server->lock);
  for (struct mcp_stream *s = next_stream(server, NULL); s; s = next_stream(server, s)) {
    if (!str_eq(s->team, team) || s->own != of_one(news->from) || !is_newest_stream(s))
      continue;
    if (news->list)
      notify_list(s, news);
    if (news->event)
      notify_updates(s, news);
  }
}

static void notify_parsed(struct mcp_server *server, struct str team, struct news news, struct arena *a) {
  const struct event *e = news.event;
  struct error err;
  if (e && e->before.n && json_read(a, e->before, &news.before, &err) != STATUS_OK)
    news.before = NULL;
  if (e && e->after.n && json_read(a, e->after, &news.after, &err) != STATUS_OK)
    news.after = NULL;
  /* resources/list includes skills. */
  if (json_str(news.before, "skill_name").p || json_str(news.after, "skill_name").p)
    news.list = "resources";
  tell(server, team, &news);
}

/* Out of memory drops the notification. */
static void notify_guarded(struct mcp_server *server, struct str team, const struct news *news) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom))
    notify_parsed(server, team, *news, &a);
  arena_release(&a);
}

/* A listen ends with the result of its request. Out of memory, it ends without one. */
static void finish(struct mcp_stream *s) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!s->modern || ARENA_BOUNDARY(&a, oom)) {
    stream_send(s, STR_NONE, true);
  } else {
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *result = params_for(s, doc);
    json_put(doc, root, "jsonrpc", STR("2.0"));
    yyjson_mut_obj_add_val(doc, root, "id", yyjson_mut_rawncpy(doc, s->id.p, s->id.n));
    json_put(doc, result, "resultType", STR("complete"));
    yyjson_mut_obj_add_val(doc, root, "result", result);
    stream_send(s, json_write(&a, root, false), true);
  }
  arena_release(&a);
}

/* Ends the streams of a follower whose token is no longer valid. A stream that is being opened checks `ended`. */
static void end_follower_streams(struct follower *f) {
  assert(f->of_one);
  atomic_store(&f->ended, true);
  for (struct mcp_stream *s = next_stream(f->server, NULL); s; s = next_stream(f->server, s))
    if (s->own == f)
      finish(s);
}

static void on_event(void *arg, const struct event *e) {
  struct follower *f = arg;
  if (!e)
    end_follower_streams(f);
  if (!e || !e->change || strcmp(e->change, "setting") == 0)
    return;
  pthread_mutex_lock(&f->server->lock);
  bool nobody = !f->server->streams;
  pthread_mutex_unlock(&f->server->lock);
  if (!nobody)
    notify_guarded(f->server, f->team, &(struct news){.event = e, .txn = e->txn, .from = f});
}

void subscriptions_list_changed(struct mcp_server *server, struct str team, const char *list) {
  notify_guarded(server, team, &(struct news){.list = list});
}

/* ---- following the log ---- */

/* Called with server->following held, like free_ended_followers(). */
static enum status follower_new(struct mcp_server *server, const struct caller *c, struct follower **ret_follower,
                                struct error *err) {
  assert(server->options.feed && mutex_is_locked(&server->following));
  struct follower *f = mem_zalloc(sizeof(*f) + c->team.n + 1);
  if (!f)
    return error_set(err, STATUS_NOMEM, "out of memory");
  char *copy = (char *)(f + 1);
  memcpy(copy, c->team.p, c->team.n);
  f->server = server;
  f->team = (struct str){copy, c->team.n};
  f->of_one = c->principal != NULL;
  struct subscription events = {f->team, c->principal, -1, on_event, f};
  enum status s = feed_subscribe(server->options.feed, &events, &f->subscriber, err);
  if (s != STATUS_OK) {
    mem_free(f);
    return s;
  }
  f->next = server->followers;
  server->followers = f;
  *ret_follower = f;
  return STATUS_OK;
}

static void free_ended_followers(struct mcp_server *server) {
  assert(mutex_is_locked(&server->following));
  struct follower **at = &server->followers;
  while (*at) {
    struct follower *f = *at;
    if (!atomic_load(&f->over)) {
      at = &f->next;
      continue;
    }
    *at = f->next;
    feed_unsubscribe(server->options.feed, &f->subscriber);
    mem_free(f);
  }
}

enum status subscriptions_follow(struct mcp_server *server, struct str team, struct error *err) {
  if (!server->options.feed)
    return STATUS_OK;
  pthread_mutex_lock(&server->following);
  struct follower *f = server->followers;
  while (f && (f->of_one || !str_eq(f->team, team)))
    f = f->next;
  struct caller everybody = {.team = team};
  enum status s = f ? STATUS_OK : follower_new(server, &everybody, &f, err);
  pthread_mutex_unlock(&server->following);
  return s;
}

/* The stream must not be in the list yet. */
static enum status stream_follow(struct mcp_stream *s, const struct caller *c, struct error *err) {
  struct mcp_server *server = s->server;
  assert(!s->own && !s->next);
  if (!c->principal || !server->options.feed)
    return subscriptions_follow(server, c->team, err);
  pthread_mutex_lock(&server->following);
  free_ended_followers(server);
  enum status status = follower_new(server, c, &s->own, err);
  pthread_mutex_unlock(&server->following);
  return status;
}

/* ---- legacy: subscribe, unsubscribe, the session's stream ---- */

void method_subscribe(struct exchange *x) {
  struct str uri = json_str(x->in->params, "uri");
  struct error err;
  assert(x->session);
  if (!uri.p) {
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: uri is missing");
    return;
  }
  if (!x->caller.principal && subscriptions_follow(x->server, x->caller.team, &err) != STATUS_OK) {
    exchange_failed(x, &err);
    return;
  }
  if (watch(x, &x->session->watched, uri))
    exchange_result(x, yyjson_mut_obj(x->doc));
  else
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: at most %d resources of %d bytes are watched",
                   (int)WATCHED_MAX, (int)URI_MAX);
}

void method_unsubscribe(struct exchange *x) {
  struct str uri = json_str(x->in->params, "uri");
  if (!uri.p) {
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: uri is missing");
    return;
  }
  assert(x->session);
  pthread_mutex_lock(&x->server->lock);
  unwatch(&x->session->watched, uri);
  pthread_mutex_unlock(&x->server->lock);
  exchange_result(x, yyjson_mut_obj(x->doc));
}

/* The session of a GET or DELETE with a reference; NULL with an HTTP status. */
static struct mcp_session *session_of(struct mcp_server *server, const struct mcp_sender *sender,
                                      const struct mcp_head *head, int *ret_status) {
  struct str version = str_trim(head->version);
  *ret_status = 200;
  if (version.n && !era_is_legacy(version))
    *ret_status = str_is(version, MCP_MODERN) ? 405 : 400;
  else if (str_empty(head->session))
    *ret_status = 400;
  if (*ret_status != 200)
    return NULL;
  struct mcp_session *s = mcp_session_find(server, head->session, &sender->caller);
  *ret_status = s ? 200 : 404;
  return s;
}

void mcp_listen(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                struct mcp_out *out, struct mcp_reply *ret_reply) {
  struct mcp_session *session = NULL;
  *ret_reply = (struct mcp_reply){.status = 200};
  if (!server->options.one_connection && !(session = session_of(server, sender, head, &ret_reply->status)))
    return;
  struct mcp_stream *s = stream_new(server, out, sender->caller.team, STR(""));
  struct error err;
  if (s)
    s->session = session;
  else if (session)
    mcp_session_drop(server, session);
  /* Over HTTP the stream's only use is following the log. On stdio it always exists, and the log is followed on demand.
   * A stream that cannot follow is silent; it is refused only if it has a token, whose end would go unnoticed. */
  bool followed = !s || !session || stream_follow(s, &sender->caller, &err) == STATUS_OK || !sender->caller.principal;
  if (s && (!followed || !stream_link(s))) {
    stream_free(s);
    s = NULL;
  }
  ret_reply->status = s ? 200 : 503;
  ret_reply->stream = s;
  if (s && token_ended_early(s))
    finish(s);
}

bool mcp_has_session(struct mcp_server *server, const struct mcp_sender *sender, struct str id) {
  struct mcp_session *s = mcp_session_find(server, id, &sender->caller);
  if (s)
    mcp_session_drop(server, s);
  return s != NULL;
}

int mcp_end_session(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head) {
  int status;
  struct mcp_session *s = session_of(server, sender, head, &status);
  if (!s)
    return status;
  mcp_session_end(server, s);
  mcp_session_drop(server, s);
  return 200;
}

/* ---- modern: subscriptions/listen ---- */

static bool can_watch(struct exchange *x, struct str uri) {
  struct str variable;
  if (x->server->options.conformance && str_starts(uri, STR("test://")))
    return true;
  return x->server->options.feed && uri.p && resource_watched(x, uri, &variable);
}

/* Sets up the requested notifications; returns the accepted ones as JSON. */
static yyjson_mut_val *accept(struct exchange *x, struct mcp_stream *s, yyjson_val *filter) {
  yyjson_mut_val *accepted = yyjson_mut_obj(x->doc), *list = NULL;
  bool lists = x->server->options.conformance, changes = x->server->options.feed || lists;
  s->tools = lists && json_bool(filter, "toolsListChanged", false);
  s->prompts = lists && json_bool(filter, "promptsListChanged", false);
  s->resources = changes && json_bool(filter, "resourcesListChanged", false);
  if (s->tools)
    json_put_bool(x->doc, accepted, "toolsListChanged", true);
  if (s->prompts)
    json_put_bool(x->doc, accepted, "promptsListChanged", true);
  if (s->resources)
    json_put_bool(x->doc, accepted, "resourcesListChanged", true);
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(filter, "resourceSubscriptions"), i, n, v) {
    struct str uri = json_val_str(v);
    if (!can_watch(x, uri) || !watch(x, &s->watched, uri))
      continue;
    list = list ? list : json_put_arr(x->doc, accepted, "resourceSubscriptions");
    json_add_str(x->doc, list, uri);
  }
  return accepted;
}

static bool check_filter(struct exchange *x, yyjson_val *filter) {
  static const char *const lists[] = {"toolsListChanged", "promptsListChanged", "resourcesListChanged"};
  yyjson_val *uris = yyjson_obj_get(filter, "resourceSubscriptions");
  bool ok = yyjson_is_obj(filter) && (!uris || yyjson_is_arr(uris));
  for (size_t i = 0; ok && i < ARRAY_LEN(lists); i++) {
    yyjson_val *v = yyjson_obj_get(filter, lists[i]);
    ok = !v || yyjson_is_bool(v);
  }
  if (!ok)
    exchange_error(x, 200, RPC_PARAMS, NULL,
                   "Invalid params: notifications is an object of toolsListChanged, promptsListChanged, "
                   "resourcesListChanged (true or false) and resourceSubscriptions (a list of URIs)");
  return ok;
}

/* Keeps the client's memory session alive as long as the stream. False: refused, and the error is sent. */
static bool keep_session_alive(struct exchange *x, struct mcp_stream *stream) {
  yyjson_val *result;
  struct error err;
  if (str_empty(x->caller.session) || !x->head->http)
    return true; /* on stdio the session lives as long as the process */
  enum status s = exchange_call(x, &session_of_call, STR("{}"), &result, &err);
  if (s == STATUS_NOT_FOUND || s == STATUS_CONFLICT)
    exchange_error(x, 200, RPC_PARAMS, NULL, "Invalid params: " MCP_META_SESSION ": %s", err.message);
  else if (s != STATUS_OK)
    exchange_failed(x, &err);
  if (s != STATUS_OK)
    return false;
  if (lost_start(x->server))
    stream->lost = lost_new(x->caller.team, json_str(result, "session"));
  return true;
}

/* A stream that is not in the list yet. */
static void free_unlinked(void *p) {
  struct mcp_stream **s = p;
  if (*s)
    stream_free(*s);
  *s = NULL;
}

/* Following starts before the acknowledgement, so no later change is missed. */
void method_listen(struct exchange *x) {
  yyjson_val *filter = yyjson_obj_get(x->in->params, "notifications");
  struct str id = json_write_val(x->arena, x->in->id);
  struct mcp_stream **unlinked = arena_new(x->arena, struct mcp_stream *); /* freed by the arena after a jump */
  struct error err;
  assert(x->modern && !x->reply->stream);
  arena_defer(x->arena, free_unlinked, unlinked);
  if (!check_filter(x, filter))
    return;
  if (id.n > ID_MAX) {
    exchange_error(x, 200, RPC_INVALID, NULL, "Invalid request: the id is too long");
    return;
  }
  struct mcp_stream *s = *unlinked = stream_new(x->server, x->out, x->caller.team, id);
  if (!s) {
    exchange_error(x, 200, RPC_INTERNAL, NULL, "out of memory");
    return;
  }
  s->modern = true;
  if (!keep_session_alive(x, s)) {
    free_unlinked(unlinked);
    return;
  }
  yyjson_mut_val *accepted = accept(x, s, filter);
  bool follows = s->resources || s->watched || x->caller.principal; /* following also notices the end of a token */
  if (follows && stream_follow(s, &x->caller, &err) != STATUS_OK) {
    free_unlinked(unlinked);
    exchange_failed(x, &err);
    return;
  }
  yyjson_mut_val *params = params_for(s, x->doc);
  yyjson_mut_obj_add_val(x->doc, params, "notifications", accepted);
  struct str text = rpc_send(x->arena, x->doc, STR_NONE, "notifications/subscriptions/acknowledged", params);
  struct str held = s->lost ? arena_dup(x->arena, s->lost->handle) : STR_NONE;
  pthread_mutex_lock(&s->lock); /* nothing may precede the acknowledgement */
  bool linked = stream_link(s);
  if (linked) {
    *unlinked = NULL;
    x->reply->status = 200;
    x->reply->stream = s;
    s->out.send(s->out.arg, text, false);
    if (token_ended_early(s))
      finish(s);
  }
  pthread_mutex_unlock(&s->lock);
  if (linked && held.p) /* lost.c may have ended it before the stream was listed */
    lost_reopen(x->server, x->caller.team, held);
  if (linked)
    return;
  free_unlinked(unlinked);
  exchange_error(x, 503, RPC_INTERNAL, NULL, "too many open streams; close some");
}

/* ---- shutdown ---- */

bool subscriptions_holds_session(struct mcp_server *server, struct str team, struct str handle) {
  bool held = false;
  pthread_mutex_lock(&server->lock);
  for (struct mcp_stream *s = server->streams; s && !held; s = s->next)
    held = s->lost && str_eq(s->lost->team, team) && str_eq(s->lost->handle, handle);
  pthread_mutex_unlock(&server->lock);
  return held;
}

void mcp_hang_up(struct mcp_server *server, struct mcp_stream *stream) {
  assert(stream->server == server);
  pthread_mutex_lock(&stream->lock);
  stream->closed = true;
  pthread_mutex_unlock(&stream->lock);
  pthread_mutex_lock(&server->lock);
  struct lost *l = stream->lost;
  stream->lost = NULL;
  pthread_mutex_unlock(&server->lock);
  lost_enqueue(server, l);
  stream_drop(stream);
}

bool subscriptions_cancel(struct mcp_server *server, struct arena *a, yyjson_val *id) {
  bool found = false;
  assert(server->options.one_connection);
  struct str text = json_write_val(a, id);
  for (struct mcp_stream *s = next_stream(server, NULL); s; s = next_stream(server, s)) {
    if (!s->modern || s->closed || !str_eq(s->id, text))
      continue;
    found = true;
    mcp_hang_up(server, s); /* drops the transport's reference, which it does not use with one connection */
  }
  return found;
}

void subscriptions_end_session(struct mcp_server *server, const struct mcp_session *session) {
  if (server->options.one_connection)
    return;
  for (struct mcp_stream *s = next_stream(server, NULL); s; s = next_stream(server, s))
    if (s->session == session)
      finish(s);
}

void mcp_stop(struct mcp_server *server) {
  server_cancel_all(server);
  for (struct mcp_stream *s = next_stream(server, NULL); s; s = next_stream(server, s))
    finish(s);
}

void subscriptions_end(struct mcp_server *server) {
  for (struct follower *f = server->followers; f; f = f->next)
    feed_unsubscribe(server->options.feed, &f->subscriber);
  mcp_stop(server);
  while (server->streams) {
    struct mcp_stream *s = server->streams;
    server->streams = s->next;
    stream_free(s);
  }
  while (server->followers) { /* streams point to theirs until they are freed */
    struct follower *f = server->followers;
    server->followers = f->next;
    mem_free(f);
  }
}
