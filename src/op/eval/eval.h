/* eval.h: what the two kinds of evaluation share: the call and its options. */
#pragma once

#include "op/eval/store.h"

enum eval_mode { EVAL_HYBRID, EVAL_KEYWORD, EVAL_VECTOR, EVAL_MODES };

struct eval {
  struct op_call *call;
  struct eval_store *store;
  bool modes[EVAL_MODES]; /* those that are wanted */
  enum eval_dates dates;
  bool fast;
  size_t limit;      /* of queries, or of pairs; 0: all */
  struct strs only;  /* names of sets and files of pairs; empty: all */
  FILE *queries_out; /* NULL: not wanted */
  size_t chosen;     /* sets and files that were wanted so far */
  yyjson_mut_val *sets, *pairs;
  struct calibration fitted; /* for the pairs, of an embedder that nobody has measured; n == 0: it has its own */
};

/* Whether --set names it, or names nothing. */
bool eval_wants(struct eval *e, struct str name);

/* One set, from its folder; its figures are added to e->sets. */
NODISCARD enum status eval_retrieval(struct eval *e, struct str path, struct str name);
/* The files of sentence pairs in a folder; their figures are added to e->pairs. */
NODISCARD enum status eval_pairs(struct eval *e, struct str folder, const struct strs *files);
