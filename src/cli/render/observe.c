/* observe.c: health, metrics and errors as text. */
#include "cli/render/render.h"

/* ---- health ---- */

static void add_uptime(struct page *page, double s) {
  int64_t all = (int64_t)s;
  if (all >= 86400)
    buf_addf(&page->b, "%lld d %lld h", (long long)(all / 86400), (long long)(all / 3600 % 24));
  else if (all >= 3600)
    buf_addf(&page->b, "%lld h %lld min", (long long)(all / 3600), (long long)(all / 60 % 60));
  else
    buf_addf(&page->b, "%lld min %lld s", (long long)(all / 60), (long long)(all % 60));
}

static void add_server(struct page *page, yyjson_val *server) {
  struct str version = json_str(server, "version");
  buf_addf(&page->b, "server       %.*s, process %lld", STR_ARG(version), (long long)json_int(server, "pid", 0));
  if (yyjson_obj_get(server, "uptime_s")) {
    buf_adds(&page->b, ", up ");
    add_uptime(page, json_num(server, "uptime_s", 0));
    buf_addf(&page->b, "\ncalls        %lld, of these %lld failed and %lld slow",
             (long long)json_int(server, "calls", 0), (long long)json_int(server, "errors", 0),
             (long long)json_int(server, "slow", 0));
  }
  buf_addc(&page->b, '\n');
  if (json_str(server, "log_file").p) {
    buf_adds(&page->b, "log          ");
    page_text(page, json_str(server, "log_file"));
    buf_addc(&page->b, '\n');
  }
  if (json_str(server, "sandbox").p) {
    buf_adds(&page->b, "sandbox      ");
    page_text(page, json_str(server, "sandbox"));
    buf_addc(&page->b, '\n');
  }
}

static void render_health(struct page *page, yyjson_val *r) {
  const struct style *style = &page->term.style;
  yyjson_val *store = yyjson_obj_get(r, "store"), *embedded = yyjson_obj_get(r, "embedded"), *p;
  add_server(page, yyjson_obj_get(r, "server"));
  buf_adds(&page->b, "store        ");
  page_text(page, json_str(store, "path"));
  buf_addf(&page->b, " (%s, schema %lld)\n", term_bytes(page->b.a, json_int(store, "bytes", 0)).p,
           (long long)json_int(store, "schema", 0));
  buf_addf(&page->b, "memories     %lld\n", (long long)json_int(r, "memories", 0));
  buf_addf(&page->b, "embedded     %lld of %lld by ", (long long)json_int(embedded, "done", 0),
           (long long)json_int(embedded, "total", 0));
  page_line(page, "", json_str(r, "embedder"), 0);
  buf_addf(&page->b, "\nlast event   %lld\n", (long long)json_int(r, "last_seq", 0));
  size_t i, n;
  yyjson_arr_foreach(yyjson_obj_get(r, "problems"), i, n, p) {
    page_styled(page, style->red, STR("✗ "));
    page_text(page, json_val_str(p));
    buf_addc(&page->b, '\n');
  }
  if (json_bool(r, "ok", false))
    page_styled(page, style->green, STR("all is well\n"));
}

/* ---- metrics ---- */

/* "12.3 ms", "4.56 s" */
static struct str duration(struct arena *a, double ms) {
  if (ms >= 10000)
    return arena_printf(a, "%.1f s", ms / 1000);
  return arena_printf(a, ms < 10 ? "%.2f ms" : ms < 100 ? "%.1f ms" : "%.0f ms", ms);
}

static void add_tools(struct page *page, yyjson_val *tools) {
  static const char *const members[] = {"avg_ms", "p50_ms", "p95_ms", "p99_ms", "max_ms"};
  struct arena *a = page->b.a;
  struct table t = {.a = a, .columns = 8, .right = {false, true, true, true, true, true, true, true}};
  const struct str head[] = {STR("tool"), STR("calls"), STR("errors"), STR("average"),
                             STR("p50"),  STR("p95"),   STR("p99"),    STR("max")};
  size_t i, n;
  yyjson_val *v;
  table_add(&t, head);
  yyjson_arr_foreach(tools, i, n, v) {
    struct str cells[8] = {json_str(v, "name"), page_value(page, yyjson_obj_get(v, "calls")),
                           page_value(page, yyjson_obj_get(v, "errors"))};
    for (size_t m = 0; m < ARRAY_LEN(members); m++)
      cells[3 + m] = duration(a, json_num(v, members[m], 0));
    table_add(&t, cells);
  }
  table_print(&t, page);
}

static void render_metrics(struct page *page, yyjson_val *r) {
  yyjson_val *process = yyjson_obj_get(r, "process");
  int64_t calls = json_int(r, "calls", 0), own = json_int(process, "calls", 0);
  buf_addf(&page->b, "%lld call%s in %lld h, %lld failed\n", (long long)calls, calls == 1 ? "" : "s",
           (long long)json_int(r, "hours", 0), (long long)json_int(r, "errors", 0));
  if (calls)
    add_tools(page, yyjson_obj_get(r, "tools"));
  if (!process)
    return;
  buf_addf(&page->b, "\nprocess %lld: %lld call%s, %lld failed, %lld slow\n", (long long)json_int(process, "pid", 0),
           (long long)own, own == 1 ? "" : "s", (long long)json_int(process, "errors", 0),
           (long long)json_int(process, "slow", 0));
  add_tools(page, yyjson_obj_get(process, "tools"));
}

const struct renderer observe_renderers[] = {
    {.op = "health", .result = render_health},
    {.op = "metrics", .result = render_metrics},
    {.op = "errors",
     .layout = "@errors {time at} | {name} | {source} | {error} | {message}\n!errors no call has failed"},
    {0},
};
