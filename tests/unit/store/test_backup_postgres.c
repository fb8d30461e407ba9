/* test_backup_postgres.c: backup names of a server store, and reads by other connections during a restore. */
#include "store/postgres/backup.h"

#include "store/store.h"
#include "store/tables/events.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

TEST(a_backup_is_named_after_server_and_database) {
  static const char *const names[][2] = {
      {"postgresql://db.example.org/cairn", "db.example.org_cairn"},
      {"postgresql://alice@db.example.org:5433/cairn", "db.example.org_5433_cairn"},
      {"postgres://alice:s3cr%40t@db.example.org/cairn", "db.example.org_cairn"},
      {"postgresql://alice:p@ss@db.example.org/cairn?sslmode=require", "db.example.org_cairn"},
      {"postgresql://alice@/cairn?host=/run/postgresql&password=secret", "_cairn__run_postgresql"},
      {"postgresql://h/../../etc", "h_.._.._etc"},
      {"postgresql://", ""},
  };
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    test_note("%s", names[i][0]);
    CHECK_STR(postgres_backup_name(&a, names[i][0]), names[i][1]);
  }
  arena_release(&a);
}

/* ---- restore ---- */

static struct error err;

static void add(struct store *st, int from, int to) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "test", .now = 1}, txn;
  struct event e = {.action = STR("test:event"), .uid = STR("u"), .detail = STR("{}")};
  for (int i = from; i <= to; i++) {
    CHECK_OK(txn_begin(st, &who, 0, &txn, &err), &err);
    CHECK_OK(event_add(&txn, &e, &err), &err);
    CHECK_OK(txn_commit(&txn, &err), &err);
  }
}

/* A store with five events, and a backup from when there were two. */
static struct store *later_than_its_backup(const char *backup) {
  struct store_options o = {.path = test_store("a.db"), .now = 1763208000000};
  struct store *st = NULL;
  setenv("XDG_STATE_HOME", path_join(NULL, "state"), 1);
  CHECK_OK(store_open(&o, &st, &err), &err);
  add(st, 1, 2);
  CHECK_OK(store_copy_to(st, backup, NULL, NULL, &err), &err);
  add(st, 3, 5);
  return st;
}

static int64_t events(struct direct *db) { return direct_number(db, "SELECT count(*) FROM event"); }

/* A restore neither waits for readers with an older snapshot nor shows them empty tables; other contents of the
 * database are kept. */
TEST(a_restore_is_atomic_for_readers, .only = TEST_ON_POSTGRES) {
  const char *backup = path_join(NULL, "backup.db"), *path = test_store("a.db");
  struct store *st = later_than_its_backup(backup);
  struct arena a;
  struct restored restored;
  arena_init(&a);
  struct direct *early = direct_open(path), *reading = direct_open(path);
  direct_do(early, "CREATE SCHEMA other; CREATE TABLE other.event AS SELECT 7 AS seq");
  direct_do(early, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  CHECK_INT(direct_number(early, "SELECT 1"), 1); /* takes its snapshot, but reads no table */
  direct_do(reading, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  CHECK_INT(direct_number(reading, "SELECT count(*) FROM txn"), 5);
  CHECK_OK(store_restore(st, backup, 1763208000000, &a, &restored, &err), &err);
  CHECK_INT(events(early), 5);
  CHECK_INT(direct_number(early, "SELECT count(*) FROM txn"), 5);
  CHECK_INT(events(reading), 5);
  direct_do(early, "COMMIT");
  direct_do(reading, "COMMIT");
  CHECK_INT(events(early), 2);
  CHECK_INT(direct_number(early, "SELECT seq FROM other.event"), 7);
  CHECK_INT(direct_number(early, "SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'"), 0);
  CHECK(!direct_try(early, "DELETE FROM event")); /* the log is protected again */
  add(st, 6, 7);
  CHECK_INT(events(early), 4);
  direct_close(early);
  direct_close(reading);
  store_close(&st);
  arena_release(&a);
}

/* Including ids: sequences are not transactional. */
TEST(a_restore_that_fails_at_its_end_changes_nothing, .only = TEST_ON_POSTGRES) {
  const char *backup = path_join(NULL, "backup.db"), *path = test_store("a.db");
  struct store *st = later_than_its_backup(backup);
  struct arena a;
  struct restored restored = {0};
  arena_init(&a);
  struct direct *db = direct_open(path);
  direct_do(db,
            "CREATE FUNCTION cairn.not_today() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'not today'; END $$;"
            " CREATE CONSTRAINT TRIGGER not_today AFTER INSERT OR UPDATE ON cairn.meta DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION cairn.not_today()");
  struct str before = store_dump(path);
  CHECK(store_restore(st, backup, 1763208000000, &a, &restored, &err) != STATUS_OK);
  CHECK(strstr(err.message, "not today") != NULL);
  CHECK(restored.safety.p == NULL);
  CHECK_INT(direct_number(db, "SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'"), 0);
  CHECK_INT(direct_number(db, "SELECT count(*) FROM pg_class WHERE relname = 'event' AND relforcerowsecurity"), 1);
  CHECK(str_eq(store_dump(path), before));
  add(st, 6, 7);
  CHECK_INT(events(db), 7);
  direct_close(db);
  store_close(&st);
  arena_release(&a);
}
