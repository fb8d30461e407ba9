/* test_hold.c: memories indexed together at the end of a transaction equal those indexed one by one. */
#include "store/search/lexical.h"

#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena arena;
static struct error err;

static struct store *open_store(const char *name) {
  struct store *st = NULL;
  struct store_options o = {.path = test_store(name), .now = 1};
  CHECK_OK(store_open(&o, &st, &err), &err);
  return st;
}

static struct txn begin(struct store *st) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("s"), .op = "import", .now = 5}, txn;
  CHECK_OK(txn_begin(st, &who, 0, &txn, &err), &err);
  return txn;
}

static struct memory draft(int i) {
  char *uid = arena_alloc(&arena, 64);
  snprintf(uid, 64, "0190a0a0-0000-7000-8000-%012x", (unsigned)i);
  struct memory m = {.uid = str_from(uid),
                     .team = STR("default"),
                     .project = STR("p"),
                     .kind = STR("fact"),
                     .type = STR("fact"),
                     .headline = arena_printf(&arena, "Headline %d", i),
                     .body = arena_printf(&arena, "Body number %d.", i),
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .source = STR("s"),
                     .weight = 0.5,
                     .valid_from = 2,
                     .created_at = 3,
                     .updated_at = 4,
                     .access_count = i,
                     .last_accessed = i % 2 ? 9 : 0};
  if (i % 3 == 0)
    m.key = arena_printf(&arena, "key-%d", i);
  for (int k = 0; k < i % 4; k++)
    strs_push(&arena, &m.tags, arena_printf(&arena, "tag%d", k));
  if (i % 50 == 7) { /* a text of several chunks */
    struct buf b = BUF(&arena);
    for (int k = 0; k < 900; k++)
      buf_addf(&b, "word%d of text %d. ", k, i);
    m.body = buf_str(&b);
  }
  return m;
}

/* Every row of a memory, and its hits in the full-text index. */
static struct str dump(struct store *st) {
  const char *const queries[] = {
      "SELECT * FROM memory ORDER BY id",
      "SELECT * FROM body ORDER BY memory_id",
      "SELECT * FROM label ORDER BY memory_id, field, pos",
      "SELECT memory_id, seq, team, hash, headline, body, extra FROM chunk ORDER BY memory_id, seq",
      "SELECT seq, team, txn, at, action, change, op, memory_id, uid, project, source, session, before, after, detail"
      " FROM event ORDER BY seq",
      on_postgres() ? "SELECT memory_id, CAST(tokens AS text) || words FROM chunk_text ORDER BY chunk_id"
                    : "SELECT c.memory_id, c.seq FROM chunk_fts f JOIN chunk c ON c.id = f.rowid"
                      " WHERE chunk_fts MATCH 'tag1' ORDER BY 1, 2",
  };
  static const int columns[] = {42, 4, 5, 7, 15, 2};
  struct buf b = BUF(&arena);
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    struct rows r;
    db_query(store_db(st), &r, &err, queries[i], NULL);
    while (rows_next(&r)) {
      for (int c = 0; c < columns[i]; c++)
        buf_addf(&b, "%.*s|", STR_ARG(rows_null(&r, c) ? STR("NULL") : rows_text(&r, c)));
      buf_addc(&b, '\n');
    }
    CHECK_OK(rows_end(&r), &err);
  }
  return buf_str(&b);
}

TEST(held_and_single_inserts_store_the_same) {
  enum { COUNT = 200 };
  CHECK_INT(memory_field_count, 42); /* otherwise dump() misses a field */
  struct store *one = open_store("one.db"), *many = open_store("many.db");
  struct txn t1 = begin(one), t2 = begin(many);
  CHECK_OK(lexical_hold(&t2, &err), &err);
  for (int i = 0; i < COUNT; i++) {
    struct memory m = draft(i), n = m;
    struct chunk_rows chunks = {0};
    CHECK_OK(memory_insert(&t1, &arena, &m, &chunks, &err), &err);
    CHECK_OK(memory_insert(&t2, &arena, &n, &chunks, &err), &err);
    CHECK_INT(n.id, m.id);
  }
  CHECK_OK(lexical_release(&t2, &err), &err);
  CHECK_OK(txn_commit(&t1, &err), &err);
  CHECK_OK(txn_commit(&t2, &err), &err);
  struct str want = dump(one);
  CHECK(want.n > 20000 && str_find(want, STR("word899"), 0) != SIZE_MAX);
  CHECK_STR(dump(many), want.p);
  store_close(&one);
  store_close(&many);
}

/* The index reflects the final state, for texts changed while held and for older ones. */
TEST(changes_while_held_are_indexed) {
  struct store *st = open_store("one.db");
  struct txn txn = begin(st);
  struct memory old = draft(1), fresh = draft(2), gone = draft(3);
  struct chunk_rows chunks = {0};
  CHECK_OK(memory_insert(&txn, &arena, &old, &chunks, &err), &err);
  CHECK_OK(lexical_hold(&txn, &err), &err);
  CHECK_OK(memory_insert(&txn, &arena, &fresh, &chunks, &err), &err);
  CHECK_OK(memory_insert(&txn, &arena, &gone, &chunks, &err), &err);
  struct notes none = {0}, notes = {0};
  list_push(&arena, &notes, (struct note){7, STR("me"), STR("aardvark")});
  CHECK_OK(notes_set(&txn, &arena, &old, &none, &notes, &err), &err);
  CHECK_OK(notes_set(&txn, &arena, &fresh, &none, &notes, &err), &err);
  CHECK_OK(memory_delete(&txn, &arena, &gone, &err), &err);
  CHECK_OK(lexical_release(&txn, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
  bool ok;
  int64_t n;
  CHECK_OK(lexical_check(st, &ok, &err), &err);
  CHECK(ok);
  CHECK_OK(db_int(store_db(st), &n, NULL, &err,
                  on_postgres() ? "SELECT count(*) FROM chunk_text WHERE tokens @@ 'aardvark'"
                                : "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH 'aardvark'",
                  NULL),
           &err);
  CHECK_INT(n, 2);
  CHECK_OK(db_int(store_db(st), &n, NULL, &err, "SELECT count(*) FROM meta WHERE name = 'full_text_held'", NULL), &err);
  CHECK_INT(n, 0);
  store_close(&st);
}

TEST(a_rolled_back_hold_leaves_nothing) {
  struct store *st = open_store("one.db");
  struct txn txn = begin(st);
  CHECK_OK(lexical_hold(&txn, &err), &err);
  store_rollback(st);
  txn = begin(st);
  struct memory m = draft(4);
  struct chunk_rows chunks = {0};
  CHECK_OK(memory_insert(&txn, &arena, &m, &chunks, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
  bool ok;
  CHECK_OK(lexical_check(st, &ok, &err), &err);
  CHECK(ok);
  store_close(&st);
}
