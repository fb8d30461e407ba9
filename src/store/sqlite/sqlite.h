/* sqlite.h: what only SQLite can do, for the files of that engine: bytes in place,
 * whole files.
 */
#pragma once

#include "store/db/db.h"

/* The row id of the last insert. */
int64_t sqlite_last_id(const struct db *db);

/* Overwrites a part of a stored blob in place. */
NODISCARD enum status sqlite_blob_write(struct db *db, const char *table, const char *column, int64_t row,
                                        size_t offset, struct str bytes, struct error *err);

/* A file that is being made: under a name of its own, private, until it is complete. The end syncs it and gives it its
 * name when `s`, what came of it, is OK; else nothing of it stays. */
enum { SQLITE_PART_SIZE = 4200 };
NODISCARD enum status sqlite_part_new(const char *path, char ret_part[SQLITE_PART_SIZE], struct error *err);
NODISCARD enum status sqlite_part_end(const char *part, const char *path, enum status s, struct error *err);

/* Copies the whole database to a file, while others go on using it; progress(done, total) may be NULL. */
NODISCARD enum status sqlite_backup_to(struct db *db, const char *path, db_progress progress, void *arg,
                                       struct error *err);
/* Replaces the whole content by that of another database file, as one change. Before it, once no other process can
 * write any more, locked() is called (may be NULL): a connection of its own can still read what is about to go. */
typedef enum status (*db_locked)(void *arg, struct error *err);
NODISCARD enum status sqlite_restore_from(struct db *db, const char *path, db_locked locked, void *arg,
                                          struct error *err);

/* Makes the file a multi-process one (write-ahead log): once, when a store is created. */
NODISCARD enum status sqlite_use_wal(struct db *db, struct error *err);
