/* own_server.h: a private PostgreSQL server of the running test, which it may restart, crash and stop. It is stopped
 * after the test, even if the test crashes.
 *
 * Requires scripts/pg to be able to start a server. If the run uses a server given by CAIRN_TEST_PG, that may not be
 * possible; tests that need a restart then say so and skip it. */
#pragma once

#include <stdbool.h>

/* True if scripts/pg started the run's server, so it can start another one. */
bool own_server_possible(void);
/* Starts the server, or ends the test as "not run" if that is not possible. `durable`: commits survive a crash. */
void own_server_start(bool durable);
/* Starts a server that is older than Cairn supports; only own_server_url() and own_server_sql() work with it. */
void own_server_start_older(void);
/* Runs SQL as superuser in this database (NULL: the default one). Returns the first value of the first row, "" if
 * there is none. */
const char *own_server_sql(const char *database, const char *sql);
/* Creates a database owned by the ordinary role `app`, with or without the extensions that a store needs. */
const char *own_server_database(const char *name, bool extensions);
/* The URL of a database for this role; the password may be NULL. */
const char *own_server_url(const char *role, const char *password, const char *database);
/* `crash`: without a clean shutdown. */
void own_server_restart(bool crash);
void own_server_stop(void);
/* Stops it without a clean shutdown; it stays down. */
void own_server_crash(void);
/* Starts it again after a stop. */
void own_server_resume(void);

/* Starts pgbouncer in front of it, with this many connections to each database; ends with the server. `mode` is
 * "session" or "transaction". Returns its port. */
int own_server_pooler(const char *mode, int size);
/* Starts a streaming replica, which ends with the server; returns its port. */
int own_server_standby(void);
/* Promotes the replica to primary. */
void own_server_promote(void);
/* The URL of a database for the role `app` at this local port. */
const char *own_server_at(int port, const char *database);
