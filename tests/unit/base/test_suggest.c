/* test_suggest.c: closest name for a mistyped one. */
#include "base/suggest.h"

#include "support/harness.h"

TEST(distance_counts_edits) {
  CHECK_INT(suggest_distance(STR("kitten"), STR("sitting")), 3);
  CHECK_INT(suggest_distance(STR("search"), STR("search")), 0);
  CHECK_INT(suggest_distance(STR("serach"), STR("search")), 1); /* a swap is one edit */
  CHECK_INT(suggest_distance(STR(""), STR("abc")), 3);
  CHECK_INT(suggest_distance(STR("abc"), STR("")), 3);
  CHECK_INT(suggest_distance(STR("ab"), STR("ba")), 1);
}

TEST(distance_of_long_names_is_infinite) {
  char text[65];
  memset(text, 'a', sizeof(text));
  CHECK(suggest_distance((struct str){text, 65}, STR("a")) == SIZE_MAX);
  CHECK_INT(suggest_distance((struct str){text, 64}, STR("a")), 63);
}

static struct str nearest(const char *word, const char *const *names) {
  struct suggest s;
  suggest_init(&s, str_from(word));
  for (; *names; names++)
    suggest_offer(&s, str_from(*names));
  return s.best;
}

TEST(the_closest_name_wins) {
  const char *const names[] = {"search", "list", "stats", "restore", NULL};
  CHECK_STR(nearest("serch", names), "search");
  CHECK_STR(nearest("lst", names), "list");
  CHECK_STR(nearest("stat", names), "stats");
  CHECK_STR(nearest("rest", names), "restore"); /* an abbreviation */
}

TEST(distant_names_are_not_suggested) {
  const char *const names[] = {"search", "list", "pin", NULL};
  CHECK(!nearest("banana", names).p);
  CHECK(!nearest("", names).p);
  CHECK(!nearest("x", names).p);
}
