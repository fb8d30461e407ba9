/* store.c: the stores of the running test, on the engine under test, with direct SQL access. */
#include "support/store.h"

#include <dirent.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"
#include "support/pg.h"
#include "support/proc.h"

/* Lives as long as the test's process. */
static struct arena memory;

struct direct {
  sqlite3 *file;
  PGconn *server;
  const char *error;
};

static bool is_url(const char *store) { return strncmp(store, "postgresql://", 13) == 0; }

const char *test_store(const char *name) { return on_postgres() ? pg_store(name, false) : path_join(NULL, name); }
const char *test_store_new(const char *name) { return on_postgres() ? pg_store(name, true) : path_join(NULL, name); }

bool store_is_there(const char *store) {
  if (!is_url(store))
    return access(store, F_OK) == 0;
  struct direct *d = direct_open(store);
  bool there = direct_number(d, "SELECT count(to_regclass('cairn.memory'))") == 1;
  direct_close(d);
  return there;
}

const char *store_shown(const char *store) {
  const char *colon = is_url(store) ? strchr(store + 13, ':') : NULL, *at = colon ? strchr(colon, '@') : NULL;
  return at ? arena_printf(&memory, "%.*s%s", (int)(colon - store), store, at).p : store;
}

void store_remove(const char *store) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  if (is_url(store))
    pg_store_anew(store);
  else
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
      unlink(arena_printf(&memory, "%s%s", store, ends[i]).p);
}

/* ---- connections ---- */

static void no_notice(void *arg UNUSED, const char *text UNUSED) {}

static void connect_to(struct direct *d, const char *store) {
  d->server = PQconnectdb(store);
  PQsetNoticeProcessor(d->server, no_notice, NULL);
  if (PQstatus(d->server) != CONNECTION_OK)
    FAIL("%s: %s", store, PQerrorMessage(d->server));
  direct_do(d, "SET cairn.team = '*'; SET search_path = cairn, public, as_sqlite; SET client_min_messages = error");
}

