/* test_postgres.c: driver on a real server: values, pipeline, transactions, locks, waiting. */
#include "base/alloc.h"
#include "store/postgres/internal.h"
#include "unit/store/pg_fixture.h"

TEST(values_round_trip, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  const struct str bytes = {"\0\1\xff\0", 4};
  struct rows r;
  db_query(db, &r, &err,
           "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '?1 it''s', ?9 /* ?9 '*/, true, CAST(1.5 AS real),"
           " CAST(-12.25 AS numeric), CAST(-7 AS smallint), CAST('{\"a\": 1}' AS jsonb) AS \"?1\" -- ?2",
           "idssstbbi", INT64_C(9007199254740993), 0.1, STR("text ü"), STR_NONE, STR(""), (int64_t)0, bytes, STR_NONE,
           INT64_MIN);
  CHECK(rows_next(&r));
  CHECK_INT(rows_int(&r, 0), INT64_C(9007199254740993));
  CHECK_STR(rows_text(&r, 0), "9007199254740993");
  CHECK(rows_real(&r, 1) == 0.1);
  CHECK_STR(rows_text(&r, 1), "0.1");
  CHECK_STR(rows_text(&r, 2), "text ü");
  CHECK(rows_null(&r, 3));
  CHECK(rows_text(&r, 3).p == NULL);
  CHECK(!rows_null(&r, 4));
  CHECK(rows_text(&r, 4).p != NULL);
  CHECK_INT(rows_text(&r, 4).n, 0);
  CHECK(rows_null(&r, 5));
  CHECK(str_eq(rows_text(&r, 6), bytes));
  CHECK(rows_null(&r, 7));
  CHECK(rows_text(&r, 7).p == NULL);
  CHECK_STR(rows_text(&r, 8), "?1 it's");
  CHECK_INT(rows_int(&r, 9), INT64_MIN);
  CHECK_INT(rows_int(&r, 10), 1);
  CHECK(rows_real(&r, 11) == 1.5);
  CHECK(rows_real(&r, 12) == -12.25);
  CHECK_INT(rows_int(&r, 13), -7);
  CHECK_STR(rows_text(&r, 14), "{\"a\": 1}");
  CHECK(!rows_next(&r));
  CHECK_OK(rows_end(&r), &err);
  db_close(&db);
  CHECK(db == NULL);
}

TEST(many_values_fit_in_one_statement, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct arena a;
  struct error err;
  int64_t n = 0;
  arena_init(&a);
  struct sql q = SQL(&a);
  sql_add(&q, "SELECT sum(v) FROM (VALUES (");
  for (int64_t i = 1; i <= 2000; i++) {
    sql_int(&q, i);
    sql_add(&q, i < 2000 ? "), (" : ")) AS t (v)");
  }
  CHECK_OK(db_int_sql(db, &n, NULL, &err, &q), &err);
  CHECK_INT(n, 2001000);
  arena_release(&a);
  db_close(&db);
}

TEST(a_zero_byte_is_refused_in_text, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  struct rows r;
  db_query(db, &r, &err, "SELECT ?1", "s", ((struct str){"a\0b", 3}));
  CHECK(!rows_next(&r));
  CHECK_STATUS(rows_end(&r), STATUS_USAGE);
  db_close(&db);
}

TEST(a_statement_may_run_inside_itself, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  struct rows outer, inner;
  int64_t sum = 0;
  db_query(db, &outer, &err, "SELECT generate_series(1, 3)", NULL);
  while (rows_next(&outer)) {
    db_query(db, &inner, &err, "SELECT generate_series(1, 3)", NULL);
    while (rows_next(&inner))
      sum += rows_int(&outer, 0) * rows_int(&inner, 0);
    CHECK_OK(rows_end(&inner), &err);
  }
  CHECK_OK(rows_end(&outer), &err);
  CHECK_INT(sum, 36);
  db_close(&db);
}

TEST(an_error_surfaces_at_the_end_of_the_rows, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err = {0};
  struct rows r;
  db_query(db, &r, &err, "SELECT nothing FROM nowhere", NULL);
  CHECK(!rows_next(&r));
  CHECK(rows_end(&r) != STATUS_OK);
  CHECK(strstr(err.message, "nowhere") != NULL);
  CHECK_INT(pg_count(db, "SELECT 1"), 1);
  db_close(&db);
}

/* ---- pipeline ---- */

static enum status insert(struct db *db, int64_t n, struct error *err) {
  return db_exec(db, err, "INSERT INTO t VALUES (?1)", "i", n);
}

