/* internal.h: shared by the files of the SQLite driver; private to src/store/sqlite. */
#pragma once

#include <sqlite3.h>

#include "store/db/db.h"

sqlite3 *sqlite_handle(const struct db *db);
/* True if the file had a log with content when the connection was opened. */
bool sqlite_had_log(const struct db *db);
/* Opens a file for reading, without its log and without locks. */
int sqlite_open_without_log(const char *path, int flags, sqlite3 **ret_handle);
/* Fills err from an SQLite result code; returns the status. */
enum status sqlite_fail(const struct db *base, int rc, struct error *err);

/* store/sqlite/file.c: the files that a connection has open; `log` is set at the first check that finds one. */
struct sqlite_files {
  struct db_file store, log;
};
/* Fails if one of them was deleted, renamed, replaced or emptied. */
NODISCARD enum status sqlite_check_files(sqlite3 *handle, struct sqlite_files *files, struct error *err);
/* If another file has taken the place of the store: renames the log that was left behind to "-wal-lost". SQLite would
 * apply it to that file. */
void sqlite_set_log_aside(sqlite3 *handle, const struct sqlite_files *files);

/* store/sqlite/turns.c: the turns of a file's writers in this process. NULL without memory: writers then only poll. */
struct sqlite_turns;
struct sqlite_turns *sqlite_turns_open(struct db_file file);
void sqlite_turns_close(struct sqlite_turns **turns);
/* Waits until clock_ticks_us() reaches `until`; false if it is still another's turn. */
bool sqlite_turn_take(struct sqlite_turns *turns, int64_t until);
void sqlite_turn_leave(struct sqlite_turns *turns);

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
