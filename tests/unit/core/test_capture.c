/* test_capture.c: splitting of raw text into atomic pieces. */
#include "core/memory/capture.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "core/memory/headline.h"
#include "core/memory/types.h"
#include "core/text/text.h"
#include "support/harness.h"

struct result {
  struct arena a;
  struct capture_pieces pieces;
  struct strs dropped;
};

/* Splits, and checks that every piece would pass the write gate. */
static void capture_str(struct result *r, struct str text) {
  arena_init(&r->a);
  capture_split(&r->a, text, &r->pieces, &r->dropped);
  for (size_t i = 0; i < r->pieces.n; i++) {
    const struct capture_piece *p = &r->pieces.v[i];
    enum kind kind;
    CHECK(text_has_letter(p->headline) && text_count_words(p->headline) <= HEADLINE_WORDS);
    CHECK(p->headline.n <= HEADLINE_BYTES);
    size_t least = strcmp(p->type_cue, "task") == 0 ? CAPTURE_MIN_TASK_WORDS : CAPTURE_MIN_WORDS;
    CHECK(text_count_words(p->body) >= least && text_count_words(p->body) <= CAPTURE_MAX_WORDS);
    CHECK(kind_parse(str_from(p->type_cue), &kind));
  }
}

static void capture(struct result *r, const char *text) { capture_str(r, str_from(text)); }

static void check_piece(const struct result *r, size_t i, const char *kind, const char *headline, const char *body) {
  CHECK(i < r->pieces.n);
  CHECK_STR(r->pieces.v[i].headline, headline);
  CHECK_STR(r->pieces.v[i].body, body);
  CHECK_STR(str_from(r->pieces.v[i].type_cue), kind);
}

TEST(empty_text_gives_no_pieces) {
  static const char *const texts[] = {"", "\r\n \t\n", "---\n***\n===", "ok"};
  static const size_t dropped[] = {0, 0, 0, 1};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    struct result r;
    capture(&r, texts[i]);
    CHECK_INT(r.pieces.n, 0);
    CHECK_INT(r.dropped.n, dropped[i]);
    arena_release(&r.a);
  }
}

TEST(blank_lines_separate_pieces) {
  struct result r;
  capture(&r, "The API listens on port 8080.\nIt speaks plain HTTP.\r\n\r\nToo short.\n\n\nBackups are written to the "
              "second disk.\n");
  CHECK_INT(r.pieces.n, 2);
  CHECK_INT(r.dropped.n, 1);
  check_piece(&r, 0, "fact", "The API listens on port 8080", "The API listens on port 8080.\nIt speaks plain HTTP.");
  check_piece(&r, 1, "fact", "Backups are written to the second disk", "Backups are written to the second disk.");
  arena_release(&r.a);
}

TEST(kinds_are_guessed_in_order) {
  static const struct {
    const char *text, *kind;
    bool blocker;
  } cases[] = {
      {"Never push to main without a review.", "rule", true},
      {"Secrets must not appear in any log.", "rule", true},
      {"Shared passwords are strictly forbidden in this team.", "rule", true},
      {"Always run the linter before a commit.", "rule", false},
      {"All deploys must go through staging first.", "rule", false},
      {"The outage on Monday was caused by DNS.", "incident", false},
      {"The nightly job failed because the disk was full.", "incident", false},
      {"We need to renew the certificate by June.", "task", false},
      {"We must renew the certificate before June ends.", "task", false},
      {"TODO: write the migration guide for users", "task", false},
      {"The staging database lives in the Frankfurt region.", "fact", false},
      {"The cron job never ran on the new host.", "fact", false},
      {"This has never been a problem for us.", "fact", false},
      {"A never-ending story about caches and names.", "fact", false},
      {"Never forget: the outage failed over to DNS.", "rule", true},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct result r;
    capture(&r, cases[i].text);
    CHECK_INT(r.pieces.n, 1);
    CHECK_STR(str_from(r.pieces.v[0].type_cue), cases[i].kind);
    CHECK_INT(r.pieces.v[0].blocker, cases[i].blocker);
    arena_release(&r.a);
  }
}