static struct db *with_table(void) {
  struct db *db = pg_scratch();
  struct error err;
  CHECK_OK(db_script(db, &err, "CREATE TABLE t (a bigint PRIMARY KEY); INSERT INTO t VALUES (1)"), &err);
  return db;
}

TEST(the_first_error_of_a_transaction_is_reported, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  int64_t n;
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 2, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err); /* only queued */
  CHECK_OK(db_exec(db, &err, "SELECT 1 / 0", NULL), &err);
  CHECK_STATUS(db_int(db, &n, NULL, &err, "SELECT 5", NULL), STATUS_CONFLICT);
  CHECK(strstr(err.message, "t_pkey") != NULL);
  err.message[0] = 0;
  CHECK_STATUS(insert(db, 3, &err), STATUS_CONFLICT);
  CHECK(strstr(err.message, "t_pkey") != NULL);
  CHECK_INT(db_changes(db), 0);
  CHECK_STATUS(db_script(db, &err, "SELECT 1"), STATUS_CONFLICT);
  CHECK_STATUS(db_commit(db, &err), STATUS_CONFLICT);
  CHECK(db_in_transaction(db));
  db_rollback(db);
  CHECK(!db_in_transaction(db));
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  db_close(&db);
}

TEST(an_error_surfaces_when_it_commits_and_nothing_is_kept, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 2, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_STATUS(db_commit(db, &err), STATUS_CONFLICT);
  db_rollback(db);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 2, &err), &err);
  CHECK_OK(db_commit(db, &err), &err);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 2);
  db_close(&db);
}

TEST(a_check_at_the_end_of_the_transaction_is_an_error_of_commit, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  CHECK_OK(db_script(db, &err, "CREATE TABLE u (a bigint REFERENCES t DEFERRABLE INITIALLY DEFERRED)"), &err);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(db_exec(db, &err, "INSERT INTO u VALUES (77)", NULL), &err);
  CHECK_STATUS(db_commit(db, &err), STATUS_CONFLICT);
  db_rollback(db);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM u"), 0);
  db_close(&db);
}

TEST(the_queue_can_exceed_the_buffers, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  for (int64_t i = 2; i <= 2000; i++) {
    CHECK_OK(insert(db, i, &err), &err);
    if (i % 8 == 0) /* large unread answers, and large statements */
      CHECK_OK(db_exec(db, &err, "SELECT repeat('x', 100000), length(?1)", "s", STR("question")), &err);
  }
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 2000);
  CHECK_OK(db_exec(db, &err, "DELETE FROM t WHERE a > ?1", "i", INT64_C(1990)), &err);
  CHECK_INT(db_changes(db), 10);
  CHECK_OK(db_commit(db, &err), &err);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1990);
  db_close(&db);
}

TEST(more_statements_than_the_cache_holds, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  char sql[64];
  int64_t n;
  for (int round = 0; round < 2; round++)
    for (int64_t i = 0; i < 3 * STATEMENTS_MAX; i++) {
      snprintf(sql, sizeof(sql), "SELECT ?1 + %d", (int)i);
      CHECK_OK(db_int(db, &n, NULL, &err, sql, "i", i), &err);
      CHECK_INT(n, 2 * i);
    }
  CHECK(pg_count(db, "SELECT count(*) FROM pg_prepared_statements") <= STATEMENTS_MAX);
  db_close(&db);
}

TEST(statements_that_the_server_forgot_are_prepared_again, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table(), *other = pg_again();
  struct error err;
  CHECK_INT(pg_count(db, "SELECT * FROM t"), 1);
  CHECK_OK(db_script(other, &err, "ALTER TABLE t RENAME a TO b; ALTER TABLE t ADD a text"), &err);
  CHECK_INT(pg_count(db, "SELECT * FROM t"), 1); /* its result has other columns */
  CHECK_OK(db_team(db, STR("red"), &err), &err);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  CHECK_OK(db_script(db, &err, "DISCARD ALL"), &err); /* as a pooler does */
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  CHECK_INT(pg_count(db, "SELECT CAST(current_setting('cairn.team') = 'red' AS integer)"), 1);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_INT(pg_count(db, "SELECT * FROM t"), 1);
  CHECK_OK(db_commit(db, &err), &err);
  CHECK_OK(db_script(other, &err, "ALTER TABLE t ADD c text"), &err);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  struct rows r;
  db_query(db, &r, &err, "SELECT * FROM t", NULL);
  CHECK_STATUS(rows_end(&r), STATUS_LOST);
  db_rollback(db);
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_INT(pg_count(db, "SELECT * FROM t"), 1);
  CHECK_OK(db_commit(db, &err), &err);
  db_close(&db);
  db_close(&other);
}

