/* memory.c: memories, searches, corrections and tasks as text. */
#include "cli/render/render.h"

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

/* "stored 12", also of what replaced another: "superseded 12" would read as if 12 were the old one. */
static void add_action(struct page *page, yyjson_val *r) {
  struct str action = json_str(r, "action");
  page_line(page, "", str_is(action, "superseded") ? STR("stored") : action, 0);
}

/* remember, supersede, task add */
static void render_stored(struct page *page, yyjson_val *r) {
  add_action(page, r);
  buf_addc(&page->b, ' ');
  add_id(page, r);
  buf_adds(&page->b, "  ");
  page_line(page, page->term.style.bold, json_str(r, "headline"), 24);
  buf_adds(&page->b, "\n  ");
  page_line(page, "", page_kind(page, r), 0);
  add_project(page, r);
  yyjson_val *old = yyjson_obj_get(r, "old_id");
  old = old ? old : yyjson_obj_get(r, "supersedes");
  if (old) {
    buf_adds(&page->b, ", replaces ");
    page_line(page, "", page_value(page, old), 0);
  }
  if (str_is(json_str(r, "mode"), "shadow") || str_is(json_str(r, "scope"), "shadow"))
    buf_adds(&page->b, " in this project alone");
  if (json_int(r, "redacted", 0))
    buf_addf(&page->b, ", %lld secrets redacted", (long long)json_int(r, "redacted", 0));
  page_txn(page, r);
}

static void render_failure(struct page *page, yyjson_val *line, yyjson_val *error) {
  if (json_int(line, "line", 0))
    buf_addf(&page->b, "line %lld: ", (long long)json_int(line, "line", 0));
  page_line(page, page->term.style.red, json_str(error, "message"), 0);
  buf_addc(&page->b, '\n');
}

/* One memory of many: a batch, a capture. */
static void render_stored_line(struct page *page, yyjson_val *line) {
  yyjson_val *error = yyjson_obj_get(line, "error");
  if (error) {
    render_failure(page, line, error);
    return;
  }
  add_action(page, line);
  buf_addc(&page->b, ' ');
  add_id(page, line);
  buf_adds(&page->b, "  ");
  page_line(page, "", json_str(line, "headline"), 24);
  buf_addc(&page->b, '\n');
}

/* "stored 3, skipped 1", without what did not happen. */
static void add_counts(struct page *page, yyjson_val *r, const char *const *names) {
  bool some = false;
  for (size_t i = 0; names[i]; i++) {
    int64_t n = json_int(r, names[i], 0);
    if (n == 0)
      continue;
    buf_addf(&page->b, "%s%s %lld", some ? ", " : "", names[i], (long long)n);
    some = true;
  }
  if (!some)
    buf_adds(&page->b, "nothing to do");
}

static void render_remember(struct page *page, yyjson_val *r) {
  static const char *const counts[] = {"stored", "skipped", "superseded", "failed", NULL};
  if (yyjson_obj_get(r, "action")) {
    render_stored(page, r);
    return;
  }
  add_counts(page, r, counts);
  page_txn(page, r);
}

static void render_capture(struct page *page, yyjson_val *r) {
  static const char *const counts[] = {"stored", "skipped", "refused", "dropped", NULL};
  size_t i, n;
  yyjson_val *m;
  yyjson_arr_foreach(yyjson_obj_get(r, "memories"), i, n, m) {
    render_stored_line(page, m);
  }
  add_counts(page, r, counts);
  page_txn(page, r);
}

static void render_unsupersede(struct page *page, yyjson_val *r) {
  add_id(page, r);
  buf_adds(&page->b, " is ");
  page_line(page, "", json_str(r, "state"), 0);
  buf_adds(&page->b, " again");
  if (yyjson_obj_get(r, "retired")) {
    buf_adds(&page->b, "; retired: ");
    page_line(page, "", page_value(page, yyjson_obj_get(r, "retired")), 0);
  }
  page_txn(page, r);
}

