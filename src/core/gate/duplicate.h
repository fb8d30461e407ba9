/* duplicate.h: verdict on duplicates: compares a new memory with similar ones, which the caller has found. */
#pragma once

#include "core/gate/differ.h"
#include "core/gate/similarity.h"
#include "core/memory/memory.h"

/* An existing memory close to the draft. */
struct similar {
  int64_t id;
  struct str headline, body, project, key;
  double similarity;            /* calibrated */
  struct difference difference; /* any difference: then it is no duplicate */
  struct difference conflict;   /* contradiction that is reported */
  bool untrusted;               /* callers say so when they quote it */
  bool exact;                   /* the same text, apart from case and punctuation */
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

/* True if the draft reports an event of its own, although its text is close to that of `other`: an incident that
 * happened at another time, or again, or one with the same body and another headline. */
bool duplicate_recurs(struct arena *a, const struct memory *draft, int64_t now, const struct memory *other);
/* True if the draft's headline, one that its body does not begin with, has a word that is not in `other`. */
bool duplicate_headline_adds(struct arena *a, const struct memory *draft, const struct memory *other);

/* Step 5 of the write gate. `similar` holds memories at or above SIMILARITY_NEAR, and those below that the draft
 * contradicts, best match first; *ret_at is the index of the one that decided (0 if `similar` is empty). */
enum verdict duplicate_judge(const struct memory *draft, const struct similars *similar, size_t *ret_at);