TEST(speakers_are_not_part_of_the_headline) {
  struct result r;
  capture(&r, "User: please deploy version 2.1 on Monday morning\n"
              "Assistant: I have scheduled the deploy for Monday.\n"
              "[10:42] **Alice:** the cache lives on the second host\n"
              "user: ok\n");
  CHECK_INT(r.pieces.n, 3);
  CHECK_INT(r.dropped.n, 1);
  check_piece(&r, 0, "fact", "please deploy version 2.1 on Monday morning",
              "User: please deploy version 2.1 on Monday morning");
  check_piece(&r, 1, "fact", "I have scheduled the deploy for Monday",
              "Assistant: I have scheduled the deploy for Monday.");
  CHECK_STR(r.pieces.v[2].headline, "the cache lives on the second host");
  arena_release(&r.a);
}

TEST(interjections_are_not_headlines) {
  struct result r;
  capture(&r,
          "User: great. Also never log the raw token.\n\nAssistant: Understood. Will do.\n\nOh. No. Well. Yes. Hm.");
  CHECK_INT(r.pieces.n, 2);
  CHECK_INT(r.dropped.n, 1);
  CHECK_STR(r.pieces.v[0].headline, "Also never log the raw token");
  CHECK_STR(r.pieces.v[1].headline, "Oh");
  arena_release(&r.a);
}

TEST(lead_ins_are_the_last_sentence) {
  struct result r;
  capture(&r,
          "Alice: I will update the auth page today. Things to note:\n\n- Refresh tokens expire after seven days\n\n"
          "What did we learn?\n- Alerts belong at eighty percent of memory\n\n"
          "**Open questions**\n- Who owns the old billing database now\n");
  CHECK_INT(r.pieces.n, 4);
  CHECK_STR(r.pieces.v[0].body, "Alice: I will update the auth page today.");
  CHECK_STR(r.pieces.v[1].body, "Things to note:\nRefresh tokens expire after seven days");
  CHECK_STR(r.pieces.v[2].body, "What did we learn?\nAlerts belong at eighty percent of memory");
  CHECK_STR(r.pieces.v[3].body, "Open questions\nWho owns the old billing database now");
  arena_release(&r.a);
}

TEST(labels_are_not_speakers) {
  struct result r;
  capture(&r, "Decision: we use one queue for all jobs");
  CHECK_INT(r.pieces.n, 1);
  CHECK_STR(r.pieces.v[0].headline, "Decision: we use one queue for all jobs");
  arena_release(&r.a);
  capture(&r, "- Stores: all data lives in one file");
  CHECK_INT(r.pieces.n, 1);
  CHECK_STR(r.pieces.v[0].headline, "Stores: all data lives in one file");
  arena_release(&r.a);
}

TEST(items_that_are_sentences_become_pieces) {
  struct result r;
  capture(&r, "We agreed on these things:\n"
              "- Postgres is the only database we run\n"
              "- [ ] Bob moves the old tables to it\n"
              "  - the users table first\n"
              "    and then the rest\n"
              "1. Reviews are done within a single day\n");
  CHECK_INT(r.pieces.n, 3);
  check_piece(&r, 0, "fact", "Postgres is the only database we run",
              "We agreed on these things:\nPostgres is the only database we run");
  check_piece(
      &r, 1, "task", "Bob moves the old tables to it",
      "We agreed on these things:\nBob moves the old tables to it\n  - the users table first\n    and then the rest");
  CHECK_STR(r.pieces.v[2].headline, "Reviews are done within a single day");
  arena_release(&r.a);
}

TEST(short_items_stay_together) {
  struct result r;
  capture(&r, "Ports to open:\n\n- 80\n\n- 443 for the web\n- 5432\n");
  CHECK_INT(r.pieces.n, 1);
  check_piece(&r, 0, "fact", "Ports to open", "Ports to open:\n\n- 80\n\n- 443 for the web\n- 5432");
  arena_release(&r.a);
  capture(&r, "- Postgres is the only database we run\n- Node 20\n- Deploys go through the staging host first\n");
  CHECK_INT(r.pieces.n, 2);
  CHECK_STR(r.pieces.v[0].body, "- Postgres is the only database we run\n- Node 20");
  CHECK_STR(r.pieces.v[1].body, "Deploys go through the staging host first");
  arena_release(&r.a);
}

