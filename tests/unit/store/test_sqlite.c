/* test_sqlite.c: driver: values, nested statements, rollback, waiting for a lock, backup. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fixture.h"
#include "store/sqlite/sqlite.h"
#include "support/libc.h"

static struct db *scratch(const char *name) {
  struct db_options o = {.path = path_join(NULL, name), .busy_ms = 5000};
  struct db *db = NULL;
  struct error err;
  CHECK_OK(db_open(&o, &db, &err), &err);
  CHECK_OK(sqlite_use_wal(db, &err), &err);
  return db;
}

TEST(values_round_trip, .only = TEST_ON_SQLITE) {
  struct db *db = scratch("v.db");
  struct error err;
  CHECK_OK(db_script(db, &err, "CREATE TABLE t (a, b, c, d, e)"), &err);
  CHECK_OK(db_exec(db, &err, "INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5)", "idsst", INT64_C(9007199254740993), 0.1,
                   STR("text"), STR_NONE, (int64_t)0),
           &err);
  struct rows r;
  db_query(db, &r, &err, "SELECT a, b, c, d, e FROM t", NULL);
  CHECK(rows_next(&r));
  CHECK_INT(rows_int(&r, 0), INT64_C(9007199254740993));
  CHECK(rows_real(&r, 1) == 0.1);
  CHECK_STR(rows_text(&r, 2), "text");
  CHECK(rows_null(&r, 3));
  CHECK(rows_text(&r, 3).p == NULL);
  CHECK(rows_null(&r, 4));
  CHECK(!rows_next(&r));
  CHECK_OK(rows_end(&r), &err);
  db_close(&db);
  CHECK(db == NULL);
}

/* 32 values, and one more. */
#define ONES_8 INT64_C(1), INT64_C(1), INT64_C(1), INT64_C(1), INT64_C(1), INT64_C(1), INT64_C(1), INT64_C(1)
#define ONES_32 ONES_8, ONES_8, ONES_8, ONES_8

static const char *sum_of(struct arena *a, int n) {
  struct buf b = BUF(a);
  for (int i = 1; i <= n; i++)
    buf_addf(&b, "%s CAST(?%d AS bigint)", i == 1 ? "SELECT" : " +", i);
  return buf_str(&b).p;
}

TEST(more_values_than_a_format_may_have_are_an_error) {
  static const char format[] = "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii", *full = format + 1;
  struct fixture f = fixture_new();
  struct db *db = store_db(f.store);
  struct rows r;
  int64_t n = 0;
  CHECK_OK(db_int(db, &n, NULL, &f.err, sum_of(&f.arena, 32), full, ONES_32), &f.err);
  CHECK_INT(n, 32);
  CHECK_OK(db_exec(db, &f.err, sum_of(&f.arena, 32), full, ONES_32), &f.err);
  const char *sql = sum_of(&f.arena, 33);
  CHECK_STATUS(db_int(db, &n, NULL, &f.err, sql, format, ONES_32, INT64_C(1)), STATUS_INTERNAL);
  CHECK(strstr(f.err.message, "33") != NULL);
  CHECK_STATUS(db_exec(db, &f.err, sql, format, ONES_32, INT64_C(1)), STATUS_INTERNAL);
  db_query(db, &r, &f.err, sql, format, ONES_32, INT64_C(1));
  CHECK(!rows_next(&r));
  CHECK_STATUS(rows_end(&r), STATUS_INTERNAL);
  /* A built statement has no such limit. */
  struct sql q = SQL(&f.arena);
  for (int i = 0; i < 33; i++) {
    sql_add(&q, i == 0 ? "SELECT CAST(" : " + CAST(");
    sql_int(&q, 1);
    sql_add(&q, " AS bigint)");
  }
  CHECK_OK(db_int_sql(db, &n, NULL, &f.err, &q), &f.err);
  CHECK_INT(n, 33);
  fixture_close(&f);
}

TEST(a_statement_may_run_inside_itself, .only = TEST_ON_SQLITE) {
  struct db *db = scratch("n.db");
  struct error err;
  CHECK_OK(db_script(db, &err, "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)"), &err);
  struct rows outer, inner;
  int64_t pairs = 0;
  db_query(db, &outer, &err, "SELECT a FROM t", NULL);
  while (rows_next(&outer)) {
    db_query(db, &inner, &err, "SELECT a FROM t", NULL);
    while (rows_next(&inner))
      pairs++;
    CHECK_OK(rows_end(&inner), &err);
  }
  CHECK_OK(rows_end(&outer), &err);
  CHECK_INT(pairs, 9);
  db_close(&db);
}

TEST(an_error_surfaces_at_the_end_of_the_rows, .only = TEST_ON_SQLITE) {
  struct db *db = scratch("e.db");
  struct error err = {0};
  struct rows r;
  db_query(db, &r, &err, "SELECT nothing FROM nowhere", NULL);
  CHECK(!rows_next(&r));
  CHECK(rows_end(&r) != STATUS_OK);
  CHECK(err.message[0] != 0);
  db_close(&db);
}

