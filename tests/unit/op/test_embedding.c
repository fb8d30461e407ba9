/* test_embedding.c: the embedders of an engine: opened on first use and kept, both indexes searched, a pause after a
 * failure, and out-of-memory errors. */
#include <stdlib.h>

#include "base/alloc.h"
#include "op/embedding/config.h"
#include "op/embedding/embedding.h"
#include "store/vectors/indexes.h"
#include "support/harness.h"
#include "support/http_server.h"
#include "support/proc.h"
#include "support/store.h"

enum { DIMS = 32 };

static struct error err;
static struct arena a;

static struct engine *open_engine(const char *name) {
  struct engine_options o = {.path = test_store(name), .clock = {.fixed = 1763208000000}};
  struct engine *e = NULL;
  unsetenv("CAIRN_EMBEDDER");
  CHECK_OK(engine_open(&o, &e, &err), &err);
  return e;
}

static enum status call(struct engine *e, const char *op, const char *json, yyjson_mut_val **ret) {
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_val *args;
  yyjson_mut_val *result = NULL;
  CHECK_OK(json_read(&a, str_from(json), &args, &err), &err);
  enum status s = op_run(e, op_find(str_from(op)), &caller, NULL, &a, args, &result, &err);
  if (ret)
    *ret = result;
  return s;
}

static struct http_server *server; /* of the test, if it has one */

static void done(struct engine **e) {
  engine_close(e);
  arena_release(&a);
  if (server)
    http_server_stop(server);
}

#define RUN(e, op, json) CHECK_OK(call(e, op, json, NULL), &err)

static void config(struct engine *e, const char *name, const char *value) {
  RUN(e, "config", arena_printf(&a, "{\"name\":\"%s\",\"value\":\"%s\"}", name, value).p);
}

static struct str text_of(yyjson_mut_val *obj, const char *name) {
  return str_from(yyjson_mut_get_str(yyjson_mut_obj_get(obj, name)));
}

static void use_server(struct engine *e, const char *url) {
  config(e, "embedder.url", url);
  config(e, "embedder.model", "small");
  config(e, "embedder.dims", "32");
  config(e, "embedder", "openai");
}

TEST(calls_without_vectors_open_no_embedder) {
  struct engine *e = open_engine("lazy.db");
  RUN(e, "remember", "{\"text\":\"Tea is green\",\"defer_embedding\":true}");
  RUN(e, "get", "{\"id\":\"1\"}");
  RUN(e, "list", "{}");
  RUN(e, "stats", "{}");
  RUN(e, "doctor", "{}");
  RUN(e, "boot", "{}");
  CHECK(e->embedders == NULL);
  config(e, "embedder", "hash-v1");
  RUN(e, "search", "{\"query\":\"tea\"}");
  CHECK(e->embedders != NULL);
  done(&e);
}

TEST(a_query_is_embedded_once_per_process) {
  struct engine *e = open_engine("memo.db");
  struct http_server *s = server = http_server_start(.dims = DIMS);
  use_server(e, http_server_url(s));
  RUN(e, "remember", "{\"text\":\"Tea is green\"}");
  int before = http_server_requests(s);
  RUN(e, "search", "{\"query\":\"a hot drink\"}");
  CHECK_INT(http_server_requests(s), before + 1);
  CHECK_OK(db_exec(store_db(e->store), &err, "DELETE FROM embed_cache", NULL), &err);
  RUN(e, "search", "{\"query\":\"a hot drink\"}"); /* from memory */
  CHECK_INT(http_server_requests(s), before + 1);
  done(&e);
}

TEST(a_failed_embedder_is_not_retried_for_a_while) {
  struct engine *e = open_engine("down.db");
  struct http_server *s = server =
      http_server_start(.dims = DIMS, HTTP_STEPS({.status = 400, .body = "not today", .times = 99}));
  use_server(e, http_server_url(s));
  yyjson_mut_val *r;
  RUN(e, "remember", "{\"text\":\"Tea is green\"}");
  int asked = http_server_requests(s);
  CHECK(asked > 0);
  RUN(e, "remember", "{\"text\":\"Coffee is brown\"}");
  CHECK_OK(call(e, "search", "{\"query\":\"tea\"}", &r), &err);
  CHECK(str_find(text_of(r, "degraded"), STR("not today"), 0) != SIZE_MAX);
  CHECK_STR(text_of(r, "search_mode"), "keyword");
  CHECK_INT(http_server_requests(s), asked);
  CHECK_STATUS(call(e, "reembed", "{}", NULL), STATUS_UNAVAILABLE); /* an explicit request: no pause */
  CHECK(http_server_requests(s) > asked);
  done(&e);
}

