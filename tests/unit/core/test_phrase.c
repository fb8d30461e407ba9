/* test_phrase.c: matcher of cue phrases. */
#include "core/text/phrase.h"

#include "support/harness.h"

TEST(phrases_match_words_without_case) {
  CHECK(phrase_in(STR("We NEED  to\ngo"), "need to"));
  CHECK(phrase_in(STR("don’t forget"), "don't forget"));
  CHECK(phrase_in(STR("“never” again"), "never"));
  CHECK(phrase_in(STR("需要todo做"), "todo"));
  CHECK(!phrase_in(STR("mustang"), "must"));
  CHECK(!phrase_in(STR("a must_have and a must-have"), "must"));
  CHECK(!phrase_in(STR("non-blocker"), "blocker"));
  CHECK(!phrase_in(STR("need"), "need to"));
  CHECK(!phrase_in(STR(""), "need"));
}

TEST(hyphens_are_optional) {
  CHECK(phrase_in(STR("follow up"), "follow-up"));
  CHECK(phrase_in(STR("Follow-up!"), "follow-up"));
  CHECK(phrase_in(STR("followup"), "follow-up"));
}

TEST(stars_match_a_few_words) {
  CHECK(phrase_in(STR("we chose Redis over X"), "chose * over"));
  CHECK(phrase_in(STR("chose one two three four over X"), "chose * over"));
  CHECK(!phrase_in(STR("chose one two three four five over X"), "chose * over"));
  CHECK(!phrase_in(STR("chose it. Then over"), "chose * over"));
  CHECK(phrase_in(STR("ask @bob prefers"), "@* prefers"));
  CHECK(!phrase_in(STR("bob prefers"), "@* prefers"));
}

TEST(anchors_and_tildes_limit) {
  CHECK(phrase_in(STR("never go"), "^never"));
  CHECK(!phrase_in(STR("I never go"), "^never"));
  CHECK(phrase_in(STR("never deploy"), "never~"));
  CHECK(phrase_in(STR("never feed it"), "never~"));
  CHECK(!phrase_in(STR("it never worked"), "never~"));
  CHECK(!phrase_in(STR("it has never gone"), "never~"));
  CHECK(phrase_in(STR("never"), "never~"));
}

TEST(the_first_row_wins) {
  static const struct type_cue cues[] = {{"a", "zebra"}, {"b", "apple"}, {"c", "apple pie"}};
  CHECK_INT(phrase_first_cue(STR("an apple and a zebra"), cues, 3), 0);
  CHECK_INT(phrase_first_cue(STR("an apple pie"), cues, 3), 1);
  CHECK_INT(phrase_first_cue(STR("nothing"), cues, 3), 3);
}
