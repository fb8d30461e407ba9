/* test_corpus.c: documents in operations: searched on request, shown with their origin, read-only. */
#include "op/search/corpus.h"

#include "op/op.h"
#include "op/run/engine.h"
#include "support/harness.h"
#include "support/store.h"

static struct error err;
static struct arena a;
static struct engine *e;
static struct caller caller = {
    .team = STR_INIT("default"), .project = STR_INIT("p"), .source = STR_INIT("test"), .trust = STR_INIT("user")};

static enum status try(const char *op, const char *args, yyjson_mut_val **ret) {
  yyjson_val *read;
  CHECK_OK(json_read(&a, str_from(args), &read, &err), &err);
  return op_run(e, op_find(str_from(op)), &caller, NULL, &a, read, ret, &err);
}

static yyjson_mut_val *run(const char *op, const char *args) {
  yyjson_mut_val *result = NULL;
  test_note("%s %s", op, args);
  CHECK_OK(try(op, args, &result), &err);
  return result;
}

static yyjson_mut_val *member(yyjson_mut_val *v, const char *name) { return yyjson_mut_obj_get(v, name); }
static struct str text(yyjson_mut_val *v, const char *name) {
  yyjson_mut_val *m = member(v, name);
  return yyjson_mut_is_str(m) ? (struct str){yyjson_mut_get_str(m), yyjson_mut_get_len(m)} : STR_NONE;
}

static int64_t item;

/* One memory and one document of each corpus on the same topic. */
static void open_engine(void) {
  struct engine_options o = {.path = test_store("corpus.db"), .clock = {.fixed = 1763208000000}};
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  CHECK_OK(engine_open(&o, &e, &err), &err);
  run("remember", "{\"text\":\"The gateway of staging listens on port 5433\"}");
  struct txn who = {
      .team = STR("default"), .project = STR("p"), .source = STR("test"), .op = "extract", .now = 1763208000000};
  struct txn txn;
  CHECK_OK(txn_begin(e->store, &who, 0, &txn, &err), &err);
  for (enum corpus c = CORPUS_ITEMS; c < CORPUS_COUNT; c++) {
    struct document d = {.ref = STR("i-1"),
                         .type = STR("decision"),
                         .headline = STR("Gateway port"),
                         .text = STR("Decided: the gateway listens on port 6000"),
                         .line = 12,
                         .confidence = 0.75,
                         .at = 1763000000000};
    struct documents list = {&d, 1, 1};
    struct document_group group = {.path = STR("docs/ports.md")};
    struct document_counts counts = {0};
    CHECK_OK(documents_replace(&txn, &a, c, &group, &list, &counts, &err), &err);
  }
  CHECK_OK(txn_commit(&txn, &err), &err);
  CHECK_OK(db_int(store_db(e->store), &item, NULL, &err, "SELECT memory_id FROM document WHERE corpus = 'items'", NULL),
           &err);
}

static void close_engine(void) {
  engine_close(&e);
  arena_release(&a);
}

static size_t found(const char *args) { return yyjson_mut_arr_size(member(run("search", args), "results")); }

TEST(search_in_selected_corpora) {
  open_engine();
  CHECK_INT(found("{\"query\":\"gateway port\"}"), 1);
  CHECK_INT(found("{\"query\":\"gateway port\",\"in\":[\"memory\"]}"), 1);
  CHECK_INT(found("{\"query\":\"gateway port\",\"in\":[\"items\"]}"), 1);
  CHECK_INT(found("{\"query\":\"gateway port\",\"in\":[\"sessions\",\"sources\"]}"), 2);
  CHECK_INT(found("{\"query\":\"gateway port\",\"in\":[\"all\"]}"), 4);
  CHECK_INT(found("{\"query\":\"gateway port\",\"in\":[\"all\"],\"mode\":\"keyword\"}"), 4);
  CHECK_INT(found("{\"query\":\"gateway port\",\"in\":[\"memory\",\"items\"],\"type\":\"decision\"}"), 1);
  yyjson_mut_val *none;
  CHECK_INT(try("search", "{\"query\":\"x\",\"in\":[\"nowhere\"]}", &none), STATUS_USAGE);
  close_engine();
}

