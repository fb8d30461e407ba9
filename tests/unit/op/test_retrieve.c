/* test_retrieve.c: queries that the command line cannot send (a megabyte, NULs), and ranking of many results. */
#include "core/rank/rank.h"
#include "op/op.h"
#include "op/run/engine.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct error err;
static struct arena a;
static struct engine *e;

static void open_store(const char *name) {
  struct engine_options o = {.path = test_store(name), .clock = {.fixed = 1763208000000}};
  setenv("CAIRN_EMBEDDER", "hash-v1", 1);
  CHECK_OK(engine_open(&o, &e, &err), &err);
}

static void open_engine(void) { open_store("retrieve.db"); }

static void close_engine(void) {
  engine_close(&e);
  arena_release(&a);
}

static yyjson_mut_val *call(const char *op, yyjson_mut_doc *doc, yyjson_mut_val *args) {
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_mut_val *result = NULL;
  yyjson_val *read;
  (void)doc;
  CHECK_OK(json_read(&a, json_write(&a, args, false), &read, &err), &err);
  CHECK_OK(op_run(e, op_find(str_from(op)), &caller, NULL, &a, read, &result, &err), &err);
  return result;
}

static void remember(const char *text) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  json_put(doc, args, "text", str_from(text));
  call("remember", doc, args);
}

static yyjson_mut_val *search(struct str query, const char *mode) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  json_put(doc, args, "query", query);
  json_put(doc, args, "mode", str_from(mode));
  return call("search", doc, args);
}

static int64_t first_id(yyjson_mut_val *reply) {
  yyjson_mut_val *hit = yyjson_mut_arr_get_first(yyjson_mut_obj_get(reply, "results"));
  return hit ? yyjson_mut_get_sint(yyjson_mut_obj_get(hit, "id")) : 0;
}

static const char *const modes[] = {"hybrid", "keyword", "vector"};

TEST(a_megabyte_is_a_query, .seconds = 60, .slow = true) {
  enum { SIZE = 1 << 20 };
  static const char *const parts[] = {"noise ", "\"(", "x", "東", "AND NOT ", "\xf0\x9f\x9a\x80", "a:b^*+-", "\n"};
  open_engine();
  remember("The falcon nests on the tower");
  for (size_t p = 0; p < ARRAY_LEN(parts); p++)
    for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
      struct buf b = BUF(&a);
      test_note("%s: %s", modes[m], parts[p]);
      buf_adds(&b, "falcon ");
      while (b.n < SIZE)
        buf_adds(&b, parts[p]);
      yyjson_mut_val *r = search(buf_str(&b), modes[m]);
      CHECK(yyjson_mut_is_arr(yyjson_mut_obj_get(r, "results")));
      CHECK(!yyjson_mut_obj_get(r, "degraded"));
      if (strcmp(modes[m], "keyword") == 0)
        CHECK_INT(first_id(r), 1); /* finds the first word of the query */
    }
  close_engine();
}

TEST(a_nul_is_a_space) {
  open_engine();
  remember("The falcon nests on the tower");
  for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
    test_note("%s", modes[m]);
    CHECK_INT(first_id(search(STR("falcon\0tower"), modes[m])), 1);
    yyjson_mut_val *r = search(STR("\0\0"), modes[m]);
    CHECK_INT(first_id(r), 0);
    CHECK_STR(str_from(yyjson_mut_get_str(yyjson_mut_obj_get(r, "query"))), "  ");
  }
  close_engine();
}

/* ---- adjacent chunks ---- */

/* Without vectors: they would fix the chunk ids. */
static void remember_bare(struct str text) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  json_put(doc, args, "text", text);
  json_put(doc, args, "type", STR("note"));
  json_put_bool(doc, args, "defer_embedding", true);
  call("remember", doc, args);
}

/* Memory 1 has several chunks; more than one of them is about the falcon. Memory 2 has the other word of the query, so
 * that no hit gets the maximum score. */
static void remember_falcons(void) {
  enum { FALCONS = 40, SENTENCES = 120 };
  struct buf b = BUF(&a);
  for (int i = 0; i < SENTENCES; i++)
    buf_addf(&b, "%s number %d was seen on the old tower near the river. ", i < FALCONS ? "Falcon" : "Gull", i);
  remember_bare(buf_str(&b));
  remember_bare(STR("The heron fishes at dawn"));
}

/* Keyword score of memory 1. */
static double words_of_falcons(void) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  json_put(doc, args, "query", STR("falcon heron ostrich"));
  json_put(doc, args, "mode", STR("keyword"));
  json_put_bool(doc, args, "explain", true);
  yyjson_mut_val *results = yyjson_mut_obj_get(call("search", doc, args), "results"), *v;
  size_t i, n;
  yyjson_mut_arr_foreach(results, i, n, v) {
    if (yyjson_mut_get_sint(yyjson_mut_obj_get(v, "id")) == 1)
      return yyjson_mut_get_num(yyjson_mut_obj_get(yyjson_mut_obj_get(v, "parts"), "words"));
  }
  FAIL("memory 1 was not found");
}

/* Chunk ids with gaps, as concurrent writers of several teams get them. */
static double words_with_gaps(void) {
  open_store("gaps.db");
  struct direct *d = direct_open(test_store("gaps.db"));
  if (on_postgres())
    direct_do(d, "ALTER TABLE chunk ALTER COLUMN id SET INCREMENT BY 10");
  remember_falcons();
  if (!on_postgres()) {
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    direct_do(d, "UPDATE chunk SET id = 1000 + 10 * id");
    json_put_bool(doc, args, "fix", true);
    call("doctor", doc, args);
  }
  CHECK_INT(direct_number(d, "SELECT min(y.id - x.id) FROM chunk x JOIN chunk y ON y.memory_id = x.memory_id"
                             " AND y.seq = x.seq + 1"),
            10);
  direct_close(d);
  double words = words_of_falcons();
  engine_close(&e);
  return words;
}

TEST(neighbours_count_regardless_of_their_ids) {
  open_store("even.db");
  remember_falcons();
  double words = words_of_falcons();
  engine_close(&e);
  CHECK(words > 0 && words < 1);
  CHECK_NEAR(words_with_gaps(), words, 1e-6);
  arena_release(&a);
}

TEST(a_third_copy_is_flagged) {
  static const struct str texts[] = {STR("the backup of host nine took ten minutes"),
                                     STR("quince jam needs an hour"),
                                     STR("the backup of host four took ten minutes"), /* 7 of 9 words: 0.78 */
                                     STR("Quince jam needs an HOUR!"),
                                     STR("the backup of host four took a while"), /* 6 of 10 words, 5 of 11 */
                                     STR(""),
                                     STR("the backup of host three took ten minutes"),
                                     STR("Quince jam? Needs an hour")};
  static const bool want[] = {false, false, false, false, false, false, true, true};
  bool copies[ARRAY_LEN(texts)];
  struct word_set words[ARRAY_LEN(texts)];
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    words[i] = word_set(&a, texts[i]);
  mark_copies(words, ARRAY_LEN(texts), copies);
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    test_note("text %zu", i);
    CHECK_INT(copies[i], want[i]);
  }
  mark_copies(words, 0, copies);
  arena_release(&a);
}
