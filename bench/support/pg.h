/* pg.h: shared by the benchmarks of a store on a server: direct connections, bulk loading, team names. */
#pragma once

#include "base/buf.h"
#include "store/postgres/libpq.h"

/* The first teams have vectors of the built-in embedder and are searched. The others have vectors of the hashing
 * embedder, which costs almost nothing, and are written to. */
enum { PG_TEAMS = 100, PG_SEARCHED = 90, PG_CLIENTS = 8 };
#define PG_ROLE "cairn_bench"

/* "t042". */
const char *pg_team(int number, char out[8]);

const struct libpq *pg_library(void);
/* Connects or fails. */
PGconn *pg_connect(const char *url);
/* Runs statements and discards their results. */
void pg_run(PGconn *conn, const char *sql);
/* The first column of the first row. */
int64_t pg_number(PGconn *conn, const char *sql);

/* The address of another database on the same server, for another role (NULL: the same); in the arena. */
const char *pg_address(struct arena *a, const char *url, const char *role, const char *database);

/* ---- bulk loading ---- */

struct pg_copy {
  PGconn *conn;
  struct buf rows;
};

void pg_copy_begin(struct pg_copy *c, const char *sql);
/* Adds one field; call pg_copy_row() before the first of a row. STR_NONE is NULL. */
void pg_copy_row(struct pg_copy *c);
void pg_copy_text(struct pg_copy *c, struct str value);
void pg_copy_int(struct pg_copy *c, int64_t value);
void pg_copy_end(struct pg_copy *c);
