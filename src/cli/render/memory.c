/* memory.c: memories, searches, corrections and tasks as text. */
#include "cli/render/layout.h"

static void add_id(struct page *page, yyjson_val *obj) {
  page_styled(page, page->term.style.dim, page_value(page, yyjson_obj_get(obj, "id")));
}

static struct str id_text(struct page *page, yyjson_val *obj) { return page_value(page, yyjson_obj_get(obj, "id")); }

static struct str age_of(struct page *page, yyjson_val *obj) {
  return term_age(page->b.a, json_str(obj, "created_at"), page->now);
}

static void add_project(struct page *page, yyjson_val *obj) {
  struct str project = json_str(obj, "project");
  if (project.n == 0) {
    buf_adds(&page->b, ", global");
    return;
  }
  buf_adds(&page->b, ", project ");
  page_line(page, "", project, 0);
}

/* ---- writes ---- */

/* ---- one memory ---- */

static void add_list(struct page *page, const char *name, yyjson_val *list) {
  size_t i, n;
  yyjson_val *v;
  if (yyjson_arr_size(list))
    buf_addf(&page->b, "  %s%s:%s\n", page->term.style.dim, name, page->term.style.reset);
  yyjson_arr_foreach(list, i, n, v) {
    buf_adds(&page->b, "    - ");
    page_line(page, "", yyjson_is_obj(v) ? json_str(v, "text") : page_value(page, v), 6);
    if (yyjson_is_obj(v))
      buf_addf(&page->b, "  %s(%s, %s)%s", page->term.style.dim, term_time(page->b.a, json_str(v, "at")).p,
               arena_cstr(page->b.a, page_value(page, yyjson_obj_get(v, "by"))), page->term.style.reset);
    buf_addc(&page->b, '\n');
  }
}

static void add_links(struct page *page, yyjson_val *links) {
  size_t i, n;
  yyjson_val *l;
  if (yyjson_arr_size(links))
    buf_addf(&page->b, "  %slinks:%s\n", page->term.style.dim, page->term.style.reset);
  yyjson_arr_foreach(links, i, n, l) {
    struct str rel = json_str(l, "rel"), state = json_str(l, "state");
    buf_addf(&page->b, "    %s %.*s ", str_is(json_str(l, "direction"), "in") ? "<-" : "->", STR_ARG(rel));
    add_id(page, l);
    buf_adds(&page->b, "  ");
    page_line(page, "", json_str(l, "headline"), 24);
    if (state.n && !str_is(state, "active"))
      buf_addf(&page->b, " (%.*s)", STR_ARG(state));
    buf_addc(&page->b, '\n');
  }
}

/* Default values are not shown. */
static bool is_default(yyjson_val *m, const char *name) {
  static const char *const usual[][2] = {{"delivery", "on_demand"}, {"trust", "user"}};
  for (size_t i = 0; i < ARRAY_LEN(usual); i++)
    if (strcmp(name, usual[i][0]) == 0)
      return str_is(json_str(m, name), usual[i][1]);
  if (strcmp(name, "valid_from") == 0)
    return str_eq(json_str(m, name), json_str(m, "created_at"));
  if (strcmp(name, "weight") == 0)
    return json_num(m, name, 1.0) == 1.0;
  return yyjson_is_int(yyjson_obj_get(m, name)) && json_int(m, name, 0) == 0;
}

static void add_metadata(struct page *page, yyjson_val *m) {
  static const char *const members[] = {"corpus",
                                        "origin",
                                        "key",
                                        "uid",
                                        "delivery",
                                        "state_reason",
                                        "state_by",
                                        "status",
                                        "priority",
                                        "milestone",
                                        "due",
                                        "claimed_by",
                                        "root_cause",
                                        "resolution",
                                        "confidence",
                                        "domains",
                                        "corroborated",
                                        "verified_at",
                                        "weight",
                                        "auto_captured",
                                        "skill_name",
                                        "skill_always_on",
                                        "skill_keywords",
                                        "skill_projects",
                                        "tags",
                                        "people",
                                        "topics",
                                        "created_at",
                                        "valid_from",
                                        "expires_at",
                                        "last_accessed",
                                        "access_count",
                                        "upvotes",
                                        "downvotes",
                                        "source",
                                        "session",
                                        "trust",
                                        "untrusted",
                                        "suspect",
                                        NULL};
  for (size_t i = 0; members[i]; i++)
    if (!is_default(m, members[i]))
      page_members(page, m, (const char *const[]){members[i], NULL});
}

