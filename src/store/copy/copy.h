/* copy.h: copying the content of a store to another one of any engine, with checksums.
 *
 * Rows keep all values: ids, uids, times, states. Derived data (full text, counters, blocks of vectors) is rebuilt
 * while the rows are written. Tables are read in pages, in key order of the source engine. */
#pragma once

#include "base/id.h"
#include "store/schema/tables.h"
#include "store/store.h"

/* Position in the tables of a store. */
struct copy_cursor {
  size_t table;                           /* index in store_tables; its terminator if all are done */
  bool begun;                             /* key is valid */
  struct db_value key[TABLE_KEY_MAX + 1]; /* key of the last row read: the team, then the table's key */
  size_t rows;                            /* maximum rows of the next page; 0 for the default */
};

struct copy_page {
  struct db_value *v; /* rows * columns, row by row */
  size_t rows, columns;
  bool last; /* last page of its table */
};

/* Checksum of a table: the sum of its rows' hashes, which does not depend on their order, since engines differ in it.
 */
struct table_sum {
  uint64_t word[4];
  int64_t rows;
};

/* Callbacks of a copy; each may be NULL. */
struct copy_hooks {
  void *arg;
  void (*progress)(void *arg, const char *what, int64_t done, int64_t total);
  bool (*cancelled)(void *arg);
};

struct copy {
  struct store *from, *to;
  struct arena *arena;
  struct copy_hooks hooks;
  int64_t done, total;                 /* rows */
  struct table_sum sums[STORE_TABLES]; /* of the rows read so far */
  /* Called before and after each page is written. Both NULL if the caller has opened a transaction. */
  enum status (*begin)(struct copy *c, struct error *err);
  enum status (*commit)(struct copy *c, const struct copy_cursor *at, struct error *err);
  void *arg; /* for begin and commit */
};

/* Reads the next page and advances the cursor, whose texts are allocated in `keys`. */
NODISCARD enum status copy_read(struct store *st, struct copy_cursor *cursor, struct arena *a, struct arena *keys,
                                struct copy_page *ret_page, struct error *err);
/* Writes the rows, inside a transaction for all teams. */
NODISCARD enum status copy_write(struct store *st, const struct store_table *t, struct arena *a,
                                 const struct copy_page *page, struct error *err);
/* Adds the BLAKE2b hash of each row's canonical form to the sum. */
void copy_sum(const struct store_table *t, struct arena *a, const struct copy_page *page, struct table_sum *sum);
bool sum_same(const struct table_sum *a, const struct table_sum *b);
void sum_text(const struct table_sum *sum, char out[HASH_TEXT_SIZE]);

/* Sets c->total to the approximate number of rows to copy. */
NODISCARD enum status copy_count(struct copy *c, struct error *err);
/* Copies everything after the cursor and adds it to c->sums. */
NODISCARD enum status copy_rows(struct copy *c, struct copy_cursor *cursor, struct error *err);
/* Checksums of a store, up to and including the row of `until` (NULL for all). */
NODISCARD enum status copy_sums(struct copy *c, struct store *st, const struct copy_cursor *until, const char *what,
                                struct table_sum ret_sums[STORE_TABLES], struct error *err);
/* Compares c->sums with the target: STATUS_CORRUPT names the table that differs. */
NODISCARD enum status copy_verify(struct copy *c, struct error *err);
/* After all rows: sets the sequences of the target and copies facts about the content. Inside a transaction. */
NODISCARD enum status copy_finish(struct copy *c, struct error *err);

/* ---- implemented by each engine ---- */

/* Deletes all content of a store, inside a transaction. */
NODISCARD enum status copy_clear(struct store *st, struct arena *a, struct error *err);
/* Reads, or raises, the last number assigned in the table's sequence; 0 if none. */
NODISCARD enum status copy_number(struct store *st, const struct store_table *t, int64_t *ret_last, struct error *err);
NODISCARD enum status copy_set_number(struct store *st, const struct store_table *t, int64_t last, struct error *err);
/* Called before and after an empty store is filled in bulk: the engine drops and rebuilds indexes and updates its
 * statistics. Inside transactions; searches do not work in between. */
NODISCARD enum status copy_prepare(struct store *st, struct error *err);
NODISCARD enum status copy_settle(struct store *st, struct error *err);
