/* retrieval.c: measures one retrieval set: loads its groups, runs its queries, computes metrics. */
#include <assert.h>
#include <stdlib.h>

#include "op/eval/eval.h"
#include "op/eval/metrics.h"
#include "op/run/common.h"

static const char *const mode_names[EVAL_MODES] = {"hybrid", "keyword", "vector"};

/* Metrics of all queries, or of those of one type. */
struct figures {
  struct str type;
  struct metrics m[EVAL_MODES];
};

/* State of measuring a set. */
struct measuring {
  struct eval *e;
  struct eval_set set;
  struct figures all;
  LIST(struct figures) types;
  LIST(double) latencies; /* ms, of the first mode that is measured */
  struct eval_counts counts;
  int64_t now, load_us;
  size_t loaded, to_load, asked;
  struct str model;
};

/* Documents that a search returned, in order. */
struct ranking {
  LIST(size_t) docs;
  LIST(double) scores;
};

/* ---- one query ---- */

static const struct eval_place *first_place(const struct eval_places *places, int64_t memory) {
  size_t low = 0, high = places->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (places->v[mid].memory < memory)
      low = mid + 1;
    else
      high = mid;
  }
  assert(low == 0 || places->v[low - 1].memory < memory);
  assert(low == places->n || places->v[low].memory >= memory);
  return places->v + low;
}

/* A memory that was deduplicated from several documents yields all of them, in the order of the file. */
static void rank_docs(struct arena *a, const struct eval_hits *hits, const struct eval_places *places, size_t own,
                      struct ranking *ret) {
  for (size_t i = 0; i < hits->n; i++) {
    const struct eval_place *p = first_place(places, hits->v[i].memory), *end = places->v + places->n;
    for (; p < end && p->memory == hits->v[i].memory; p++) {
      if (p->doc == own || ret->docs.n == METRIC_DEPTH)
        continue;
      list_push(a, &ret->docs, p->doc);
      list_push(a, &ret->scores, hits->v[i].score);
    }
  }
}

static struct figures *figures_of(struct measuring *m, struct str type) {
  for (size_t i = 0; i < m->types.n; i++)
    if (str_eq(m->types.v[i].type, type))
      return &m->types.v[i];
  list_push(m->e->call->arena, &m->types, (struct figures){.type = type});
  return &m->types.v[m->types.n - 1];
}

static void add_figures(struct measuring *m, enum eval_mode mode, const struct eval_query *q,
                        const struct ranking *ranking) {
  assert(ranking->docs.n <= METRIC_DEPTH);
  double gains[METRIC_DEPTH] = {0};
  double *relevant = arena_array(m->e->call->arena, double, q->rels.n);
  for (size_t i = 0; i < q->rels.n; i++) {
    relevant[i] = q->rels.v[i].score;
    for (size_t k = 0; k < ranking->docs.n; k++)
      if (ranking->docs.v[k] == q->rels.v[i].doc)
        gains[k] = q->rels.v[i].score;
  }
  metrics_add(&m->all.m[mode], gains, ranking->docs.n, relevant, q->rels.n);
  if (q->type.p)
    metrics_add(&figures_of(m, q->type)->m[mode], gains, ranking->docs.n, relevant, q->rels.n);
}

static void put_ranking(struct measuring *m, yyjson_mut_doc *doc, yyjson_mut_val *obj, enum eval_mode mode,
                        const struct ranking *ranking) {
  yyjson_mut_val *v = json_put_obj(doc, obj, mode_names[mode]);
  yyjson_mut_val *ranked = json_put_arr(doc, v, "ranked"), *scores = json_put_arr(doc, v, "scores");
  for (size_t i = 0; i < ranking->docs.n; i++) {
    json_add_str(doc, ranked, m->set.docs.v[ranking->docs.v[i]].id);
    yyjson_mut_arr_add_real(doc, scores, ranking->scores.v[i]);
  }
}

