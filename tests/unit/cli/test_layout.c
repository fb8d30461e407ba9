/* test_layout.c: layouts of results: each construct, and the layouts of all operations against the table of results. */
#include "cli/render/layout.h"

#include "op/run/results.h"
#include "support/harness.h"

static struct arena a;

static struct str render_to(struct term term, const char *layout, const char *json) {
  struct page page = {.b = BUF(&a), .term = term, .now = 0};
  struct error err;
  yyjson_val *result;
  CHECK_OK(json_read(&a, str_from(json), &result, &err), &err);
  layout_render(&page, result, layout);
  return buf_str(&page.b);
}

static struct str render(const char *layout, const char *json) { return render_to(term_of(-1, true), layout, json); }

static struct str render_on_terminal(const char *layout, const char *json) {
  struct term term = term_of(-1, true);
  term.tty = true;
  return render_to(term, layout, json);
}

TEST(members_are_replaced) {
  CHECK_STR(render("{name}: {n}, {deep.er}", "{\"name\":\"x\",\"n\":7,\"deep\":{\"er\":true}}"), "x: 7, yes\n");
  CHECK_STR(render("{a|b} {b|c}", "{\"b\":\"2\",\"c\":\"3\"}"), "2 2\n");
  CHECK_STR(render("{list} {gone}.", "{\"list\":[1,\"b\"]}"), "1, b .\n");
  CHECK_STR(render("{a} {text a}", "{\"a\":\"two\\nlines\"}"), "two lines two\nlines\n");
  CHECK_STR(render("{a:none} {b:none}", "{\"a\":[],\"b\":[1]}"), "none 1\n");
  CHECK_STR(render("{kind}{scope}", "{\"kind\":\"rule\",\"severity\":\"blocker\",\"project\":\"web\"}"),
            "blocker · project web\n");
  CHECK_STR(render("{kind}{scope}", "{\"kind\":\"fact\",\"type\":\"decision\",\"project\":\"\"}"), "decision\n");
}

TEST(formats_are_applied) {
  CHECK_STR(render("{n a} change{s a}, {n b} note{s b}, {n c}", "{\"a\":1,\"b\":[1,2]}"), "1 change, 2 notes, 0\n");
  CHECK_STR(render("{2 a} {seconds b} {bytes c}", "{\"a\":0.456,\"b\":2345,\"c\":1200}"), "0.46 2.3 s 1.2 kB\n");
  CHECK_STR(render("{day a} {time a} {hash b}", "{\"a\":\"2026-03-01T12:30:00Z\",\"b\":\"0123456789abcdefg\"}"),
            "2026-03-01 2026-03-01 12:30 0123456789abcdef\n");
  CHECK_STR(render("{counts a b c}", "{\"a\":2,\"b\":0,\"c\":1}"), "a 2, c 1\n");
  CHECK_STR(render("{counts a b c}", "{}"), "no changes\n");
  CHECK_STR(render("{changes a}", "{\"a\":{\"added\":2,\"removed\":1}}"), "2 added, 1 removed\n");
  CHECK_STR(render("{shell a} {shell b}", "{\"a\":\"/srv/docs\",\"b\":\"it's here\"}"), "/srv/docs 'it'\\''s here'\n");
  CHECK_STR(render("{json a}", "{\"a\":{\"b\":[1]}}"), "{\"b\":[1]}\n");
}

TEST(groups_depend_on_members) {
  CHECK_STR(render("x[, {a} of {b}]", "{\"a\":1,\"b\":2}"), "x, 1 of 2\n");
  CHECK_STR(render("x[, {a} of {b}]", "{\"a\":0,\"b\":2}"), "x\n");
  CHECK_STR(render("<a?yes {a}|no>", "{\"a\":3}"), "yes 3\n");
  CHECK_STR(render("<a?yes {a}|no>", "{\"a\":false}"), "no\n");
  CHECK_STR(render("<a?yes>.", "{}"), ".\n");
  CHECK_STR(render("<#a?there>.", "{\"a\":0}"), "there.\n");
  CHECK_STR(render("<a=b?same|<a=c?other|{a}>>", "{\"a\":\"c\"}"), "other\n");
  CHECK_STR(render("<a=no?off|on>", "{\"a\":false}"), "off\n");
  CHECK_STR(render("<a?one\n  two>\nthree", "{\"a\":1}"), "one\n  two\nthree\n");
}

