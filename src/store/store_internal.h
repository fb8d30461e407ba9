/* store_internal.h: definition of struct store; private to this folder. */
#pragma once

#include "base/id.h"
#include "store/sqlite/tokeniser.h"
#include "store/store.h"
#include "store/tables/events.h"
#include "store/vectors/vectors.h"

/* State of reach.c: the reach of the current caller, and its first attempt to exceed it. */
struct bound {
  struct reach reach;
  struct str projects[REACH_PROJECTS_MAX]; /* names of the reach, pointing into `names` */
  size_t wanted_n;
  char wanted[REACH_WANTED_MAX];
  char names[REACH_PROJECTS_MAX * REACH_PROJECT_MAX];
};

struct store {
  struct db *db;
  struct bound bound;
  bool unfinished;               /* the target of a migration */
  bool must_exist;               /* do not create a store in a database that has none */
  bool lacks_types;              /* the store lacks a type of this program, and it cannot be added */
  struct vec_cache *vectors;     /* owned by store/vectors/sqlite.c */
  struct read_queue *reads;      /* owned by events.c */
  struct call_queue *calls;      /* owned by calls.c */
  struct heartbeats *heartbeats; /* owned by heartbeats.c */

  struct tokeniser *tokeniser; /* for engines without a tokeniser of their own */
  int64_t held_by, held_after; /* PostgreSQL: the transaction that holds texts, and the last chunk id before them */

  int64_t missing;                    /* transactions that were missing when the store was opened: sqlite/mark.c */
  int64_t marked;                     /* the open transaction, whose commit is durable; 0: none */
  char mark_epoch[EVENTS_EPOCH_SIZE]; /* epoch of the store in that transaction */
  char mark_uid[UUID_SIZE];           /* its uid */

  const struct settings_given *settings; /* settings given at program start; may be NULL */
};

/* migrate.c, migrate_sqlite.c, migrate_postgres.c */
enum { SCHEMA_VERSION = 12 };
NODISCARD enum status migrate(struct store *st, int64_t now, struct error *err);
/* Same with any list of migrations: the first n lead to version n. A NULL entry is part of the one before. */
NODISCARD enum status migrate_with(struct store *st, const char *const *sql, int n, int64_t now, struct error *err);
/* Adds missing types: an older version may have created the store. Writes only if a type is missing. */
NODISCARD enum status store_update_types(struct store *st, struct error *err);
/* Fails if the type could not be added. */
NODISCARD enum status store_check_type(struct store *st, struct str type, struct str kind, struct error *err);
/* Engine-specific parts of a migration. */
struct migrator {
  /* Schema version, 0 for a new store; refuses databases of other programs. */
  enum status (*version)(struct store *st, int64_t *ret_version, struct error *err);
  /* Runs first, without a lock, even if there is nothing to migrate (version == last). */
  enum status (*before)(struct store *st, int64_t version, int64_t last, int64_t now, struct error *err);
  /* In the transaction: before the statements of a migration, and after them. */
  enum status (*prepare)(struct store *st, int64_t version, struct error *err);
  enum status (*set_version)(struct store *st, int64_t version, struct error *err);
};
extern const struct migrator sqlite_migrator, postgres_migrator;
/* Embeds a file of src/store/schema as `name`; its statements concern all teams. */
#define EMBED_SQL(name, file)                                                                                          \
  __asm__(".pushsection .rodata\n.global " #name "\n" #name                                                            \
          ":\n.ascii \"/* all teams: the schema */ \"\n.incbin \"" CAIRN_SQL_DIR "/" file                              \
          "\"\n.byte 0\n.popsection\n");                                                                               \
  extern const char name[] __attribute__((visibility("hidden")))
/* store/sqlite/mark.c: the high-water mark beside the file of a store; no effect for a server. */
/* Fails if the log beside the file does not belong to it. To be called before anything is written. */
NODISCARD enum status mark_check_log(struct store *st, struct error *err);
/* Counts the transactions that the mark knows and the store lacks. */
NODISCARD enum status mark_check(struct store *st, int64_t *ret_missing, struct error *err);
/* Brings the mark up to date with the store, and remembers missing transactions until they are accepted. */
NODISCARD enum status mark_settle(struct store *st, bool accept, struct error *err);
/* At the start of a durable transaction, and after its commit. */
NODISCARD enum status mark_begin(struct store *st, int64_t txn, const char uid[UUID_SIZE], struct error *err);
void mark_commit(struct store *st, int64_t txn);
/* Empties the mark of a store whose content is replaced, and keeps it so until the descriptor is closed; may be -1. */
int mark_suspend(const char *store);
/* Empties the mark of a store whose epoch is about to change. */
void mark_forget(const struct store *st);
/* store/vectors/sqlite.c */
void vec_cache_free(struct vec_cache *cache);
/* Ends a transaction: what the cache read in it is now valid, or discarded. */
void vec_cache_settle(struct vec_cache *cache, bool committed);
/* events.c */
void read_queue_free(struct read_queue *queue);
/* Writes both queues, with a lazy transaction per team. Returns false if a lock is taken; the rest stays queued. */
bool queues_flush(struct store *st, int busy_ms);
/* calls.c */
size_t call_queue_size(const struct store *st);
struct str call_queue_team(const struct store *st); /* team of the oldest call; the queue must not be empty */
NODISCARD enum status call_queue_write(struct store *st, struct str team, struct error *err);
void call_queue_drop_team(struct store *st, struct str team);
void call_queue_clear(struct store *st);
void call_queue_free(struct call_queue *queue);
/* heartbeats.c */
void heartbeats_free(struct heartbeats *heartbeats);
