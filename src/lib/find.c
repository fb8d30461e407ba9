/* find.c: search and the event log with C structures instead of JSON. */
#include <assert.h>

#include "lib/convert.h"

/* ---- search ---- */

#define SEARCH(name, form) {#name, form, offsetof(struct cairn_search_options, name)}
static const struct member search_members[] = {
    SEARCH(limit, FORM_INT),    SEARCH(kind, FORM_TEXT),         SEARCH(type, FORM_TEXT),
    SEARCH(project, FORM_TEXT), SEARCH(all_projects, FORM_BOOL), SEARCH(tags, FORM_LIST),
    SEARCH(people, FORM_LIST),  SEARCH(since, FORM_TEXT),        SEARCH(until, FORM_TEXT),
    SEARCH(as_of, FORM_TEXT),   SEARCH(detail, FORM_TEXT),       SEARCH(include_superseded, FORM_BOOL),
};

struct search_call {
  const char *query;
  const struct cairn_search_options *options;
  struct cairn_results *results;
};

static void result_of(struct lib_call *c, yyjson_val *v, struct cairn_result *r) {
  const char *body = text_of(v, "body");
  *r = (struct cairn_result){.id = json_int(v, "id", 0),
                             .uid = text_of(v, "uid"),
                             .headline = text_of(v, "headline"),
                             .text = body ? body : text_of(v, "snippet"),
                             .kind = text_of(v, "kind"),
                             .type = text_of(v, "type"),
                             .severity = text_of(v, "severity"),
                             .project = text_of(v, "project"),
                             .key = text_of(v, "key"),
                             .state = text_of(v, "state"),
                             .trust = text_of(v, "trust"),
                             .source = text_of(v, "source"),
                             .score = json_num(v, "score", 0),
                             .superseded_by = json_int(v, "superseded_by", 0),
                             .created_at = time_of(v, "created_at"),
                             .tags = list_of(c, v, "tags")};
}

static struct cairn_results *results_of(struct lib_call *c, struct str json, yyjson_val *root) {
  struct cairn_results *r = lib_result_new(c, sizeof(*r));
  yyjson_val *arr = yyjson_obj_get(root, "results"), *v;
  struct cairn_result *items = arena_array(&c->result, struct cairn_result, yyjson_arr_size(arr) + 1);
  size_t i, n;
  yyjson_arr_foreach(arr, i, n, v) {
    result_of(c, v, &items[i]);
  }
  *r = (struct cairn_results){.count = yyjson_arr_size(arr),
                              .items = items,
                              .mode = text_of(root, "search_mode"),
                              .degraded = text_of(root, "degraded"),
                              .json = json.p,
                              .json_n = json.n};
  return r;
}

static enum status run_search(struct lib_call *c, void *arg) {
  struct search_call *q = arg;
  struct cairn_search_options o = {0};
  struct str json;
  yyjson_val *root;
  if (q->options && !lib_copy_sized(&o, sizeof(o), q->options, SIZE_UP_TO(struct cairn_search_options, more)))
    return newer_structure(c, "the search");
  struct args a = args_new(c);
  args_string(&a, "query", str_from(q->query));
  args_members(&a, search_members, ARRAY_LEN(search_members), &o);
  args_more(&a, o.more);
  TRY(args_run(&a, "search", &json, &root));
  q->results = results_of(c, json, root);
  return STATUS_OK;
}

int cairn_search(struct cairn *db, const char *query, const struct cairn_search_options *options,
                 struct cairn_results **ret_results) {
  struct search_call q = {.query = query, .options = options};
  int s = lib_guard(db, run_search, &q);
  if (s != CAIRN_OK)
    return s;
  assert(q.results);
  if (ret_results)
    *ret_results = q.results;
  else
    cairn_results_free(q.results);
  return s;
}

void cairn_results_free(struct cairn_results *results) { lib_result_free(results); }

/* ---- event log ---- */

struct events_call {
  int64_t since, last;
  cairn_event_fn fn;
  void *arg;
  enum status failed; /* of parsing a line */
  struct error err;
};

static int visit_event(struct events_call *e, struct arena *a, struct str line) {
  yyjson_val *v;
  e->failed = json_read(a, line, &v, &e->err);
  if (e->failed != STATUS_OK)
    return 1;
  struct cairn_event event = {.seq = json_int(v, "seq", 0),
                              .at = time_of(v, "at"),
                              .txn = json_int(v, "txn", 0),
                              .id = json_int(v, "id", 0),
                              .action = text_of(v, "action"),
                              .op = text_of(v, "op"),
                              .uid = text_of(v, "uid"),
                              .project = text_of(v, "project"),
                              .source = text_of(v, "source"),
                              .session = text_of(v, "session"),
                              .json = line.p,
                              .json_n = line.n};
  return e->fn(e->arg, &event);
}

static int on_event_line(void *arg, const char *line, size_t n) {
  struct events_call *e = arg;
  struct arena a;
  jmp_buf oom;
  int stop;
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, oom)) {
    e->failed = error_set(&e->err, STATUS_NOMEM, "out of memory; nothing was changed");
    stop = 1;
  } else {
    stop = visit_event(e, &a, (struct str){line, n});
  }
  arena_release(&a);
  return stop;
}

static enum status run_events(struct lib_call *c, void *arg) {
  struct events_call *e = arg;
  struct str json;
  yyjson_val *root;
  if (!e->fn)
    return error_set(&c->err, STATUS_USAGE, "events: the callback is missing");
  struct args a = args_new(c);
  args_int(&a, "since", e->since);
  args_int(&a, "limit", 0); /* all */
  c->line = on_event_line;
  c->line_arg = e;
  enum status s = args_run(&a, "events", &json, &root);
  if (s != STATUS_OK && e->failed != STATUS_OK) {
    c->err = e->err;
    return e->failed;
  }
  TRY(s);
  e->last = json_int(root, "last_seq", e->since);
  return STATUS_OK;
}

int cairn_events(struct cairn *db, int64_t since, cairn_event_fn fn, void *arg, int64_t *ret_last) {
  struct events_call e = {.since = since, .fn = fn, .arg = arg};
  int s = lib_guard(db, run_events, &e);
  if (s == CAIRN_OK && ret_last)
    *ret_last = e.last;
  return s;
}