static enum status write_query(struct measuring *m, struct arena *a, const struct eval_query *q,
                               const struct ranking rankings[EVAL_MODES]) {
  FILE *out = m->e->queries_out;
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *line = yyjson_mut_obj(doc);
  json_put(doc, line, "set", m->set.name);
  json_put(doc, line, "query", q->id);
  json_put(doc, line, "text", q->text);
  json_put_opt(doc, line, "type", q->type);
  yyjson_mut_val *relevant = json_put_arr(doc, line, "relevant"), *gains = json_put_arr(doc, line, "gains");
  for (size_t i = 0; i < q->rels.n; i++) {
    json_add_str(doc, relevant, m->set.docs.v[q->rels.v[i].doc].id);
    yyjson_mut_arr_add_real(doc, gains, q->rels.v[i].score);
  }
  for (int mode = 0; mode < EVAL_MODES; mode++)
    if (m->e->modes[mode])
      put_ranking(m, doc, line, (enum eval_mode)mode, &rankings[mode]);
  struct str text = json_write(a, line, false);
  if (fwrite(text.p, 1, text.n, out) == text.n && fputc('\n', out) != EOF)
    return STATUS_OK;
  return error_set(m->e->call->err, STATUS_IO, "cannot write the file of --queries-out");
}

static enum status ask(struct measuring *m, struct arena *a, const struct eval_query *q,
                       const struct eval_places *places) {
  struct ranking rankings[EVAL_MODES] = {0};
  int64_t newest = m->set.groups.v[q->group].newest;
  int64_t now = q->at && m->e->dates != DATES_NONE ? q->at : newest ? newest : m->now;
  int64_t limit = METRIC_DEPTH + (q->own != SIZE_MAX);
  bool timed = false;
  for (int mode = 0; mode < EVAL_MODES; mode++) {
    struct eval_hits hits;
    int64_t us;
    if (!m->e->modes[mode])
      continue;
    struct eval_search search = {q->text, mode_names[mode], limit, now};
    TRY(eval_store_search(m->e->store, a, &search, &hits, &us));
    rank_docs(a, &hits, places, q->own, &rankings[mode]);
    add_figures(m, (enum eval_mode)mode, q, &rankings[mode]);
    if (!timed)
      list_push(m->e->call->arena, &m->latencies, (double)us / 1000);
    timed = true;
  }
  return m->e->queries_out ? write_query(m, a, q, rankings) : STATUS_OK;
}

/* ---- one group ---- */

static enum status measure_group(struct measuring *m, const struct eval_group *g) {
  struct op_call *call = m->e->call;
  struct arena *a = arena_child(call->arena), *scratch = arena_child(a);
  struct eval_load load = {.set = &m->set, .group = g, .dates = m->e->dates, .fast = m->e->fast, .now = m->now};
  struct eval_places places = {0};
  const char *searching = arena_printf(a, "%.*s: search", STR_ARG(m->set.name)).p;
  load.label = arena_printf(a, "%.*s: load", STR_ARG(m->set.name)).p;
  load.done = (int64_t)m->loaded;
  load.total = (int64_t)m->to_load;
  int64_t began = clock_ticks_us();
  enum status s = eval_store_open(m->e->store);
  if (s == STATUS_OK)
    s = eval_store_load(m->e->store, a, &load, &m->counts, &places);
  m->load_us += clock_ticks_us() - began;
  m->loaded += g->entries.n;
  for (size_t i = 0; s == STATUS_OK && i < g->queries.n; i++) {
    if (cancelled(call))
      s = error_set(call->err, STATUS_INTERRUPTED, "stopped");
    else
      s = ask(m, scratch, &m->set.queries.v[g->queries.v[i]], &places);
    progress(call, searching, (int64_t)++m->asked, (int64_t)m->set.queries.n);
    arena_release(scratch);
  }
  const struct embedder *embedder = NULL;
  if (s == STATUS_OK)
    s = eval_store_embedder(m->e->store, &embedder);
  m->model = arena_dup(call->arena, embedder ? str_from(embedder->model) : STR("none"));
  arena_release(a);
  return s;
}

/* Removes all dates, for --dates none. */
static void clear_dates(struct eval_set *set) {
  for (size_t i = 0; i < set->groups.n; i++) {
    struct eval_group *g = &set->groups.v[i];
    g->newest = 0;
    for (size_t k = 0; k < g->entries.n; k++)
      g->entries.v[k].at = 0;
  }
}

/* ---- the report ---- */

static void put_metrics(yyjson_mut_doc *doc, yyjson_mut_val *obj, const bool modes[EVAL_MODES],
                        const struct figures *f) {
  for (int mode = 0; mode < EVAL_MODES; mode++) {
    if (!modes[mode])
      continue;
    yyjson_mut_val *v = json_put_obj(doc, obj, mode_names[mode]);
    for (int k = 0; k < METRIC_COUNT; k++)
      json_put_num(doc, v, metric_names[k], json_round(metrics_mean(&f->m[mode], (enum metric)k), 4));
  }
}

