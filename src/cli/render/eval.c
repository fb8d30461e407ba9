/* eval.c: measured retrieval quality as tables. */
#include "cli/render/render.h"
#include "op/eval/metrics.h"

static const char *const modes[] = {"hybrid", "keyword", "vector"};

static struct str number(struct page *page, yyjson_val *v) {
  return v ? arena_printf(page->b.a, "%.4f", yyjson_get_num(v)) : STR("-");
}

/* ---- retrieval ---- */

static void add_heading(struct table *t) {
  struct str cells[TABLE_COLUMNS] = {STR(""), STR("queries")};
  for (int k = 0; k < METRIC_COUNT; k++)
    cells[2 + k] = str_from(metric_names[k]);
  table_add(t, cells);
}

static void add_row(struct page *page, struct table *t, struct str label, int64_t queries, yyjson_val *figures) {
  struct str cells[TABLE_COLUMNS] = {label, arena_printf(page->b.a, "%lld", (long long)queries)};
  if (!figures)
    return;
  for (int k = 0; k < METRIC_COUNT; k++)
    cells[2 + k] = number(page, yyjson_obj_get(figures, metric_names[k]));
  table_add(t, cells);
}

/* One row for each mode, then for each type of query and mode. */
static void add_figures(struct page *page, yyjson_val *set) {
  struct table t = {.a = page->b.a, .columns = 2 + METRIC_COUNT};
  size_t i, n;
  yyjson_val *type, *v;
  for (size_t c = 1; c < t.columns; c++)
    t.right[c] = true;
  add_heading(&t);
  for (size_t m = 0; m < ARRAY_LEN(modes); m++)
    add_row(page, &t, arena_printf(page->b.a, "  %s", modes[m]), json_int(set, "queries", 0),
            yyjson_obj_get(set, modes[m]));
  yyjson_obj_foreach(yyjson_obj_get(set, "types"), i, n, type, v) {
    for (size_t m = 0; m < ARRAY_LEN(modes); m++)
      add_row(page, &t, arena_printf(page->b.a, "  %s, %s", yyjson_get_str(type), modes[m]), json_int(v, "queries", 0),
              yyjson_obj_get(v, modes[m]));
  }
  table_print(&t, page);
}

static void add_refusals(struct page *page, yyjson_val *set) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(set, "refusals"), i, n, v) {
    struct str id = json_str(v, "document"), why = json_str(v, "error");
    page_line(page, page->term.style.dim, arena_printf(page->b.a, "  refused %.*s: %.*s", STR_ARG(id), STR_ARG(why)),
              0);
    buf_addc(&page->b, '\n');
  }
}

static void add_set(struct page *page, yyjson_val *set) {
  struct buf *b = &page->b;
  page_styled(page, page->term.style.bold, json_str(set, "name"));
  buf_addf(b, ": %lld documents, %lld queries, ", (long long)json_int(set, "documents", 0),
           (long long)json_int(set, "queries", 0));
  page_text(page, json_str(set, "model"));
  buf_addf(b,
           "\n  stored %lld, duplicates %lld, replaced %lld, refused %lld; loaded in %.1f s; a search takes %.1f ms "
           "(p50), %.1f ms (p95)\n",
           (long long)json_int(set, "stored", 0), (long long)json_int(set, "duplicates", 0),
           (long long)json_int(set, "superseded", 0), (long long)json_int(set, "refused", 0),
           json_num(set, "load_s", 0), json_num(set, "p50_ms", 0), json_num(set, "p95_ms", 0));
  if (json_str(set, "degraded").n) {
    page_line(page, page->term.style.red, json_str(set, "degraded"), 0);
    buf_addc(b, '\n');
  }
  add_refusals(page, set);
  add_figures(page, set);
}

/* ---- pairs ---- */

static const struct {
  const char *name, *heading;
} columns[] = {{"same_precision", "same precision"},
               {"same_recall", "recall"},
               {"near_precision", "near precision"},
               {"near_recall", "recall"},
               {"contradictions_taken", "contradictions same"},
               {"contradictions_near", "near"}};

static void add_verdicts(struct page *page, struct table *t, struct str label, yyjson_val *pair, yyjson_val *verdicts) {
  struct str cells[TABLE_COLUMNS] = {label, page_value(page, yyjson_obj_get(pair, "pairs"))};
  int64_t all = json_int(pair, "contradictions", 0);
  for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
    yyjson_val *v = yyjson_obj_get(verdicts, columns[i].name);
    cells[2 + i] = !v                 ? STR("-")
                   : yyjson_is_int(v) ? arena_printf(page->b.a, "%lld (%.2f %%)", (long long)yyjson_get_sint(v),
                                                     100 * (double)yyjson_get_sint(v) / (double)(all ? all : 1))
                                      : number(page, v);
  }
  table_add(t, cells);
}

static void add_pairs(struct page *page, yyjson_val *list) {
  struct table t = {.a = page->b.a, .columns = 2 + ARRAY_LEN(columns)};
  struct str heading[TABLE_COLUMNS] = {STR("sentence pairs"), STR("pairs")};
  size_t i, n;
  yyjson_val *v;
  for (size_t c = 1; c < t.columns; c++)
    t.right[c] = true;
  for (size_t c = 0; c < ARRAY_LEN(columns); c++)
    heading[2 + c] = str_from(columns[c].heading);
  table_add(&t, heading);
  yyjson_arr_foreach(list, i, n, v) {
    add_verdicts(page, &t, json_str(v, "name"), v, v);
    add_verdicts(page, &t, STR("  by similarity alone"), v, yyjson_obj_get(v, "similarity_alone"));
  }
  table_print(&t, page);
}

static void render_eval(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *v, *pairs = yyjson_obj_get(r, "pairs");
  yyjson_arr_foreach(yyjson_obj_get(r, "sets"), i, n, v) {
    if (i)
      buf_addc(&page->b, '\n');
    add_set(page, v);
  }
  if (pairs) {
    if (n)
      buf_addc(&page->b, '\n');
    add_pairs(page, pairs);
  }
  struct str kept = json_str(r, "kept");
  if (kept.n) {
    buf_adds(&page->b, "the temporary store is in ");
    page_text(page, kept);
    buf_addc(&page->b, '\n');
  }
}

const struct renderer eval_renderers[] = {{.op = "eval", .result = render_eval}, {0}};
