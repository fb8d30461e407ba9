/* test_events.c: queue of reads, and events of rolled-back changes. */
#include "fixture.h"
#include "store/tables/events.h"

static int64_t count(struct fixture *f, const char *sql) {
  int64_t n;
  CHECK_OK(db_int(store_db(f->store), &n, NULL, &f->err, sql, NULL), &f->err);
  return n;
}

static void note(struct fixture *f, const struct memory *m) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "get", .now = f->now};
  reads_note(f->store, &who, STR("memory:read"), m->id, m->uid, STR("{}"));
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
