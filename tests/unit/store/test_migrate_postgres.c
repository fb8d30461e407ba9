/* test_migrate_postgres.c: creating a store in a database, beside other tables and concurrently; refusals. */
#include <sys/wait.h>
#include <unistd.h>

#include "store/store_internal.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static enum status open_at(const char *path, struct store **ret, struct error *err) {
  struct store_options o = {.path = path, .now = 1763200000000};
  return store_open(&o, ret, err);
}

static void try_sql(const char *path, const char *sql) {
  struct direct *d = direct_open(path);
  direct_do(d, sql);
  direct_close(d);
}

static int64_t number(const char *path, const char *sql) {
  struct direct *d = direct_open(path);
  int64_t n = direct_number(d, sql);
  direct_close(d);
  return n;
}

TEST(several_processes_create_one_store, .only = TEST_ON_POSTGRES) {
  enum { PROCESSES = 4 };
  const char *path = test_store_new("new.db");
  pid_t pids[PROCESSES];
  CHECK_INT(number(path, "SELECT count(*) FROM pg_namespace WHERE nspname = 'cairn'"), 0);
  for (int i = 0; i < PROCESSES; i++) {
    pids[i] = fork();
    if (pids[i] == 0) {
      struct store *st = NULL;
      struct error err;
      enum status s = open_at(path, &st, &err);
      store_close(&st);
      _exit(s == STATUS_OK ? 0 : 1);
    }
    CHECK(pids[i] > 0);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int how;
    CHECK_INT(waitpid(pids[i], &how, 0), pids[i]);
    CHECK_INT(how, 0);
  }
  CHECK_INT(number(path, "SELECT count(*) FROM cairn.schema_version"), 1);
  CHECK_INT(number(path, "SELECT version FROM cairn.schema_version"), store_schema_version());
  CHECK_INT(number(path, "SELECT count(*) FROM cairn.meta WHERE name = 'epoch'"), 1);
}

TEST(tables_of_other_programs_are_not_touched, .only = TEST_ON_POSTGRES) {
  const char *path = test_store_new("shared.db");
  struct store *st = NULL;
  struct error err;
  try_sql(path, "CREATE TABLE public.memory (x integer); INSERT INTO public.memory VALUES (7);"
                "CREATE TABLE public.meta (y integer)");
  CHECK_OK(open_at(path, &st, &err), &err);
  int64_t n;
  CHECK_OK(db_int(store_db(st), &n, NULL, &err, "SELECT count(*) FROM memory WHERE team = 'default'", NULL), &err);
  CHECK_INT(n, 0);
  store_close(&st);
  CHECK_INT(number(path, "SELECT x FROM public.memory"), 7);
}

TEST(a_newer_schema_on_a_server_is_refused_and_untouched, .only = TEST_ON_POSTGRES) {
  const char *path = test_store("newer.db");
  struct store *st = NULL;
  struct error err;
  try_sql(path, "UPDATE cairn.schema_version SET version = 999");
  CHECK_INT(open_at(path, &st, &err), STATUS_SCHEMA);
  CHECK(strstr(err.message, "999") != NULL);
  CHECK(st == NULL);
  CHECK_INT(number(path, "SELECT version FROM cairn.schema_version"), 999);
}

TEST(a_migration_that_fails_on_a_server_leaves_nothing, .only = TEST_ON_POSTGRES) {
  const char *path = test_store("half.db"), *list[64] = {0};
  struct store *st = NULL;
  struct error err;
  int last = store_schema_version();
  CHECK_OK(open_at(path, &st, &err), &err);
  list[last] = "CREATE TABLE half (x integer); INSERT INTO nowhere VALUES (1)";
  CHECK(migrate_with(st, list, last + 1, 1763200001000, &err) != STATUS_OK);
  CHECK_INT(number(path, "SELECT count(to_regclass('cairn.half'))"), 0);
  CHECK_INT(number(path, "SELECT version FROM cairn.schema_version"), last);
  list[last] = "CREATE TABLE whole (x integer)";
  CHECK_OK(migrate_with(st, list, last + 1, 1763200001000, &err), &err);
  CHECK_INT(number(path, "SELECT count(to_regclass('cairn.whole'))"), 1);
  CHECK_INT(number(path, "SELECT version FROM cairn.schema_version"), last + 1);
  store_close(&st);
}

TEST(a_user_without_rights_is_told_what_to_ask_for, .only = TEST_ON_POSTGRES) {
  const char *path = test_store_new("rights.db");
  struct store *st = NULL;
  struct error err;
  try_sql(path, "DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM %I, PUBLIC', current_database(),"
                " current_user); END $$");
  CHECK_INT(open_at(path, &st, &err), STATUS_READONLY);
  CHECK(strstr(err.message, "may not create tables") != NULL);
  CHECK(strstr(err.fix, "CREATE SCHEMA cairn") != NULL);
  CHECK(st == NULL);
  CHECK_INT(number(path, "SELECT count(*) FROM pg_namespace WHERE nspname = 'cairn'"), 0);
}

TEST(a_store_of_schema_11_is_migrated_on_a_server, .only = TEST_ON_POSTGRES) {
  const char *path = test_store("eleven.db");
  try_sql(path, "DROP TRIGGER event_append_only ON cairn.event");
  try_sql(path, "CREATE TRIGGER event_append_only BEFORE DELETE ON cairn.event"
                " FOR EACH ROW EXECUTE FUNCTION cairn.refuse('the event log is append-only')");
  try_sql(path, "INSERT INTO cairn.event (team, at, action, op, project, source)"
                " VALUES ('default', 1, 'memory:read', 'get', '', 'cli'), ('default', 2, 'token:add', 'x', '', 'cli')");
  try_sql(path, "UPDATE cairn.schema_version SET version = 11");
  struct store *st = NULL;
  struct error err;
  CHECK_OK(open_at(path, &st, &err), &err);
  store_close(&st);
  CHECK_INT(number(path, "SELECT version FROM cairn.schema_version"), store_schema_version());
  CHECK_INT(number(path, "SELECT count(*) FROM cairn.event"), 2);
  try_sql(path, "DELETE FROM cairn.event WHERE action = 'memory:read'");
  CHECK_INT(number(path, "SELECT count(*) FROM cairn.event"), 1);
}
