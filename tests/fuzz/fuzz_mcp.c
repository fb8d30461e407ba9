/* fuzz_mcp.c: any message to the dispatcher, in each protocol era and over each transport. A request gets exactly
 * one response, JSON on one line. Anything else gets none, or an error without a result. */
#include <pthread.h>
#include <unistd.h>

#include "mcp/protocol/server.h"
#include "support/fuzz.h"

struct heard {
  size_t answers;
  bool request_id; /* the message was a request */
};

/* The store and servers of one input; tool calls are executed for real. */
struct world {
  struct mcp_server *server[2]; /* stdio, HTTP */
  char session[MCP_SESSION_SIZE];
  char path[64];
};

static void hear(void *arg, struct str json, bool last) {
  struct heard *h = arg;
  struct arena a;
  struct error err;
  yyjson_val *v = NULL;
  arena_init(&a);
  FUZZ_CHECK(json.p && !memchr(json.p, '\n', json.n));
  FUZZ_CHECK(json_read(&a, json, &v, &err) == STATUS_OK && yyjson_is_obj(v));
  FUZZ_CHECK(str_is(json_str(v, "jsonrpc"), "2.0"));
  bool result = yyjson_obj_get(v, "result"), error = yyjson_obj_get(v, "error");
  if (last) {
    FUZZ_CHECK(result != error);
    FUZZ_CHECK(h->request_id || (error && !yyjson_obj_get(v, "id")) || error);
    h->answers++;
  } else {
    FUZZ_CHECK(yyjson_obj_get(v, "method") && !result && !error);
  }
  FUZZ_CHECK(h->answers <= 1);
  arena_release(&a);
}

static void remove_store(const struct world *w) {
  static const char *const ends[] = {"", "-wal", "-shm", ".before-boot.jsonl"};
  for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
    char path[96];
    snprintf(path, sizeof(path), "%s%s", w->path, ends[i]);
    unlink(path);
  }
}

static void say(struct world *w, int which, struct str message, struct heard *h) {
  struct mcp_head head = {.http = which == 1};
  static const char *const versions[] = {"", "2026-07-28", "2025-11-25"};
  struct mcp_sender sender = {.caller = {.team = STR("fuzz"), .project = STR("")}};
  for (size_t v = 0; v < (which ? ARRAY_LEN(versions) : 1); v++) {
    *h = (struct heard){.request_id = h->request_id};
    struct mcp_out out = {.arg = h, .send = hear};
    struct mcp_reply reply;
    head.version = str_from(versions[v]);
    head.method = head.name = STR("tools/list");
    head.session = str_from(w->session);
    mcp_handle(w->server[which], &sender, &head, message, &out, &reply);
    FUZZ_CHECK(reply.stream || h->answers == 1 || reply.status == 202);
    if (h->request_id && !reply.stream)
      FUZZ_CHECK(h->answers == 1);
    if (reply.stream)
      mcp_hang_up(w->server[which], reply.stream);
  }
}

static void begin(struct world *w) {
  struct error err;
  snprintf(w->path, sizeof(w->path), "/tmp/cairn-fuzz-mcp-%d.db", (int)getpid());
  remove_store(w);
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  struct engine_options o = {.path = w->path, .clock = {.fixed = 1763208000000}};
  for (int i = 0; i < 2; i++) {
    struct mcp_options options = {.profile = profiles[0], .conformance = i == 0, .one_connection = i == 0};
    FUZZ_CHECK(pool_new(&o, (struct fair_places){.shared = 1}, &options.pool, &err) == STATUS_OK);
    FUZZ_CHECK(mcp_new(&options, &w->server[i], &err) == STATUS_OK);
  }
}

static void end(struct world *w) {
  for (int i = 0; i < 2; i++) {
    struct pool *pool = w->server[i]->options.pool;
    mcp_close(&w->server[i]);
    pool_close(&pool);
  }
  remove_store(w);
}

/* Each input gets a new store, so results do not depend on earlier inputs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct world w = {0};
  struct str message = {(const char *)data, size};
  struct arena a;
  struct rpc_message in;
  begin(&w);
  arena_init(&a);
  rpc_read(&a, message, &in);
  /* No client answers questions here, so do not wait for answers. */
  questions_abort(w.server[0]);
  questions_abort(w.server[1]);
  for (int i = 0; i < 2; i++) {
    struct heard h = {.request_id = in.kind == RPC_REQUEST};
    say(&w, i, message, &h);
  }
  arena_release(&a);
  end(&w);
  return 0;
}
