/* knowledge.c: what is known besides memories, for people: sources, extracted items, MEMORY.md. */
#include "cli/render/render.h"

/* Files that were passed over, by reason. */
static void add_skipped(struct page *page, yyjson_val *skipped) {
  static const char *const names[] = {"binary", "huge", "unreadable"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (json_int(skipped, names[i], 0))
      buf_addf(&page->b, ", %lld %s", (long long)json_int(skipped, names[i], 0), names[i]);
}

/* Vectors take their time: what was not embedded is found by its words. */
static void add_embedded(struct page *page, yyjson_val *r) {
  if (json_bool(r, "waiting", false))
    buf_addf(&page->b, "embedded %lld; the rest is found by its words until 'cairn maintain' has embedded it\n",
             (long long)json_int(r, "embedded", 0));
}

/* source add, source refresh */
static void render_sources(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(r, "sources"), i, n, v) {
    page_line(page, page->term.style.bold, json_str(v, "folder"), 0);
    if (json_str(v, "problem").p) {
      buf_adds(&page->b, ": ");
      page_line(page, page->term.style.yellow, json_str(v, "problem"), 0);
      buf_addc(&page->b, '\n');
      continue;
    }
    buf_addf(&page->b, ": %lld files", (long long)json_int(v, "files", 0));
    if (json_int(v, "copies", 0))
      buf_addf(&page->b, ", %lld of them copies", (long long)json_int(v, "copies", 0));
    add_skipped(page, yyjson_obj_get(v, "skipped"));
    buf_addf(&page->b, "\n  pieces: added %lld, changed %lld, removed %lld", (long long)json_int(v, "added", 0),
             (long long)json_int(v, "changed", 0), (long long)json_int(v, "removed", 0));
    if (json_int(v, "redacted", 0))
      buf_addf(&page->b, "; secrets replaced %lld", (long long)json_int(v, "redacted", 0));
    buf_addc(&page->b, '\n');
  }
  add_embedded(page, r);
  if (yyjson_arr_size(yyjson_obj_get(r, "sources")) == 0)
    buf_adds(&page->b, "no sources; 'cairn source add DIR' adds one\n");
}

static void render_source_list(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 5, .right = {true, true}};
  bool closed = false;
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(r, "sources"), i, n, v) {
    struct str watch = json_str(v, "watch");
    closed |= str_is(watch, "closed");
    const struct str cells[] = {arena_printf(t.a, "%lld files", (long long)json_int(v, "files", 0)),
                                arena_printf(t.a, "%lld kB", (long long)((json_int(v, "bytes", 0) + 999) / 1000)),
                                json_bool(v, "there", true) ? STR("") : STR("not there"),
                                str_is(watch, "off") ? STR("") : watch, json_str(v, "folder")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  if (closed)
    buf_adds(&page->b, "closed: the server cannot read it; a folder that is a source when it is started, it can\n");
  if (yyjson_arr_size(yyjson_obj_get(r, "sources")) == 0)
    buf_adds(&page->b, "no sources; 'cairn source add DIR' adds one\n");
}

static void render_source_removed(struct page *page, yyjson_val *r) {
  page_line(page, page->term.style.bold, json_str(r, "folder"), 0);
  buf_addf(&page->b, ": no source any more; %lld files, %lld pieces\n", (long long)json_int(r, "files", 0),
           (long long)json_int(r, "removed", 0));
}

static void render_extract(struct page *page, yyjson_val *r) {
  buf_addf(&page->b, "%lld items", (long long)json_int(r, "items", 0));
  yyjson_obj_iter it = yyjson_obj_iter_with(yyjson_obj_get(r, "types"));
  const char *before = " (";
  for (yyjson_val *key; (key = yyjson_obj_iter_next(&it)); before = ", ")
    buf_addf(&page->b, "%s%s %lld", before, yyjson_get_str(key),
             (long long)yyjson_get_sint(yyjson_obj_iter_get_val(key)));
  buf_addf(&page->b, ") from %lld files", (long long)json_int(r, "files", 0));
  add_skipped(page, yyjson_obj_get(r, "skipped"));
  buf_addf(&page->b, "\nadded %lld, changed %lld, removed %lld", (long long)json_int(r, "added", 0),
           (long long)json_int(r, "changed", 0), (long long)json_int(r, "removed", 0));
  if (json_int(r, "redacted", 0))
    buf_addf(&page->b, ", secrets replaced %lld", (long long)json_int(r, "redacted", 0));
  page_txn(page, r);
  page_text(page, json_str(r, "file"));
  buf_adds(&page->b, json_bool(r, "written", false) ? "\n" : ": as it was\n");
  add_embedded(page, r);
}

/* ---- MEMORY.md ---- */

static void add_lines(struct page *page, yyjson_val *r, const char *list, const char *what) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(r, list), i, n, v) {
    buf_addf(&page->b, "%-9s ", what);
    if (yyjson_obj_get(v, "line"))
      buf_addf(&page->b, "line %lld: ", (long long)json_int(v, "line", 0));
    struct str text = json_str(v, "headline");
    if (!text.p)
      text = json_str(v, "error");
    if (!text.p)
      text = json_str(v, "text");
    page_line(page, str_is(str_from(what), "refused") ? page->term.style.red : "", text, 20);
    if (yyjson_obj_get(v, "id"))
      buf_addf(&page->b, " [%lld]", (long long)json_int(v, "id", 0));
    buf_addc(&page->b, '\n');
  }
}

static void render_sync(struct page *page, yyjson_val *r) {
  add_lines(page, r, "added", "stored");
  add_lines(page, r, "changed", "changed");
  add_lines(page, r, "removed", "forgotten");
  add_lines(page, r, "finished", "done");
  add_lines(page, r, "conflicts", "conflict");
  add_lines(page, r, "refused", "refused");
  page_text(page, json_str(r, "file"));
  const char *did = json_bool(r, "dry_run", false)   ? "not touched"
                    : json_bool(r, "created", false) ? "created"
                    : json_bool(r, "written", false) ? "written"
                                                     : "up to date";
  buf_addf(&page->b, ": %s, %lld shown", did, (long long)json_int(r, "shown", 0));
  int64_t left = json_int(r, "left_out", 0) + json_int(r, "hidden", 0);
  if (left)
    buf_addf(&page->b, ", %lld left out", (long long)left);
  page_txn(page, r);
}

static void render_page(struct page *page, yyjson_val *r) { page_text(page, json_str(r, "text")); }

const struct renderer knowledge_renderers[] = {
    {"source add", render_sources, NULL},
    {"source refresh", render_sources, NULL},
    {"source list", render_source_list, NULL},
    {"source remove", render_source_removed, NULL},
    {"extract", render_extract, NULL},
    {"sync", render_sync, NULL},
    {"page", render_page, NULL},
    {0},
};
