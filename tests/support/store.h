/* store.h: the stores of the running test, on the engine under test, and SQL on them past the program. */
#pragma once

#include "base/str.h"
#include "support/harness.h"

/* Where a store of this name ("a.db") is: a file in the test's folder, or a database on the server of the run. The file
 * need not be there yet; the database is, with the schema and nothing in it. */
const char *test_store(const char *name);
/* The same, for what is about creating a store: the database is empty. If it is the first call with this name, later
 * ones of test_store() mean the same store. */
const char *test_store_new(const char *name);
/* Whether somebody has created the store: the file is there, or the database has its tables. */
bool store_is_there(const char *store);
/* Its address as the program shows it: without a password. */
const char *store_shown(const char *store);
/* Nobody has it open: back to what test_store() or test_store_new() gave. */
void store_remove(const char *store);

/* A connection of its own, that sees all teams. What it reads lives as long as the test. SQL is what both engines
 * understand; on PostgreSQL group_concat(), json_extract(), json_set() and the rows of vec_slot are what they are on
 * SQLite. */
struct direct;
struct direct *direct_open(const char *store);
void direct_close(struct direct *d);
/* Several statements; false when the schema refuses one. */
bool direct_try(struct direct *d, const char *sql);
/* Why the last one was refused. */
const char *direct_error(const struct direct *d);
void direct_do(struct direct *d, const char *sql);
/* The first column of the first row as text, "" when it is NULL; no row ends the test. */
struct str direct_string(struct direct *d, const char *sql);
int64_t direct_number(struct direct *d, const char *sql);
/* A write transaction that keeps the program from writing, until the connection is closed or says COMMIT. */
void direct_lock(struct direct *d);

/* Runs the call with each of its allocations failing in turn, until none does. After each, the handle has no snapshot
 * left open: it reads what another connection has just committed. How often the call failed. Before the handle is
 * opened, no_statement_check() switches off the check of its statements, which needs memory of its own. */
struct store;
void no_statement_check(void);
int check_leaves_no_snapshot(struct store *st, const char *store, void (*call)(void *arg), void *arg);

/* Every row of every table as text, but for what tells of calls: two that are equal are the same store. */
struct str store_dump(const char *store);
/* Whether the bytes are anywhere in the files of the store, or in its tables, compared without ASCII case. */
bool store_has(const char *store, struct str bytes);
