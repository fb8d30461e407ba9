/* test_calls.c: rows of tool calls: queue, idempotent insert, queries, pruning. */
#include "store/tables/calls.h"

#include "base/id.h"
#include "fixture.h"
#include "store/tables/events.h"

static int64_t count(struct fixture *f, const char *sql) {
  int64_t n;
  CHECK_OK(db_int(store_db(f->store), &n, NULL, &f->err, sql, NULL), &f->err);
  return n;
}

static struct call_row row_of(char id[UUID_SIZE], int64_t at) {
  uuid7_new(at, id);
  return (struct call_row){.event_id = str_from(id),
                           .team = STR("default"),
                           .tool = STR("memory_search"),
                           .op = STR("search"),
                           .project = STR("p"),
                           .source = STR("test"),
                           .at = at,
                           .duration_us = 7};
}

static void note(struct fixture *f, int64_t at, const char *error) {
  char id[UUID_SIZE];
  struct call_row r = row_of(id, at);
  if (error) {
    r.error = str_from(error);
    r.message = STR("what happened");
  }
  calls_queue(f->store, &r);
}

struct seen {
  size_t n;
  int64_t at[8];
  bool failed[8];
};

static enum status see(void *arg, const struct call_row *row) {
  struct seen *s = arg;
  CHECK(s->n < ARRAY_LEN(s->at));
  s->at[s->n] = row->at;
  s->failed[s->n++] = row->error.p != NULL;
  return STATUS_OK;
}

TEST(calls_are_queued_until_a_flush_or_close) {
  struct fixture f = fixture_new();
  note(&f, f.now, NULL);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 0);
  reads_flush(f.store);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 1);
  note(&f, f.now, "busy");
  store_close(&f.store);
  f.store = fixture_open("store.db");
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 2);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call WHERE tool = 'memory_search' AND op = 'search' AND project = 'p'"
                      " AND source = 'test' AND session IS NULL AND duration_us = 7"),
            2);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call WHERE error = 'busy' AND message = 'what happened'"), 1);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call WHERE error IS NULL AND message IS NULL"), 1);
  fixture_close(&f);
}

TEST(the_same_call_is_stored_once) {
  struct fixture f = fixture_new();
  char id[UUID_SIZE];
  struct call_row r = row_of(id, f.now);
  calls_queue(f.store, &r);
  calls_queue(f.store, &r);
  reads_flush(f.store);
  CHECK_OK(calls_add(f.store, &r, &f.err), &f.err);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 1);
  fixture_close(&f);
}

TEST(many_calls_are_flushed_automatically) {
  struct fixture f = fixture_new();
  for (int i = 0; i < 200; i++)
    note(&f, f.now, NULL);
  CHECK(count(&f, "SELECT count(*) FROM tool_call") >= 128);
  fixture_close(&f);
}

TEST(a_lock_of_another_handle_does_not_delay_calls) {
  struct fixture f = fixture_new();
  struct store *other = fixture_open("store.db");
  CHECK_OK(db_begin(store_db(other), STR_NONE, false, &f.err), &f.err);
  int64_t began = clock_ticks_us();
  for (int i = 0; i < 64; i++)
    note(&f, f.now, NULL); /* the 64th would write */
  CHECK(!reads_flush_now(f.store));
  CHECK(clock_ticks_us() - began < 30000000); /* a wait for the lock takes a minute */
  db_rollback(store_db(other));
  CHECK(reads_flush_now(f.store));
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 64);
  store_close(&other);
  fixture_close(&f);
}

TEST(queries_filter_by_team_and_time) {
  struct fixture f = fixture_new();
  char id[UUID_SIZE];
  note(&f, 1000, NULL);
  note(&f, 2000, "usage");
  note(&f, 3000, "busy");
  struct call_row foreign = row_of(id, 3000);
  foreign.team = STR("other");
  foreign.error = STR("busy");
  calls_queue(f.store, &foreign);
  reads_flush(f.store);
  struct seen all = {0}, errors = {0}, one = {0};
  CHECK_OK(calls_walk(f.store, STR("default"), 2000, see, &all, &f.err), &f.err);
  CHECK_INT(all.n, 2);
  CHECK_INT(all.at[0] + all.at[1], 5000);
  CHECK_OK(calls_errors(f.store, STR("default"), 8, see, &errors, &f.err), &f.err);
  CHECK_INT(errors.n, 2);
  CHECK_INT(errors.at[0], 3000);
  CHECK_INT(errors.at[1], 2000);
  CHECK_OK(calls_errors(f.store, STR("default"), 1, see, &one, &f.err), &f.err);
  CHECK_INT(one.n, 1);
  CHECK_INT(one.at[0], 3000);
  fixture_close(&f);
}

TEST(pruning_keeps_thirty_days_and_the_last_hundred_thousand) {
  struct fixture f = fixture_new();
  int64_t now = f.now;
  note(&f, now - 31 * MS_PER_DAY, NULL);
  note(&f, now - 29 * MS_PER_DAY, NULL);
  reads_flush(f.store);
  CHECK_OK(calls_prune(f.store, STR("default"), now, &f.err), &f.err);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 1);
  CHECK_OK(db_exec(store_db(f.store), &f.err,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100010)"
                   " INSERT INTO tool_call (event_id, team, tool, op, project, source, at, duration_us)"
                   " SELECT '00' || (100000 + i) || '-0000-7000-8000-000000000000', 'default', 'x', 'x', '', 'x', ?1, 1"
                   " FROM n",
                   "i", now),
           &f.err);
  CHECK_OK(calls_prune(f.store, STR("default"), now, &f.err), &f.err);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call"), 100000);
  /* The newest remain: calls 11 to 100010, with event ids 00100011 to 00200010. */
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call WHERE event_id LIKE '0010000_-0000%'"), 0);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call WHERE event_id LIKE '0010001_-0000%'"), 9);
  CHECK_INT(count(&f, "SELECT count(*) FROM tool_call WHERE event_id LIKE '002_____-0000%'"), 11);
  fixture_close(&f);
}