struct direct *direct_open(const char *store) {
  struct direct *d = arena_alloc(&memory, sizeof(*d));
  *d = (struct direct){0};
  if (is_url(store)) {
    connect_to(d, store);
    return d;
  }
  if (sqlite3_open_v2(store, &d->file, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
    FAIL("%s: %s", store, sqlite3_errmsg(d->file));
  sqlite3_busy_timeout(d->file, 5000);
  direct_do(d, "PRAGMA foreign_keys = ON");
  return d;
}

void direct_close(struct direct *d) {
  /* A server may roll back only some time after the disconnect; the next connection must not wait for that. */
  if (d->server && PQtransactionStatus(d->server) != PQTRANS_IDLE)
    PQclear(PQexec(d->server, "ROLLBACK"));
  sqlite3_close(d->file);
  PQfinish(d->server);
  *d = (struct direct){0};
}

/* ---- statements ---- */

static bool server_try(struct direct *d, const char *sql) {
  PGresult *r = PQexec(d->server, sql);
  bool done = PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;
  d->error = done ? NULL : arena_cstr(&memory, str_from(PQresultErrorMessage(r)));
  PQclear(r);
  return done;
}

bool direct_try(struct direct *d, const char *sql) {
  if (d->server)
    return server_try(d, sql);
  bool done = sqlite3_exec(d->file, sql, NULL, NULL, NULL) == SQLITE_OK;
  d->error = done ? NULL : arena_cstr(&memory, str_from(sqlite3_errmsg(d->file)));
  return done;
}

const char *direct_error(const struct direct *d) { return d->error ? d->error : ""; }

void direct_do(struct direct *d, const char *sql) {
  if (!direct_try(d, sql))
    FAIL("%s: %s", sql, direct_error(d));
}

/* The advisory lock of the program's writers, and the tables, for writers that do not take it. */
static const char lock_tables[] =
    "BEGIN; SELECT pg_advisory_xact_lock(x'636169726e000000'::bigint); DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT "
    "oid FROM pg_class"
    " WHERE relnamespace = 'cairn'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
    " LOOP EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', t); END LOOP; END $$";

void direct_lock(struct direct *d) { direct_do(d, d->server ? lock_tables : "BEGIN IMMEDIATE"); }

/* The rows of a query, on either engine. */
struct cursor {
  sqlite3_stmt *statement;
  PGresult *result;
  int at;
};

static struct cursor query(struct direct *d, const char *sql) {
  struct cursor c = {.at = -1};
  if (d->server) {
    c.result = PQexec(d->server, sql);
    if (PQresultStatus(c.result) != PGRES_TUPLES_OK)
      FAIL("%s: %s", sql, PQresultErrorMessage(c.result));
  } else if (sqlite3_prepare_v2(d->file, sql, -1, &c.statement, NULL) != SQLITE_OK) {
    FAIL("%s: %s", sql, sqlite3_errmsg(d->file));
  }
  return c;
}

static bool next(struct cursor *c) {
  return c->result ? ++c->at < PQntuples(c->result) : sqlite3_step(c->statement) == SQLITE_ROW;
}

static int columns(const struct cursor *c) {
  return c->result ? PQnfields(c->result) : sqlite3_column_count(c->statement);
}

/* Blobs are returned as bytes. Valid until the next row. */
static struct str cell(struct cursor *c, int i) {
  if (c->result)
    return (struct str){PQgetvalue(c->result, c->at, i), (size_t)PQgetlength(c->result, c->at, i)};
  const char *p = sqlite3_column_blob(c->statement, i);
  return p ? (struct str){p, (size_t)sqlite3_column_bytes(c->statement, i)} : STR("");
}

static const char *name_of(struct cursor *c, int i) {
  return c->result ? PQfname(c->result, i) : sqlite3_column_name(c->statement, i);
}

static void end(struct cursor *c) {
  sqlite3_finalize(c->statement);
  PQclear(c->result);
}

struct str direct_string(struct direct *d, const char *sql) {
  struct cursor c = query(d, sql);
  if (!next(&c))
    FAIL("%s: no row", sql);
  struct str s = arena_dup(&memory, cell(&c, 0));
  end(&c);
  return s;
}

int64_t direct_number(struct direct *d, const char *sql) {
  int64_t n = 0;
  CHECK(str_int64(direct_string(d, sql), &n));
  return n;
}

/* ---- the whole store ---- */

/* tool_call is left out: it records every call, even a failed one. */
static const char file_tables[] = "SELECT name FROM sqlite_schema WHERE type = 'table'"
                                  " AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_stat%'"
                                  " AND name <> 'tool_call' ORDER BY name";
static const char server_tables[] = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                                    " WHERE n.nspname = 'cairn' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
                                    " ORDER BY c.relname";

static struct strs tables_of(struct direct *d) {
  struct strs names = {0};
  struct cursor c = query(d, d->server ? server_tables : file_tables);
  while (next(&c))
    list_push(&memory, &names, arena_dup(&memory, cell(&c, 0)));
  end(&c);
  return names;
}

static void dump_rows(struct direct *d, struct str table, struct buf *out) {
  const char *order = d->server ? " t ORDER BY t::text" : ""; /* SQLite returns rows in a fixed order */
  struct cursor c = query(d, arena_printf(&memory, "SELECT * FROM \"%.*s\"%s", STR_ARG(table), order).p);
  while (next(&c)) {
    buf_add(out, table);
    for (int i = 0; i < columns(&c); i++) {
      buf_addf(out, "|%s=", name_of(&c, i));
      buf_add(out, cell(&c, i));
    }
    buf_addc(out, '\n');
  }
  end(&c);
}

static struct str dump(const char *store, const char *without) {
  struct buf out = BUF(&memory);
  if (!is_url(store) && access(store, F_OK) != 0)
    return STR("");
  struct direct *d = direct_open(store);
  struct strs tables = tables_of(d);
  for (size_t i = 0; i < tables.n; i++)
    if (!str_is(tables.v[i], without))
      dump_rows(d, tables.v[i], &out);
  direct_close(d);
  return buf_str(&out);
}

struct str store_dump(const char *store) { return dump(store, "tool_call"); }

static bool holds(struct str text, struct str bytes) {
  for (size_t i = 0; i + bytes.n <= text.n; i++) {
    size_t k = 0;
    while (k < bytes.n && ascii_lower(text.p[i + k]) == ascii_lower(bytes.p[k]))
      k++;
    if (k == bytes.n)
      return true;
  }
  return false;
}

static bool files_hold(const char *store, struct str bytes) {
  const char *slash = strrchr(store, '/');
  const char *folder = arena_cstr(&memory, (struct str){store, (size_t)(slash - store)});
  DIR *dir = opendir(folder);
  struct dirent *e;
  bool found = false;
  CHECK(dir);
  while ((e = readdir(dir)))
    if (strncmp(e->d_name, slash + 1, strlen(slash + 1)) == 0 && e->d_type == DT_REG)
      found |= holds(file_read(path_join(folder, e->d_name)), bytes);
  closedir(dir);
  return found;
}

/* Bytea columns are in hexadecimal there, vectors in decimal. */
static bool tables_hold(const char *store, struct str bytes) {
  struct str all = dump(store, "");
  struct buf hex = BUF(&memory);
  for (size_t i = 0; i < bytes.n; i++)
    buf_addf(&hex, "%02x", (unsigned char)bytes.p[i]);
  struct buf numbers = BUF(&memory);
  for (size_t i = 0; i < bytes.n; i++)
    buf_addf(&numbers, "%s%d", i ? "," : "", (signed char)bytes.p[i]);
  return holds(all, bytes) || holds(all, buf_str(&hex)) || holds(all, buf_str(&numbers));
}

bool store_has(const char *store, struct str bytes) {
  return is_url(store) ? tables_hold(store, bytes) : files_hold(store, bytes);
}

static void check_reads_anew(struct store *st, struct direct *other) {
  static int written;
  struct str seen;
  struct error err;
  char sql[200], want[16];
  snprintf(want, sizeof(want), "%d", ++written);
  snprintf(sql, sizeof(sql),
           "INSERT INTO meta (name, value) VALUES ('test_written', '%s')"
           " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
           want);
  direct_do(other, sql);
  CHECK(!db_in_transaction(store_db(st)));
  CHECK_OK(store_meta(st, "test_written", &memory, &seen, &err), &err);
  CHECK_STR(seen, want);
}

void no_statement_check(void) { unsetenv("CAIRN_CHECK_STATEMENTS"); }

int check_leaves_no_snapshot(struct store *st, const char *store, void (*call)(void *arg), void *arg) {
  struct direct *other = direct_open(store);
  int failures = 0;
  bool failed = true;
  call(arg); /* prepares its statements: later calls allocate only what they read */
  check_reads_anew(st, other);
  for (long n = 1; failed; n += 1 + n / 50) { /* sanitizer builds allocate each object */
    test_note("allocation %ld", n);
    alloc_fail_at(n, 0);
    call(arg);
    failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    check_reads_anew(st, other);
    failures += failed;
  }
  direct_close(other);
  return failures;
}
