/* pg.h: the PostgreSQL server of a test run, given by CAIRN_TEST_PG: one database for each store of each test,
 * created from a template with the schema. All are dropped after the run, even if it crashes.
 *
 * If CAIRN_TEST_PG names a superuser, the run creates an ordinary role, because superusers bypass row-level
 * security. Any other role is used directly and must be allowed to create databases. CAIRN_TEST_POOLER (HOST:PORT)
 * is a pooler between that role and its stores. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* ---- for the harness ---- */

/* Creates the role and the template, whose schema comes from the program, and starts the process that drops the
 * databases of tests. False, with a message, if that fails. */
bool pg_prepare(void);
/* In a test's process: sets the number of the test. */
void pg_enter(size_t test);
/* The databases of this test can be dropped. */
void pg_done(size_t test);
/* Waits until everything of the run is dropped; false if something is left. */
bool pg_finish(void);

/* ---- for tests; see store.h ---- */

/* The URL of the running test's store of this name; the first call creates its database, with the schema or empty. */
const char *pg_store(const char *name, bool empty);
/* Drops its database and creates it again. */
void pg_store_anew(const char *url);
