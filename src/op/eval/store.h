/* store.h: temporary store of an evaluation, a file or a database on a server. Documents are written through the normal
 * write path and queries run the search operation. It is removed in any case, unless it is to be kept. */
#pragma once

#include "op/eval/set.h"

struct eval_store {
  struct op_call *call; /* the evaluation: its hooks and its error */
  struct arena *arena;  /* of the whole call */
  char *folder;
  struct str server; /* URL; stores are databases on this server; absent: files */
  bool keep;
  struct str path;       /* of the open store; with a server, the name of its database */
  struct str team;       /* team of the documents */
  struct engine *engine; /* NULL: none is open */
  int made;              /* number of stores so far */
  struct str degraded;   /* why a search fell back to another mode; absent: none did */
};

/* Creates a directory under TMPDIR, which is removed with the call's arena at the latest; or uses a server. */
NODISCARD enum status eval_store_make(struct op_call *call, struct str server, bool keep,
                                      struct eval_store **ret_store);
/* Opens an empty store (on a server, an empty team), and removes the one before it unless it is to be kept. */
NODISCARD enum status eval_store_open(struct eval_store *st);
void eval_store_remove(struct eval_store *st);
/* Embedder of the open store; NULL if none works. */
NODISCARD enum status eval_store_embedder(struct eval_store *st, const struct embedder **ret_embedder);

/* Outcome of loading the documents. */
struct eval_counts {
  int64_t stored, skipped, superseded, refused, redacted;
  LIST(struct eval_refusal {
    struct str id;
    const char *code;
    struct str why;
  })
  refusals; /* only the first few */
};

/* Maps a memory to its documents. */
struct eval_place {
  int64_t memory;
  size_t doc;
};
struct eval_places {
  struct eval_place *v; /* sorted by memory, then by document */
  size_t n, cap;
};

/* Meaning of a document's date. */
enum eval_dates {
  DATES_VALID,   /* valid_from; all are written at the time of the newest, like an imported history, so none has aged */
  DATES_WRITTEN, /* valid_from and time of writing: search applies its age */
  DATES_NONE,
};

/* Documents to load. `fast` embeds at the end: then only exact duplicates are found. */
struct eval_load {
  const struct eval_set *set;
  const struct eval_group *group;
  enum eval_dates dates;
  bool fast;
  int64_t now;       /* time of documents without one */
  const char *label; /* for progress, like done and total */
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
struct eval_search {
  struct str query;
  const char *mode;
  int64_t limit;
  int64_t now; /* time of the store's clock */
};
/* Runs one search; ret_us is its duration. */
NODISCARD enum status eval_store_search(struct eval_store *st, struct arena *a, const struct eval_search *search,
                                        struct eval_hits *ret_hits, int64_t *ret_us);