static size_t queries_of(const struct figures *f) {
  size_t n = 0;
  for (int mode = 0; mode < EVAL_MODES; mode++)
    n = f->m[mode].queries > n ? f->m[mode].queries : n;
  return n;
}

static int by_type(const void *x, const void *y) {
  const struct figures *a = x, *b = y;
  return str_cmp(a->type, b->type);
}

static void put_types(struct measuring *m, yyjson_mut_doc *doc, yyjson_mut_val *obj) {
  yyjson_mut_val *types = json_put_obj(doc, obj, "types");
  if (m->types.n)
    qsort(m->types.v, m->types.n, sizeof(*m->types.v), by_type);
  for (size_t i = 0; i < m->types.n; i++) {
    const struct figures *f = &m->types.v[i];
    yyjson_mut_val *v = yyjson_mut_obj(doc);
    json_put_int(doc, v, "queries", (int64_t)queries_of(f));
    put_metrics(doc, v, m->e->modes, f);
    yyjson_mut_obj_add(types, yyjson_mut_strncpy(doc, f->type.p, f->type.n), v);
  }
}

static void put_counts(struct measuring *m, yyjson_mut_doc *doc, yyjson_mut_val *obj) {
  const struct eval_counts *n = &m->counts;
  json_put_int(doc, obj, "groups", (int64_t)m->set.groups.n);
  json_put_int(doc, obj, "unjudged", (int64_t)m->set.unjudged);
  json_put_int(doc, obj, "stored", n->stored);
  json_put_int(doc, obj, "duplicates", n->skipped);
  json_put_int(doc, obj, "superseded", n->superseded);
  json_put_int(doc, obj, "redacted", n->redacted);
  json_put_int(doc, obj, "refused", n->refused);
  yyjson_mut_val *list = json_put_arr(doc, obj, "refusals");
  for (size_t i = 0; i < n->refusals.n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, list);
    json_put(doc, v, "document", n->refusals.v[i].id);
    json_put(doc, v, "code", str_from(n->refusals.v[i].code));
    json_put(doc, v, "error", n->refusals.v[i].why);
  }
}

static void report(struct measuring *m) {
  yyjson_mut_doc *doc = m->e->call->doc;
  yyjson_mut_val *obj = yyjson_mut_arr_add_obj(doc, m->e->sets);
  json_put(doc, obj, "name", m->set.name);
  json_put_int(doc, obj, "queries", (int64_t)m->set.queries.n);
  json_put_int(doc, obj, "documents", (int64_t)m->set.docs.n);
  json_put(doc, obj, "model", m->model);
  json_put_opt(doc, obj, "degraded", m->e->store->degraded);
  put_metrics(doc, obj, m->e->modes, &m->all);
  json_put_num(doc, obj, "p50_ms", json_round(percentile(m->latencies.v, m->latencies.n, 0.50), 3));
  json_put_num(doc, obj, "p95_ms", json_round(percentile(m->latencies.v, m->latencies.n, 0.95), 3));
  json_put_num(doc, obj, "load_s", json_round((double)m->load_us / 1e6, 3));
  put_types(m, doc, obj);
  put_counts(m, doc, obj);
}

enum status eval_retrieval(struct eval *e, struct str path, struct str name) {
  struct op_call *call = e->call;
  struct arena *outer = call->arena, *a = arena_child(outer);
  call->arena = a; /* releases the texts of the set afterwards */
  struct measuring *m = arena_new(a, struct measuring);
  m->e = e;
  e->store->degraded = STR_NONE;
  m->now = call->now;
  enum status s = eval_set_read(call, path, e->limit, &m->set);
  m->set.name = name;
  if (s == STATUS_OK && e->dates == DATES_NONE)
    clear_dates(&m->set);
  for (size_t i = 0; i < m->set.groups.n; i++)
    m->to_load += m->set.groups.v[i].entries.n;
  for (size_t i = 0; s == STATUS_OK && i < m->set.groups.n; i++)
    s = measure_group(m, &m->set.groups.v[i]);
  assert(s != STATUS_OK || (m->asked == m->set.queries.n && m->loaded == m->to_load));
  if (s == STATUS_OK)
    report(m);
  call->arena = outer;
  arena_release(a);
  return s;
}
