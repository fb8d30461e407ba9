/* pg.h: the PostgreSQL server of a test run, named by CAIRN_TEST_PG: one database for each store of each test, made
 * from a template that has the schema, and all of them gone when the run is over, however it ends.
 *
 * A server where CAIRN_TEST_PG names a superuser gets an ordinary role for the run, because superusers stand above
 * row-level security; any other role is used as it is, and must be allowed to create databases. CAIRN_TEST_POOLER
 * (HOST:PORT) stands between that role and its stores. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* ---- for the harness ---- */

/* Makes the role and the template, whose schema comes from the program, and starts the process that drops what tests
 * leave behind. False, and says why, when that is not possible. */
bool pg_prepare(void);
/* In the process of a test: its number. */
void pg_enter(size_t test);
/* The databases of this test are not needed any more. */
void pg_done(size_t test);
/* Waits until nothing of the run is left on the server; false when something is. */
bool pg_finish(void);

/* ---- for tests; see store.h ---- */

/* The URL of the running test's store of this name; its database is made at the first call, with the schema or empty.
 */
const char *pg_store(const char *name, bool empty);
/* Drops its database and makes it again, as it was made. */
void pg_store_anew(const char *url);
