/* store.h: an open store: its life, who may see what, transactions with their events.
 *
 * One connection for each handle; a handle is used by one thread at a time (the engine's lock sees to it). Many
 * processes on one file are normal. The files beside this one hold a table family each: memories.h, links.h,
 * events.h, vectors.h, lexical.h, settings.h. */
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
  bool unfinished; /* also one that a migration is still being made into: for that migration alone */
  int64_t now;
  const struct settings_given *settings; /* see settings.h; NULL: none. They must outlive the store. */
};

/* Opens the file, creates or migrates its schema. A newer schema is refused and left untouched, and so
 * is the target of a migration that did not come to its end. */
NODISCARD enum status store_open(const struct store_options *options, struct store **ret_store, struct error *err);
/* Flushes queued reads; cannot fail. */
void store_close(struct store **store);

struct db *store_db(const struct store *st);
int store_schema_version(void);

/* Facts about the store; absent when unset. */
NODISCARD enum status store_meta(struct store *st, const char *name, struct arena *a, struct str *ret_value,
                                 struct error *err);
NODISCARD enum status store_set_meta(struct store *st, const char *name, struct str value, struct error *err);

/* ---- who sees what ---- */

struct scope {
  struct str team;
  struct str project; /* "" = none */
  bool all_projects;
  int64_t now;
  int64_t as_of;      /* 0: now */
  struct reach reach; /* of the handle: it narrows all of the above */
  unsigned corpora;   /* bits 1 << enum corpus (documents.h); 0: memories alone */
};

/* The one visibility predicate, as a condition on alias m: own project and global memories of the team, in one of
 * `states` (SQL list, such as "'active'"), not expired, not shadowed by the project. Everything that reads memories
 * for a caller goes through it. With scope->as_of the state is the one of that moment. */
void visible(struct sql *q, const struct scope *scope, const char *states);
#define STATES_LIVE "'active'"
#define STATES_SEARCHED "'active', 'archived'"

/* ---- running out of memory ---- */

/* ARENA_BOUNDARY() around reads of a store: after a jump, it ends the queries and the snapshot that the code was left
 * with; those of the caller go on. A query that stays open would hold its snapshot: later reads of the handle would see
 * an old state, and the log of a file could not be emptied. `st` may be NULL.
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
bool store_boundary_left(const struct store_boundary *b); /* true */

/* ---- transactions ---- */

struct txn {
  struct store *store;
  int64_t id;
  struct str team, project, source, session;
  const char *op;
  int64_t now;
};

/* Takes the write lock and opens a transaction of the store; `who` gives team, project, source, session, op, now. */
NODISCARD enum status txn_begin(struct store *st, const struct txn *who, int64_t undoes, struct txn *ret_txn,
                                struct error *err);
NODISCARD enum status txn_commit(struct txn *txn, struct error *err);
/* What is known of an earlier transaction of the team: its operation (absent when there is none), and the one that has
 * undone it (0: none). */
NODISCARD enum status txn_find(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_op,
                               int64_t *ret_undone_by, struct error *err);
/* Whatever was begun is gone; cannot fail. */
void store_rollback(struct store *st);
/* For one of several changes in a transaction that may fail alone: what was done since the mark is kept, or gone. */
NODISCARD enum status txn_mark(struct txn *txn, struct error *err);
NODISCARD enum status txn_unmark(struct txn *txn, bool keep, struct error *err);

/* ---- backups ---- */

/* Copies the whole store into a new file, which is a store itself, while others go on using this one. */
NODISCARD enum status store_copy_to(struct store *st, const char *path, db_progress progress, void *arg,
                                    struct error *err);

/* "<store>.backup-<label>-<time>" beside the file, or in the user's state folder for a server; older automatic backups
 * beyond BACKUPS_KEPT are removed. */
NODISCARD enum status store_auto_backup(struct store *st, const char *label, int64_t now, struct arena *a,
                                        struct str *ret_path, struct error *err);
struct restored {
  struct str safety;      /* the automatic backup of what was there before */
  int64_t tokens_live;    /* that came back, and open doors */
  int64_t tokens_revoked; /* that were live in the backup, and came back revoked: readmit.h */
  int64_t grants_revoked; /* of the vault, that did not come back */
};
/* Replaces the content by that of a backup. What was there until that moment is in the automatic backup: nobody can
 * write between the two. No other is removed: the one that comes back may be the oldest, and is needed until all of it
 * is here. */
NODISCARD enum status store_restore(struct store *st, const char *path, int64_t now, struct arena *a,
                                    struct restored *ret_restored, struct error *err);
/* The parts of store_auto_backup(): a name that is free, and the removal of those beyond BACKUPS_KEPT, each with the
 * archive of transcripts that goes with it. */
NODISCARD enum status store_backup_path(struct store *st, const char *label, int64_t now, struct arena *a,
                                        struct str *ret_path, struct error *err);
void store_tidy_backups(struct store *st, struct arena *a);

/* Transcripts are files: a backup has those of its time in "<backup>.transcripts". Which archive that is stands in the
 * backup: its id, or NO_TRANSCRIPTS; absent in a backup that was made without a look at them. A restored store keeps
 * the note until they are back. */
#define BACKUP_TRANSCRIPTS ".transcripts"
#define META_TRANSCRIPTS "backup_transcripts"
#define NO_TRANSCRIPTS "none"
NODISCARD enum status store_note_backup(const char *path, struct str transcripts, struct error *err);
NODISCARD enum status store_backup_note(const char *path, struct arena *a, struct str *ret_transcripts,
                                        struct error *err);
NODISCARD enum status store_transcripts_are_back(struct store *st, struct error *err);
/* Paths of the automatic backups of the store, oldest first. */
void store_list_backups(struct store *st, struct arena *a, struct strs *ret_paths);
