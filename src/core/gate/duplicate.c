/* duplicate.c: verdict on duplicates: store, skip, supersede or refuse a new memory. */
#include "core/gate/duplicate.h"

#include <assert.h>

static bool is_duplicate(const struct similar *o) {
  return o->similarity >= SIMILARITY_SAME && o->difference.what == DIFFER_NONE;
}

enum verdict duplicate_judge(const struct memory *draft, const struct similars *similar, size_t *ret_at) {
  for (size_t i = 0; i < similar->n; i++) {
    const struct similar *o = &similar->v[i];
    assert(o->similarity >= SIMILARITY_NEAR);
    if (!is_duplicate(o))
      continue;
    *ret_at = i;
    /* Similarity 1 means the same words: a text that is longer only by punctuation has no more detail. */
    bool more_detail = str_is(draft->kind, kind_names[KIND_FACT]) && draft->body.n > o->body.n && o->similarity < 1;
    bool renamed = draft->key.p && !str_eq(draft->key, o->key);
    return more_detail || renamed ? VERDICT_SUPERSEDE : VERDICT_SKIP;
  }
  *ret_at = 0;
  return similar->n && str_is(draft->kind, kind_names[KIND_RULE]) ? VERDICT_REFUSE : VERDICT_STORE;
}
