/* sqlite.h: SQLite-only operations, for the files of that engine: in-place blob writes, whole-file copies. */
#pragma once

#include "store/db/db.h"

/* Row id of the last insert. */
int64_t sqlite_last_id(const struct db *db);

/* Overwrites a part of a stored blob in place. */
NODISCARD enum status sqlite_blob_write(struct db *db, const char *table, const char *column, int64_t row,
                                        size_t offset, struct str bytes, struct error *err);

/* A file under construction has a temporary name and is private until complete. If `s` is OK, the end syncs it and
 * renames it; otherwise it is removed. */
enum { SQLITE_PART_SIZE = 4200 };
NODISCARD enum status sqlite_part_new(const char *path, char ret_part[SQLITE_PART_SIZE], struct error *err);
NODISCARD enum status sqlite_part_end(const char *part, const char *path, enum status s, struct error *err);

/* Copies the whole database to a file while others use it; progress(done, total) may be NULL. */
NODISCARD enum status sqlite_backup_to(struct db *db, const char *path, db_progress progress, void *arg,
                                       struct error *err);
/* Replaces the whole content with that of another database file, atomically. Before that, once no other process can
 * write, locked() is called (may be NULL); on another connection it can still read the old content. */
typedef enum status (*db_locked)(void *arg, struct error *err);
NODISCARD enum status sqlite_restore_from(struct db *db, const char *path, db_locked locked, void *arg,
                                          struct error *err);

/* Switches the file to write-ahead logging, for use by several processes; done once, when a store is created. */
NODISCARD enum status sqlite_use_wal(struct db *db, struct error *err);
