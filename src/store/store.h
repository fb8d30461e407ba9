/* store.h: an open store: life cycle, visibility, transactions with their events.
 *
 * Each handle has one connection and is used by one thread at a time (ensured by the engine's lock). Several processes
 * may use one file. The other headers cover one table family each: memories.h, links.h, events.h, vectors.h, lexical.h,
 * settings.h. */
#pragma once

#include "base/os/clock.h"
#include "store/db/db.h"
#include "store/reach.h"

enum { STORE_BUSY_MS = 60000, BACKUPS_KEPT = 7 };

struct store;
struct settings_given;

struct store_options {
  const char *path;
  int busy_ms;    /* 0: STORE_BUSY_MS */
  int connect_ms; /* see db.h */
  bool must_exist;
  bool read_only;
  bool unfinished; /* also open the target of an unfinished migration; used only by that migration */
  int64_t now;
  const struct settings_given *settings; /* see settings.h; NULL: none; must outlive the store */
};

/* Opens the file, and creates or migrates its schema. A newer schema is refused and left untouched, as is the target of
 * an unfinished migration. */
NODISCARD enum status store_open(const struct store_options *options, struct store **ret_store, struct error *err);
/* Flushes queued reads; cannot fail. */
void store_close(struct store **store);

struct db *store_db(const struct store *st);
/* Number of committed transactions that the store had lost when it was opened: its log was deleted, or an older copy of
 * the file was put in its place. Nothing is refused because of it. It counts until store_accept_loss(). */
int64_t store_missing(const struct store *st);
NODISCARD enum status store_accept_loss(struct store *st, struct error *err);
/* Removes what an earlier store at this path left beside it to count its transactions. */
void store_remove_mark(const char *store);
int store_schema_version(void);

/* Metadata of the store; absent if unset. */
NODISCARD enum status store_meta(struct store *st, const char *name, struct arena *a, struct str *ret_value,
                                 struct error *err);
NODISCARD enum status store_set_meta(struct store *st, const char *name, struct str value, struct error *err);

/* ---- visibility ---- */

struct scope {
  struct str team;
  struct str project; /* "" = none */
  bool all_projects;
  bool own; /* no global memories, unless `project` is "" and all_projects is not set */
  int64_t now;
  int64_t as_of;      /* 0: now */
  struct reach reach; /* reach of the handle; limits all of the above */
  unsigned corpora;   /* bits 1 << enum corpus (documents.h); 0: memories only */
};

/* The single visibility predicate, as a condition on alias m: the team's memories of the own project and global ones
 * (only the former with `own`), in one of `states` (SQL list, such as "'active'"), not expired, not shadowed by the
 * project. All reads for a caller use it. With scope->as_of, states are those at that time. */
void visible(struct sql *q, const struct scope *scope, const char *states);
#define STATES_LIVE "'active'"
#define STATES_SEARCHED "'active', 'archived'"

/* ---- out of memory ---- */

/* ARENA_BOUNDARY() around reads of a store. After a jump it ends the queries and the snapshot that the aborted code
 * left open; those of the caller continue. An open query would keep its snapshot: later reads of the handle would see
 * an old state, and the log of a file could not be truncated. `st` may be NULL.
 *
 *   struct store_boundary oom;
 *   if (STORE_BOUNDARY(st, a, oom)) { ...out of memory... } else { ...work... } */
struct store_boundary {
  jmp_buf jump;
  struct store *store;
  struct db_scope scope;
};
#define STORE_BOUNDARY(st, arena, b)                                                                                   \
  (store_boundary_set((st), &(b)), ARENA_BOUNDARY((arena), (b).jump) && store_boundary_left(&(b)))
void store_boundary_set(struct store *st, struct store_boundary *ret_boundary);
bool store_boundary_left(const struct store_boundary *b); /* always true */

/* ---- transactions ---- */

struct txn {
  struct store *store;
  int64_t id;
  struct str team, project, source, session;
  const char *op;
  int64_t now;
  bool foreign; /* from another system or an import: new memories do not age (store/memories/lifecycle.h) */
};