static void render_undo(struct page *page, yyjson_val *r) {
  buf_adds(&page->b, "transaction ");
  page_line(page, "", page_value(page, yyjson_obj_get(r, "undone")), 0);
  buf_adds(&page->b, " was undone");
  int64_t changes = json_int(r, "changes", 0);
  buf_addf(&page->b, ": %lld change%s", (long long)changes, changes == 1 ? "" : "s");
  page_txn(page, r);
}

static void render_claim(struct page *page, yyjson_val *r) {
  struct str by = json_str(r, "claimed_by");
  add_id(page, r);
  buf_adds(&page->b, by.n ? "  taken by " : "  free again");
  page_line(page, "", by, 0);
  buf_adds(&page->b, ": ");
  page_line(page, page->term.style.bold, json_str(r, "headline"), 40);
  page_txn(page, r);
}

/* task status, block, unblock: what the task is like now. */
static void render_task(struct page *page, yyjson_val *r) {
  struct str blockers = page_value(page, yyjson_obj_get(r, "blocked_by"));
  add_id(page, r);
  buf_adds(&page->b, "  ");
  page_line(page, "", json_str(r, "status"), 0);
  if (blockers.n) {
    buf_adds(&page->b, ", waits for ");
    page_line(page, "", blockers, 0);
  }
  buf_adds(&page->b, ": ");
  page_line(page, page->term.style.bold, json_str(r, "headline"), 40);
  page_txn(page, r);
}

static void render_forget(struct page *page, yyjson_val *r) {
  buf_adds(&page->b, "forgotten: ");
  yyjson_val *gone = yyjson_obj_get(r, "forgotten"), *already = yyjson_obj_get(r, "already");
  page_line(page, "", yyjson_arr_size(gone) ? page_value(page, gone) : STR("none"), 0);
  if (yyjson_arr_size(already)) {
    buf_adds(&page->b, "; already before: ");
    page_line(page, "", page_value(page, already), 0);
  }
  page_txn(page, r);
}

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

