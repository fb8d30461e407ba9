/* top_view.c: snapshot of `cairn top`: reading and layout. */
#include <assert.h>

#include "cli/render/layout.h"
#include "cli/top.h"
#include "op/telemetry/telemetry.h"
#include "store/check.h"
#include "store/db/place.h"
#include "store/memories/memories.h"
#include "store/tables/calls.h"
#include "store/tables/events.h"

enum { RATE_SECONDS = 10, TOOLS_MAX = 100 };

/* ---- reading ---- */

struct snapshot {
  struct top *top;
  struct arena *a;
  yyjson_mut_doc *doc;
  yyjson_mut_val *root;
  int64_t now;
  int64_t recent; /* calls in the last RATE_SECONDS */
  struct error *err;
};

static enum status put_store(struct snapshot *p) {
  struct store *st = p->top->engine->store;
  int64_t memories, seq;
  struct store_room room;
  char time[TIME_TEXT_SIZE];
  TRY(count_since(st, p->top->caller.team, 0, &memories, p->err));
  TRY(events_position(st, p->top->caller.team, INT64_MAX, INT64_MAX, &seq, p->err));
  TRY(store_room(st, &room, p->err));
  json_put(p->doc, p->root, "at", time_format(p->now, time));
  json_put(p->doc, p->root, "db", str_from(db_path(store_db(st))));
  json_put_int(p->doc, p->root, "bytes", room.bytes);
  json_put_int(p->doc, p->root, "memories", memories);
  json_put_int(p->doc, p->root, "last_seq", seq);
  return STATUS_OK;
}

static enum status count_call(void *arg, const struct call_row *row) {
  struct snapshot *p = arg;
  p->recent += row->at <= p->now;
  return STATUS_OK;
}

static void put_tool(struct snapshot *p, yyjson_mut_val *arr, const struct call_stat *s) {
  const struct histogram *h = s->durations;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(p->doc, arr);
  json_put(p->doc, v, "name", s->tool);
  json_put_int(p->doc, v, "calls", (int64_t)h->n);
  json_put_int(p->doc, v, "errors", s->errors);
  json_put_num(p->doc, v, "avg_ms", json_round((double)h->sum / (double)h->n / 1000, 3));
  json_put_num(p->doc, v, "p50_ms", json_round((double)histogram_quantile(h, 500) / 1000, 3));
  json_put_num(p->doc, v, "p95_ms", json_round((double)histogram_quantile(h, 950) / 1000, 3));
  json_put_num(p->doc, v, "p99_ms", json_round((double)histogram_quantile(h, 990) / 1000, 3));
}

static enum status put_calls(struct snapshot *p) {
  struct store *st = p->top->engine->store;
  struct str team = p->top->caller.team;
  struct call_stats stats;
  TRY(call_stats_of(st, team, p->now - p->top->minutes * 60 * MS_PER_SECOND, p->a, &stats, p->err));
  TRY(calls_walk(st, team, p->now - RATE_SECONDS * MS_PER_SECOND + 1, count_call, p, p->err));
  json_put_int(p->doc, p->root, "minutes", p->top->minutes);
  json_put_num(p->doc, p->root, "calls_per_s", json_round((double)p->recent / (double)RATE_SECONDS, 2));
  json_put_int(p->doc, p->root, "calls", stats.calls);
  json_put_int(p->doc, p->root, "errors", stats.errors);
  yyjson_mut_val *arr = json_put_arr(p->doc, p->root, "tools");
  for (size_t i = 0; i < stats.n && i < TOOLS_MAX; i++)
    put_tool(p, arr, &stats.v[i]);
  return STATUS_OK;
}

