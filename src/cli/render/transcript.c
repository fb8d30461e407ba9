/* transcript.c: transcripts as text. */
#include "cli/render/render.h"

static void add_count(struct page *page, yyjson_val *r, const char *name, const char *text) {
  int64_t n = json_int(r, name, 0);
  if (n)
    buf_addf(&page->b, ", %lld %s", (long long)n, text);
}

static void add_note(struct page *page, yyjson_val *r, const char *name) {
  struct str text = json_str(r, name);
  if (!text.n)
    return;
  buf_addf(&page->b, "%s%s:%s ", page->term.style.dim, name, page->term.style.reset);
  page_line(page, "", text, 0);
  buf_addc(&page->b, '\n');
}

static void render_append(struct page *page, yyjson_val *r) {
  page_styled(page, page->term.style.dim, json_str(r, "session"));
  buf_addf(&page->b, "  %lld added", (long long)json_int(r, "added", 0));
  add_count(page, r, "known", "known already");
  add_count(page, r, "failed", "failed");
  add_count(page, r, "redacted", "secrets taken out");
  add_count(page, r, "torn_bytes", "bytes of a cut-off line set aside");
  add_count(page, r, "messages", "messages now");
  add_count(page, r, "tokens", "tokens");
  buf_addc(&page->b, '\n');
  if (json_bool(r, "compact_due", false))
    buf_adds(&page->b, "It is time to compact it: 'cairn transcript compact'.\n");
  else if (json_bool(r, "flush_due", false))
    buf_adds(&page->b, "It is time to save what should last: 'cairn transcript flush'.\n");
  add_note(page, r, "not_indexed");
  add_note(page, r, "degraded");
}

static void render_append_line(struct page *page, yyjson_val *line) {
  yyjson_val *err = yyjson_obj_get(line, "error");
  if (err) {
    buf_addf(&page->b, "line %lld: ", (long long)json_int(line, "line", 0));
    page_text(page, json_str(err, "message"));
  } else {
    page_styled(page, page->term.style.dim, json_str(line, "id"));
    buf_adds(&page->b, "  ");
    page_text(page, json_str(line, "role"));
  }
  buf_addc(&page->b, '\n');
}

static void render_message(struct page *page, yyjson_val *m) {
  struct str name = json_str(m, "name"), content = json_str(m, "content");
  yyjson_val *input = yyjson_obj_get(m, "input");
  if (json_bool(m, "damaged", false)) {
    page_styled(page, page->term.style.dim, STR("damaged line"));
    buf_addc(&page->b, ' ');
    page_line(page, "", json_str(m, "raw"), 14);
    buf_addc(&page->b, '\n');
    return;
  }
  page_line(page, page->term.style.bold, json_str(m, "role"), 0);
  if (name.n) {
    buf_addc(&page->b, ' ');
    page_line(page, "", name, 0);
  }
  buf_adds(&page->b, ": ");
  if (content.n)
    page_text(page, content);
  else if (input)
    page_text(page, json_write_val(page->b.a, input));
  buf_addc(&page->b, '\n');
}

static void render_read(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *m;
  yyjson_arr_foreach(yyjson_obj_get(r, "messages"), i, n, m) {
    render_message(page, m);
  }
  buf_addf(&page->b, "%s%lld messages", page->term.style.dim, (long long)json_int(r, "count", 0));
  add_count(page, r, "tokens", "tokens");
  add_count(page, r, "left_out", "before them");
  add_count(page, r, "pruned", "results of tools left out (--all)");
  add_count(page, r, "compacted", "compacted (--archived)");
  add_count(page, r, "damaged", "damaged lines");
  buf_addf(&page->b, "%s\n", page->term.style.reset);
}

static struct str number(struct page *page, yyjson_val *v, const char *name) {
  return arena_printf(page->b.a, "%lld", (long long)json_int(v, name, 0));
}

static void render_list(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 5, .right = {false, false, true, true}};
  size_t i, n;
  yyjson_val *s;
  yyjson_arr_foreach(yyjson_obj_get(r, "sessions"), i, n, s) {
    const struct str cells[] = {json_str(s, "id"), term_age(t.a, json_str(s, "updated"), page->now),
                                number(page, s, "messages"), number(page, s, "tokens"), json_str(s, "status")};
    table_add(&t, cells);
  }
  if (t.rows.n)
    table_print(&t, page);
  else
    buf_adds(&page->b, "no transcript\n");
  if (json_bool(r, "rebuilt", false))
    buf_adds(&page->b, "The index was lost, and has been made anew from the files.\n");
}

static void add_stored(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *m;
  if (!yyjson_obj_get(r, "memories"))
    return;
  buf_addf(&page->b, "%lld memories stored, %lld known already, %lld refused\n", (long long)json_int(r, "stored", 0),
           (long long)json_int(r, "skipped", 0), (long long)json_int(r, "refused", 0));
  yyjson_arr_foreach(yyjson_obj_get(r, "memories"), i, n, m) {
    yyjson_val *err = yyjson_obj_get(m, "error");
    buf_adds(&page->b, "  ");
    page_line(page, "", json_str(m, "headline"), 2);
    if (err) {
      buf_adds(&page->b, ": ");
      page_text(page, json_str(err, "message"));
    }
    buf_addc(&page->b, '\n');
  }
}

static void render_flush(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *m;
  add_stored(page, r);
  yyjson_val *leaving = yyjson_obj_get(r, "leaving");
  yyjson_arr_foreach(yyjson_obj_get(leaving, "list"), i, n, m) {
    page_styled(page, page->term.style.dim, json_str(m, "role"));
    buf_adds(&page->b, "  ");
    page_line(page, "", json_str(m, "text").n ? json_str(m, "text") : json_str(m, "name"), 14);
    buf_addc(&page->b, '\n');
  }
  if (json_str(r, "question").n) {
    page_text(page, json_str(r, "question"));
    buf_addc(&page->b, '\n');
  }
  add_note(page, r, "answer_with");
  add_note(page, r, "degraded");
}

static void render_compact(struct page *page, yyjson_val *r) {
  page_styled(page, page->term.style.dim, json_str(r, "session"));
  if (!json_bool(r, "compacted", false)) {
    buf_adds(&page->b, "  not compacted: ");
    page_text(page, json_str(r, "reason"));
    buf_addc(&page->b, '\n');
    return;
  }
  buf_addf(&page->b, "  %lld messages became a summary, %lld tokens became %lld\n", (long long)json_int(r, "taken", 0),
           (long long)json_int(r, "before", 0), (long long)json_int(r, "after", 0));
  page_text(page, json_str(r, "summary"));
  buf_addc(&page->b, '\n');
  add_stored(page, r);
  add_note(page, r, "originals");
  add_note(page, r, "degraded");
}

static void render_archive(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *s;
  yyjson_arr_foreach(yyjson_obj_get(r, "sessions"), i, n, s) {
    page_text(page, json_val_str(s));
    buf_addc(&page->b, '\n');
  }
  buf_addf(&page->b, "%lld %s\n", (long long)json_int(r, "archived", 0),
           json_bool(r, "dry_run", false) ? "would be archived" : "archived");
}

const struct renderer transcript_renderers[] = {
    {"transcript append", render_append, render_append_line},
    {"transcript read", render_read, NULL},
    {"transcript list", render_list, NULL},
    {"transcript flush", render_flush, NULL},
    {"transcript compact", render_compact, NULL},
    {"transcript archive", render_archive, NULL},
    {0},
};
