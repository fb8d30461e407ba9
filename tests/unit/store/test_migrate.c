/* test_migrate.c: creating a store, migrating an older one, refusing a newer or a foreign one. */
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/id.h"
#include "fixture.h"
#include "store/store_internal.h"

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

/* A list of migrations that ends with this one; the earlier ones have run. */
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
  /* the backup is a complete store of the older version */
  struct store *old = NULL;
  CHECK_OK(open_at(backups.v[0].p, &old, &err), &err);
  CHECK_OK(db_int(old->db, &n, NULL, &err, "PRAGMA user_version", NULL), &err);
  CHECK_INT(n, before);
  store_close(&old);
  /* again: nothing to do, no further backup */
  CHECK_OK(migrate_with(st, more, count, 1763200002000, &err), &err);
  struct strs again = {0};
  store_list_backups(st, &a, &again);
  CHECK_INT(again.n, 1);
  arena_release(&a);
  store_close(&st);
}

/* A store of schema 11 protects all events; after the migration, reads can be deleted, and everything is still there.
 */
TEST(a_store_of_schema_11_is_migrated, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "eleven.db");
  struct store *st = NULL;
  struct error err;
  int64_t n = 0;
  CHECK_OK(open_at(path, &st, &err), &err);
  store_close(&st);
  run(path,
      "DROP TRIGGER event_append_only;"
      "CREATE TRIGGER event_append_only BEFORE DELETE ON event BEGIN"
      " SELECT RAISE(ABORT, 'the event log is append-only'); END;"
      "INSERT INTO event (team, at, action, op, project, source)"
      " VALUES ('default', 1, 'memory:read', 'get', '', 'cli'), ('default', 2, 'token:add', 'token add', '', 'cli');"
      "PRAGMA user_version = 11");
  CHECK_OK(open_at(path, &st, &err), &err);
  CHECK_OK(db_int(st->db, &n, NULL, &err, "PRAGMA user_version", NULL), &err);
  CHECK_INT(n, store_schema_version());
  store_close(&st);
  struct direct *d = direct_open(path);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM event"), 2);
  direct_do(d, "DELETE FROM event WHERE action = 'memory:read'");
  CHECK_INT(direct_number(d, "SELECT count(*) FROM event"), 1);
  direct_close(d);
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

TEST(an_unknown_schema_is_reported_as_damage, .only = TEST_ON_SQLITE) {
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

TEST(a_file_that_is_not_a_database_is_refused, .only = TEST_ON_SQLITE) {
  const char *path = path_join(NULL, "notes.txt");
  file_write(path, STR("Dear diary, this is certainly not an SQLite database file.\n"));
  struct store *st = NULL;
  struct error err;
  CHECK_STATUS(open_at(path, &st, &err), STATUS_CORRUPT);
  CHECK_STR(file_read(path), "Dear diary, this is certainly not an SQLite database file.\n");
  CHECK(err.fix[0] != 0);
}

/* ---- types missing in an older version ---- */

/* The store as created by a version without the type 'idea'; not open anywhere. */
static struct direct *without_ideas(const char *path) {
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path, &st, &err), &err);
  store_close(&st);
  struct direct *d = direct_open(path);
  direct_do(d, "DELETE FROM memory_type WHERE name = 'idea'");
  return d;
}

static enum status store_idea(struct fixture *f) {
  struct txn txn = fixture_begin(f);
  char uid[UUID_SIZE];
  uuid7_new(f->now, uid);
  struct memory m = {.uid = str_from(uid),
                     .team = STR("default"),
                     .project = STR(""),
                     .kind = STR("fact"),
                     .type = STR("idea"),
                     .headline = STR("An idea"),
                     .body = STR("Grow parsley on the roof"),
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1.0,
                     .valid_from = f->now,
                     .created_at = f->now,
                     .updated_at = f->now,
                     .source = STR("test")};
  struct chunk_rows chunks = {0};
  enum status s = memory_insert(&txn, &f->arena, &m, &chunks, &f->err);
  if (s == STATUS_OK)
    return txn_commit(&txn, &f->err);
  store_rollback(f->store);
  return s;
}

TEST(a_missing_type_is_added_when_a_store_is_opened) {
  struct direct *d = without_ideas(test_store("store.db"));
  /* A type of a newer version; it is kept. */
  direct_do(d, "INSERT INTO memory_type (name, kind) VALUES ('dream', 'fact')");
  struct fixture f = fixture_new();
  CHECK_OK(store_idea(&f), &f.err);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM memory_type WHERE name IN ('idea', 'dream')"), 2);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM memory WHERE type = 'idea'"), 1);
  direct_close(d);
  fixture_close(&f);
}