/* Runs the operation, so the rules about live sessions stay in one place. If it fails, the pane is omitted. */
static void put_sessions(struct snapshot *p) {
  const struct op *op = op_find(STR("session list"));
  yyjson_val *args;
  yyjson_mut_val *result;
  struct error ignored;
  if (!op || json_read(p->a, STR("{\"all_projects\":true}"), &args, &ignored) != STATUS_OK ||
      op_run(p->top->engine, op, &p->top->caller, NULL, p->a, args, &result, &ignored) != STATUS_OK)
    return;
  yyjson_mut_val *list = yyjson_mut_obj_get(result, "sessions");
  if (list)
    yyjson_mut_obj_add_val(p->doc, p->root, "sessions", yyjson_mut_val_mut_copy(p->doc, list));
}

struct tail {
  struct snapshot *p;
  yyjson_mut_val *arr;
  LIST(struct memory *) memories; /* of the events that have one */
};

static enum status put_event(void *arg, const struct event *e) {
  struct tail *t = arg;
  yyjson_mut_doc *doc = t->p->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, t->arr);
  char time[TIME_TEXT_SIZE];
  json_put_int(doc, v, "seq", e->seq);
  json_put(doc, v, "at", time_format(e->at, time));
  json_put(doc, v, "action", e->action);
  if (e->memory_id) {
    struct memory *m = arena_new(t->p->a, struct memory);
    m->id = e->memory_id;
    list_push(t->p->a, &t->memories, m);
    json_put_int(doc, v, "id", e->memory_id);
  }
  json_put(doc, v, "project", e->project);
  json_put(doc, v, "source", e->source);
  return STATUS_OK;
}

static enum status put_headlines(struct tail *t) {
  struct snapshot *p = t->p;
  bool *found = arena_array(p->a, bool, t->memories.n + 1);
  size_t i, n, k = 0;
  yyjson_mut_val *v;
  TRY(memories_by_ids(p->top->engine->store, p->top->caller.team, p->a, t->memories.v, t->memories.n, found, p->err));
  yyjson_mut_arr_foreach(t->arr, i, n, v) {
    if (!yyjson_mut_obj_get(v, "id"))
      continue;
    if (found[k])
      json_put(p->doc, v, "headline", t->memories.v[k]->headline);
    k++;
  }
  return STATUS_OK;
}

enum status top_read(struct top *t, struct arena *a, size_t events, yyjson_val **ret_snapshot, struct error *err) {
  struct snapshot p = {.top = t, .a = a, .doc = json_new(a), .now = clock_now(&t->engine->clock), .err = err};
  p.root = yyjson_mut_obj(p.doc);
  put_sessions(&p);
  TRY(put_store(&p));
  TRY(put_calls(&p));
  struct tail tail = {.p = &p, .arr = json_put_arr(p.doc, p.root, "events")};
  TRY(events_newest(t->engine->store, t->caller.team, (int64_t)events, put_event, &tail, err));
  TRY(put_headlines(&tail));
  return json_read(a, json_write(a, p.root, false), ret_snapshot, err);
}

/* ---- drawing ---- */

struct column {
  const char *head;
  size_t width; /* 0: rest of the line */
  bool right;
  size_t from;   /* omitted on narrower terminals */
  size_t narrow; /* width on terminals of less than WIDE columns; 0: the same */
};
enum { WIDE = 78 };

static size_t width_of(const struct page *page, const struct column *c) {
  return c->narrow && page->term.width < WIDE ? c->narrow : c->width;
}

/* Prints one cell: escaped, cut and padded to its width. */
static void cell(struct page *page, const struct column *c, struct str text, size_t left) {
  size_t own = width_of(page, c), width = own && own < left ? own : left;
  struct buf safe = BUF(page->b.a);
  term_safe(&safe, text, true);
  struct str fit = term_fit(page->b.a, buf_str(&safe), width);
  size_t used = term_columns(fit);
  if (c->right)
    term_pad(&page->b, used, width);
  buf_add(&page->b, fit);
  if (!c->right && c->width)
    term_pad(&page->b, used, width);
}