/* In one call: chunks that are only in the index that is being built are found, and each chunk only once. */
TEST(both_indexes_are_searched) {
  struct engine *e = open_engine("both.db");
  config(e, "embedder", "hash-v1");
  RUN(e, "remember", "{\"text\":\"Tea is green\"}");
  RUN(e, "remember", "{\"text\":\"Coffee is brown\"}");
  struct http_server *s = server = http_server_start(.dims = DIMS);
  use_server(e, http_server_url(s));
  RUN(e, "remember", "{\"text\":\"Cocoa is dark\"}"); /* by both */
  /* A text that the former embedder could not embed. */
  struct sql q = SQL(&a);
  sql_addf(&q, "DELETE FROM %s WHERE model = 'hash-v1' AND chunk_id = (SELECT id FROM chunk WHERE memory_id = 3)",
           on_postgres() ? "vec" : "vec_slot");
  CHECK_OK(db_exec_sql(store_db(e->store), &err, &q), &err);
  struct op_call c = {.op = op_find(STR("search")),
                      .engine = e,
                      .caller = {.team = STR("default"), .project = STR("")},
                      .arena = &a,
                      .now = 1763208000000,
                      .err = &err};
  struct embeddings set;
  CHECK_OK(embeddings_of(&c, &set), &err);
  CHECK_INT(set.n, 2);
  CHECK_STR(set.v[0].model.model, "hash-v1");
  CHECK(!set.v[0].building && set.v[1].building);
  CHECK(embeddings_wanted(&set) == &set.v[1]);
  struct scope scope = call_scope(&c);
  struct filter any = {0};
  struct chunk_query query = {.scope = &scope, .filter = &any, .text = STR("Cocoa is dark"), .limit = 10};
  struct near_hits hits = {0};
  size_t used;
  CHECK_OK(embeddings_near(&c, &set, &query, &hits, &used), &err);
  CHECK_INT(used, 2);
  int seen[4] = {0};
  for (size_t i = 0; i < hits.n; i++) {
    CHECK(i == 0 || hits.v[i - 1].similarity >= hits.v[i].similarity);
    seen[hits.v[i].memory_id]++;
  }
  for (int id = 1; id <= 3; id++)
    CHECK_INT(seen[id], 1);
  CHECK_INT(hits.v[0].memory_id, 3); /* the exact text, from the new index */
  /* The former embedder fails: only the new one is used. */
  set.v[0].failed = true;
  hits = (struct near_hits){0};
  CHECK_OK(embeddings_near(&c, &set, &query, &hits, &used), &err);
  CHECK_INT(used, 1);
  CHECK_INT(hits.n, 1);
  done(&e);
}

TEST(cached_index_settings_are_kept) {
  struct engine *e = open_engine("config.db");
  use_server(e, "https://example.org/v1");
  config(e, "embedder.text_prefix", "passage: ");
  struct embed_config now, kept, other;
  CHECK_OK(embed_config_read(e->store, STR("default"), &a, &now, &err), &err);
  CHECK_OK(embed_config_parse(&a, now.json, &kept, &err), &err);
  CHECK(embed_config_same(&now, &kept));
  CHECK(str_eq(now.json, kept.json));
  CHECK_STR(embed_config_value(&kept, SET_EMBEDDER_TEXT_PREFIX), "passage: ");
  CHECK_STR(embed_config_value(&kept, SET_EMBEDDER_KEY_ENV), "OPENAI_API_KEY");
  config(e, "embedder.url", "https://elsewhere.example/v1"); /* the same model on another server */
  CHECK_OK(embed_config_read(e->store, STR("default"), &a, &other, &err), &err);
  CHECK(embed_config_same(&now, &other));
  config(e, "embedder.text_prefix", "");
  CHECK_OK(embed_config_read(e->store, STR("default"), &a, &other, &err), &err);
  CHECK(!embed_config_same(&now, &other));
  done(&e);
}

/* One call with the nth allocation failing; returns whether one failed. */
static bool call_failing(struct engine *e, const char *op, const char *json, long n) {
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  struct arena scratch = {0};
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&a, str_from(json), &args, &err), &err);
  alloc_fail_at(n, 0);
  enum status s = op_run(e, op_find(str_from(op)), &caller, NULL, &scratch, args, &result, &err);
  bool failed = alloc_failures() > 0;
  alloc_fail_at(0, 0);
  if (s != STATUS_OK && s != STATUS_NOMEM && s != STATUS_UNAVAILABLE && s != STATUS_CONFLICT)
    FAIL("%s: %s", status_name(s), err.message);
  CHECK(s == STATUS_OK || failed);
  arena_release(&scratch);
  return failed;
}

/* If any allocation fails, the call returns an error or works without it, leaves nothing half done, and the next call
 * works. */
TEST(out_of_memory_on_the_way_to_a_vector) {
  struct engine *e = open_engine("oom.db");
  config(e, "embedder", "hash-v1");
  RUN(e, "remember", "{\"text\":\"Tea is green\"}");
  server = http_server_start(.dims = DIMS);
  use_server(e, http_server_url(server));
  static const char *const calls[][2] = {
      {"search", "{\"query\":\"tea\"}"}, {"reembed", "{}"}, {"reembed", "{\"rollback\":true}"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    bool failed = true;
    for (long n = 1; failed; n++) {
      test_note("%s, allocation %ld", calls[i][0], n);
      pooled_free(&e->embedders); /* so that it is opened again */
      failed = call_failing(e, calls[i][0], calls[i][1], n);
      RUN(e, "search", "{\"query\":\"tea\"}");
    }
  }
  struct vec_indexes rows;
  int64_t faults, count, total;
  CHECK_OK(vec_indexes_of(e->store, STR("default"), &a, &rows, &err), &err);
  struct vec_index *active = &rows.of[VEC_ACTIVE];
  CHECK(active->model.p && rows.of[VEC_PREVIOUS].model.p && !rows.of[VEC_BUILDING].model.p);
  struct vec_model model = {STR("default"), active->model, active->dims};
  CHECK_OK(vec_count(e->store, &model, &count, &total, &err), &err);
  CHECK_INT(count, total);
  CHECK_OK(vec_check(e->store, &faults, &err), &err);
  CHECK_INT(faults, 0);
  done(&e);
}
