/* test_boot.c: the boot payload fits its budget and keeps what is protected. */
#include "core/boot.h"

#include "core/tokens.h"
#include "support/harness.h"

static struct boot_group group(struct arena *a, const char *name, int drop, size_t n, bool protect) {
  struct boot_group g = {.name = name, .title = name, .fetch = "cairn list", .drop_order = drop};
  for (size_t i = 0; i < n; i++)
    list_push(a, &g,
              (struct boot_line){(int64_t)i + 1, STR("a headline of about ten words that takes its room"), protect});
  return g;
}

TEST(a_large_budget_shows_everything) {
  struct arena a;
  arena_init(&a);
  struct boot_group g[] = {group(&a, "rules", 2, 3, false), group(&a, "tasks", 1, 4, false)};
  size_t tokens;
  struct str text = boot_fit(&a, STR("Memory"), g, 2, 100000, &tokens);
  CHECK_INT(g[0].shown, 3);
  CHECK_INT(g[1].shown, 4);
  CHECK_INT(tokens, tokens_estimate(text));
  CHECK(str_find(text, STR("more:"), 0) == SIZE_MAX);
  arena_release(&a);
}

TEST(tasks_go_first_and_what_is_dropped_is_counted) {
  struct arena a;
  arena_init(&a);
  struct boot_group g[] = {group(&a, "rules", 2, 5, false), group(&a, "tasks", 1, 20, false)};
  size_t tokens;
  struct str text = boot_fit(&a, STR("Memory"), g, 2, 200, &tokens);
  CHECK(tokens <= 200);
  CHECK_INT(g[0].shown, 5);
  CHECK(g[1].shown < 20);
  CHECK_INT(g[1].shown + g[1].dropped, 20);
  CHECK(str_find(text, STR("more: cairn list"), 0) != SIZE_MAX);
  arena_release(&a);
}

TEST(protected_lines_stay_whatever_the_budget) {
  struct arena a;
  arena_init(&a);
  struct boot_group g[] = {group(&a, "blockers", 5, 8, true), group(&a, "identity", 0, 3, false),
                           group(&a, "tasks", 1, 9, false)};
  size_t tokens;
  boot_fit(&a, STR("Memory"), g, 3, 10, &tokens);
  CHECK_INT(g[0].shown, 8);
  CHECK_INT(g[1].shown, 3);
  CHECK_INT(g[2].shown, 0);
  arena_release(&a);
}
