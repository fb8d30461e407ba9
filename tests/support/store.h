/* store.h: the stores of the running test, on the engine under test, with direct SQL access. */
#pragma once

#include "base/str.h"
#include "support/harness.h"

/* The path or URL of a store of this name ("a.db"): a file in the test's directory, or a database on the run's
 * server. The file may not exist yet; the database does, with the schema and no rows. */
const char *test_store(const char *name);
/* The same for tests that create a store: the database has no schema. After a first call with this name,
 * test_store() returns the same store. */
const char *test_store_new(const char *name);
/* True if the store was created: the file exists, or the database has its tables. */
bool store_is_there(const char *store);
/* Its address as the program shows it, without a password. */
const char *store_shown(const char *store);
/* Resets it to what test_store() or test_store_new() returned. It must not be open. */
void store_remove(const char *store);

/* A separate connection that sees all teams. Results live as long as the test. SQL must be valid on both engines; on
 * PostgreSQL, group_concat(), json_extract(), json_set() and the rows of vec_slot work as on SQLite. */
struct direct;
struct direct *direct_open(const char *store);
void direct_close(struct direct *d);
/* Runs several statements; false if the schema rejects one. */
bool direct_try(struct direct *d, const char *sql);
/* The error of the last failure. */
const char *direct_error(const struct direct *d);
void direct_do(struct direct *d, const char *sql);
/* The first column of the first row as text, "" if it is NULL; fails the test if there is no row. */
struct str direct_string(struct direct *d, const char *sql);
int64_t direct_number(struct direct *d, const char *sql);
/* Begins a write transaction that blocks the program's writes until COMMIT or close. */
void direct_lock(struct direct *d);

/* Runs the call with each of its allocations failing in turn, until none fails. After each run, the handle must have
 * no open snapshot: it must read what another connection has just committed. Returns the number of failed calls.
 * Call no_statement_check() before opening the handle: the statement check allocates memory, too. */
struct store;
void no_statement_check(void);
int check_leaves_no_snapshot(struct store *st, const char *store, void (*call)(void *arg), void *arg);

/* Every row of every table as text, except recorded calls, to compare stores. */
struct str store_dump(const char *store);
/* True if the bytes are anywhere in the store's files or tables; ignores ASCII case. */
bool store_has(const char *store, struct str bytes);
