/* test_search_prefix.c: search by the beginning of a word. */
#include "support/cli.h"

static void fill(void) {
  STORE("The deployment of the shop runs on Fridays");
  STORE("We deploy with Ansible");
  STORE("Depletion of the pool was the reason");
  STORE("Universities close in summer");
  STORE("Décision: the cache is Redis");
  STORE("The organization of the archive is by year");
}

static yyjson_val *find(const char *query) { return OK("search", query, "--prefix", "--mode", "keyword"); }

static struct str first_of(const char *query) {
  yyjson_val *r = find(query);
  return jlen(r, "results") ? jstr(r, "results[0].headline") : STR("");
}

TEST(the_last_word_may_be_the_beginning_of_a_word) {
  fill();
  CHECK_INT(jlen(OK("search", "deplo", "--mode", "keyword"), "results"), 0);
  yyjson_val *r = find("deplo");
  CHECK_INT(jlen(r, "results"), 2);
  CHECK(jhas_str(r, "completions", "deployment") && jhas_str(r, "completions", "deploy"));
  CHECK_INT(jlen(r, "completions"), 2);
  CHECK_STR(jstr(r, "query"), "deplo");
  /* A whole word is the beginning of itself. */
  CHECK_INT(jlen(find("deploy"), "results"), 2);
  CHECK_INT(jlen(find("zebra"), "results"), 0);
  CHECK(!jget(find("zebra"), "completions"));
}

/* The index has stems: "deploy", "univers", "organ". */
TEST(a_prefix_may_be_longer_than_the_stem) {
  fill();
  CHECK_STR(first_of("deployme"), "The deployment of the shop runs on Fridays");
  CHECK_STR(first_of("universi"), "Universities close in summer");
  CHECK_STR(first_of("organizati"), "The organization of the archive is by year");
  CHECK_INT(jlen(find("deployme"), "results"), 1);
}

TEST(a_prefix_ignores_case_and_accents) {
  fill();
  CHECK(str_starts(first_of("decis"), STR("Décision")));
  CHECK(str_starts(first_of("DÉCI"), STR("Décision")));
}

TEST(only_the_last_word_is_a_prefix) {
  fill();
  CHECK_INT(jlen(find("deplo zebra"), "results"), 0);
  yyjson_val *r = find("ansible deplo");
  CHECK_STR(jstr(r, "results[0].headline"), "We deploy with Ansible");
  CHECK_INT(jlen(r, "results"), 2);
  /* One letter is not enough, and no word at all is no error. */
  CHECK_INT(jlen(find("d"), "results"), 0);
  CHECK_INT(jlen(find("?!"), "results"), 0);
}

TEST(completions_come_only_from_texts_that_the_caller_sees) {
  STORE("--project", "web", "The deployment is blue");
  STORE("--project", "shop", "The depository is green");
  int64_t gone = STORE("--project", "web", "Deportation is a topic");
  OK("forget", num(gone), "--reason", "wrong");
  yyjson_val *r = OK("--project", "web", "search", "dep", "--prefix");
  CHECK_INT(jlen(r, "completions"), 1);
  CHECK_STR(jstr(r, "completions[0]"), "deployment");
  CHECK(!jget(OK("--project", "web", "search", "depo", "--prefix"), "completions"));
  cli_set("CAIRN_TEAM=blue");
  CHECK(!jget(OK("--project", "web", "search", "dep", "--prefix"), "completions"));
}

TEST(meaning_and_words_find_a_prefix_together) {
  fill();
  yyjson_val *r = OK("search", "how do we roll out the deplo", "--prefix");
  CHECK_STR(jstr(r, "search_mode"), "hybrid");
  CHECK(has(jstr(r, "results[0].headline"), "eploy"));
}
