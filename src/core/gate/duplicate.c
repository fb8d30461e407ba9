/* duplicate.c: verdict on duplicates: store, skip, supersede or refuse a new memory. */
#include "core/gate/duplicate.h"

#include <assert.h>

#include "core/gate/differ_token.h"
#include "core/memory/chunk.h"
#include "core/memory/headline.h"
#include "core/text/text.h"

static bool is_duplicate(const struct similar *o) {
  return o->similarity >= SIMILARITY_SAME && o->difference.what == DIFFER_NONE;
}

static bool has_same_body(struct arena *a, const struct memory *draft, const struct memory *other) {
  return str_eq(text_normal(a, draft->body), text_normal(a, other->body));
}

/* A draft without a headline, or with the one derived from its body, has that of `other`. */
static bool has_same_headline(struct arena *a, const struct memory *draft, const struct memory *other) {
  return str_empty(draft->headline) || str_eq(draft->headline, other->headline) ||
         str_eq(draft->headline, headline_derive(a, draft->body));
}

bool duplicate_recurs(struct arena *a, const struct memory *draft, int64_t now, const struct memory *other) {
  enum { SAME_EVENT_MS = 3600 * 1000 };
  static const char recurring[] = "again another recurred recurring recurs reoccurred reappeared repeatedly";
  if (!str_is(draft->kind, kind_names[KIND_INCIDENT]))
    return false;
  int64_t at = draft->valid_from ? draft->valid_from : now, apart = at - other->valid_from;
  if (apart > SAME_EVENT_MS || apart < -SAME_EVENT_MS)
    return true;
  if (has_same_body(a, draft, other))
    return !has_same_headline(a, draft, other);
  struct tokens ts = differ_tokenize(a, lexicon_new(a), embed_text(a, STR_NONE, draft->headline, draft->body));
  for (size_t i = 0; i < ts.n; i++)
    if (word_in(ts.v[i].word, recurring))
      return true;
  return false;
}

bool duplicate_headline_adds(struct arena *a, const struct memory *draft, const struct memory *other) {
  struct str own = embed_text(a, STR_NONE, draft->headline, draft->body);
  if (own.n == draft->body.n)
    return false;
  struct lexicon *l = lexicon_new(a);
  struct tokens words = differ_tokenize(a, l, draft->headline);
  struct tokens known = differ_tokenize(a, l, embed_text(a, STR_NONE, other->headline, other->body));
  for (size_t i = 0; i < words.n; i++) {
    bool found = !words.v[i].content;
    for (size_t k = 0; k < known.n && !found; k++)
      found = known.v[k].key == words.v[i].key;
    if (!found)
      return true;
  }
  return false;
}

enum verdict duplicate_judge(const struct memory *draft, const struct similars *similar, size_t *ret_at) {
  for (size_t i = 0; i < similar->n; i++) {
    const struct similar *o = &similar->v[i];
    assert(o->similarity >= SIMILARITY_NEAR || o->conflict.what != DIFFER_NONE);
    if (!is_duplicate(o))
      continue;
    *ret_at = i;
    /* Similarity 1 means the same words: a text that is longer only by punctuation has no more detail. */
    bool more_detail = str_is(draft->kind, kind_names[KIND_FACT]) && draft->body.n > o->body.n && o->similarity < 1;
    bool renamed = draft->key.p && !str_eq(draft->key, o->key);
    return more_detail || renamed ? VERDICT_SUPERSEDE : VERDICT_SKIP;
  }
  *ret_at = 0;
  bool near = similar->n && similar->v[0].similarity >= SIMILARITY_NEAR;
  return near && str_is(draft->kind, kind_names[KIND_RULE]) ? VERDICT_REFUSE : VERDICT_STORE;
}
