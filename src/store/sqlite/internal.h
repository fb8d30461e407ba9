/* internal.h: shared by the files of the SQLite driver; private to src/store/sqlite. */
#pragma once

#include <sqlite3.h>

#include "store/db/db.h"

sqlite3 *sqlite_handle(const struct db *db);
/* Fills err from an SQLite result code; returns the status. */
enum status sqlite_fail(const struct db *base, int rc, struct error *err);

/* store/sqlite/fts.c: full-text state of a connection; returns an SQLite result code. */
struct sqlite_fts;
int sqlite_fts_open(sqlite3 *handle, struct sqlite_fts **ret_fts);
void sqlite_fts_close(struct sqlite_fts **fts);
struct sqlite_fts *sqlite_fts_of(const struct db *db);

/* store/sqlite/tokeniser.c: tokeniser of a connection, closed before it; returns an SQLite result code. */
struct tokeniser;
int sqlite_tokeniser(sqlite3 *handle, struct tokeniser **ret_tokeniser);
/* NULL if this SQLite lacks full-text search. */
fts5_api *sqlite_fts_api(sqlite3 *handle);
