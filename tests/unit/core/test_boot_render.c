/* test_boot_render.c: boot payload in the formats "full" and "blocks". */
#include "core/boot/render.h"

#include "support/harness.h"

static struct arena a; /* of the running test */

static void add(struct boot_texts *t, int64_t id, const char *type, const char *project, const char *key,
                struct str body) {
  list_push(&a, t, (struct boot_text){id, type_find(str_from(type)), str_from(project), str_from(key), body});
}

static bool has(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }

TEST(tokens_are_bytes_divided_by_three_and_a_half) {
  CHECK_INT(boot_full_tokens(0), 0);
  CHECK_INT(boot_full_tokens(1), 0); /* 0.29 */
  CHECK_INT(boot_full_tokens(2), 1); /* 0.57 */
  CHECK_INT(boot_full_tokens(7), 2);
  CHECK_INT(boot_full_tokens(105000), 30000);
}

TEST(texts_are_listed_under_their_headings) {
  arena_init(&a);
  struct boot_texts t = {0};
  size_t used;
  add(&t, 1, "context", "demo", NULL, STR("The move is under way"));
  add(&t, 2, "rule", "", NULL, STR("Speak German\nwith customers"));
  add(&t, 3, "feedback", "demo", NULL, STR("Shorter answers"));
  add(&t, 4, "decision", "demo", NULL, STR("Postgres it is"));
  add(&t, 5, "fact", "demo", NULL, STR("Port 5433"));
  add(&t, 6, "lesson", "demo", NULL, STR("Measure first"));
  struct str text = boot_render_full(&a, STR("demo"), "flag", &t, BOOT_FULL_TOKENS, &used);
  CHECK(has(text, "\n## System\n"));
  CHECK(has(text, "\nProject: demo\n"));
  CHECK(has(text, "\n## Rules\n\n- [global] Speak German\n  with customers\n- [project/demo] Measure first\n"));
  size_t last = 0;
  static const char *const order[] = {"## System",    "## Rules",   "## Feedback",       "## Facts",
                                      "## Decisions", "## Context", "## Bootstrap Stats"};
  for (size_t i = 0; i < ARRAY_LEN(order); i++) {
    test_note("%s", order[i]);
    size_t at = str_find(text, str_from(order[i]), 0);
    CHECK(at != SIZE_MAX && at >= last);
    last = at;
  }
  CHECK(has(text, "- Project: demo (source: flag)\n"));
  CHECK(has(text, "- Loaded: 1 global + 5 project memories\n"));
  CHECK_INT(used, boot_full_tokens(21 + 27 + 15 + 14 + 9 + 13));
  CHECK(has(text, arena_printf(&a, "- Bootstrap: %zu / 30_000 tokens (0%% of budget)\n", used).p));
  CHECK(!has(text, "WARNING"));
  arena_release(&a);
}

TEST(without_a_project_nothing_is_labelled) {
  arena_init(&a);
  struct boot_texts t = {0};
  size_t used;
  add(&t, 1, "rule", "", NULL, STR("Speak German"));
  struct str text = boot_render_full(&a, STR(""), "flag", &t, BOOT_FULL_TOKENS, &used);
  CHECK(has(text, "\n- Speak German\n"));
  CHECK(!has(text, "[global]") && !has(text, "Project:"));
  arena_release(&a);
}

TEST(exceeding_the_budget_warns_and_cuts_nothing) {
  arena_init(&a);
  struct boot_texts t = {0};
  size_t used;
  struct buf body = BUF(&a);
  while (body.n < 157500) /* 45,000 tokens */
    buf_adds(&body, "0123456789");
  add(&t, 1, "rule", "", NULL, buf_str(&body));
  struct str text = boot_render_full(&a, STR(""), "flag", &t, BOOT_FULL_TOKENS, &used);
  CHECK_INT(used, 45000);
  CHECK(text.n > 157500);
  CHECK(has(text, "- Bootstrap: 45_000 / 30_000 tokens (150% of budget)\n"));
  CHECK(has(text, "WARNING") && has(text, "150%"));
  arena_release(&a);
}

TEST(no_texts_give_no_output) {
  arena_init(&a);
  struct boot_texts t = {0};
  size_t used;
  CHECK_STR(boot_render_full(&a, STR("demo"), "flag", &t, BOOT_FULL_TOKENS, &used), "");
  CHECK_INT(used, 0);
  CHECK_STR(boot_render_blocks(&a, &t), "");
  arena_release(&a);
}

TEST(blocks_show_type_and_key) {
  arena_init(&a);
  struct boot_texts t = {0};
  add(&t, 1, "identity", "", "team-scope", STR("I am the operations team"));
  add(&t, 12, "decision", "", NULL, STR("Two lines\nhere\n"));
  CHECK_STR(boot_render_blocks(&a, &t), "[IDENTITY] [team-scope]: I am the operations team\n"
                                        "[DECISION] [12]: Two lines\nhere\n");
  arena_release(&a);
}
