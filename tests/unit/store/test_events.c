/* test_events.c: queue of reads, and events of rolled-back changes. */
#include <sqlite3.h>

#include "fixture.h"
#include "store/sqlite/internal.h"
#include "store/tables/events.h"

static int64_t count(struct fixture *f, const char *sql) {
  int64_t n;
  CHECK_OK(db_int(store_db(f->store), &n, NULL, &f->err, sql, NULL), &f->err);
  return n;
}

static void note(struct fixture *f, const struct memory *m) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "get", .now = f->now};
  reads_queue(f->store, &who, STR("memory:read"), m->id, m->uid, STR("{}"));
}

TEST(reads_are_queued_until_a_flush) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  note(&f, &m);
  note(&f, &m);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 0);
  reads_flush(f.store);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 2);
  CHECK_INT(count(&f, "SELECT access_count FROM memory"), 2);
  CHECK_INT(count(&f, "SELECT last_accessed FROM memory"), f.now);
  fixture_close(&f);
}

TEST(closing_writes_queued_reads) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  note(&f, &m);
  store_close(&f.store);
  f.store = fixture_open("store.db");
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 1);
  fixture_close(&f);
}

/* Another process may purge a memory after it was read here. */
TEST(a_queued_read_of_a_purged_memory_is_dropped) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL), purged = {.id = 4711, .uid = STR("purged")};
  fixture_commit(&f, &txn);
  note(&f, &purged);
  note(&f, &m);
  reads_flush(f.store);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 1);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE uid = 'purged'"), 0);
  fixture_close(&f);
}

TEST(many_reads_are_flushed_automatically) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  for (int i = 0; i < 1200; i++)
    note(&f, &m);
  CHECK(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'") >= 1024);
  fixture_close(&f);
}

TEST(a_rolled_back_change_leaves_no_event) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  store_rollback(f.store);
  CHECK_INT(count(&f, "SELECT count(*) FROM event"), 0);
  CHECK_INT(count(&f, "SELECT count(*) FROM memory"), 0);
  CHECK_INT(count(&f, "SELECT count(*) FROM chunk"), 0);
  CHECK_INT(count(&f, "SELECT count(*) FROM txn"), 0);
  fixture_close(&f);
}

/* ---- purge ---- */

enum { SEARCHES = 4000, PURGE_BYTES = 256 << 10 };

/* Searches with queries of a kilobyte; every `nth` has found memory 1, among others whose ids have its digit. */
static void note_searches(struct direct *d, const char *query, int nth) {
  struct arena a = {0};
  struct buf b = BUF(&a);
  buf_addf(&b,
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
           " INSERT INTO event (team, at, action, op, project, source, detail) SELECT 'default', 1763208000000,"
           " 'memory:search', 'search', '', 'test', '{\"query\":\"%s ",
           SEARCHES, query);
  for (int i = 0; i < 100; i++)
    buf_adds(&b, "long words ");
  buf_addf(&b, "\",\"results\":[21,' || CASE WHEN i %% %d = 0 THEN '1' ELSE '11' END || ',101]}' FROM n", nth);
  direct_do(d, buf_str(&b).p);
  arena_release(&a);
}

static int64_t purge_first(struct fixture *f) {
  struct purge_counts counts;
  struct txn txn = fixture_begin(f);
  struct memory m;
  bool found;
  CHECK_OK(memory_by_id(f->store, STR("default"), 1, &f->arena, &m, &found, &f->err), &f->err);
  CHECK(found);
  size_t before = f->arena.used;
  CHECK_OK(memory_purge(&txn, &f->arena, &m, &counts, &f->err), &f->err);
  CHECK(f->arena.used - before < PURGE_BYTES);
  fixture_commit(f, &txn);
  return counts.events;
}

static struct direct *searched_store(struct fixture *f, const char *query, int nth) {
  *f = fixture_new();
  struct txn txn = fixture_begin(f);
  CHECK_INT(fixture_fact(f, &txn, STR(""), STR("The falcon nests on the tower"), NULL).id, 1);
  fixture_commit(f, &txn);
  struct direct *d = direct_open(test_store("store.db"));
  note_searches(d, query, nth);
  return d;
}

TEST(a_purge_empties_the_searches_that_found_the_memory) {
  static const int shares[] = {1, 2, SEARCHES}; /* the queries look like lists with the memory */
  for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
    struct fixture f;
    struct direct *d = searched_store(&f, "[1,1]", shares[i]);
    test_note("one of %d", shares[i]);
    int64_t events = purge_first(&f);
    CHECK_INT(events, 1 + SEARCHES / shares[i]); /* including the event of the write */
    CHECK_INT(direct_number(d, "SELECT count(*) FROM event WHERE action = 'memory:search' AND purged = 1"
                               " AND detail IS NULL"),
              SEARCHES / shares[i]);
    CHECK_INT(direct_number(d, "SELECT count(*) FROM event WHERE action = 'memory:search' AND purged = 0"
                               " AND detail LIKE '%[21,11,101]%'"),
              SEARCHES - SEARCHES / shares[i]);
    direct_close(d);
    fixture_close(&f);
    store_remove(test_store("store.db"));
  }
}