/* Prints cells separated by spaces. */
static void row(struct page *page, const struct column *columns, size_t n, const struct str *cells) {
  size_t left = page->term.width;
  assert(n > 0);
  for (size_t i = 0; i < n && left > 1; i++) {
    size_t width = width_of(page, &columns[i]);
    if (page->term.width < columns[i].from)
      continue;
    if (i) {
      buf_addc(&page->b, ' ');
      left--;
    }
    cell(page, &columns[i], cells[i], left);
    left -= width && width < left ? width : left;
  }
  while (page->b.n && page->b.p[page->b.n - 1] == ' ')
    page->b.n--;
  buf_addc(&page->b, '\n');
}

static void styled_row(struct page *page, const char *style, const struct column *columns, size_t n,
                       const struct str *cells) {
  buf_adds(&page->b, style);
  row(page, columns, n, cells);
  page->b.n--; /* the style ends before the line end */
  buf_adds(&page->b, style[0] ? page->term.style.reset : "");
  buf_addc(&page->b, '\n');
}

static void heads(struct page *page, const struct column *columns, size_t n) {
  struct str cells[8];
  assert(n <= ARRAY_LEN(cells));
  for (size_t i = 0; i < n; i++)
    cells[i] = str_from(columns[i].head);
  styled_row(page, page->term.style.bold, columns, n, cells);
}

static struct str clock_of(struct str at) { return at.n >= 19 ? str_slice(at, 11, 19) : at; }

static void draw_head(struct page *page, yyjson_val *p) {
  static const struct column line = {0};
  struct arena *a = page->b.a;
  struct str db = json_str(p, "db"), at = clock_of(json_str(p, "at"));
  struct str text =
      arena_printf(a, "cairn  %.*s UTC   memories %lld, %s   %.*s", STR_ARG(at), (long long)json_int(p, "memories", 0),
                   term_bytes(a, json_int(p, "bytes", 0)).p, STR_ARG(db));
  row(page, &line, 1, &text);
}

static struct str milliseconds(struct arena *a, yyjson_val *v, const char *name) {
  double ms = json_num(v, name, 0);
  return arena_printf(a, ms < 10 ? "%.2f" : ms < 1000 ? "%.1f" : "%.0f", ms);
}

static size_t draw_tools(struct page *page, yyjson_val *tools, size_t most) {
  static const struct column columns[] = {{.head = "TOOL", .width = 26, .narrow = 15},
                                          {.head = "CALLS", .width = 8, .right = true, .narrow = 6},
                                          {.head = "ERRORS", .width = 6, .right = true},
                                          {.head = "AVG ms", .width = 8, .right = true},
                                          {.head = "P50", .width = 8, .right = true, .from = 50},
                                          {.head = "P95", .width = 8, .right = true, .from = 60},
                                          {.head = "P99", .width = 8, .right = true, .from = 70}};
  struct arena *a = page->b.a;
  size_t i, n, drawn = 0;
  yyjson_val *v;
  heads(page, columns, ARRAY_LEN(columns));
  yyjson_arr_foreach(tools, i, n, v) {
    if (drawn == most)
      break;
    const struct str cells[] = {json_str(v, "name"),
                                page_value(page, yyjson_obj_get(v, "calls")),
                                page_value(page, yyjson_obj_get(v, "errors")),
                                milliseconds(a, v, "avg_ms"),
                                milliseconds(a, v, "p50_ms"),
                                milliseconds(a, v, "p95_ms"),
                                milliseconds(a, v, "p99_ms")};
    styled_row(page, json_int(v, "errors", 0) ? page->term.style.red : "", columns, ARRAY_LEN(columns), cells);
    drawn++;
  }
  return drawn + 1;
}

