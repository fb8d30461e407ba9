/* test_boot_budget.c: the boot payload fits its token budget and keeps protected lines. */
#include "core/boot/budget.h"

#include "core/text/token_count.h"
#include "support/harness.h"

static struct arena a; /* of the running test */

static struct boot_group group(const char *name, int drop, size_t n, bool protect) {
  struct boot_group g = {.name = name, .title = name, .fetch = "cairn list", .drop_order = drop};
  for (size_t i = 0; i < n; i++)
    list_push(&a, &g,
              (struct boot_line){.id = (int64_t)i + 1,
                                 .text = STR("a headline of about ten words that takes its room"),
                                 .protect = protect});
  return g;
}

struct fitted {
  yyjson_val *result;
  struct str json;
  size_t tokens;
};

/* Applies the budget and parses the result. */
static struct fitted fit(struct boot_payload p) {
  struct fitted f;
  struct error err;
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *head = yyjson_mut_obj(doc);
  json_put(doc, head, "project", STR("demo"));
  p.title = STR("Memory");
  f.json = json_write(&a, boot_fit_budget(&a, doc, head, &p, &f.tokens), false);
  CHECK_OK(json_read(&a, f.json, &f.result, &err), &err);
  CHECK_INT(json_int(f.result, "tokens", -1), f.tokens);
  return f;
}

static size_t items_of(struct fitted f, const char *name) {
  size_t i, n;
  yyjson_val *s;
  yyjson_arr_foreach(yyjson_obj_get(f.result, "sections"), i, n, s) {
    if (str_is(json_str(s, "name"), name))
      return yyjson_arr_size(yyjson_obj_get(s, "items"));
  }
  FAIL("no section %s", name);
}

static bool has(struct str text, struct str part) { return str_find(text, part, 0) != SIZE_MAX; }

TEST(a_large_budget_shows_everything) {
  arena_init(&a);
  struct boot_group g[] = {group("rules", 2, 3, false), group("tasks", 1, 4, false)};
  struct fitted f = fit((struct boot_payload){.groups = g, .n = 2, .budget = 100000});
  CHECK_INT(items_of(f, "rules"), 3);
  CHECK_INT(items_of(f, "tasks"), 4);
  CHECK_STR(json_str(f.result, "project"), "demo");
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(f.result, "dropped")), 0);
  CHECK(!has(json_str(f.result, "text"), STR("more:")));
  arena_release(&a);
}

TEST(the_budget_is_for_the_whole_reply) {
  arena_init(&a);
  for (size_t budget = 250; budget < 2500; budget += 47) {
    test_note("budget %zu", budget);
    struct boot_group g[] = {group("rules", 2, 5, false), group("decisions", 3, 5, false),
                             group("tasks", 1, 20, false)};
    struct fitted f = fit((struct boot_payload){.groups = g, .n = 3, .budget = budget});
    CHECK(tokens_estimate(f.json) <= f.tokens + 1);
    CHECK(f.tokens <= budget);
    CHECK_INT(g[0].shown + g[0].dropped, 5);
    CHECK_INT(g[2].shown + g[2].dropped, 20);
    /* Tasks are dropped first, then rules, then the rest. */
    CHECK(g[0].dropped == 0 || g[2].shown == 0);
    CHECK(g[1].dropped == 0 || g[0].shown == 0);
  }
  arena_release(&a);
}

TEST(no_more_lines_are_dropped_than_needed) {
  arena_init(&a);
  struct boot_group all[] = {group("tasks", 1, 20, false)};
  size_t whole = fit((struct boot_payload){.groups = all, .n = 1, .budget = 100000}).tokens;
  CHECK(whole > 600);
  for (size_t budget = 300; budget < whole; budget += 31) {
    test_note("budget %zu of %zu", budget, whole);
    struct boot_group g[] = {group("tasks", 1, 20, false)};
    struct fitted f = fit((struct boot_payload){.groups = g, .n = 1, .budget = budget});
    /* One more line of about 40 tokens would not fit. */
    CHECK(g[0].dropped > 0 && f.tokens <= budget && f.tokens + 45 > budget);
  }
  arena_release(&a);
}

TEST(dropped_lines_are_counted_with_the_call_that_shows_them) {
  arena_init(&a);
  struct boot_group g[] = {group("tasks", 1, 20, false)};
  struct fitted f = fit((struct boot_payload){.groups = g, .n = 1, .budget = 300});
  yyjson_val *d = yyjson_arr_get_first(yyjson_obj_get(f.result, "dropped"));
  CHECK_STR(json_str(d, "section"), "tasks");
  CHECK_INT(json_int(d, "count", 0), g[0].dropped);
  CHECK_STR(json_str(d, "fetch"), "cairn list");
  CHECK_INT(items_of(f, "tasks") + g[0].dropped, 20);
  CHECK(has(json_str(f.result, "text"), STR("more: cairn list")));
  arena_release(&a);
}

