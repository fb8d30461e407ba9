/* test_migrate.c: creating a store, migrating an older one, refusing a newer or a foreign one. */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/id.h"
#include "store/store_internal.h"
#include "support/harness.h"
#include "support/proc.h"

static enum status open_at(const char *path, struct store **ret, struct error *err) {
  struct store_options o = {.path = path, .now = 1763200000000};
  return store_open(&o, ret, err);
}

static void run(const char *path, const char *sql) {
  sqlite3 *db;
  char *why = NULL;
  CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
    FAIL("%s: %s", sql, why);
  sqlite3_close(db);
}

static struct str checksum(const char *path) {
  static char text[HASH_TEXT_SIZE];
  hash_text(file_read(path), text);
  return str_from(text);
}

TEST(a_new_store_is_private, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "new.db");
  struct store *st = NULL;
  struct error err;
  struct stat sb;
  CHECK_OK(open_at(path, &st, &err), &err);
  CHECK_INT(stat(path, &sb), 0);
  CHECK_INT(sb.st_mode & 0777, 0600);
  store_close(&st);
  CHECK(st == NULL);
}

/* A list of migrations that ends with this one; those before it have run. */
static const char *const *one_more(const char *sql, int *ret_n) {
  static const char *list[64];
  *ret_n = store_schema_version() + 1;
  CHECK(*ret_n < 64);
  for (int i = 0; i < *ret_n; i++)
    list[i] = i + 1 < *ret_n ? "" : sql;
  return list;
}

TEST(another_migration_runs_once_after_a_backup, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "old.db");
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path, &st, &err), &err);
  int count, before = store_schema_version();
  const char *const *more = one_more("CREATE TABLE added (x INTEGER)", &count);
  CHECK_OK(migrate_with(st, more, count, 1763200001000, &err), &err);
  int64_t n;
  CHECK_OK(db_int(st->db, &n, NULL, &err, "SELECT count(*) FROM added", NULL), &err);
  CHECK_OK(db_int(st->db, &n, NULL, &err, "PRAGMA user_version", NULL), &err);
  CHECK_INT(n, before + 1);
  struct arena a;
  arena_init(&a);
  struct strs backups = {0};
  store_list_backups(st, &a, &backups);
  CHECK_INT(backups.n, 1);
  CHECK(str_find(backups.v[0], arena_printf(&a, ".backup-v%d-", before), 0) != SIZE_MAX);
  /* the backup is a whole store of the older version */
  struct store *old = NULL;
  CHECK_OK(open_at(backups.v[0].p, &old, &err), &err);
  CHECK_OK(db_int(old->db, &n, NULL, &err, "PRAGMA user_version", NULL), &err);
  CHECK_INT(n, before);
  store_close(&old);
  /* once more: nothing to do, no further backup */
  CHECK_OK(migrate_with(st, more, count, 1763200002000, &err), &err);
  struct strs again = {0};
  store_list_backups(st, &a, &again);
  CHECK_INT(again.n, 1);
  arena_release(&a);
  store_close(&st);
}

TEST(a_migration_that_fails_leaves_nothing, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "half.db");
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path, &st, &err), &err);
  int count;
  const char *const *bad = one_more("CREATE TABLE half (x INTEGER); INSERT INTO nowhere VALUES (1)", &count);
  CHECK(migrate_with(st, bad, count, 1763200001000, &err) != STATUS_OK);
  int64_t n;
  CHECK_OK(db_int(st->db, &n, NULL, &err, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'", NULL), &err);
  CHECK_INT(n, 0);
  CHECK_OK(db_int(st->db, &n, NULL, &err, "PRAGMA user_version", NULL), &err);
  CHECK_INT(n, store_schema_version());
  store_close(&st);
  CHECK_OK(open_at(path, &st, &err), &err);
  store_close(&st);
}

TEST(only_the_newest_backups_are_kept, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "many.db");
  struct store *st = NULL;
  struct error err;
  struct arena a;
  arena_init(&a);
  CHECK_OK(open_at(path, &st, &err), &err);
  struct str first = STR_NONE, last = STR_NONE;
  for (int i = 0; i < BACKUPS_KEPT + 3; i++) {
    CHECK_OK(store_auto_backup(st, i % 2 ? "a" : "z", 1763200000000 + i * 1000, &a, &last, &err), &err);
    if (i == 0)
      first = last;
  }
  struct strs list = {0};
  store_list_backups(st, &a, &list);
  CHECK_INT(list.n, BACKUPS_KEPT);
  CHECK_INT(access(first.p, F_OK), -1);
  CHECK_INT(access(last.p, F_OK), 0);
  CHECK(str_eq(list.v[list.n - 1], last));
  arena_release(&a);
  store_close(&st);
}