static void render_memory(struct page *page, yyjson_val *m) {
  struct str banner = json_str(m, "banner"), state = json_str(m, "state"), body = json_str(m, "body");
  if (banner.n) {
    page_line(page, page->term.style.yellow, banner, 0);
    buf_adds(&page->b, "\n\n");
  }
  add_id(page, m);
  buf_adds(&page->b, "  ");
  page_line(page, page->term.style.bold, json_str(m, "headline"), 12);
  buf_adds(&page->b, "\n  ");
  page_line(page, "", page_kind(page, m), 0);
  add_project(page, m);
  buf_adds(&page->b, ", ");
  page_line(page, str_is(state, "active") ? "" : page->term.style.yellow, state, 0);
  buf_addc(&page->b, '\n');
  add_metadata(page, m);
  add_list(page, "acceptance", yyjson_obj_get(m, "acceptance"));
  add_list(page, "action items", yyjson_obj_get(m, "action_items"));
  add_list(page, "notes", yyjson_obj_get(m, "annotations"));
  add_links(page, yyjson_obj_get(m, "links"));
  if (body.n == 0)
    return;
  buf_addc(&page->b, '\n');
  page_text(page, body);
  if (body.p[body.n - 1] != '\n')
    buf_addc(&page->b, '\n');
}

static void render_annotations(struct page *page, yyjson_val *r) {
  yyjson_val *notes = yyjson_obj_get(r, "annotations");
  add_id(page, r);
  buf_addf(&page->b, "  %zu note%s", yyjson_arr_size(notes), yyjson_arr_size(notes) == 1 ? "" : "s");
  page_txn(page, r);
  add_list(page, "notes", notes);
}

static void render_history(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *m;
  yyjson_arr_foreach(yyjson_obj_get(r, "chain"), i, n, m) {
    struct str reason = json_str(m, "reason");
    bool current = json_bool(m, "current", false);
    buf_adds(&page->b, i ? "  └ " : "");
    add_id(page, m);
    buf_adds(&page->b, "  ");
    page_line(page, current ? page->term.style.bold : "", json_str(m, "headline"), 40);
    buf_addf(&page->b, "  %s%s, ", page->term.style.dim, term_time(page->b.a, json_str(m, "created_at")).p);
    page_line(page, "", current ? STR("current") : json_str(m, "state"), 0);
    buf_addf(&page->b, "%s\n", page->term.style.reset);
    if (reason.n) {
      buf_adds(&page->b, "      because: ");
      page_line(page, "", reason, 15);
      buf_addc(&page->b, '\n');
    }
  }
}

/* ---- many memories ---- */

/* A warning against relying on it. */
static struct str doubt_of(yyjson_val *m) {
  if (json_str(m, "suspect").n)
    return STR("suspect");
  return json_bool(m, "untrusted", false) ? STR("untrusted") : STR("");
}

