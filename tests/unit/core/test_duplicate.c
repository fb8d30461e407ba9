/* test_duplicate.c: verdict on duplicates, without a store. */
#include "core/gate/duplicate.h"

#include "support/harness.h"

static enum verdict judge(const char *kind, const char *body, double similarity, enum differ what, const char *old) {
  struct memory m = {.kind = str_from(kind), .body = str_from(body)};
  struct similar one = {.id = 7, .body = str_from(old), .similarity = similarity, .difference = {.what = what}};
  struct similars list = {&one, 1, 1};
  size_t at = 99;
  enum verdict v = duplicate_judge(&m, &list, &at);
  CHECK_INT(at, 0);
  return v;
}

TEST(duplicates_are_skipped_or_superseded) {
  CHECK_INT(judge("fact", "short", 0.95, DIFFER_NONE, "short"), VERDICT_SKIP);
  CHECK_INT(judge("rule", "short", 0.95, DIFFER_NONE, "short"), VERDICT_SKIP);
  CHECK_INT(judge("incident", "much longer", 0.95, DIFFER_NONE, "short"), VERDICT_SKIP);
  CHECK_INT(judge("fact", "much longer text", 0.92, DIFFER_NONE, "short"), VERDICT_SUPERSEDE);
  CHECK_INT(judge("fact", "short", 0.92, DIFFER_NONE, "much longer text"), VERDICT_SKIP);
}

TEST(near_rules_are_refused_and_near_facts_stored) {
  CHECK_INT(judge("rule", "a", 0.75, DIFFER_NONE, "b"), VERDICT_REFUSE);
  CHECK_INT(judge("fact", "a", 0.91, DIFFER_NONE, "b"), VERDICT_STORE);
  CHECK_INT(judge("task", "a", 0.80, DIFFER_NONE, "b"), VERDICT_STORE);
}

TEST(a_text_that_differs_is_never_a_duplicate) {
  CHECK_INT(judge("fact", "the limit is 50", 1.0, DIFFER_NUMBER, "the limit is 5"), VERDICT_STORE);
  CHECK_INT(judge("rule", "the limit is 50", 1.0, DIFFER_NUMBER, "the limit is 5"), VERDICT_REFUSE);
}

TEST(a_text_without_near_ones_is_stored) {
  struct memory m = {.kind = STR("rule")};
  struct similars none = {0};
  size_t at;
  CHECK_INT(duplicate_judge(&m, &none, &at), VERDICT_STORE);
}

static struct arena arena;

static bool recurs(const char *kind, const char *body, int64_t valid_from, const char *old, int64_t old_at) {
  struct memory draft = {.kind = str_from(kind), .body = str_from(body), .valid_from = valid_from};
  struct memory other = {.kind = str_from(kind), .body = str_from(old), .valid_from = old_at};
  draft.headline = draft.body;
  other.headline = other.body;
  return duplicate_recurs(&arena, &draft, 1000000000, &other);
}

TEST(incidents_at_another_time_recur) {
  enum { DAY = 86400000, NOW = 1000000000 };
  CHECK(!recurs("incident", "Disk full on db1", 0, "Disk full on db1", NOW - 1000));
  CHECK(recurs("incident", "Disk full on db1", 0, "Disk full on db1", NOW - DAY));
  CHECK(recurs("incident", "Disk full on db1", NOW - 9 * DAY, "Disk full on db1", NOW - 1000));
  CHECK(recurs("incident", "Disk full on db1 again", 0, "Disk full on db1", NOW - 1000));
  CHECK(!recurs("incident", "Disk full on db1 again", 0, "Disk full on db1 again", NOW - 1000));
  CHECK(!recurs("fact", "Disk full on db1", 0, "Disk full on db1", NOW - DAY));
  arena_release(&arena);
}

static bool recurs_as(const char *headline, const char *body, const char *old_headline, const char *old_body) {
  struct memory draft = {.kind = STR("incident"), .body = str_from(body), .headline = str_from(headline)};
  struct memory other = {.kind = STR("incident"), .body = str_from(old_body), .headline = str_from(old_headline)};
  return duplicate_recurs(&arena, &draft, 1000, &other);
}

TEST(incidents_with_another_headline_recur) {
  CHECK(recurs_as("Disk full again", "Writes failed.", "Disk full", "Writes failed."));
  CHECK(recurs_as("Disk full", "Writes failed.", "Disk full on db1", "writes failed"));
  CHECK(recurs_as("Disk full again", "Writes failed twice.", "Disk full", "Writes failed."));
  CHECK(!recurs_as("Disk full again", "Writes failed.", "Disk full again", "Writes failed."));
  CHECK(!recurs_as("Disk full again", "Writes failed.", "Disk full again", "writes failed"));
  CHECK(!recurs_as(NULL, "It failed again.", "Disk full", "It failed again."));
  CHECK(!recurs_as("It failed again", "It failed again.", "Disk full", "It failed again."));
  CHECK(!recurs_as("Disk full", "Writes were refused.", "Disk full", "Writes failed."));
  arena_release(&arena);
}

static bool adds(const char *headline, const char *body, const char *old_headline, const char *old_body) {
  struct memory draft = {.headline = str_from(headline), .body = str_from(body)};
  struct memory other = {.headline = str_from(old_headline), .body = str_from(old_body)};
  return duplicate_headline_adds(&arena, &draft, &other);
}

TEST(a_headline_adds_the_words_that_are_not_in_the_other_text) {
  CHECK(adds("Vendor invoices", "Ask first.", "Deploys", "Ask first."));
  CHECK(adds("Deploys to staging", "Ask first.", "Deploys", "Ask first."));
  CHECK(!adds("Deploys", "Ask first.", "Deploys to staging", "Ask first."));
  CHECK(!adds("Deploy", "Ask first.", "Deploys", "Ask first."));
  CHECK(!adds("Ask first", "Ask first.", "Deploys", "Ask first."));
  arena_release(&arena);
}
