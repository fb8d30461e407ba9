/* store_internal.h: the inside of struct store, for the files of this folder alone. */
#ifndef CAIRN_STORE_INTERNAL_H
#define CAIRN_STORE_INTERNAL_H

#include "store/events.h"
#include "store/store.h"
#include "store/vectors.h"

struct store {
  struct db *db;
  struct vec_cache *vectors; /* owned by vectors_sqlite.c */
  struct read_queue *reads;  /* owned by events.c */
  struct call_queue *calls;  /* owned by calls.c */
  struct beats *beats;       /* owned by beats.c */
};

/* migrate.c */
NODISCARD enum status migrate(struct store *st, int64_t now, struct error *err);
/* The same with any list of migrations: the first n lead to version n. */
NODISCARD enum status migrate_with(struct store *st, const char *const *sql, int n, int64_t now, struct error *err);
/* vectors_sqlite.c */
void vec_cache_free(struct vec_cache *cache);
/* A transaction is over: what the cache read in it holds, or was never there. */
void vec_cache_settle(struct vec_cache *cache, bool committed);
/* events.c */
void read_queue_free(struct read_queue *queue);
/* Writes both queues in one lazy transaction. False when the lock is taken: they stay for another time. */
bool queues_flush(struct store *st, int busy_ms);
/* calls.c */
size_t call_queue_size(const struct store *st);
NODISCARD enum status call_queue_write(struct store *st, struct error *err);
void call_queue_clear(struct store *st);
void call_queue_free(struct call_queue *queue);
/* beats.c */
void beats_free(struct beats *beats);

#endif