TEST(reads_and_writes_are_distinguished, .only = TEST_ON_POSTGRES) {
  CHECK(pg_only_reads("SELECT 'insert' FROM t -- delete"));
  CHECK(pg_only_reads("  with x AS (SELECT 1) SELECT updated_at FROM x"));
  CHECK(!pg_only_reads("WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x"));
  CHECK(!pg_only_reads("INSERT INTO t VALUES (1) RETURNING a"));
  CHECK(!pg_only_reads("SELECT nextval('s')"));
  CHECK(!pg_only_reads("VACUUM"));
  CHECK(!pg_only_reads(""));
}

/* ---- transactions ---- */

TEST(savepoints_roll_back_later_errors, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 2, &err), &err);
  CHECK_OK(db_savepoint(db, &err), &err);
  CHECK_OK(insert(db, 3, &err), &err);
  CHECK_OK(db_savepoint(db, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_STATUS(db_savepoint_end(db, true, &err), STATUS_CONFLICT); /* cannot be kept */
  CHECK_OK(db_savepoint(db, &err), &err);
  CHECK_OK(insert(db, 4, &err), &err);
  CHECK_OK(db_savepoint_end(db, false, &err), &err);
  CHECK_OK(db_savepoint_end(db, true, &err), &err);
  CHECK_OK(db_savepoint(db, &err), &err);
  CHECK_OK(insert(db, 5, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_OK(db_savepoint_end(db, false, &err), &err);
  CHECK_OK(db_commit(db, &err), &err);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 3);
  CHECK_INT(pg_count(db, "SELECT CAST(sum(a) AS bigint) FROM t"), 6);
  db_close(&db);
}

TEST(a_savepoint_does_not_undo_an_earlier_error, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  CHECK_OK(insert(db, 1, &err), &err);
  CHECK_OK(db_savepoint(db, &err), &err);
  CHECK_OK(insert(db, 3, &err), &err);
  CHECK_STATUS(db_savepoint_end(db, false, &err), STATUS_CONFLICT);
  CHECK_STATUS(db_commit(db, &err), STATUS_CONFLICT);
  db_rollback(db);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  db_close(&db);
}

TEST(rollback_ends_everything, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  struct rows r;
  CHECK_OK(db_begin(db, STR_NONE, false, &err), &err);
  CHECK(db_writing(db));
  CHECK_STATUS(db_begin(db, STR_NONE, false, &err), STATUS_INTERNAL);
  CHECK_OK(insert(db, 2, &err), &err);
  db_query(db, &r, &err, "SELECT a FROM t", NULL);
  CHECK(rows_next(&r));
  db_rollback(db);
  CHECK(!rows_next(&r));
  CHECK_OK(rows_end(&r), &err);
  CHECK(!db_in_transaction(db));
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  db_close(&db);
}

TEST(writers_of_a_team_wait_for_each_other_and_others_do_not, .only = TEST_ON_POSTGRES) {
  struct db *one = with_table(), *two = pg_again();
  struct error err;
  CHECK_OK(db_begin(one, STR("red"), false, &err), &err);
  CHECK_OK(insert(one, 2, &err), &err);
  CHECK_INT(db_set_busy(two, 50), 5000);
  CHECK_STATUS(db_begin(two, STR("red"), false, &err), STATUS_BUSY);
  CHECK(strstr(err.message, "locked") != NULL);
  CHECK(err.fix[0] != 0);
  CHECK(!db_in_transaction(two));
  CHECK_OK(db_begin(two, STR("blue"), true, &err), &err);
  CHECK_OK(insert(two, 3, &err), &err);
  CHECK_OK(db_commit(two, &err), &err);
  CHECK_STATUS(db_begin(two, STR_NONE, false, &err), STATUS_BUSY); /* the store lock covers all teams */
  CHECK_OK(db_commit(one, &err), &err);
  CHECK_OK(db_begin(two, STR_NONE, false, &err), &err);
  CHECK_INT(pg_count(two, "SELECT count(*) FROM t"), 3);
  CHECK_INT(db_set_busy(one, 50), 5000);
  CHECK_STATUS(db_begin(one, STR("green"), false, &err), STATUS_BUSY);
  CHECK_OK(db_commit(two, &err), &err);
  db_close(&one);
  db_close(&two);
}

TEST(a_snapshot_is_one_state, .only = TEST_ON_POSTGRES) {
  struct db *one = with_table(), *two = pg_again();
  struct error err;
  bool alone = false, inner = true;
  CHECK_OK(db_snapshot(one, &alone, &err), &err);
  CHECK(alone && !db_writing(one));
  CHECK_INT(pg_count(one, "SELECT count(*) FROM t"), 1);
  CHECK_OK(insert(two, 2, &err), &err);
  CHECK_OK(db_snapshot(one, &inner, &err), &err);
  CHECK(!inner);
  CHECK_OK(db_snapshot_end(one, inner, STATUS_OK, &err), &err);
  CHECK_INT(pg_count(one, "SELECT count(*) FROM t"), 1);
  CHECK_OK(db_snapshot_end(one, alone, STATUS_OK, &err), &err);
  CHECK(!db_in_transaction(one));
  CHECK_INT(pg_count(one, "SELECT count(*) FROM t"), 2);
  CHECK_OK(db_snapshot(one, &alone, &err), &err);
  CHECK_STATUS(insert(one, 3, &err) == STATUS_OK ? db_snapshot_end(one, alone, STATUS_NOT_FOUND, &err) : STATUS_OK,
               STATUS_NOT_FOUND);
  CHECK_INT(pg_count(one, "SELECT count(*) FROM t"), 2);
  db_close(&one);
  db_close(&two);
}

TEST(unused_snapshots_and_savepoints_do_not_accumulate, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  bool alone;
  for (int i = 0; i < 3 * PENDING_MAX; i++) {
    CHECK_OK(db_snapshot(db, &alone, &err), &err);
    CHECK_OK(db_snapshot_end(db, alone, STATUS_OK, &err), &err);
  }
  CHECK_OK(db_begin(db, STR("a"), false, &err), &err);
  for (int i = 0; i < 3 * PENDING_MAX; i++)
    CHECK_OK(db_savepoint(db, &err), &err);
  CHECK_OK(insert(db, 2, &err), &err);
  for (int i = 0; i < 3 * PENDING_MAX; i++)
    CHECK_OK(db_savepoint_end(db, true, &err), &err);
  CHECK_OK(db_commit(db, &err), &err);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 2);
  db_close(&db);
}

TEST(a_serialisation_failure_can_be_retried, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  CHECK_STATUS(db_exec(db, &err, "DO $$BEGIN RAISE EXCEPTION 'later' USING ERRCODE = '40001'; END$$", NULL),
               STATUS_LOST);
  CHECK_STATUS(db_exec(db, &err, "DO $$BEGIN RAISE EXCEPTION 'a cycle'; END$$", NULL), STATUS_CONFLICT);
  CHECK_STR(str_from(err.message), "a cycle");
  db_close(&db);
}

/* ---- session ---- */

static void check_team(struct db *db, const char *want) {
  struct error err;
  struct rows r;
  db_query(db, &r, &err, "SELECT current_setting('cairn.team')", NULL);
  CHECK(rows_next(&r));
  CHECK_STR(rows_text(&r, 0), want);
  CHECK_OK(rows_end(&r), &err);
}

TEST(the_team_is_set_for_every_statement, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  bool alone;
  check_team(db, "*");
  CHECK_OK(db_team(db, STR("red"), &err), &err);
  check_team(db, "red");
  CHECK_OK(db_begin(db, STR("blue"), false, &err), &err);
  check_team(db, "blue");
  CHECK_OK(db_commit(db, &err), &err);
  check_team(db, "red");
  CHECK_OK(db_begin(db, STR_NONE, false, &err), &err);
  check_team(db, "*");
  CHECK_OK(db_team(db, STR("green"), &err), &err);
  check_team(db, "green");
  db_rollback(db);
  check_team(db, "green");
  CHECK_OK(db_team(db, STR("o'br\"ien ü"), &err), &err);
  CHECK_OK(db_snapshot(db, &alone, &err), &err);
  check_team(db, "o'br\"ien ü");
  CHECK_OK(db_snapshot_end(db, alone, STATUS_OK, &err), &err);
  CHECK_OK(db_team(db, STR_NONE, &err), &err);
  check_team(db, "*");
  db_close(&db);
}

TEST(a_statement_has_a_time_limit, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  CHECK_INT(db_set_limit(db, 100), STATEMENT_MS);
  CHECK_STATUS(db_exec(db, &err, "SELECT pg_sleep(15)", NULL), STATUS_UNAVAILABLE);
  CHECK(err.fix[0] != 0);
  CHECK_INT(db_set_limit(db, 0), 100);
  CHECK_OK(db_exec(db, &err, "SELECT pg_sleep(0.2)", NULL), &err);
  db_close(&db);
}

TEST(a_read_only_connection_cannot_write, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  db_close(&db);
  struct db_options o = {.path = pg_url(), .busy_ms = 5000, .read_only = true};
  CHECK_OK(db_open(&o, &db, &err), &err);
  CHECK(db_read_only(db));
  CHECK_STATUS(db_begin(db, STR("a"), false, &err), STATUS_READONLY);
  CHECK_STATUS(insert(db, 2, &err), STATUS_READONLY);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1);
  db_close(&db);
}

