/* store.h: the temporary store of an evaluation, a file or a database on a server: documents go in through the
 * write path, queries through the search operation, and it is gone afterwards, whatever happens. */
#pragma once

#include "op/eval/set.h"

struct eval_store {
  struct op_call *call; /* the evaluation: its hooks and its error */
  struct arena *arena;  /* of the whole call */
  char *folder;
  struct str server; /* URL: stores are databases on it, not files; absent: files */
  bool keep;
  struct str path;       /* of the store that is open; with a server, the name of its database */
  struct str team;       /* whose memories the documents are */
  struct engine *engine; /* NULL: none is open */
  int made;              /* stores so far */
  struct str degraded;   /* why a search did less than it was asked to; absent: none did */
};

/* A folder under TMPDIR, removed with the call's arena at the latest; or databases on a server. */
NODISCARD enum status eval_store_make(struct op_call *call, struct str server, bool keep,
                                      struct eval_store **ret_store);
/* An empty store; the one before it is closed and, unless it is to be kept, removed. On a server, an empty team. */
NODISCARD enum status eval_store_open(struct eval_store *st);
void eval_store_remove(struct eval_store *st);
/* The one that the open store uses; NULL when it has none, or none that works. */
NODISCARD enum status eval_store_embedder(struct eval_store *st, const struct embedder **ret_embedder);

/* What became of the documents. */
struct eval_counts {
  int64_t stored, skipped, superseded, refused, redacted;
  LIST(struct eval_refusal {
    struct str id;
    const char *code;
    struct str why;
  })
  refusals; /* of the first few */
};

/* Documents by the memory that stands for them. */
struct eval_place {
  int64_t memory;
  size_t doc;
};
struct eval_places {
  struct eval_place *v; /* by memory, then in the order of the file */
  size_t n, cap;
};

/* What the date of a document means. */
enum eval_dates {
  DATES_VALID,   /* since when it is true; all are written when the newest is, as a history that is imported: no age */
  DATES_WRITTEN, /* when it was written, too: search takes it for as old as it is */
  DATES_NONE,
};

/* Writes a group's documents. `fast` leaves the embedding to the end: duplicates are then found by equal texts alone.
 * `label`, `done` and `total` are for the progress. */
struct eval_load {
  const struct eval_set *set;
  const struct eval_group *group;
  enum eval_dates dates;
  bool fast;
  int64_t now;       /* of documents whose time is not known */
  const char *label; /* of the progress */
  int64_t done, total;
};
NODISCARD enum status eval_store_load(struct eval_store *st, struct arena *a, const struct eval_load *load,
                                      struct eval_counts *counts, struct eval_places *ret_places);

struct eval_hits {
  struct eval_hit {
    int64_t memory;
    double score;
  } *v;
  size_t n, cap;
};
/* One search at the time `now`; ret_us is what the operation took. */
NODISCARD enum status eval_store_search(struct eval_store *st, struct arena *a, struct str query, const char *mode,
                                        int64_t limit, int64_t now, struct eval_hits *ret_hits, int64_t *ret_us);
