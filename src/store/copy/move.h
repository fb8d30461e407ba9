/* move.h: migrating a whole store to another file or server; can be interrupted and is verified at the end.
 *
 * The source is only read, from one snapshot. Each page's transaction updates a progress note in the target, so a
 * killed run can be resumed. Until all rows are copied and verified, store_open() refuses the target. */
#pragma once

#include "store/copy/copy.h"
#include "store/tables/events.h"

/* Name of the progress note in the target of an unfinished migration. */
#define MOVE_NOTE "migration"
/* Its value in a target that was just created, so that it is never an empty store that can be used. */
#define MOVE_NEW "new"
/* After the migration: the epoch of the source. */
#define MOVE_FROM "migrated_from"

enum move_start {
  MOVE_FRESH,   /* the target was empty */
  MOVE_RESUMED, /* continued an earlier run */
  MOVE_CHANGED, /* the source has changed since an earlier run: restarted */
  MOVE_DIFFERS, /* the rows copied by an earlier run differ from the source: restarted */
  MOVE_DONE,    /* an earlier run has finished and both stores are equal: nothing to do */
};
extern const char *const move_start_names[];

struct move_report {
  enum move_start start;
  int64_t copied;                      /* rows, by this run */
  struct table_sum sums[STORE_TABLES]; /* the same in both stores */
  int64_t missing;                     /* transactions added to the source during the copy; not in the target */
  char epoch[EVENTS_EPOCH_SIZE];       /* of the target; readers of its feed start again */
};

struct move {
  struct copy copy; /* the caller sets from, to, arena and hooks */
  int64_t now;
  /* private to move.c */
  struct copy_cursor cursor;
  char source[EVENTS_EPOCH_SIZE];
  int64_t txns;
  struct str note; /* as stored in the target */
  struct move_report report;
};

/* Begin, rows, verify and end under one snapshot of the source. */
NODISCARD enum status store_move(struct move *m, struct error *err);

/* The steps, exposed for tests that interrupt them. */
NODISCARD enum status move_begin(struct move *m, struct error *err);
NODISCARD enum status move_rows(struct move *m, struct error *err);
NODISCARD enum status move_verify(struct move *m, struct error *err);
NODISCARD enum status move_end(struct move *m, struct error *err);