TEST(a_notification_ends_the_wait, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch(), *other = pg_again();
  struct error err;
  bool news = false;
  CHECK_OK(db_wait(db, 0, &news, &err), &err);
  CHECK(news); /* earlier changes are unknown */
  CHECK_OK(db_wait(db, 0, &news, &err), &err);
  CHECK(!news);
  CHECK_OK(db_exec(other, &err, "SELECT pg_notify('cairn', 'red')", NULL), &err);
  int64_t since = clock_ticks_us();
  CHECK_OK(db_wait(db, 15000, &news, &err), &err);
  CHECK(news);
  CHECK(clock_ticks_us() - since < 14000000);
  CHECK_OK(db_wait(db, 20, &news, &err), &err);
  CHECK(!news);
  /* a notification that arrives during another statement */
  CHECK_OK(db_exec(other, &err, "SELECT pg_notify('cairn', 'red')", NULL), &err);
  CHECK_INT(pg_count(db, "SELECT 1 FROM pg_sleep(0.1)"), 1);
  CHECK_OK(db_wait(db, 0, &news, &err), &err);
  CHECK(news);
  db_close(&db);
  db_close(&other);
}

TEST(a_script_may_hold_its_own_transaction, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  CHECK_OK(db_script(db, &err, "BEGIN; INSERT INTO t VALUES (2)"), &err);
  CHECK(db_in_transaction(db));
  CHECK_OK(db_commit(db, &err), &err);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 2);
  CHECK_STATUS(db_script(db, &err, "INSERT INTO t VALUES (3); INSERT INTO t VALUES (2)"), STATUS_CONFLICT);
  CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 2);
  CHECK_OK(db_exec(db, &err, "VACUUM t", NULL), &err);
  db_close(&db);
}

