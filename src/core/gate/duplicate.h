/* duplicate.h: verdict on duplicates: compares a new memory with similar ones, which the caller has found. */
#pragma once

#include "core/gate/differ.h"
#include "core/gate/similarity.h"
#include "core/memory/memory.h"

/* An existing memory close to the draft. */
struct similar {
  int64_t id;
  struct str headline, body, project, key;
  double similarity; /* calibrated */
  struct difference difference;
  bool untrusted; /* callers say so when they quote it */
};
struct similars {
  struct similar *v;
  size_t n, cap;
};

enum verdict {
  VERDICT_STORE,     /* not a duplicate; warn if anything is near */
  VERDICT_SKIP,      /* a duplicate: keep the existing memory */
  VERDICT_SUPERSEDE, /* same meaning, with more detail or another key: replace the existing memory */
  VERDICT_REFUSE,    /* a rule too close to another rule */
};

/* Step 5 of the write gate. `similar` holds memories at or above SIMILARITY_NEAR, best match first; *ret_at is the
 * index of the one that decided (0 if `similar` is empty). */
enum verdict duplicate_judge(const struct memory *draft, const struct similars *similar, size_t *ret_at);