TEST(rollback_ends_everything, .only = TEST_ON_SQLITE) {
  struct db *db = scratch("r.db");
  struct error err;
  int64_t n;
  CHECK_OK(db_script(db, &err, "CREATE TABLE t (a)"), &err);
  CHECK_OK(db_begin(db, STR_NONE, false, &err), &err);
  CHECK_OK(db_exec(db, &err, "INSERT INTO t VALUES (1)", NULL), &err);
  struct rows r;
  db_query(db, &r, &err, "SELECT a FROM t", NULL);
  CHECK(rows_next(&r));
  db_rollback(db);
  CHECK(!db_in_transaction(db));
  CHECK_OK(db_int(db, &n, NULL, &err, "SELECT count(*) FROM t", NULL), &err);
  CHECK_INT(n, 0);
  db_close(&db);
}

TEST(a_writer_waits_and_then_gets_a_clear_error, .only = TEST_ON_SQLITE) {
  struct db *one = scratch("w.db"), *two = scratch("w.db");
  struct error err;
  CHECK_OK(db_script(one, &err, "CREATE TABLE t (a)"), &err);
  CHECK_OK(db_begin(one, STR_NONE, false, &err), &err);
  CHECK_INT(db_set_busy(two, 50), 5000);
  CHECK_STATUS(db_begin(two, STR_NONE, false, &err), STATUS_BUSY);
  CHECK(strstr(err.message, "locked") != NULL);
  CHECK(strstr(err.message, "database is locked") == NULL);
  CHECK(err.fix[0] != 0);
  CHECK_OK(db_commit(one, &err), &err);
  CHECK_OK(db_begin(two, STR_NONE, false, &err), &err);
  CHECK_OK(db_commit(two, &err), &err);
  db_close(&one);
  db_close(&two);
}

/* Opening a second handle must not drop the locks of the first: POSIX locks belong to the process. */
TEST(a_second_handle_keeps_the_first_one_locked, .only = TEST_ON_SQLITE) {
  struct store *one = fixture_open("two.db");
  struct error err;
  CHECK_OK(db_begin(store_db(one), STR_NONE, false, &err), &err);
  struct store *two = fixture_open("two.db");
  store_close(&two);
  int done[2];
  CHECK_INT(pipe(done), 0);
  pid_t child = fork();
  if (child == 0) {
    struct db_options o = {.path = path_join(NULL, "two.db"), .busy_ms = 50};
    struct db *db = NULL;
    char got = db_open(&o, &db, &err) == STATUS_OK && db_begin(db, STR_NONE, false, &err) == STATUS_BUSY ? 'y' : 'n';
    _exit(write(done[1], &got, 1) == 1 ? 0 : 1);
  }
  char got = 0;
  CHECK_INT(read(done[0], &got, 1), 1);
  CHECK_INT(got, 'y');
  db_rollback(store_db(one));
  store_close(&one);
}

TEST(many_statements_fit_beside_the_cache, .only = TEST_ON_SQLITE) {
  struct db *db = scratch("c.db");
  struct error err;
  for (int i = 0; i < 400; i++) {
    char sql[40];
    int64_t n;
    snprintf(sql, sizeof(sql), "SELECT %d", i);
    CHECK_OK(db_int(db, &n, NULL, &err, sql, NULL), &err);
    CHECK_INT(n, i);
  }
  db_close(&db);
}

TEST(a_backup_is_one_private_file_and_atomic, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("kept"), NULL);
  fixture_commit(&f, &txn);
  const char *path = path_join(NULL, "copy.db");
  CHECK_OK(store_copy_to(f.store, path, NULL, NULL, &f.err), &f.err);
  CHECK_INT(access(path_join(NULL, "copy.db.part"), F_OK), -1);
  CHECK_INT(access(path_join(NULL, "copy.db-wal"), F_OK), -1);
  struct store *copy = fixture_open("copy.db");
  int64_t n;
  CHECK_OK(db_int(store_db(copy), &n, NULL, &f.err, "SELECT count(*) FROM memory", NULL), &f.err);
  CHECK_INT(n, 1);
  store_close(&copy);
  CHECK(store_copy_to(f.store, "/nowhere/at/all.db", NULL, NULL, &f.err) != STATUS_OK);
  fixture_close(&f);
}

static const char *backup_path;
static int folder_syncs; /* syncs of the backup's folder after the backup was renamed */

static void note_sync(int fd) {
  struct stat synced, folder;
  CHECK(fstat(fd, &synced) == 0 && stat(test_dir(), &folder) == 0);
  bool same = synced.st_dev == folder.st_dev && synced.st_ino == folder.st_ino;
  folder_syncs += same && access(backup_path, F_OK) == 0;
}

/* Unless its folder is synced, a crash loses the backup, while the store may already have changed. */
TEST(the_name_of_a_backup_is_on_disk, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  backup_path = path_join(NULL, "copy.db");
  libc_watch_fsync(note_sync);
  CHECK_OK(store_copy_to(f.store, backup_path, NULL, NULL, &f.err), &f.err);
  libc_watch_fsync(NULL);
  CHECK_INT(folder_syncs, 1);
  fixture_close(&f);
}
