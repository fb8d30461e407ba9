/* games.c: the stores of the torture test, and a server whose connections are cut and which crashes. */
#include "support/games.h"

#include "support/harness.h"
#include "support/own_server.h"
#include "support/proc.h"
#include "support/store.h"

enum { CRASH_EVERY = 6 }; /* disturbances; all others cut connections */

struct torture game(const char *name, int seconds) {
  return (struct torture){.store = test_store(name),
                          .files = path_join(NULL, name),
                          .program = CAIRN_BIN,
                          .workers = 8,
                          .seconds = seconds,
                          .seed = 20261115};
}

/* Cuts some of the connections, whatever they are doing. */
static void cut_connections(uint32_t random) {
  char sql[200];
  snprintf(sql, sizeof(sql),
           "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'torture'"
           " AND pid %% 3 = %u AND pid <> pg_backend_pid()",
           random % 3);
  own_server_sql(NULL, sql);
}

static void cut_or_crash(uint32_t random) {
  static int count;
  if (++count % CRASH_EVERY == 3)
    own_server_restart(true);
  else
    cut_connections(random);
}

static const char *shared_store;

/* Uses the test role, which may terminate its own connections. */
static void cut_own(uint32_t random) {
  char sql[200];
  snprintf(sql, sizeof(sql),
           "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()"
           " AND usename = current_user AND pid %% 3 = %u AND pid <> pg_backend_pid()",
           random % 3);
  struct direct *d = direct_open(shared_store);
  direct_string(d, sql);
  direct_close(d);
}

void game_disturb(struct torture *t) {
  if (!on_postgres())
    return;
  t->disturb_ms = 700;
  if (own_server_possible()) {
    own_server_start(true);
    t->store = own_server_database("torture", true);
    /* Create the tables before any process is killed; torture_creation() tests creation. */
    struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", t->store, "stats"), .timeout_ms = 60000);
    if (r.exit_code != 0)
      FAIL("%.*s", STR_ARG(r.err));
    t->disturb = cut_or_crash;
    return;
  }
  printf("the server of this run cannot be restarted: connections are cut, and that is all\n");
  shared_store = t->store;
  t->disturb = cut_own;
}

static const char *new_file(int round) {
  char name[40];
  snprintf(name, sizeof(name), "new.db-%d", round);
  return path_join(NULL, name);
}

static const char *new_database(int round) {
  char name[40];
  snprintf(name, sizeof(name), "new_%d", round);
  return own_server_database(name, true);
}

/* A database of the test run already has the schema. */
static const char *made_database(int round) {
  char name[40];
  snprintf(name, sizeof(name), "new_%d", round);
  return test_store(name);
}

const char *(*game_new_place(void))(int round) {
  if (!on_postgres())
    return new_file;
  if (!own_server_possible())
    return made_database;
  own_server_start(false);
  return new_database;
}
