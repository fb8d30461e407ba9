/* sqlite_internal.h: what the SQLite files of the driver share; nothing outside src/store/sqlite*.c includes it. */
#ifndef CAIRN_STORE_SQLITE_INTERNAL_H
#define CAIRN_STORE_SQLITE_INTERNAL_H

#include <sqlite3.h>

#include "store/db.h"

sqlite3 *sqlite_handle(const struct db *db);
/* Fills err from an SQLite result code; returns the status. */
enum status sqlite_fail(const struct db *db, int rc, struct error *err);

#endif
