/* test_neighbours.c: adjacent entries of a session, and the context for embedding the next entry. */
#include "transcript/store/neighbours.h"

#include "base/id.h"
#include "base/utf8.h"
#include "store/vectors/vectors.h"
#include "unit/store/fixture.h"

static struct fixture f;

/* Stores an entry and returns its id, which is also its chunk's id while all texts are short. */
static int64_t add(const char *type, const char *session, const char *project, const char *text) {
  struct txn txn = fixture_begin(&f);
  char uid[UUID_SIZE];
  uuid7_new(f.now, uid);
  struct memory m = {.uid = str_from(uid),
                     .team = STR("default"),
                     .project = str_from(project),
                     .kind = STR("incident"),
                     .type = str_from(type),
                     .headline = STR("Said"),
                     .body = str_from(text),
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1.0,
                     .valid_from = f.now,
                     .created_at = f.now,
                     .updated_at = f.now,
                     .source = STR("test"),
                     .session = session ? str_from(session) : STR_NONE};
  struct chunk_rows chunks = {0};
  CHECK_OK(memory_insert(&txn, &f.arena, &m, &chunks, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(chunks.n, 1);
  CHECK_INT(chunks.v[0].id, m.id);
  return m.id;
}

static struct str before(const char *project, const char *session, int64_t id) {
  struct str tail;
  struct memory m = {.team = STR("default"), .corpus = STR("memory"), .id = id};
  m.project = str_from(project);
  m.session = str_from(session);
  CHECK_OK(transcript_before(f.store, &m, &f.arena, &tail, &f.err), &f.err);
  return tail;
}

static struct str context(int64_t chunk) {
  struct str tail;
  CHECK_OK(transcript_context(f.store, STR("default"), chunk, &f.arena, &tail, &f.err), &f.err);
  return tail;
}

static void state(int64_t id, const char *to) {
  CHECK_OK(db_exec(store_db(f.store), &f.err,
                   "UPDATE memory SET state = ?2, state_reason = 'x', state_by = 'x', state_at = 1 WHERE id = ?1", "is",
                   id, str_from(to)),
           &f.err);
}

TEST(the_tail_starts_at_a_word) {
  struct arena a = {0};
  struct buf b = BUF(&a);
  CHECK_STR(transcript_tail(&a, STR("")), "");
  CHECK_STR(transcript_tail(&a, STR("  short \n")), "short");
  for (int i = 0; i < 100; i++)
    buf_addf(&b, "word%02d ", i); /* 7 bytes each */
  struct str tail = transcript_tail(&a, buf_str(&b));
  CHECK(tail.n <= 240 && tail.n > 240 - 14);
  CHECK(str_starts(tail, STR("word66")) || str_starts(tail, STR("word65")));
  CHECK(str_ends(tail, STR("word99")));
  arena_release(&a);
}

/* A text without spaces has a tail of whole characters. */
TEST(the_tail_of_a_text_without_words) {
  struct arena a = {0};
  struct buf cjk = BUF(&a), url = BUF(&a), late = BUF(&a);
  for (int i = 0; i < 200; i++) {
    buf_adds(&cjk, "東");
    buf_adds(&url, "a/");
  }
  buf_adds(&cjk, "京");
  struct str tail = transcript_tail(&a, buf_str(&cjk));
  CHECK(tail.n > 200 && tail.n <= 240);
  CHECK_INT(utf8_check(tail), tail.n);
  CHECK(str_ends(tail, STR("京")));
  tail = transcript_tail(&a, buf_str(&url));
  CHECK_INT(tail.n, 240);
  buf_addf(&late, "%.*s end", STR_ARG(buf_str(&url)));
  tail = transcript_tail(&a, buf_str(&late));
  CHECK(tail.n > 200 && str_ends(tail, STR("/ end")));
  arena_release(&a);
}

TEST(the_entry_before) {
  f = fixture_new();
  CHECK(!before("", "s", 0).p);
  int64_t first = add("episodic", "s", "", "one");
  add("episodic", "t", "", "of another session");
  add("episodic", "s", "p", "of another project");
  add("incident", "s", "", "no sequence");
  add("episodic", NULL, "", "no session");
  int64_t second = add("meeting", "s", "", "two");
  int64_t third = add("journal", "s", "", "three");
  CHECK(!before("", "s", first).p);
  CHECK_STR(before("", "s", second), "one");
  CHECK_STR(before("", "s", third), "two");
  CHECK_STR(before("", "s", 0), "three"); /* for a new entry */
  CHECK_STR(before("p", "s", 0), "of another project");
  CHECK_STR(context(third), "two");
  CHECK(!context(first).p);
  CHECK(!context(4).p && !context(5).p); /* not entries */
  CHECK(!context(99).p);
  state(second, "forgotten");
  CHECK_STR(context(third), "one");
  state(second, "archived"); /* archived entries still count */
  CHECK_STR(context(third), "two");
  fixture_close(&f);
}

static void around(int64_t id, const char *states, int64_t want_before, int64_t want_after) {
  struct memory m;
  bool found;
  struct neighbours near = {0};
  struct filter filter = {.states = states};
  CHECK_OK(memory_by_id(f.store, STR("default"), id, &f.arena, &m, &found, &f.err), &f.err);
  CHECK(found);
  CHECK_OK(transcript_around(f.store, &f.scope, &filter, &m, &f.arena, &near, &f.err), &f.err);
  CHECK_INT(near.before.memory_id, want_before);
  CHECK_INT(near.before.chunk_id, want_before);
  CHECK_INT(near.after.memory_id, want_after);
  CHECK_INT(near.after.chunk_id, want_after);
}

TEST(the_entries_around) {
  f = fixture_new();
  int64_t a = add("episodic", "s", "", "one");
  add("episodic", "t", "", "of another session");
  add("episodic", "s", "p", "of another project");
  add("incident", "s", "", "no sequence");
  int64_t b = add("episodic", "s", "", "two"), c = add("episodic", "s", "", "three");
  around(a, NULL, 0, b);
  around(b, NULL, a, c);
  around(c, NULL, b, 0);
  state(b, "forgotten");
  around(a, NULL, 0, c);
  around(c, NULL, a, 0);
  around(a, "'forgotten'", 0, b);
  state(b, "archived");
  around(a, NULL, 0, b);
  /* Never of another team, even with the same session. */
  f.scope.team = STR("others");
  around(b, NULL, 0, 0);
  fixture_close(&f);
}

static int64_t slots(void) {
  int64_t n;
  const char *sql = on_postgres() ? "SELECT count(*) FROM vec" : "SELECT count(*) FROM vec_slot";
  CHECK_OK(db_int(store_db(f.store), &n, NULL, &f.err, sql, NULL), &f.err);
  return n;
}

TEST(vectors_of_entries_after_a_purged_one_are_deleted) {
  static const int8_t vector[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  struct vec_model model = {STR("default"), STR("tiny"), 8};
  f = fixture_new();
  int64_t a = add("episodic", "s", "", "one");
  add("episodic", "t", "", "of another session");
  add("episodic", "s", "p", "of another project");
  add("incident", "s", "", "no sequence");
  int64_t b = add("episodic", "s", "", "two"), c = add("episodic", "s", "", "three");
  struct txn txn = fixture_begin(&f);
  for (int64_t id = a; id <= c; id++)
    CHECK_OK(vec_add(&txn, &model, id, vector, &f.err), &f.err);
  struct memory m;
  bool found;
  CHECK_OK(memory_by_id(f.store, STR("default"), 4, &f.arena, &m, &found, &f.err), &f.err);
  CHECK_OK(transcript_delete_vectors_after(&txn, &m, &f.arena, &f.err), &f.err); /* not an entry: nothing follows it */
  CHECK_INT(slots(), 6);
  CHECK_OK(memory_by_id(f.store, STR("default"), a, &f.arena, &m, &found, &f.err), &f.err);
  CHECK_OK(transcript_delete_vectors_after(&txn, &m, &f.arena, &f.err), &f.err);
  CHECK_INT(slots(), 5);
  bool there[2];
  int8_t got[16];
  CHECK_OK(vec_fetch(f.store, &model, (const int64_t[]){b, c}, 2, got, there, &f.err), &f.err);
  CHECK(!there[0] && there[1]);
  fixture_commit(&f, &txn);
  fixture_close(&f);
}
