/* own_server.c: a private server of one test, started by scripts/pg, and a process that stops it after the test. */
#include "support/own_server.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "support/harness.h"
#include "support/proc.h"

enum { START_MS = 90000, TEXT = 1024 };

static const char script[] = CAIRN_SOURCE_DIR "/scripts/pg";
static char instance[64], variable[100], admin[200], release[40] = "CAIRN_PG_RELEASE";
static struct arena memory; /* lives as long as the test */

bool own_server_possible(void) { return getenv("CAIRN_PG_INSTANCE") != NULL; }

static struct str run_words(const char *command, const char *option, const char *more) {
  struct run r = proc_run(.argv = ARGS(script, command, option, more), .env = ARGS(variable, release, "CAIRN_TEST_PG"),
                          .timeout_ms = START_MS);
  if (r.exit_code == 3)
    test_unable("root and chroot, to unpack a server of Debian 12");
  if (r.exit_code != 0)
    FAIL("scripts/pg %s: %.*s", command, STR_ARG(r.err));
  return str_trim(r.out);
}

static struct str run_script(const char *command, const char *option) { return run_words(command, option, NULL); }

/* Waits for end of file on the pipe from the test's process, then stops the server. It has its own process group,
 * because the test's group is killed with the test. */
static _Noreturn void stop_afterwards(int from) {
  setsid();
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd < 3; fd++)
    dup2(null, fd);
  for (int fd = 3; fd < 256; fd++)
    if (fd != from)
      close(fd);
  char c;
  while (read(from, &c, 1) > 0)
    continue;
  setenv("CAIRN_PG_INSTANCE", instance, 1);
  if (strchr(release, '='))
    setenv("CAIRN_PG_RELEASE", strchr(release, '=') + 1, 1);
  execl(script, script, "stop", (char *)NULL);
  _exit(126);
}

static void start_guard(void) {
  int ends[2];
  CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[1]);
    stop_afterwards(ends[0]);
  }
  CHECK(pid > 0);
  close(ends[0]); /* the other end stays open until this process ends */
}

static void start(bool durable) {
  if (!own_server_possible())
    test_unable("a server of its own that it may stop: CAIRN_TEST_PG names somebody else's");
  snprintf(instance, sizeof(instance), "own-%d", (int)getpid());
  snprintf(variable, sizeof(variable), "CAIRN_PG_INSTANCE=%s", instance);
  start_guard();
  struct str url = run_script("start", durable ? "--durable" : NULL);
  CHECK(url.n < sizeof(admin));
  snprintf(admin, sizeof(admin), "%.*s", STR_ARG(url));
  own_server_sql(NULL, "CREATE ROLE app LOGIN PASSWORD 'app'");
}

void own_server_start(bool durable) { start(durable); }

void own_server_start_older(void) {
  snprintf(release, sizeof(release), "CAIRN_PG_RELEASE=older");
  start(false);
}

const char *own_server_url(const char *role, const char *password, const char *database) {
  const char *host = strchr(admin, '@') + 1;
  return arena_printf(&memory, "postgresql://%s%s%s@%.*s/%s", role, password ? ":" : "", password ? password : "",
                      (int)strcspn(host, "/"), host, database)
      .p;
}

const char *own_server_sql(const char *database, const char *sql) {
  PGconn *conn = PQconnectdb(own_server_url("postgres", NULL, database ? database : "postgres"));
  PGresult *r = PQexec(conn, sql);
  if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
    FAIL("%s: %s", sql, PQerrorMessage(conn));
  bool some = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) > 0;
  const char *value = some ? arena_cstr(&memory, str_from(PQgetvalue(r, 0, 0))) : "";
  PQclear(r);
  PQfinish(conn);
  return value;
}

const char *own_server_database(const char *name, bool extensions) {
  own_server_sql(NULL, arena_printf(&memory, "CREATE DATABASE \"%s\" OWNER app", name).p);
  if (extensions)
    own_server_sql(name, "CREATE EXTENSION vector; CREATE EXTENSION btree_gin");
  return own_server_url("app", NULL, name);
}

void own_server_restart(bool crash) { run_script("restart", crash ? "--crash" : NULL); }

void own_server_stop(void) { run_script("halt", NULL); }
void own_server_resume(void) { run_script("restart", NULL); }
void own_server_crash(void) { run_script("halt", "--crash"); }

/* ---- pooler and replica ---- */

static int port_of(struct str url) {
  int64_t port = 0;
  size_t colon = str_find(url, STR(":"), str_find(url, STR("@"), 0)), slash = str_find(url, STR("/"), colon);
  if (colon == SIZE_MAX || slash == SIZE_MAX || !str_int64(str_slice(url, colon + 1, slash), &port))
    FAIL("scripts/pg gave no address: %.*s", STR_ARG(url));
  return (int)port;
}

int own_server_pooler(const char *mode, int size) {
  return port_of(run_words("pooler", mode, arena_printf(&memory, "%d", size).p));
}

int own_server_standby(void) { return port_of(run_script("standby", NULL)); }
void own_server_promote(void) { run_script("promote", NULL); }

const char *own_server_at(int port, const char *database) {
  return arena_printf(&memory, "postgresql://app@127.0.0.1:%d/%s", port, database).p;
}