static void render_list(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 5, .right = {true}};
  yyjson_val *list = yyjson_obj_get(r, "memories"), *m;
  size_t i, n;
  yyjson_arr_foreach(list, i, n, m) {
    struct str state = json_str(m, "state");
    const struct str cells[] = {id_text(page, m), age_of(page, m), page_kind(page, m),
                                str_is(state, "active") ? doubt_of(m) : state, json_str(m, "headline")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  int64_t total = json_int(r, "total", (int64_t)n), offset = json_int(r, "offset", 0);
  n = yyjson_arr_size(list);
  if (n == 0)
    buf_adds(&page->b, "no memories\n");
  else if ((int64_t)n < total)
    buf_addf(&page->b, "%s%lld to %lld of %lld%s\n", page->term.style.dim, (long long)offset + 1,
             (long long)offset + (long long)n, (long long)total, page->term.style.reset);
}

static void render_hit(struct page *page, size_t rank, yyjson_val *hit) {
  struct str text = json_str(hit, "body"), state = json_str(hit, "state");
  text = text.n ? text : json_str(hit, "snippet");
  buf_addf(&page->b, "%2zu  ", rank);
  add_id(page, hit);
  buf_addf(&page->b, "  %.3f  ", json_num(hit, "score", 0));
  page_line(page, page->term.style.bold, json_str(hit, "headline"), 24);
  if (state.n && !str_is(state, "active"))
    page_styled(page, page->term.style.yellow, arena_printf(page->b.a, " (%.*s)", STR_ARG(state)));
  buf_addf(&page->b, "\n    %s%.*s", page->term.style.dim, STR_ARG(page_kind(page, hit)));
  add_project(page, hit);
  struct str age = age_of(page, hit), origin = json_str(hit, "origin");
  buf_addf(&page->b, "%s%.*s", age.n ? ", " : "", STR_ARG(age));
  if (doubt_of(hit).n)
    buf_addf(&page->b, ", %.*s", STR_ARG(doubt_of(hit)));
  if (origin.n) {
    buf_adds(&page->b, ", from ");
    page_line(page, "", origin, 0);
  }
  buf_addf(&page->b, "%s\n", page->term.style.reset);
  yyjson_val *parts = yyjson_obj_get(hit, "parts");
  if (parts) {
    buf_adds(&page->b, "    ");
    page_line(page, "", page_value(page, parts), 4);
    buf_addc(&page->b, '\n');
  }
  /* The text of a short memory is its headline, perhaps with a full stop: do not repeat it. */
  struct str headline = json_str(hit, "headline");
  text = str_trim(text);
  if (text.n == 0 || (str_starts(text, headline) && text.n <= headline.n + 1))
    return;
  buf_adds(&page->b, "    ");
  page_line(page, "", text, 4);
  buf_addc(&page->b, '\n');
}

static void render_search(struct page *page, yyjson_val *r) {
  size_t i, n;
  yyjson_val *results = yyjson_obj_get(r, "results"), *hit;
  yyjson_arr_foreach(results, i, n, hit) {
    render_hit(page, i + 1, hit);
  }
  if (yyjson_arr_size(results) == 0)
    buf_adds(&page->b, "nothing found\n");
  struct str degraded = json_str(r, "degraded");
  if (degraded.n) {
    page_line(page, page->term.style.yellow, degraded, 0);
    buf_addc(&page->b, '\n');
  }
}

/* ---- tasks and skills ---- */

/* ---- the table ---- */

/* clang-format off */

/* A memory that replaced another has the action "superseded", but "superseded 12" would read as if 12 were the old one. */
#define ACTION "<action=superseded?stored|{action}>"
#define STORED \
  ACTION " {dim id}  {bold headline 24}\n" \
  "  {kind}<project?, project {project}|, global>[, replaces {old_id|supersedes}]" \
  "<mode=shadow? in this project only>[, {redacted} secret{s redacted} redacted]{txn}"
/* One memory of many: a batch, a capture. */
#define STORED_LINE "<error?[line {line}: ]{red error.message}|" ACTION " {dim id}  {headline 24}>"
#define TASK "{dim id}  {status}: {bold headline 40}{txn}"
#define TASKS \
  "@tasks >{id} | {priority} | {status} | " \
  "<blocked_by?blocked by {blocked_by}|<claimed_by?claimed by {claimed_by}|<due?due {due}>>> | {headline}\n" \
  "!tasks no tasks"

static void render_stored_line(struct page *page, yyjson_val *line) { layout_render(page, line, STORED_LINE); }

/* A single memory, or the counts of a batch. */
static void render_remember(struct page *page, yyjson_val *r) {
  layout_render(page, r, yyjson_obj_get(r, "action") ? STORED : "{counts stored skipped superseded failed}{txn}");
}

const struct renderer memory_renderers[] = {
  {.op = "remember", .result = render_remember, .line = render_stored_line},
  {.op = "supersede", .layout = STORED},
  {.op = "task add", .layout = STORED},
  {.op = "capture", .layout = "*memories " STORED_LINE "\n{counts stored skipped refused dropped}{txn}"},
  {.op = "get", .result = render_memory},
  {.op = "skill load", .result = render_memory},
  {.op = "annotate", .result = render_annotations},
  {.op = "history", .result = render_history},
  {.op = "repeats", .layout = "*pairs <#similarity?similarity {2 similarity}\n  {dim a.id}  {a.headline 12}\n"
   "  {dim b.id}  {b.headline 12}>\n{n repeated} of {n rules} rules nearly duplicate another one"},
  {.op = "list", .result = render_list},
  {.op = "search", .result = render_search},
  {.op = "unsupersede", .layout = "{dim id} is {state} again[; retired: {retired}]{txn}"},
  {.op = "undo", .layout = "transaction {undone} was undone: {n changes} change{s changes}{txn}"},
  {.op = "forget", .layout = "forgotten: {forgotten:none}[; already before: {already}]{txn}"},
  {.op = "task claim", .layout = "{dim id}  <claimed_by?claimed by {claimed_by}|released>: {bold headline 40}{txn}"},
  {.op = "task status", .layout = TASK},
  {.op = "task block", .layout = TASK},
  {.op = "task unblock", .layout = TASK},
  {.op = "task list", .layout = TASKS},
  {.op = "task ready", .layout = TASKS},
  {.op = "task sync", .layout = "{bold file}: {n tasks} task{s tasks}<dry_run?; this would change:>\n"
   "  in the store: {changes store}\n  in the file: {changes in_file}{txn}\n"
   "*conflicts   both sides changed {id} ({members}): the file wins; cairn history {memory}\n"
   "*refused   not changed: {yellow id|description 60}: {reason}"},
  {.op = "skill list", .layout = "@skills >{id} | {name} | <always_on?always on|{keywords}> | {headline}\n!skills no skills"},
  {0},
};
/* clang-format on */