static size_t draw_sessions(struct page *page, yyjson_val *sessions, size_t most) {
  static const struct column columns[] = {{.head = "SESSION", .width = 13},
                                          {.head = "SOURCE", .width = 14, .narrow = 12},
                                          {.head = "STATE", .width = 12, .from = 60},
                                          {.head = "SILENT", .width = 7, .right = true, .from = WIDE},
                                          {.head = "PROJECT", .width = 14, .from = WIDE},
                                          {.head = "TASK", .width = 0}};
  struct arena *a = page->b.a;
  size_t i, n, drawn = 0;
  yyjson_val *v;
  heads(page, columns, ARRAY_LEN(columns));
  yyjson_arr_foreach(sessions, i, n, v) {
    if (drawn == most)
      break;
    const struct str cells[] = {
        json_str(v, "session"), json_str(v, "source"),
        json_str(v, "state"),   arena_printf(a, "%lld s", (long long)json_int(v, "silent_s", 0)),
        json_str(v, "project"), json_str(v, "task")};
    row(page, columns, ARRAY_LEN(columns), cells);
    drawn++;
  }
  return drawn + 1;
}

static void draw_events(struct page *page, yyjson_val *events, size_t most) {
  static const struct column columns[] = {{.head = "TIME", .width = 8},
                                          {.head = "EVENT", .width = 16, .narrow = 14},
                                          {.head = "SOURCE", .width = 12, .from = 60},
                                          {.head = "PROJECT", .width = 10, .from = WIDE},
                                          {.head = "MEMORY", .width = 0}};
  size_t i, n;
  yyjson_val *v;
  heads(page, columns, ARRAY_LEN(columns));
  yyjson_arr_foreach(events, i, n, v) {
    if (i == most)
      break;
    const struct str cells[] = {clock_of(json_str(v, "at")), json_str(v, "action"), json_str(v, "source"),
                                json_str(v, "project"), layout_line(page, v, "[{id}  ]{headline}")};
    bool failed = str_ends(cells[1], STR(":error")) || str_ends(cells[1], STR(":failed"));
    styled_row(page, failed ? page->term.style.red : "", columns, ARRAY_LEN(columns), cells);
  }
}

static void draw_rates(struct page *page, yyjson_val *p) {
  static const struct column line = {0};
  struct str text = arena_printf(page->b.a, "%.1f calls/s   in %lld min: %lld calls, %lld failed   event %lld",
                                 json_num(p, "calls_per_s", 0), (long long)json_int(p, "minutes", 0),
                                 (long long)json_int(p, "calls", 0), (long long)json_int(p, "errors", 0),
                                 (long long)json_int(p, "last_seq", 0));
  styled_row(page, json_int(p, "errors", 0) ? page->term.style.red : "", &line, 1, &text);
}

static void draw_keys(struct page *page) {
  static const struct column line = {0};
  struct str text = STR("q quit   any other key: refresh now");
  styled_row(page, page->term.style.dim, &line, 1, &text);
}

/* Two lines at the top, and the keys if it is a live view; then sessions get up to a quarter of the rest, tools up to
 * half, events the remainder. */
void top_draw(struct page *page, yyjson_val *snapshot, size_t height) {
  yyjson_val *sessions = yyjson_obj_get(snapshot, "sessions"), *tools = yyjson_obj_get(snapshot, "tools");
  size_t rest = height ? height : SIZE_MAX / 2, room, used;
  draw_head(page, snapshot);
  draw_rates(page, snapshot);
  if (height)
    draw_keys(page);
  rest = rest > 4 ? rest - 4 : 0;
  if (sessions && rest > 8) {
    room = rest / 4;
    buf_addc(&page->b, '\n');
    used = 1 + draw_sessions(page, sessions, room > 1 ? room - 1 : 1);
    assert(used <= rest);
    rest -= used;
  }
  if (rest > 6) {
    room = rest / 2;
    buf_addc(&page->b, '\n');
    used = 1 + draw_tools(page, tools, room > 2 ? room - 2 : 1);
    assert(used <= rest);
    rest -= used;
  }
  if (rest > 2) {
    buf_addc(&page->b, '\n');
    draw_events(page, yyjson_obj_get(snapshot, "events"), rest - 2);
  }
}