TEST(headings_are_context) {
  struct result r;
  capture(&r,
          "# Deploys\n\nThey run from the main branch only.\n\nRollbacks take about five minutes each.\n\n"
          "Storage\n=======\nBackups go to the second disk nightly.\n\n## Lonely heading with more than four words\n");
  CHECK_INT(r.pieces.n, 4);
  check_piece(&r, 0, "fact", "Deploys: They run from the main branch only",
              "Deploys\n\nThey run from the main branch only.");
  check_piece(&r, 1, "fact", "Deploys: Rollbacks take about five minutes each",
              "Deploys\n\nRollbacks take about five minutes each.");
  CHECK_STR(r.pieces.v[2].headline, "Storage: Backups go to the second disk nightly");
  check_piece(&r, 3, "fact", "Lonely heading with more than four words", "Lonely heading with more than four words");
  arena_release(&r.a);
}

TEST(code_stays_with_the_text_before_it) {
  struct result r;
  capture(&r, "Restart the worker like this:\n\n```sh\n# must never fail\n\nsystemctl restart worker\n```\n\nIt takes "
              "about ten seconds each time.\n");
  CHECK_INT(r.pieces.n, 2);
  check_piece(&r, 0, "fact", "Restart the worker like this",
              "Restart the worker like this:\n\n```sh\n# must never fail\n\nsystemctl restart worker\n```");
  CHECK(!r.pieces.v[0].blocker);
  CHECK_STR(r.pieces.v[1].headline, "It takes about ten seconds each time");
  arena_release(&r.a);
}

TEST(an_unclosed_fence_does_not_hide_the_rest) {
  struct result r;
  capture(&r, "The first paragraph has enough words.\n\n```\nThe second paragraph has enough words.\n\nThe third "
              "paragraph has enough words.\n");
  CHECK_INT(r.pieces.n, 3);
  arena_release(&r.a);
}

TEST(long_paragraphs_are_split_at_lines) {
  struct result r;
  arena_init(&r.a);
  struct arena a;
  arena_init(&a);
  struct buf text = BUF(&a);
  for (int i = 0; i < 60; i++)
    buf_addf(&text, "Fact %d is short and plain.\n", i);
  capture_str(&r, buf_str(&text));
  CHECK_INT(r.pieces.n, 60);
  CHECK_STR(r.pieces.v[59].body, "Fact 59 is short and plain.");
  arena_release(&r.a);
  /* Below the limit the same lines are one paragraph: 50 lines of 6 words. */
  text = BUF(&a);
  for (int i = 0; i < 50; i++)
    buf_addf(&text, "Fact %d is short and plain.\n", i);
  capture_str(&r, buf_str(&text));
  CHECK_INT(r.pieces.n, 1);
  arena_release(&r.a);
  arena_release(&a);
}

TEST(a_single_long_line_is_split_at_sentences_then_words) {
  struct result r;
  struct arena a;
  arena_init(&a);
  struct buf text = BUF(&a);
  for (int i = 0; i < 200; i++)
    buf_addf(&text, "This is sentence number %d of many. ", i);
  capture_str(&r, buf_str(&text));
  CHECK_INT(r.pieces.n, 5); /* 1,400 words, 42 sentences of 7 words to a piece */
  for (size_t i = 0; i < r.pieces.n; i++)
    CHECK(str_ends(r.pieces.v[i].body, STR("of many.")));
  arena_release(&r.a);
  text = BUF(&a);
  for (int i = 0; i < 1000; i++)
    buf_adds(&text, "word ");
  capture_str(&r, buf_str(&text));
  CHECK_INT(r.pieces.n, 4); /* 300 + 300 + 300 + 100 */
  CHECK_INT(text_count_words(r.pieces.v[0].body), 300);
  CHECK_INT(text_count_words(r.pieces.v[3].body), 100);
  arena_release(&r.a);
  arena_release(&a);
}