TEST(protected_lines_are_never_dropped) {
  arena_init(&a);
  struct boot_group g[] = {group("blockers", 5, 8, true), group("identity", 0, 3, false), group("tasks", 1, 9, false)};
  struct fitted f = fit((struct boot_payload){.groups = g, .n = 3, .budget = 10});
  CHECK_INT(items_of(f, "blockers"), 8);
  CHECK_INT(items_of(f, "identity"), 3);
  CHECK_INT(items_of(f, "tasks"), 0);
  CHECK(f.tokens > 10); /* over budget, and the result says so */
  arena_release(&a);
}

/* Whatever agents pin, a person's blockers are dropped last. */
TEST(a_persons_blockers_outrank_what_agents_protected) {
  arena_init(&a);
  struct boot_group g[] = {group("blockers", 6, 9, false), group("identity", 8, 12, true), group("tasks", 1, 9, false)};
  for (size_t i = 0; i < 6; i++)
    g[0].v[i].outranks = true;
  for (size_t i = 0; i < 12; i++)
    g[1].v[i].by_agent = i % 2 == 0;
  struct fitted f = fit((struct boot_payload){.groups = g, .n = 3, .budget = 650});
  CHECK(f.tokens <= 650);
  CHECK_INT(items_of(f, "blockers"), 6);
  CHECK_INT(g[1].shown + g[1].dropped, 12);
  CHECK(g[1].shown >= 6 && g[1].dropped > 0);
  for (size_t i = 0; i < 12; i++)
    CHECK(!g[1].v[i].dropped || g[1].v[i].by_agent);
  /* Without a person's blockers there is nothing to make room for. */
  struct boot_group alone[] = {group("identity", 8, 12, true)};
  for (size_t i = 0; i < 12; i++)
    alone[0].v[i].by_agent = true;
  CHECK_INT(items_of(fit((struct boot_payload){.groups = alone, .n = 1, .budget = 100}), "identity"), 12);
  arena_release(&a);
}

TEST(leaving_out_text_or_sections_fits_more_lines) {
  arena_init(&a);
  struct boot_group both[] = {group("tasks", 1, 20, false)}, text[] = {group("tasks", 1, 20, false)};
  fit((struct boot_payload){.groups = both, .n = 1, .budget = 500});
  struct fitted f = fit((struct boot_payload){.groups = text, .n = 1, .budget = 500, .no_sections = true});
  CHECK(text[0].shown > both[0].shown);
  CHECK(!yyjson_obj_get(f.result, "sections") && yyjson_obj_get(f.result, "text"));
  struct boot_group sections[] = {group("tasks", 1, 20, false)};
  f = fit((struct boot_payload){.groups = sections, .n = 1, .budget = 500, .no_text = true});
  CHECK(sections[0].shown > both[0].shown);
  CHECK(yyjson_obj_get(f.result, "sections") && !yyjson_obj_get(f.result, "text"));
  arena_release(&a);
}

TEST(top_level_members_count_too) {
  arena_init(&a);
  struct boot_group g[] = {
      {.name = "handoff", .title = "Handoff", .fetch = "f", .drop_order = 4, .member = true, .single = true},
      {.name = "sessions", .title = "Others", .fetch = "f", .drop_order = 3, .member = true}};
  list_push(&a, &g[0], (struct boot_line){.text = STR("the docs are left"), .json = STR("{\"id\":7}")});
  list_push(&a, &g[1], (struct boot_line){.text = STR("s-1 (cli)"), .json = STR("{\"session\":\"s-1\"}")});
  struct fitted f = fit((struct boot_payload){.groups = g, .n = 2, .budget = 1000});
  CHECK_INT(json_int(yyjson_obj_get(f.result, "handoff"), "id", 0), 7);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(f.result, "sessions")), 1);
  CHECK(has(json_str(f.result, "text"), STR("## Handoff\nthe docs are left\n")));
  CHECK(has(json_str(f.result, "text"), STR("- s-1 (cli)\n")));
  f = fit((struct boot_payload){.groups = g, .n = 2, .budget = 20});
  CHECK(!yyjson_obj_get(f.result, "handoff"));
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(f.result, "sessions")), 0);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(f.result, "dropped")), 2);
  arena_release(&a);
}