static int count_row(unsigned what UNUSED, void *rows, void *statement UNUSED, void *more UNUSED) {
  ++*(int64_t *)rows;
  return 0;
}

TEST(a_purge_reads_only_the_searches_that_found_the_memory, .only = TEST_ON_SQLITE) {
  struct fixture f;
  int64_t rows = 0;
  direct_close(searched_store(&f, "falcon", SEARCHES / 10));
  sqlite3_trace_v2(sqlite_handle(store_db(f.store)), SQLITE_TRACE_ROW, count_row, &rows);
  purge_first(&f);
  sqlite3_trace_v2(sqlite_handle(store_db(f.store)), 0, NULL, NULL);
  CHECK(rows >= 10 && rows < 100);
  fixture_close(&f);
}

/* Also the stored results of idempotent calls. */
TEST(a_purge_goes_through_remembered_results_in_pages) {
  struct fixture f;
  struct direct *d = searched_store(&f, "falcon", SEARCHES);
  direct_do(d, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
               " INSERT INTO idempotency (team, key, at, result) SELECT 'default', 'k' || i, 1763208000000,"
               " '{\"id\":21,\"warnings\":[{\"name\":\"contradiction\",\"memories\":[{\"id\":' ||"
               " CASE WHEN i % 2 = 0 THEN 1 ELSE 11 END || ',\"headline\":\"The falcon\"}]}]}' FROM n");
  purge_first(&f);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM idempotency WHERE result LIKE '%falcon%'"), 500);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM idempotency WHERE result LIKE '%\"warnings\":[]%'"), 500);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM idempotency WHERE result LIKE '%\"id\":1,%'"), 0);
  direct_close(d);
  fixture_close(&f);
}

/* ---- retention ---- */

static int64_t prune(struct fixture *f, enum event_class class, int64_t since, int64_t most) {
  int64_t deleted = -1;
  struct event_keep keep = {.class = class, .since = since, .most = most};
  CHECK_OK(events_prune(f->store, STR("default"), &keep, &deleted, &f->err), &f->err);
  return deleted;
}

static void add_refusal(struct fixture *f, int64_t at) {
  struct txn txn = {
      .store = f->store, .team = STR("default"), .project = STR(""), .source = STR("test"), .op = "get", .now = at};
  struct event e = {.action = STR("scope:refused")};
  CHECK_OK(db_begin(store_db(f->store), STR("default"), false, &f->err), &f->err);
  CHECK_OK(event_add(&txn, &e, &f->err), &f->err);
  CHECK_OK(db_commit(store_db(f->store), &f->err), &f->err);
}

TEST(reads_and_refusals_leave_the_log_by_age_and_by_number) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  int64_t changes = count(&f, "SELECT count(*) FROM event");
  CHECK(changes > 0);
  int64_t start = f.now;
  for (int i = 0; i < 2500; i++) {
    f.now = start + i;
    note(&f, &m);
  }
  reads_flush(f.store);
  for (int i = 0; i < 10; i++)
    add_refusal(&f, start + i);
  CHECK_INT(prune(&f, EVENTS_READS, start + 100, 5000), 100); /* by age */
  CHECK_INT(prune(&f, EVENTS_READS, 0, 2400), 0);
  CHECK_INT(prune(&f, EVENTS_READS, 0, 50), 2350); /* by number: the newest stay */
  CHECK_INT(count(&f, "SELECT min(at) FROM event WHERE action = 'memory:read'"), start + 2450);
  CHECK_INT(prune(&f, EVENTS_REFUSALS, start + 4, 3), 7);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'scope:refused'"), 3);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE change IS NOT NULL"), changes);
  fixture_close(&f);
}

TEST(changes_cannot_be_deleted_from_the_log) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  (void)fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  int64_t before = count(&f, "SELECT count(*) FROM event");
  struct db *db = store_db(f.store);
  CHECK_OK(db_begin(db, STR("default"), false, &f.err), &f.err);
  enum status s = db_exec(db, &f.err, "DELETE FROM event WHERE team = ?1", "s", STR("default"));
  if (s == STATUS_OK) /* a server reports it at the end */
    s = db_commit(db, &f.err);
  CHECK(s != STATUS_OK);
  db_rollback(db);
  CHECK(before > 0 && count(&f, "SELECT count(*) FROM event") == before);
  fixture_close(&f);
}