TEST(documents_show_their_origin) {
  open_engine();
  yyjson_mut_val *hit =
      yyjson_mut_arr_get_first(member(run("search", "{\"query\":\"gateway port\",\"in\":[\"items\"]}"), "results"));
  CHECK_STR(text(hit, "corpus"), "items");
  CHECK_STR(text(hit, "file"), "docs/ports.md");
  CHECK_STR(text(hit, "origin"), "docs/ports.md:12");
  CHECK_INT(yyjson_mut_get_sint(member(hit, "line")), 12);
  CHECK(yyjson_mut_get_num(member(hit, "confidence")) == 0.75);
  CHECK(yyjson_mut_is_true(member(hit, "untrusted")));
  CHECK_STR(text(hit, "trust"), "extraction");
  hit = yyjson_mut_arr_get_first(member(run("search", "{\"query\":\"gateway port\"}"), "results"));
  CHECK(!member(hit, "corpus") && !member(hit, "untrusted"));
  struct str id = arena_printf(&a, "{\"id\":\"%lld\"}", (long long)item);
  yyjson_mut_val *m = run("get", id.p);
  CHECK_STR(text(m, "body"), "Decided: the gateway listens on port 6000");
  CHECK_STR(text(m, "origin"), "docs/ports.md:12");
  close_engine();
}

TEST(lists_and_counts_leave_documents_out) {
  open_engine();
  CHECK_INT(yyjson_mut_get_sint(member(run("list", "{}"), "total")), 1);
  yyjson_mut_val *list = run("list", "{\"in\":[\"items\"],\"detail\":\"full\"}");
  CHECK_INT(yyjson_mut_get_sint(member(list, "total")), 1);
  CHECK_STR(text(yyjson_mut_arr_get_first(member(list, "memories")), "ref"), "i-1");
  CHECK_INT(yyjson_mut_get_sint(member(run("list", "{\"in\":[\"all\"]}"), "total")), 4);
  yyjson_mut_val *stats = run("stats", "{}");
  CHECK_INT(yyjson_mut_get_sint(member(stats, "memories")), 1);
  CHECK_INT(yyjson_mut_get_sint(member(member(stats, "documents"), "items")), 1);
  CHECK(str_find(json_write(&a, run("boot", "{\"task\":\"gateway port\"}"), false), STR("6000"), 0) == SIZE_MAX);
  run("maintain", "{}");
  int64_t active;
  CHECK_OK(db_int(store_db(e->store), &active, NULL, &err,
                  "SELECT count(*) FROM memory WHERE state = 'active' AND corpus <> 'memory'", NULL),
           &err);
  CHECK_INT(active, 3);
  /* A document is not a duplicate of a memory. */
  run("remember", "{\"text\":\"Decided: the gateway listens on port 6000\",\"type\":\"decision\"}");
  CHECK_INT(yyjson_mut_get_sint(member(run("list", "{}"), "total")), 2);
  close_engine();
}

TEST(documents_are_read_only) {
  static const char *const calls[][2] = {
      {"supersede", "{\"id\":\"%lld\",\"text\":\"The gateway listens on 7000\",\"reason\":\"moved\"}"},
      {"forget", "{\"ids\":[\"%lld\"],\"reason\":\"x\"}"},
      {"purge", "{\"ids\":[\"%lld\"],\"confirm\":true}"},
      {"annotate", "{\"id\":\"%lld\",\"note\":\"x\"}"},
      {"rate", "{\"id\":\"%lld\",\"direction\":\"up\"}"},
      {"pin", "{\"id\":\"%lld\"}"},
      {"promote", "{\"id\":\"%lld\"}"},
      {"link", "{\"id\":\"%lld\",\"to\":\"1\",\"rel\":\"relates\"}"},
      {"link", "{\"id\":\"1\",\"to\":\"%lld\",\"rel\":\"relates\"}"},
      {"history", "{\"id\":\"%lld\"}"},
      {"unsupersede", "{\"id\":\"%lld\"}"},
      {"task status", "{\"id\":\"%lld\",\"status\":\"done\"}"},
      {"task claim", "{\"id\":\"%lld\"}"},
  };
  open_engine();
  struct str before = store_dump(test_store("corpus.db"));
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct str rest = str_from(calls[i][1]);
    struct buf args = BUF(&a);
    size_t at = str_find(rest, STR("%lld"), 0);
    buf_add(&args, str_slice(rest, 0, at));
    buf_addf(&args, "%lld", (long long)item);
    buf_add(&args, str_slice(rest, at + 4, rest.n));
    yyjson_mut_val *result;
    test_note("%s", calls[i][0]);
    CHECK(op_find(str_from(calls[i][0])) != NULL);
    CHECK_INT(try(calls[i][0], arena_cstr(&a, buf_str(&args)), &result), STATUS_CONFLICT);
    CHECK(strstr(err.message, "comes from docs/ports.md:12") != NULL);
    CHECK(strstr(err.fix, "cairn extract") != NULL);
  }
  reads_flush(e->store);
  CHECK(str_eq(store_dump(test_store("corpus.db")), before));
  close_engine();
}
