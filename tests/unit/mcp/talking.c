/* talking.c: dispatcher for tests. */
#include "talking.h"

#include <unistd.h>

#include "base/os/process.h"
#include "support/schema_check.h"

static struct arena arena;

/* Copies that live as long as the test. Not from an arena: a test may make allocations of the thread fail. */
static struct kept {
  struct kept *next;
  char text[];
} *all_kept;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static char *keep(struct str s) {
  struct kept *k = malloc(sizeof(*k) + s.n + 1);
  CHECK(k);
  memcpy(k->text, s.p, s.n);
  k->text[s.n] = 0;
  pthread_mutex_lock(&keeping);
  k->next = all_kept;
  all_kept = k;
  pthread_mutex_unlock(&keeping);
  return k->text;
}

static void take(void *arg, struct str json, bool last) {
  struct said *s = arg;
  pthread_mutex_lock(&s->lock);
  if (s->last || s->ended)
    FAIL("something was sent behind the answer: %.*s", STR_ARG(json));
  if (!json.p) {
    s->ended = true;
  } else {
    if (memchr(json.p, '\n', json.n))
      FAIL("a line end inside a message");
    if (s->n == SAID_MAX)
      FAIL("too many messages");
    char *copy = keep(json);
    s->lines[s->n++] = (struct str){copy, json.n};
    s->last = last;
  }
  pthread_cond_broadcast(&s->more);
  pthread_mutex_unlock(&s->lock);
}

static bool gone(void *arg) {
  struct said *s = arg;
  pthread_mutex_lock(&s->lock);
  bool is = s->gone;
  pthread_mutex_unlock(&s->lock);
  return is;
}

void said_init(struct said *s) {
  memset(s, 0, sizeof(*s));
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->more, NULL);
  s->out = (struct mcp_out){.arg = s, .send = take, .gone = gone};
}

void said_wait(struct said *s, size_t n) {
  pthread_mutex_lock(&s->lock);
  while (s->n < n)
    pthread_cond_wait(&s->more, &s->lock);
  pthread_mutex_unlock(&s->lock);
}

size_t said_count(struct said *s) {
  pthread_mutex_lock(&s->lock);
  size_t n = s->n;
  pthread_mutex_unlock(&s->lock);
  return n;
}

yyjson_val *said_line(struct said *s, size_t i) {
  struct error err;
  yyjson_val *v = NULL;
  CHECK(i < said_count(s));
  CHECK_OK(json_read(&arena, s->lines[i], &v, &err), &err);
  CHECK_STR(json_str(v, "jsonrpc"), "2.0");
  return v;
}

struct mcp_server *talking_server(bool one_connection, bool conformance) {
  struct error err;
  struct mcp_server *server = NULL;
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  struct engine_options o = {.path = cli_db()};
  struct mcp_options options = {
      .profile = profile_find(STR("full")), .conformance = conformance, .one_connection = one_connection};
  CHECK(options.profile);
  CHECK_OK(pool_new(&o, (struct fair_places){.shared = 4}, &options.pool, &err), &err);
  CHECK_OK(feed_new(&o, &options.feed, &err), &err);
  CHECK_OK(mcp_new(&options, &server, &err), &err);
  return server;
}

void talking_stop(struct mcp_server **server) {
  struct mcp_options o = (*server)->options;
  mcp_close(server);
  feed_close(&o.feed);
  pool_close(&o.pool);
}

struct mcp_sender talking_sender(void) {
  static struct origin here;
  if (!here.pid)
    here = (struct origin){.host = process_host(&arena), .pid = getpid()};
  return (struct mcp_sender){.caller = {.team = STR("default"), .project = STR("web"), .origin = &here}};
}

void say(struct mcp_server *server, const struct mcp_head *head, const char *message, struct said *ret_said) {
  static const struct mcp_head none;
  struct mcp_sender sender = talking_sender();
  said_init(ret_said);
  mcp_handle(server, &sender, head ? head : &none, str_from(message), &ret_said->out, &ret_said->reply);
}

yyjson_val *ask(struct mcp_server *server, const struct mcp_head *head, const char *message) {
  static struct said said;
  struct error err;
  yyjson_val *request;
  say(server, head, message, &said);
  CHECK_INT(said.n, 1);
  CHECK(said.last);
  yyjson_val *answer = said_line(&said, 0);
  if (json_read(&arena, str_from(message), &request, &err) == STATUS_OK)
    check_conversation(server->options.profile, request, answer);
  return answer;
}

const char *modern_with(const char *capabilities, const char *method, const char *params) {
  return textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"_meta\":{\"" MCP_META
               "protocolVersion\":\"2026-07-28\",\"" MCP_META "clientCapabilities\":%s}%s%s}}",
               method, capabilities, params[0] ? "," : "", params);
}

const char *modern(const char *method, const char *params) { return modern_with("{}", method, params); }

const char *legacy(const char *method, const char *params) {
  return textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}", method, params);
}

yyjson_val *meta_of(yyjson_val *message, const char *where, const char *name) {
  return yyjson_obj_get(jget(message, textf("%s._meta", where)), textf(MCP_META "%s", name));
}

struct mcp_head http_head(const char *version, const char *method, const char *name, const char *session) {
  return (struct mcp_head){.http = true,
                           .version = str_from(version),
                           .method = str_from(method),
                           .name = str_from(name),
                           .session = str_from(session)};
}