/* What every memory has unless somebody said otherwise is not worth a line. */
static bool is_usual(yyjson_val *m, const char *name) {
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
    if (!is_usual(m, members[i]))
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

static void render_repeats(struct page *page, yyjson_val *r) {
  static const char *const sides[] = {"a", "b"};
  size_t i, n;
  yyjson_val *p;
  yyjson_arr_foreach(yyjson_obj_get(r, "pairs"), i, n, p) {
    buf_addf(&page->b, "similarity %.2f\n", json_num(p, "similarity", 0));
    for (size_t k = 0; k < ARRAY_LEN(sides); k++) {
      yyjson_val *m = yyjson_obj_get(p, sides[k]);
      buf_adds(&page->b, "  ");
      add_id(page, m);
      buf_adds(&page->b, "  ");
      page_line(page, "", json_str(m, "headline"), 12);
      buf_addc(&page->b, '\n');
    }
  }
  buf_addf(&page->b, "%lld of %lld rules say nearly the same as another one\n", (long long)json_int(r, "repeated", 0),
           (long long)json_int(r, "rules", 0));
}

/* ---- many memories ---- */

/* What speaks against relying on it. */
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
  /* The text of a short memory is its headline, but for a full stop: once is enough. */
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

static void render_tasks(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 5, .right = {true}};
  yyjson_val *tasks = yyjson_obj_get(r, "tasks"), *m;
  size_t i, n;
  yyjson_arr_foreach(tasks, i, n, m) {
    struct str blocked = page_value(page, yyjson_obj_get(m, "blocked_by")), claimed = json_str(m, "claimed_by");
    struct str due = json_str(m, "due"), note = STR("");
    if (blocked.n)
      note = arena_printf(t.a, "waits for %.*s", STR_ARG(blocked));
    else if (claimed.n)
      note = arena_printf(t.a, "taken by %.*s", STR_ARG(claimed));
    else if (due.n)
      note = arena_printf(t.a, "due %.*s", STR_ARG(due));
    const struct str cells[] = {id_text(page, m), json_str(m, "priority"), json_str(m, "status"), note,
                                json_str(m, "headline")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  if (yyjson_arr_size(tasks) == 0)
    buf_adds(&page->b, "no tasks\n");
}

/* "2 added, 1 changed", or "nothing". */
static void add_changes(struct page *page, const char *where, yyjson_val *counts) {
  static const char *const names[] = {"added", "changed", "removed"};
  bool any = false;
  buf_adds(&page->b, where);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    int64_t n = json_int(counts, names[i], 0);
    if (n)
      buf_addf(&page->b, "%s%lld %s", any ? ", " : "", (long long)n, names[i]);
    any |= n > 0;
  }
  buf_adds(&page->b, any ? "" : "nothing to do");
}

static void render_task_sync(struct page *page, yyjson_val *r) {
  yyjson_val *v;
  size_t i, n;
  bool dry_run = json_bool(r, "dry_run", false);
  page_line(page, page->term.style.bold, json_str(r, "file"), 0);
  buf_addf(&page->b, ": %lld tasks%s\n", (long long)json_int(r, "tasks", 0), dry_run ? "; this would change:" : "");
  add_changes(page, "  in the store: ", yyjson_obj_get(r, "store"));
  add_changes(page, "\n  in the file: ", yyjson_obj_get(r, "in_file"));
  page_txn(page, r);
  yyjson_arr_foreach(yyjson_obj_get(r, "conflicts"), i, n, v) {
    buf_adds(&page->b, "  both sides had changed ");
    page_line(page, "", json_str(v, "id"), 0);
    buf_adds(&page->b, " (");
    page_line(page, "", page_value(page, yyjson_obj_get(v, "members")), 0);
    buf_addf(&page->b, "): the file's counts; cairn history %lld\n", (long long)json_int(v, "memory", 0));
  }
  yyjson_arr_foreach(yyjson_obj_get(r, "refused"), i, n, v) {
    struct str id = json_str(v, "id");
    buf_adds(&page->b, "  left as it is: ");
    page_line(page, page->term.style.yellow, id.n ? id : json_str(v, "description"), 60);
    buf_adds(&page->b, ": ");
    page_line(page, "", json_str(v, "reason"), 0);
    buf_addc(&page->b, '\n');
  }
}

static void render_skills(struct page *page, yyjson_val *r) {
  struct table t = {.a = page->b.a, .columns = 4, .right = {true}};
  yyjson_val *skills = yyjson_obj_get(r, "skills"), *m;
  size_t i, n;
  yyjson_arr_foreach(skills, i, n, m) {
    struct str words = page_value(page, yyjson_obj_get(m, "keywords"));
    const struct str cells[] = {id_text(page, m), json_str(m, "name"),
                                json_bool(m, "always_on", false) ? STR("always on") : words, json_str(m, "headline")};
    table_add(&t, cells);
  }
  table_print(&t, page);
  if (yyjson_arr_size(skills) == 0)
    buf_adds(&page->b, "no skills\n");
}

const struct renderer memory_renderers[] = {
    {"remember", render_remember, render_stored_line},
    {"supersede", render_stored, NULL},
    {"task add", render_stored, NULL},
    {"capture", render_capture, NULL},
    {"get", render_memory, NULL},
    {"skill load", render_memory, NULL},
    {"annotate", render_annotations, NULL},
    {"history", render_history, NULL},
    {"repeats", render_repeats, NULL},
    {"list", render_list, NULL},
    {"search", render_search, NULL},
    {"unsupersede", render_unsupersede, NULL},
    {"undo", render_undo, NULL},
    {"forget", render_forget, NULL},
    {"task claim", render_claim, NULL},
    {"task status", render_task, NULL},
    {"task block", render_task, NULL},
    {"task unblock", render_task, NULL},
    {"task sync", render_task_sync, NULL},
    {"task list", render_tasks, NULL},
    {"task ready", render_tasks, NULL},
    {"skill list", render_skills, NULL},
    {0},
};
