/* test_pair.c: contradictions found by the cross-encoder. tests/cli/memory/test_contradictions.c measures recall and
 * precision. */
#include "embed/pair.h"

#include "base/buf.h"
#include "support/harness.h"

static struct arena arena;

static bool contradicts(const char *first, const char *second) {
  struct str other = str_from(first);
  struct error err = {0};
  bool result = false;
  test_note("%s | %s", first, second);
  CHECK_OK(pair_compare(&arena, str_from(second), &other, 1, &result, &err), &err);
  return result;
}

/* False in a build without the model. */
static bool is_built_in(void) {
  if (!pair_is_built_in())
    printf("skipped: no built-in model\n");
  return pair_is_built_in();
}

TEST(one_attribute_has_one_value) {
  if (!is_built_in())
    return;
  CHECK(contradicts("Marta leads the payments team", "Jonas leads the payments team"));
  CHECK(contradicts("The shop uses MySQL", "The shop moved to PostgreSQL"));
  CHECK(contradicts("The database lives in eu-west-1", "The database moved to us-east-1"));
  CHECK(contradicts("Exports are enabled", "Exports are not enabled"));
  arena_release(&arena);
}

TEST(a_contradiction_in_other_words) {
  if (!is_built_in())
    return;
  CHECK(contradicts("Chunks for retrieval are cut at 400 tokens", "Retrieval chunks have a length of 900 tokens"));
  CHECK(contradicts("Yuki answers to Fernanda in the org chart", "The line manager of Yuki is Alistair"));
  CHECK(contradicts("The vacancy for a data engineer is unfilled",
                    "A data engineer has been hired, so the vacancy is filled"));
  arena_release(&arena);
}

TEST(the_same_or_something_else_is_no_contradiction) {
  if (!is_built_in())
    return;
  CHECK(!contradicts("The call times out after 30 seconds", "The call has a timeout of 30 seconds"));
  CHECK(!contradicts("The team is led by Marek", "Marek leads the team"));
  CHECK(!contradicts("Debug logging is on in staging", "Debug logging is off in production"));
  CHECK(!contradicts("Ana prefers Vim", "Ben prefers Emacs"));
  CHECK(!contradicts("The exporter supports CSV", "The exporter supports Parquet"));
  CHECK(!contradicts("Night builds run at 2:00", "Night builds take 90 minutes"));
  CHECK(!contradicts("The office has a blue door", "PostgreSQL listens on port 5432"));
  arena_release(&arena);
}

/* The verdict on a pair does not depend on the other pairs of the call. */
TEST(pairs_of_one_call_are_independent) {
  if (!is_built_in())
    return;
  struct buf longer = BUF(&arena);
  for (int i = 0; i < 400; i++)
    buf_adds(&longer, "The review is on Tuesday. ");
  const struct str others[] = {
      STR("The review is on Tuesday"), STR(""), buf_str(&longer), STR("\xff\xfe\x80"), STR("The review is on Thursday"),
      STR("Tea is in the kitchen")};
  struct str text = STR("The review is on Thursday");
  bool together[ARRAY_LEN(others)], alone;
  struct error err = {0};
  CHECK_OK(pair_compare(&arena, text, others, ARRAY_LEN(others), together, &err), &err);
  for (size_t i = 0; i < ARRAY_LEN(others); i++) {
    CHECK_OK(pair_compare(&arena, text, &others[i], 1, &alone, &err), &err);
    CHECK_INT(together[i], alone);
  }
  CHECK(!together[4] && !together[5]);
  CHECK_OK(pair_compare(&arena, text, NULL, 0, together, &err), &err);
  arena_release(&arena);
}