/* A write would block here and fail. */
TEST(a_store_with_all_types_is_opened_without_writing) {
  struct direct *d = without_ideas(test_store("store.db"));
  struct store_options o = {.path = test_store("store.db"), .busy_ms = 50, .now = 1763200000000};
  struct store *st = NULL;
  struct error err;
  direct_lock(d);
  CHECK_STATUS(store_open(&o, &st, &err), STATUS_BUSY);
  o.read_only = true;
  CHECK_OK(store_open(&o, &st, &err), &err);
  store_close(&st);
  o.read_only = false;
  direct_do(d, "COMMIT");
  CHECK_OK(store_open(&o, &st, &err), &err);
  store_close(&st);
  direct_lock(d);
  CHECK_OK(store_open(&o, &st, &err), &err);
  store_close(&st);
  direct_close(d);
}

TEST(a_missing_type_does_not_block_readers) {
  struct direct *d = without_ideas(test_store("store.db"));
  struct store_options o = {.path = test_store("store.db"), .read_only = true, .now = 1763200000000};
  struct store *st = NULL;
  struct error err;
  CHECK_OK(store_open(&o, &st, &err), &err);
  store_close(&st);
  CHECK_INT(direct_number(d, "SELECT count(*) FROM memory_type WHERE name = 'idea'"), 0);
  direct_close(d);
}

TEST(several_processes_add_one_type) {
  enum { PROCESSES = 6 };
  const char *path = test_store("store.db");
  int start[2];
  char byte;
  pid_t pids[PROCESSES];
  direct_close(without_ideas(path)); /* SQLite must not be open when a process forks */
  CHECK_INT(pipe(start), 0);
  for (int i = 0; i < PROCESSES; i++) {
    pids[i] = fork();
    if (pids[i] == 0) {
      struct store *st = NULL;
      close(start[1]);
      while (read(start[0], &byte, 1) > 0)
        ;
      struct error err;
      enum status s = open_at(path, &st, &err);
      store_close(&st);
      _exit(s == STATUS_OK ? 0 : 1);
    }
    CHECK(pids[i] > 0);
  }
  struct direct *d = direct_open(path);
  direct_lock(d); /* while it is held, all of them find the type missing and wait */
  close(start[1]);
  usleep(200 * 1000);
  direct_do(d, "COMMIT");
  for (int i = 0; i < PROCESSES; i++) {
    int how;
    CHECK_INT(waitpid(pids[i], &how, 0), pids[i]);
    CHECK_INT(how, 0);
  }
  CHECK_INT(direct_number(d, "SELECT count(*) FROM memory_type WHERE name = 'idea'"), 1);
  direct_close(d);
}

TEST(a_role_without_rights_gets_an_error_when_it_needs_a_new_type, .only = TEST_ON_POSTGRES) {
  struct direct *d = without_ideas(test_store("store.db"));
  direct_do(d, "DO $$ BEGIN EXECUTE format('REVOKE INSERT ON memory_type FROM %I', current_user); END $$");
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("Parsley grows in pots"), NULL);
  fixture_commit(&f, &txn);
  CHECK_STATUS(store_idea(&f), STATUS_READONLY);
  CHECK(strstr(f.err.message, "'idea'") && strstr(f.err.fix, "owns the tables"));
  /* Another role adds the type; this connection notices. */
  direct_do(d, "DO $$ BEGIN EXECUTE format('GRANT INSERT ON memory_type TO %I', current_user); END $$;"
               "INSERT INTO memory_type (name, kind) VALUES ('idea', 'fact')");
  CHECK_OK(store_idea(&f), &f.err);
  direct_close(d);
  fixture_close(&f);
}

/* A process that has the store open continues with the content of the backup. */
TEST(a_restored_backup_gets_the_missing_types, .only = TEST_ON_SQLITE) {
  const char *backup = path_join(NULL, "backup.db");
  direct_close(without_ideas(backup));
  struct fixture f = fixture_new();
  struct restored restored;
  CHECK_OK(store_restore(f.store, backup, f.now, &f.arena, &restored, &f.err), &f.err);
  CHECK_OK(store_idea(&f), &f.err);
  fixture_close(&f);
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

TEST(listing_backups_out_of_memory_leaves_no_folder_open, .only = TEST_ON_SQLITE) {
  enum { FILES = 200 }; /* more names than fit into an arena block */
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
