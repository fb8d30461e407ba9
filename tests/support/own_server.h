/* own_server.h: a PostgreSQL server of the running test alone, which it may restart, crash and stop. It is stopped when
 * the test is over, however that ends.
 *
 * It takes scripts/pg, and so a machine where that can start a server: one where the run itself was given its server by
 * CAIRN_TEST_PG may not be. There a test that needs a restart says so and does without. */
#pragma once

#include <stdbool.h>

/* Whether the server of the run was started by scripts/pg, so that another one can be. */
bool own_server_possible(void);
/* Starts it, or ends the test as "not run" if that is not possible. `durable`: commits survive a crash of the server.
 */
void own_server_start(bool durable);
/* Starts one that is older than Cairn supports instead; nothing but own_server_url() and own_server_sql() is for it. */
void own_server_start_older(void);
/* SQL by its superuser in this database (NULL: its own); the first value of the first row, "" when there is none. */
const char *own_server_sql(const char *database, const char *sql);
/* A new database that belongs to the ordinary role `app`; with the extensions that a store needs, or without them. */
const char *own_server_database(const char *name, bool extensions);
/* The URL of a database there for this role; with a password, or NULL. */
const char *own_server_url(const char *role, const char *password, const char *database);
/* `crash`: without the time to write anything or to say goodbye. */
void own_server_restart(bool crash);
void own_server_stop(void);
/* For good, without a word. */
void own_server_crash(void);
/* Again, after it was stopped. */
void own_server_resume(void);

/* pgbouncer before it, with so many connections to each database; ends with the server. `mode` is "session" or
 * "transaction". Returns its port. */
int own_server_pooler(const char *mode, int size);
/* A streaming replica, which ends with the server; returns its port. */
int own_server_standby(void);
/* Makes the replica the server that takes writes. */
void own_server_promote(void);
/* The URL of a database for the role `app` at this port of the machine. */
const char *own_server_at(int port, const char *database);