TEST(other_scripts_are_captured) {
  struct result r;
  capture(&r,
          "我们决定用一个数据库。\n\n好的。\n\nМы используем одну базу данных для всего.\n\nDone 🎉 and the release "
          "is out 🚀\n");
  CHECK_INT(r.pieces.n, 3);
  CHECK_INT(r.dropped.n, 1);
  CHECK_STR(r.pieces.v[0].headline, "我们决定用一个数据库");
  CHECK_STR(r.pieces.v[1].headline, "Мы используем одну базу данных для всего");
  CHECK_STR(r.pieces.v[2].headline, "Done 🎉 and the release is out 🚀");
  arena_release(&r.a);
}

TEST(deep_lists_are_one_item) {
  struct arena a;
  arena_init(&a);
  struct buf text = BUF(&a);
  for (int depth = 0; depth < 200; depth++) {
    for (int i = 0; i < depth; i++)
      buf_adds(&text, "  ");
    buf_addf(&text, "- level %d of this list\n", depth);
  }
  struct result r;
  capture_str(&r, buf_str(&text));
  CHECK(r.pieces.n >= 3); /* about 1,200 words */
  arena_release(&r.a);
  arena_release(&a);
}

TEST(the_same_text_gives_the_same_pieces) {
  const char *text = "# A\n- one two three four five\n- six seven eight nine ten\n\nUser: hello there my good friend\n";
  struct result first, second;
  capture(&first, text);
  capture(&second, text);
  CHECK_INT(first.pieces.n, 3);
  CHECK_INT(second.pieces.n, 3);
  for (size_t i = 0; i < 3; i++)
    CHECK(str_eq(first.pieces.v[i].body, second.pieces.v[i].body));
  arena_release(&first.a);
  arena_release(&second.a);
}

TEST(a_megabyte_of_anything_is_fast, .seconds = 60, .slow = true) {
  static const char *const units[] = {"x",
                                      "a ",
                                      "\n",
                                      "A\n",
                                      "- a\n",
                                      "  - a b c d e\n",
                                      "```\n",
                                      "# h\n",
                                      "A b:\n- c\n\n",
                                      "never ",
                                      "User: a b c d e f\n",
                                      "世",
                                      "\x80",
                                      "> "};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct arena a;
    arena_init(&a);
    struct buf text = BUF(&a);
    while (text.n < 1 << 20)
      buf_adds(&text, units[i]);
    struct result r;
    capture_str(&r, buf_str(&text));
    arena_release(&r.a);
    arena_release(&a);
  }
}

/* Short items join their neighbours, but never a task. */
TEST(a_task_in_a_list_is_a_piece_of_its_own) {
  struct result r;
  capture(&r, "- [ ] Renew the certificate of the mail server\n- Bob is out\n- The office is closed on Friday\n"
              "- TODO: order two new ropes for the anchor\n- before Friday\n");
  CHECK_INT(r.pieces.n, 3);
  CHECK_STR(r.pieces.v[0].body, "Renew the certificate of the mail server");
  CHECK_STR(r.pieces.v[1].body, "- Bob is out\n- The office is closed on Friday");
  CHECK_STR(r.pieces.v[2].body, "TODO: order two new ropes for the anchor");
  CHECK_INT(r.dropped.n, 1);
  CHECK_STR(r.dropped.v[0], "before Friday");
  arena_release(&r.a);
  /* Also if most items are short. */
  capture(&r, "- [ ] Renew the certificate of the mail server\n- ok\n- The office is closed on Friday\n- yes\n- TODO: "
              "buy rope\n- fine\n");
  CHECK_INT(r.pieces.n, 3);
  CHECK_STR(r.pieces.v[0].body, "Renew the certificate of the mail server");
  CHECK_STR(r.pieces.v[1].body, "- ok\n- The office is closed on Friday\n- yes");
  CHECK_STR(r.pieces.v[2].body, "TODO: buy rope");
  CHECK(r.dropped.n == 1 && str_is(r.dropped.v[0], "fine"));
  arena_release(&r.a);
  capture(&r, "## Todo\n\n- [ ] write docs\n- [x] paint the fence\n- call Bob\n");
  CHECK_INT(r.pieces.n, 3);
  CHECK_STR(r.pieces.v[2].body, "Todo\n\ncall Bob");
  CHECK_STR(str_from(r.pieces.v[2].type_cue), "task");
  arena_release(&r.a);
}
