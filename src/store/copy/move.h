/* move.h: a whole store moved into another file or server, safe to interrupt, verified at the end.
 *
 * The source is only read, from one snapshot. The target notes how far the copy is in the transaction of each page, so
 * that a killed run goes on where it was; until everything is there and was compared row by row, it is no store that
 * can be used (store_open() refuses it). */
#pragma once

#include "store/copy/copy.h"
#include "store/tables/events.h"

/* The fact of a store that is the target of an unfinished move. */
#define MOVE_NOTE "migration"
/* And of one that was made by a move: the epoch of its source. */
#define MOVE_FROM "migrated_from"

enum move_start {
  MOVE_FRESH,   /* the target was empty */
  MOVE_RESUMED, /* goes on where an earlier run was */
  MOVE_CHANGED, /* the source was changed since an earlier run: began anew */
  MOVE_DIFFERS, /* what an earlier run had copied was not the same any more: began anew */
  MOVE_DONE,    /* an earlier run came to its end, and both are still the same: nothing was to be done */
};
extern const char *const move_start_names[];

struct move_report {
  enum move_start start;
  int64_t copied;                      /* rows, by this run */
  struct table_sum sums[STORE_TABLES]; /* the same in both stores */
  int64_t missing;                     /* transactions that the source got meanwhile: they are not in the target */
  char epoch[EVENTS_EPOCH_SIZE];       /* of the target: readers of its feed begin anew */
};

struct move {
  struct copy copy; /* the caller sets from, to, arena and hooks */
  int64_t now;
  /* the rest belongs to move.c */
  struct copy_cursor cursor;
  char source[EVENTS_EPOCH_SIZE];
  int64_t txns;
  struct str note; /* as it stands in the target */
  struct move_report report;
};

/* All of it: begin, rows, verify, end, under one snapshot of the source. */
NODISCARD enum status store_move(struct move *m, struct error *err);

/* Its parts, for tests of what happens between them. */
NODISCARD enum status move_begin(struct move *m, struct error *err);
NODISCARD enum status move_rows(struct move *m, struct error *err);
NODISCARD enum status move_verify(struct move *m, struct error *err);
NODISCARD enum status move_end(struct move *m, struct error *err);