TEST(a_schema_that_nobody_has_written_is_damage, .only = TEST_ON_SQLITE) {
  static const char *const versions[] = {"-1", "-2147483648"};
  const char *path = path_join(NULL, "odd.db");
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path, &st, &err), &err);
  store_close(&st);
  for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %s", versions[i]);
    run(path, sql);
    CHECK_STATUS(open_at(path, &st, &err), STATUS_CORRUPT);
    CHECK(st == NULL && strstr(err.message, versions[i]) && err.fix[0]);
  }
}

TEST(a_newer_schema_is_refused_and_untouched, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "newer.db");
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path, &st, &err), &err);
  store_close(&st);
  run(path, "PRAGMA user_version = 999");
  run(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  struct arena a;
  arena_init(&a);
  struct str before = arena_dup(&a, checksum(path));
  CHECK_STATUS(open_at(path, &st, &err), STATUS_SCHEMA);
  CHECK(st == NULL);
  CHECK(strstr(err.message, "999") != NULL);
  CHECK(err.fix[0] != 0);
  CHECK(str_eq(before, checksum(path)));
  arena_release(&a);
}

TEST(a_database_of_another_program_is_refused, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "foreign.db");
  run(path, "CREATE TABLE music (title TEXT)");
  struct arena a;
  arena_init(&a);
  struct str before = arena_dup(&a, checksum(path));
  struct store *st = NULL;
  struct error err;
  CHECK_STATUS(open_at(path, &st, &err), STATUS_CORRUPT);
  CHECK(str_eq(before, checksum(path)));
  arena_release(&a);
}

TEST(a_file_that_is_no_database_is_refused, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "notes.txt");
  file_write(path, STR("Dear diary, this is certainly not an SQLite database file.\n"));
  struct store *st = NULL;
  struct error err;
  CHECK_STATUS(open_at(path, &st, &err), STATUS_CORRUPT);
  CHECK_STR(file_read(path), "Dear diary, this is certainly not an SQLite database file.\n");
  CHECK(err.fix[0] != 0);
}

TEST(a_folder_is_refused, .only = TEST_ON_SQLITE) {
  struct store *st = NULL;
  struct error err;
  CHECK_STATUS(open_at(test_dir(), &st, &err), STATUS_USAGE);
}

static bool list_in(struct arena *own, struct store *st) {
  struct strs list = {0};
  jmp_buf oom;
  if (ARENA_BOUNDARY(own, oom))
    return false;
  store_list_backups(st, own, &list);
  return true;
}

TEST(a_list_of_backups_without_memory_leaves_no_folder_open, .only = TEST_ON_SQLITE) {
  enum { FILES = 200 }; /* more names than fit into a block of the arena */
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path_join(NULL, "many.db"), &st, &err), &err);
  for (int i = 0; i < FILES; i++) {
    char name[200];
    snprintf(name, sizeof(name), "many.db.backup-%0100d-20251115T114510.%03dZ", 0, i);
    file_write(path_join(NULL, name), STR(""));
  }
  int before = open_descriptors(), failures = 0;
  bool done = false;
  for (long n = 1; !done; n += 1 + n / 20) {
    struct arena own;
    test_note("allocation %ld", n);
    arena_init(&own);
    alloc_fail_at(n, 0);
    done = list_in(&own, st);
    alloc_fail_at(0, 0);
    arena_release(&own);
    CHECK_INT(open_descriptors(), before);
    failures += !done;
  }
  CHECK(failures >= 2);
  store_close(&st);
}
