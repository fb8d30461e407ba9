/* transcript.c: transcripts as text. */
#include "cli/render/layout.h"

static void add_count(struct page *page, yyjson_val *r, const char *name, const char *text) {
  int64_t n = json_int(r, name, 0);
  if (n)
    buf_addf(&page->b, ", %lld %s", (long long)n, text);
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
  int64_t count = json_int(r, "count", 0);
  buf_addf(&page->b, "%s%lld message%s", page->term.style.dim, (long long)count, count == 1 ? "" : "s");
  add_count(page, r, "tokens", "tokens");
  add_count(page, r, "left_out", "before them");
  add_count(page, r, "pruned", "tool results omitted (--all shows them)");
  add_count(page, r, "compacted", "compacted (--archived)");
  add_count(page, r, "damaged", "damaged lines");
  buf_addf(&page->b, "%s\n", page->term.style.reset);
}

/* clang-format off */
#define STORED \
  "?<#memories?{n stored} <stored=1?memory|memories> stored, {n skipped} known already, {n refused} refused>\n" \
  "*memories   {headline 2}<error?<headline?: >{text error.message}>\n"

static void render_append_line(struct page *page, yyjson_val *line) {
  layout_render(page, line, "<error?line {n line}: {text error.message}|{dim id}  {text role}>");
}

static void render_compact(struct page *page, yyjson_val *r) {
  layout_render(page, r, json_bool(r, "compacted", false) ?
    "{dim session}  {n taken} message{s taken} became a summary, {n before} tokens became {n after}\n"
    "{text summary}\n" STORED "~originals\n~degraded" :
    "{dim session}  not compacted: {text reason}");
}

const struct renderer transcript_renderers[] = {
  {.op = "transcript append", .line = render_append_line, .layout =
   "{dim session}  {n added} added[, {known} known already][, {failed} failed][, {redacted} secret{s redacted} removed]"
   "[, {torn_bytes} byte{s torn_bytes} of a cut-off line set aside][, {messages} message{s messages} now]"
   "[, {tokens} token{s tokens}]\n"
   "?<compact_due?It is time to compact it: 'cairn transcript compact'."
   "|<flush_due?It is time to save memories: 'cairn transcript flush'.>>\n~not_indexed\n~degraded"},
  {.op = "transcript read", .result = render_read},
  {.op = "transcript list", .layout = "@sessions {id} | {age updated} | "
   ">{n messages}<@terminal? message{s messages}> | >{n tokens}<@terminal? token{s tokens}> | {status}\n"
   "!sessions no transcript\n?[{archived} archived: cairn transcript list --archived]\n?<rebuilt?The index was lost and has been rebuilt from the files.>"},
  {.op = "transcript flush", .layout = STORED "*leaving.list {dim role}  {text|name 14}\n?[{text question}]\n"
   "~answer_with\n~degraded"},
  {.op = "transcript index", .layout = "{n sessions} session{s sessions}: {counts added removed embedded}\n"
   "?<waiting?the rest is found by keyword until 'cairn maintain' embeds it>\n~degraded"},
  {.op = "transcript compact", .result = render_compact},
  {.op = "transcript archive", .layout = "*sessions {text .}\n{n archived} <dry_run?would be archived|archived>"},
  {0},
};
/* clang-format on */
