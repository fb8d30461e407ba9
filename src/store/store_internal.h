/* store_internal.h: the inside of struct store, for the files of this folder alone. */
#pragma once

#include "store/sqlite/tokeniser.h"
#include "store/store.h"
#include "store/tables/events.h"
#include "store/vectors/vectors.h"

/* What reach.c keeps: the reach of the present caller, and the first attempt to leave it. */
struct bound {
  struct reach reach;
  struct str projects[REACH_PROJECTS_MAX]; /* of the reach, in `names` */
  size_t wanted_n;
  char wanted[REACH_WANTED_MAX];
  char names[REACH_PROJECTS_MAX * REACH_PROJECT_MAX];
};

struct store {
  struct db *db;
  struct bound bound;
  bool must_exist;           /* a database without a store in it is not made one */
  bool lacks_types;          /* a type of this program is missing in the store, and cannot be added */
  struct vec_cache *vectors; /* owned by store/vectors/sqlite.c */
  struct read_queue *reads;  /* owned by events.c */
  struct call_queue *calls;  /* owned by calls.c */
  struct beats *beats;       /* owned by heartbeats.c */

  struct tokeniser *tokeniser; /* of an engine that has none of its own */
  int64_t held_by, held_after; /* PostgreSQL: the transaction that holds texts back, the last chunk before them */

  const struct settings_given *settings; /* what the process was started with; may be NULL */
};

/* migrate.c, migrate_sqlite.c, migrate_postgres.c */
enum { SCHEMA_VERSION = 11 };
NODISCARD enum status migrate(struct store *st, int64_t now, struct error *err);
/* The same with any list of migrations: the first n lead to version n. One that is NULL belongs to the one before. */
NODISCARD enum status migrate_with(struct store *st, const char *const *sql, int n, int64_t now, struct error *err);
/* Adds the types that the store does not have yet: an older version may have made it. Writes only if one is missing. */
NODISCARD enum status store_update_types(struct store *st, struct error *err);
/* An error if the type could not be added. */
NODISCARD enum status store_check_type(struct store *st, struct str type, struct str kind, struct error *err);
/* What engines do in their own way when they bring a schema up to date. */
struct migrator {
  /* What the store has, 0 for a new one; what is no store of this program is refused. */
  enum status (*version)(struct store *st, int64_t *ret_version, struct error *err);
  /* Before anything else, without a lock, whether there is something to do (version < last) or not. */
  enum status (*before)(struct store *st, int64_t version, int64_t last, int64_t now, struct error *err);
  /* In the transaction: before the statements of a migration, and after them. */
  enum status (*prepare)(struct store *st, int64_t version, struct error *err);
  enum status (*mark)(struct store *st, int64_t version, struct error *err);
};
extern const struct migrator sqlite_migrator, postgres_migrator;
/* Makes `name` the text of a file below sql/, which is about all teams (wall.h). */
#define EMBED_SQL(name, file)                                                                                          \
  __asm__(".pushsection .rodata\n.global " #name "\n" #name                                                            \
          ":\n.ascii \"/* all teams: the schema */ \"\n.incbin \"" CAIRN_SQL_DIR "/" file                              \
          "\"\n.byte 0\n.popsection\n");                                                                               \
  extern const char name[] __attribute__((visibility("hidden")))
/* store/vectors/sqlite.c */
void vec_cache_free(struct vec_cache *cache);
/* A transaction is over: what the cache read in it holds, or was never there. */
void vec_cache_settle(struct vec_cache *cache, bool committed);
/* events.c */
void read_queue_free(struct read_queue *queue);
/* Writes both queues, a lazy transaction for each team in them. False when a lock is taken: what is left stays for
 * another time. */
bool queues_flush(struct store *st, int busy_ms);
/* calls.c */
size_t call_queue_size(const struct store *st);
struct str call_queue_team(const struct store *st); /* of the oldest; the queue is not empty */
NODISCARD enum status call_queue_write(struct store *st, struct str team, struct error *err);
void call_queue_forget(struct store *st, struct str team);
void call_queue_clear(struct store *st);
void call_queue_free(struct call_queue *queue);
/* heartbeats.c */
void beats_free(struct beats *beats);