TEST(a_terminal_differs) {
  const char *layout = "<@terminal?terminal|pipe>: {choice a}, {counts n m}",
             *json = "{\"a\":\"on_demand\",\"n\":2,\"m\":1}";
  CHECK_STR(render(layout, json), "pipe: on_demand, n 2, m 1\n");
  CHECK_STR(render_on_terminal(layout, json), "terminal: on demand, 2 n, 1 m\n");
}

TEST(lines_have_kinds) {
  CHECK_STR(render("*list - {a}\n!list none\n!gone none", "{\"list\":[{\"a\":1},{\"a\":2}]}"), "- 1\n- 2\nnone\n");
  CHECK_STR(render("*list {.}", "{\"list\":[\"x\",\"y\"]}"), "x\ny\n");
  CHECK_STR(render("@list {a} | >{n} | <b?on|off>",
                   "{\"list\":[{\"a\":\"long\",\"n\":5,\"b\":true},{\"a\":\"s\",\"n\":12}]}"),
            "long   5  on\ns     12  off\n");
  CHECK_STR(render("@list name={a} | >count={n}", "{\"list\":[{\"a\":\"x\",\"n\":5}]}"), "name  count\nx         5\n");
  CHECK_STR(render("@list name={a} | >count={n}", "{\"list\":[]}"), "");
  CHECK_STR(render("*list <a=1?|{a}>", "{\"list\":[{\"a\":1},{\"a\":2}]}"), "2\n");
  CHECK_STR(render("=last event: {n}\n=gone: {gone}", "{\"n\":7}"), "last event   7\n");
  CHECK_STR(render("=by kind: {by}", "{\"by\":{\"fact\":2,\"on_demand\":1,\"\":3}}"),
            "by kind      fact 2, on demand 1, global 3\n");
  CHECK_STR(render("?[{a}]\n?[{b}]", "{\"b\":1}"), "1\n");
  CHECK_STR(render("~note\n~gone", "{\"note\":\"x\"}"), "note: x\n");
  CHECK_STR(render("+a gone b_at", "{\"b_at\":2,\"a\":1}"), "  a: 1\n  b: 2\n");
}

/* ---- the layouts of operations ---- */

/* The members that a placeholder, a condition or the start of a line names: "text a|b.c 24" names a and b. */
static void add_names(struct str words, struct strs *names) {
  struct str word, last = STR_NONE, name;
  int64_t columns;
  while (str_next(&words, ' ', &word))
    if (!str_int64(word, &columns))
      last = word; /* a format comes first */
  if (str_is(last, "@terminal"))
    return;
  if (str_starts(last, STR("#")))
    last = str_slice(last, 1, last.n);
  for (struct str path; str_next(&last, '|', &path);)
    if (str_next(&path, '.', &name) && name.n)
      strs_push(&a, names, name);
}

static void collect_names(struct str layout, struct strs *names) {
  for (size_t i = 0; i < layout.n; i++) {
    bool line = (i == 0 || layout.p[i - 1] == '\n') && memchr("@*!~", layout.p[i], 4);
    if (!line && !memchr("{<", layout.p[i], 2))
      continue;
    size_t end = i + 1;
    while (end < layout.n && !memchr(line ? " \n" : "}?:=", layout.p[end], line ? 2 : 4))
      end++;
    add_names(str_slice(layout, i + 1, end), names);
  }
}

static void check_members(const struct renderer *r) {
  const struct op *op = op_find(str_from(r->op));
  struct strs names = {0};
  test_note("%s", r->op);
  CHECK(op != NULL);
  if (!r->layout)
    return;
  (void)render(r->layout, "{}"); /* asserts brackets and formats */
  static const struct result_style written_out = {0};
  struct str schema = json_write(&a, result_schema(&a, json_new(&a), op->result, &written_out), false);
  collect_names(str_from(r->layout), &names);
  CHECK(names.n > 0);
  if (strstr(op->result, "obj")) /* elements whose members the table does not list */
    return;
  for (size_t i = 0; i < names.n; i++) {
    test_note("%s: %.*s", r->op, STR_ARG(names.v[i]));
    CHECK(str_is(names.v[i], "scope") || str_is(names.v[i], "kind") ||
          str_find(schema, arena_printf(&a, "\"%.*s\":", STR_ARG(names.v[i])), 0) != SIZE_MAX);
  }
}

TEST(layouts_name_members_of_their_results) {
  const struct renderer *const tables[] = {memory_renderers,  store_renderers,      eval_renderers, session_renderers,
                                           observe_renderers, transcript_renderers, other_renderers};
  for (size_t i = 0; i < ARRAY_LEN(tables); i++)
    for (const struct renderer *r = tables[i]; r->op; r++)
      check_members(r);
}