TEST(a_stamp_always_reports_a_change, .only = TEST_ON_POSTGRES) {
  struct db *db = pg_scratch();
  struct error err;
  struct db_stamp a, b;
  bool done = false;
  CHECK_OK(db_stamp(db, &a, &err), &err);
  CHECK_OK(db_stamp(db, &b, &err), &err);
  CHECK(a.others != b.others);
  CHECK_OK(db_checkpoint(db, true, &done, &err), &err);
  CHECK(done);
  db_close(&db);
}

static enum status one_round(struct db *db, int64_t n, struct error *err) {
  int64_t got = 0;
  char sql[64];
  snprintf(sql, sizeof(sql), "SELECT count(*) + %d FROM t", (int)n);
  enum status s = db_team(db, STR("red"), err);
  if (s == STATUS_OK)
    s = db_int(db, &got, NULL, err, sql, NULL);
  if (s == STATUS_OK)
    s = db_begin(db, STR("blue"), false, err);
  if (s == STATUS_OK)
    s = insert(db, 100 + n, err);
  return s == STATUS_OK ? db_commit(db, err) : s;
}

TEST(a_call_out_of_memory_fails_and_the_next_one_works, .only = TEST_ON_POSTGRES) {
  struct db *db = with_table();
  struct error err;
  int64_t done = 0, n = 1;
  for (long failures = 1; failures > 0; n++) {
    CHECK(n < 100);
    alloc_fail_at((long)n, 0);
    enum status s = one_round(db, n, &err);
    failures = alloc_failures();
    alloc_fail_at(0, 0);
    CHECK(s == STATUS_OK || s == STATUS_NOMEM);
    done += s == STATUS_OK;
    db_rollback(db);
    CHECK_INT(pg_count(db, "SELECT count(*) FROM t"), 1 + done);
    check_team(db, n == 1 ? "*" : "red");
  }
  CHECK(n > 4);
  db_close(&db);
}
