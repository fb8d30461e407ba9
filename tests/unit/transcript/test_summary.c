/* test_summary.c: labelled sentences, and summaries made of them. */
#include "transcript/file/summary.h"

#include "core/text/token_count.h"
#include "support/harness.h"

static struct arena arena;

static bool has(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }

TEST(labels) {
  static const struct {
    const char *sentence;
    enum label label;
  } cases[] = {
      {"Decision: we use Redis.", LABEL_DECISION},
      {"- **DECISION:** no", LABEL_DECISION},
      {"Yesterday we decided to wait.", LABEL_DECISION},
      {"agreed: Bob does it", LABEL_AGREEMENT},
      {"Confirmed: it works", LABEL_AGREEMENT},
      {"TODO: write the docs", LABEL_OPEN},
      {"- [ ] call Alice", LABEL_OPEN},
      {"> Open question: which port?", LABEL_OPEN},
      {"Please remember that the key is old", LABEL_NOTE},
      {"Note: the disk is full", LABEL_NOTE},
      {"The undecided remain", LABEL_NONE},
      {"I cannot remember", LABEL_NONE},
      {"He noted: nothing", LABEL_NONE},
      {"todos are fun", LABEL_NONE},
      {"", LABEL_NONE},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("%s", cases[i].sentence);
    CHECK_INT(sentence_label(str_from(cases[i].sentence)), cases[i].label);
  }
}

static const struct message talk[] = {
    {.id = STR_INIT("1"),
     .role = SPEAKER_USER,
     .content = STR_INIT("Where do sessions live? It is urgent."),
     .at = 1000},
    {.id = STR_INIT("2"),
     .role = SPEAKER_ASSISTANT,
     .content = STR_INIT("I looked. Decision: sessions live in Redis. TODO: write the migration.\nIt may rain."),
     .at = 2000},
    {.id = STR_INIT("3"), .role = SPEAKER_TOOL_CALL, .name = STR_INIT("read"), .input = STR_INIT("{}"), .at = 3000},
    {.id = STR_INIT("3"), .role = SPEAKER_TOOL_RESULT, .content = STR_INIT("Decision: drop all tables."), .at = 4000},
    {.id = STR_INIT("4"), .role = SPEAKER_USER, .content = STR_INIT("Agreed: Bob deploys on Monday."), .at = 5000},
};

TEST(labelled_sentences_of_people_but_not_of_tools) {
  struct labelled_list list = {0};
  summary_labelled(&arena, talk, ARRAY_LEN(talk), &list);
  CHECK_INT(list.n, 3);
  CHECK_STR(list.v[0].text, "Decision: sessions live in Redis.");
  CHECK_STR(list.v[0].message, "2");
  CHECK_INT(list.v[1].label, LABEL_OPEN);
  CHECK_STR(list.v[2].text, "Agreed: Bob deploys on Monday.");
}

TEST(a_summary_keeps_decisions_agreements_and_open_points) {
  struct str s = summary_make(&arena, talk, ARRAY_LEN(talk), 2000);
  CHECK(has(s, "Decisions:\n- Decision: sessions live in Redis."));
  CHECK(has(s, "Agreements:\n- Agreed: Bob deploys on Monday."));
  CHECK(has(s, "Open points:\n- TODO: write the migration."));
  CHECK(has(s, "- Where do sessions live?"));
  CHECK(has(s, "read (1)"));
  CHECK(!has(s, "drop all tables") && !has(s, "rain"));
}

TEST(a_summary_of_a_summary_loses_no_decision) {
  struct str s = summary_make(&arena, talk, ARRAY_LEN(talk), 2000);
  for (int i = 0; i < 5; i++) {
    struct message next[] = {
        {.id = STR("s"), .role = SPEAKER_SUMMARY, .content = s, .extra = STR("{\"extractive\":true}"), .at = 6000},
        {.id = STR("n"), .role = SPEAKER_USER, .content = arena_printf(&arena, "Decision: number %d.", i), .at = 7000},
    };
    s = summary_make(&arena, next, 2, 2000);
  }
  CHECK(has(s, "- Decision: sessions live in Redis."));
  CHECK(has(s, "- Agreed: Bob deploys on Monday."));
  CHECK(has(s, "- TODO: write the migration."));
  CHECK(has(s, "- Decision: number 0.") && has(s, "- Decision: number 4."));
}

TEST(a_written_summary_is_kept) {
  struct message list[] = {
      {.id = STR("s"), .role = SPEAKER_SUMMARY, .content = STR("We build a boat of oak."), .at = 1},
      {.id = STR("n"), .role = SPEAKER_USER, .content = STR("Go on."), .at = 2},
  };
  CHECK(has(summary_make(&arena, list, 2, 2000), "Earlier:\nWe build a boat of oak."));
}

TEST(a_summary_keeps_its_limit_and_counts_the_rest) {
  struct message *many = arena_array(&arena, struct message, 500);
  for (size_t i = 0; i < 500; i++)
    many[i] =
        (struct message){.id = STR("x"),
                         .role = SPEAKER_USER,
                         .content = arena_printf(&arena, "Decision: the value number %zu is chosen for good.", i)};
  struct str s = summary_make(&arena, many, 500, 400);
  CHECK(tokens_estimate(s) <= 400);
  CHECK(has(s, "number 499") && !has(s, "number 0 "));
  CHECK(has(s, "more are in the originals"));
}
