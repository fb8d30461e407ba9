/* copy.h: the content of a store read in pages, written into another one, and summed up, whatever their engines are.
 *
 * Rows keep everything: ids, uids, times, states. What an engine makes from them (full text, counters, blocks of
 * vectors) it makes again as they are written. Pages are walked by key, in the order of the engine that is read. */
#pragma once

#include "base/id.h"
#include "store/schema/tables.h"
#include "store/store.h"

/* Where a walk over the tables stands. */
struct copy_cursor {
  size_t table;                           /* in store_tables; its end: all are done */
  bool begun;                             /* the key is that of the last row */
  struct db_value key[TABLE_KEY_MAX + 1]; /* the team, and the table's key */
  size_t rows;                            /* how many the next page holds at most; 0: the usual number */
};

struct copy_page {
  struct db_value *v; /* rows * columns, row by row */
  size_t rows, columns;
  bool last; /* of its table */
};

/* What was read of a table: the sum of the hashes of its rows does not depend on their order, which is not the same in
 * every engine. */
struct table_sum {
  uint64_t word[4];
  int64_t rows;
};

/* What a copy tells and asks; every member may be NULL. */
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
  struct table_sum sums[STORE_TABLES]; /* of what was read so far */
  void *arg;                           /* of the following two, which stand around each page that is written; */
  enum status (*begin)(struct copy *c, struct error *err); /* NULL: the caller has a transaction open */
  enum status (*commit)(struct copy *c, const struct copy_cursor *at, struct error *err);
};

/* The next page behind the cursor, in the arena; the cursor goes on behind it, its texts live in `keys`. */
NODISCARD enum status copy_read(struct store *st, struct copy_cursor *cursor, struct arena *a, struct arena *keys,
                                struct copy_page *ret_page, struct error *err);
/* Writes the rows, inside a transaction that concerns all teams. */
NODISCARD enum status copy_write(struct store *st, const struct store_table *t, struct arena *a,
                                 const struct copy_page *page, struct error *err);
/* Adds the rows to the sum: for each the BLAKE2b hash of its canonical form. */
void copy_sum(const struct store_table *t, struct arena *a, const struct copy_page *page, struct table_sum *sum);
bool sum_same(const struct table_sum *a, const struct table_sum *b);
void sum_text(const struct table_sum *sum, char out[HASH_TEXT_SIZE]);

/* How many rows there are to copy, about. */
NODISCARD enum status copy_count(struct copy *c, struct error *err);
/* Copies everything behind the cursor, and sums it up in c->sums. */
NODISCARD enum status copy_rows(struct copy *c, struct copy_cursor *cursor, struct error *err);
/* Sums up a store, up to and with the row of `until` (NULL: all). */
NODISCARD enum status copy_sums(struct copy *c, struct store *st, const struct copy_cursor *until, const char *what,
                                struct table_sum ret_sums[STORE_TABLES], struct error *err);
/* Compares c->sums with what the target holds: STATUS_CORRUPT with the table that differs. */
NODISCARD enum status copy_verify(struct copy *c, struct error *err);
/* When all rows are there: numbers go on behind the highest ones, facts of the content are those of the source. Inside
 * a transaction. */
NODISCARD enum status copy_finish(struct copy *c, struct error *err);

/* ---- what each engine does in its own way ---- */

/* Removes all content of a store, inside a transaction. */
NODISCARD enum status copy_clear(struct store *st, struct arena *a, struct error *err);
/* The last number that was given out in this column, 0: none; and that at least this one was. */
NODISCARD enum status copy_number(struct store *st, const struct store_table *t, int64_t *ret_last, struct error *err);
NODISCARD enum status copy_set_number(struct store *st, const struct store_table *t, int64_t last, struct error *err);
/* Before an empty store is filled at once, and when that is done: what an engine does better then than row by row, and
 * what it should know of the rows. Inside transactions; between the two nobody can search. */
NODISCARD enum status copy_prepare(struct store *st, struct error *err);
NODISCARD enum status copy_settle(struct store *st, struct error *err);
