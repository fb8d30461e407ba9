/* eval.h: options and results of an evaluation, shared by retrieval sets and sentence pairs. */
#pragma once

#include "op/eval/store.h"

enum eval_mode { EVAL_HYBRID, EVAL_KEYWORD, EVAL_VECTOR, EVAL_MODES };

struct eval {
  struct op_call *call;
  struct eval_store *store;
  bool modes[EVAL_MODES]; /* modes to measure */
  enum eval_dates dates;
  bool fast;
  size_t limit;      /* maximum number of queries or pairs; 0: all */
  struct strs only;  /* names of sets and files of pairs; empty: all */
  FILE *queries_out; /* NULL: none */
  size_t chosen;     /* sets and files selected so far */
  yyjson_mut_val *sets, *pairs;
  struct calibration fitted; /* for the pairs, if the embedder has no calibration; n == 0: it has */
};

/* True if --set names it, or is not given; counts it as chosen. */
bool eval_wants(struct eval *e, struct str name);

/* Measures the set in a directory, and adds its result to e->sets. */
NODISCARD enum status eval_retrieval(struct eval *e, struct str path, struct str name);
/* Measures the files of sentence pairs in a directory, and adds the results to e->pairs. */
NODISCARD enum status eval_pairs(struct eval *e, struct str folder, const struct strs *files);
