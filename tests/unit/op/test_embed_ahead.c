/* test_embed_ahead.c: embedding a query on another core gives the same vector. */
#include "op/search/embed_ahead.h"

#include "embed/builtin.h"
#include "support/harness.h"

/* NULL, with a note, in a build without the model. */
static const struct embedder *encoder(void) {
  const struct embedder *e = NULL;
  struct error err;
  if (embedder_builtin(&e, &err) == STATUS_NOT_FOUND)
    printf("skipped: no built-in model\n");
  return e;
}

TEST(the_vector_is_the_same) {
  static const char *questions[] = {"where is the staging database", "", "\xff\xfe not text", "one\ntwo"};
  const struct embedder *e = encoder();
  if (!e)
    return;
  struct arena a;
  struct error err;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
    struct ahead *slot = NULL;
    struct str text = str_from(questions[i]);
    int8_t *one = arena_array(&a, int8_t, (size_t)e->dims), *other = arena_array(&a, int8_t, (size_t)e->dims);
    CHECK_OK(e->embed(e, &a, EMBED_QUERY, &text, 1, one, &err), &err);
    embed_ahead_start(&slot, e, text);
    if (slot) { /* there is another core */
      CHECK(embed_ahead_take(&slot, text, other));
      CHECK(memcmp(one, other, (size_t)e->dims) == 0);
    }
    CHECK(slot == NULL);
  }
  arena_release(&a);
}

TEST(another_query_does_not_get_the_vector) {
  const struct embedder *e = encoder();
  if (!e)
    return;
  struct ahead *slot = NULL;
  int8_t vector[4096];
  embed_ahead_start(&slot, e, STR("which queue do we use"));
  CHECK(!embed_ahead_take(&slot, STR("which cache do we use"), vector));
  embed_ahead_start(&slot, e, STR("which cache do we use")); /* drops the first query */
  if (slot)
    CHECK(embed_ahead_take(&slot, STR("which cache do we use"), vector));
  embed_ahead_start(&slot, e, STR("a question that nobody waits for"));
  embed_ahead_stop(&slot);
  CHECK(slot == NULL);
  embed_ahead_stop(&slot);
}