/* Takes the write lock and begins a transaction of the store; `who` gives team, project, source, session, op, now. */
NODISCARD enum status txn_begin(struct store *st, const struct txn *who, int64_t undoes, struct txn *ret_txn,
                                struct error *err);
NODISCARD enum status txn_commit(struct txn *txn, struct error *err);
/* Commits, lets waiting writers proceed, and begins the next part of the same change: `txn` gets the id of a new
 * transaction, whose uid is derived from that of `first` and the number `part` (1 for the second part). Undoing `first`
 * undoes its parts. */
NODISCARD enum status txn_next_part(struct txn *txn, int64_t first, int part, struct error *err);
/* Pauses between two transactions of one change, so that other writers can take the lock. */
void store_let_others_write(const struct store *st);
/* Id of that part; 0 if there is none. */
NODISCARD enum status txn_find_part(struct store *st, struct str team, int64_t first, int part, int64_t *ret_id,
                                    struct error *err);
/* Looks up an earlier transaction of the team: its operation (absent if there is none), and the transaction that undid
 * it (0: none). */
NODISCARD enum status txn_find(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_op,
                               int64_t *ret_undone_by, struct error *err);
/* Discards the open transaction, if any; cannot fail. */
void store_rollback(struct store *st);
/* Savepoint for one of several changes in a transaction: its changes are kept or rolled back. */
NODISCARD enum status txn_savepoint(struct txn *txn, struct error *err);
NODISCARD enum status txn_savepoint_end(struct txn *txn, bool keep, struct error *err);

/* ---- backups ---- */

/* Copies the whole store into a new file, itself a store, while others continue to use this one. */
NODISCARD enum status store_copy_to(struct store *st, const char *path, db_progress progress, void *arg,
                                    struct error *err);

/* "<store>.backup-<label>-<time>" beside the file, or in the user's state folder for a server. Automatic backups beyond
 * BACKUPS_KEPT are removed, oldest first, separately for those of a person, of agents, and made by Cairn itself. */
NODISCARD enum status store_auto_backup(struct store *st, const char *label, int64_t now, struct arena *a,
                                        struct str *ret_path, struct error *err);
struct restored {
  struct str safety;      /* automatic backup of the replaced content */
  int64_t tokens_live;    /* restored tokens that are valid */
  int64_t tokens_revoked; /* tokens valid in the backup but restored as revoked: readmit.h */
  int64_t grants_revoked; /* vault grants that were not restored */
};
/* Replaces the content with that of a backup. The previous content is in the automatic backup; no write can happen
 * between the two. Other backups are not removed: the one being restored may be the oldest, and is needed until the
 * end. */
NODISCARD enum status store_restore(struct store *st, const char *path, int64_t now, struct arena *a,
                                    struct restored *ret_restored, struct error *err);
/* Parts of store_auto_backup(): a free name, and the removal of backups beyond BACKUPS_KEPT, each with its archive of
 * transcripts. */
NODISCARD enum status store_backup_path(struct store *st, const char *label, int64_t now, struct arena *a,
                                        struct str *ret_path, struct error *err);
void store_tidy_backups(struct store *st, struct arena *a);

/* Transcripts are files; a backup has its copy in "<backup>.transcripts". The backup records the id of that archive, or
 * NO_TRANSCRIPTS; nothing if it was made without regard to transcripts. A restored store keeps the record until they
 * are restored. */
#define BACKUP_TRANSCRIPTS ".transcripts"
#define META_TRANSCRIPTS "backup_transcripts"
#define NO_TRANSCRIPTS "none"
/* Creation times of the stores that a restore has replaced by this one, separated by blanks. Their files are this
 * store's: see file/owner.h. */
#define META_REPLACED "replaced_stores"
NODISCARD enum status store_set_backup_note(const char *path, struct str transcripts, struct error *err);
NODISCARD enum status store_get_backup_note(const char *path, struct arena *a, struct str *ret_transcripts,
                                            struct error *err);
NODISCARD enum status store_clear_transcript_note(struct store *st, struct error *err);
/* Paths of the automatic backups of the store, oldest first. */
void store_list_backups(struct store *st, struct arena *a, struct strs *ret_paths);
