/* set.c: reads a retrieval test set: corpus, queries, judgements, groups. */
#include "op/eval/set.h"

#include <assert.h>
#include <stdlib.h>

#include "op/transfer/import.h"

/* ---- ids ---- */

/* Hash table from names to indexes: open addressing, at most half full. */
struct names {
  struct arena *a;
  struct slot {
    struct str name;
    size_t value;
  } *v;
  size_t n, cap;
};

static struct slot *find_slot(const struct names *t, struct str name) {
  assert(t->n < t->cap && (t->cap & (t->cap - 1)) == 0);
  uint64_t h = str_hash(STR_HASH, name);
  size_t at = (size_t)(h ^ (h >> 32)) & (t->cap - 1);
  while (t->v[at].name.p && !str_eq(t->v[at].name, name))
    at = (at + 1) & (t->cap - 1);
  return &t->v[at];
}

static size_t names_get(const struct names *t, struct str name) {
  struct slot *s = t->cap ? find_slot(t, name) : NULL;
  return s && s->name.p ? s->value : SIZE_MAX;
}

static void names_grow(struct names *t) {
  struct names wider = {.a = t->a, .n = t->n, .cap = t->cap ? t->cap * 2 : 1024};
  wider.v = arena_array(t->a, struct slot, wider.cap);
  for (size_t i = 0; i < t->cap; i++)
    if (t->v[i].name.p)
      *find_slot(&wider, t->v[i].name) = t->v[i];
  *t = wider;
}

/* The name must outlive the table. */
static void names_put(struct names *t, struct str name, size_t value) {
  assert(names_get(t, name) == SIZE_MAX);
  if (2 * (t->n + 1) > t->cap)
    names_grow(t);
  *find_slot(t, name) = (struct slot){name.p ? name : STR(""), value};
  t->n++;
}

/* ---- times ---- */

/* Parses and removes the number at the start of *s; false if there is none. */
static bool take_number(struct str *s, int *ret) {
  size_t n = 0;
  int value = 0;
  for (; n < s->n && n < 4 && ascii_digit(s->p[n]); n++)
    value = value * 10 + (s->p[n] - '0');
  *s = str_slice(*s, n, s->n);
  *ret = value;
  return n > 0;
}

static bool take(struct str *s, const char *text) {
  struct str t = str_from(text);
  if (s->n < t.n || !str_ieq(str_slice(*s, 0, t.n), t))
    return false;
  *s = str_slice(*s, t.n, s->n);
  return true;
}

struct moment {
  int year, month, day, hour, minute;
};

/* "1:56 pm on 8 May, 2023" */
static bool read_spoken(struct str s, struct moment *ret) {
  static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
  struct moment m = {0};
  if (!take_number(&s, &m.hour) || !take(&s, ":") || !take_number(&s, &m.minute) || m.hour < 1 || m.hour > 12)
    return false;
  bool pm = take(&s, " pm on ");
  if ((!pm && !take(&s, " am on ")) || !take_number(&s, &m.day) || !take(&s, " "))
    return false;
  m.hour = m.hour % 12 + (pm ? 12 : 0);
  for (int i = 0; i < 12 && !m.month; i++)
    if (take(&s, months[i]))
      m.month = i + 1;
  if (!m.month || !take(&s, ", ") || !take_number(&s, &m.year) || s.n)
    return false;
  *ret = m;
  return true;
}

/* "2023/05/30 (Tue) 20:36", "2023/05/30" */
static bool read_slashed(struct str s, struct moment *ret) {
  struct moment m = {0};
  if (!take_number(&s, &m.year) || !take(&s, "/") || !take_number(&s, &m.month) || !take(&s, "/") ||
      !take_number(&s, &m.day))
    return false;
  if (take(&s, " (")) {
    size_t end = str_find(s, STR(")"), 0);
    if (end == SIZE_MAX)
      return false;
    s = str_slice(s, end + 1, s.n);
  }
  if (s.n && (!take(&s, " ") || !take_number(&s, &m.hour) || !take(&s, ":") || !take_number(&s, &m.minute) || s.n))
    return false;
  *ret = m;
  return true;
}

bool eval_time(struct str s, int64_t *ret_ms) {
  struct moment m;
  char text[64];
  s = str_trim(s);
  if (!read_spoken(s, &m) && !read_slashed(s, &m))
    return time_parse(s, ret_ms);
  int n = snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:00Z", m.year, m.month, m.day, m.hour, m.minute);
  return time_parse((struct str){text, (size_t)n}, ret_ms);
}

/* ---- lines ---- */

struct reader {
  struct op_call *call;
  struct eval_set *set;
  struct arena *a;                    /* memory of the set */
  struct names docs, queries, groups; /* docs and queries by id, groups by key */
  const char *file;
  int64_t line;
  /* group and candidates of each query, until the groups are made */
  LIST(struct asked {
    struct str group;
    struct strs cand;
    LIST(int64_t) at;
  })
  asked;
};

static enum status bad_line(struct reader *r, const char *why) {
  error_set(r->call->err, STATUS_USAGE, "%s line %lld: %s", r->file, (long long)r->line, why);
  return error_fix(r->call->err, "correct the file; docs/quality.md describes the format");
}

typedef enum status (*line_fn)(struct reader *r, struct arena *scratch, struct str line);

static enum status read_lines(struct reader *r, const char *name, line_fn fn) {
  struct op_call *call = r->call;
  struct source source;
  struct lines lines;
  struct str line;
  struct arena *scratch = arena_child(call->arena);
  bool more;
  r->file = arena_printf(call->arena, "%.*s/%s", STR_ARG(r->set->path), name).p;
  enum status s = source_open(call, str_from(r->file), &source);
  if (s != STATUS_OK)
    return error_fix(call->err, "a set is a directory with corpus.jsonl, queries.jsonl and qrels.tsv");
  lines_open(&lines, &source, call->arena, 0, 1);
  while ((s = lines_next(&lines, &line, &more, call->err)) == STATUS_OK && more) {
    r->line = lines.number;
    if (lines.too_long)
      return bad_line(r, "longer than 16 MB");
    if (cancelled(call))
      return error_set(call->err, STATUS_INTERRUPTED, "stopped");
    if (!str_empty(str_trim(line)))
      s = fn(r, scratch, line);
    arena_release(scratch);
    if (s != STATUS_OK)
      return s;
  }
  return s;
}

static enum status parse(struct reader *r, struct arena *scratch, struct str line, yyjson_val **ret_obj) {
  struct error why;
  if (json_read(scratch, line, ret_obj, &why) != STATUS_OK)
    return bad_line(r, why.message);
  return yyjson_is_obj(*ret_obj) ? STATUS_OK : bad_line(r, "not a JSON object");
}

/* Copies a string into the set. NUL, which memories cannot hold, becomes a space. */
static struct str keep(struct reader *r, struct str s) {
  char *p = arena_cstr(r->a, s);
  for (size_t i = 0; i < s.n; i++)
    if (!p[i])
      p[i] = ' ';
  return (struct str){p, s.n};
}

/* A string, or an integer as a string; absent for other types. */
static struct str text_of(struct arena *a, yyjson_val *v) {
  return yyjson_is_int(v) ? arena_printf(a, "%lld", (long long)yyjson_get_sint(v)) : json_val_str(v);
}

static int64_t time_of(yyjson_val *v) {
  int64_t ms = 0;
  return yyjson_is_str(v) && eval_time(json_val_str(v), &ms) ? ms : 0;
}

static enum status take_id(struct reader *r, struct arena *scratch, yyjson_val *obj, const struct names *known,
                           struct str *ret_id) {
  struct str id = text_of(scratch, yyjson_obj_get(obj, "_id"));
  if (str_empty(id))
    return bad_line(r, "no \"_id\"");
  if (names_get(known, id) != SIZE_MAX)
    return bad_line(r, "duplicate _id");
  *ret_id = keep(r, id);
  return STATUS_OK;
}

/* ---- corpus ---- */

/* Joins the turns of a transcript, one paragraph each. */
static struct str transcript(struct arena *a, yyjson_val *turns) {
  struct buf b = BUF(a);
  size_t i, n;
  yyjson_val *t;
  yyjson_arr_foreach(turns, i, n, t) {
    struct str role = json_str(t, "role"), text = json_str(t, "text");
    buf_adds(&b, b.n ? "\n\n" : "");
    buf_add(&b, role);
    buf_adds(&b, role.n ? ": " : "");
    buf_add(&b, text);
  }
  return buf_str(&b);
}

static struct str titled(struct arena *a, struct str title, struct str text) {
  if (str_empty(title) || str_starts(text, title))
    return text;
  return arena_printf(a, "%.*s\n\n%.*s", STR_ARG(title), STR_ARG(text));
}

static enum status read_doc(struct reader *r, struct arena *scratch, struct str line) {
  struct eval_doc d = {0};
  yyjson_val *obj = NULL;
  TRY(parse(r, scratch, line, &obj));
  TRY(take_id(r, scratch, obj, &r->docs, &d.id));
  yyjson_val *turns = yyjson_obj_get(obj, "turns"), *meta = yyjson_obj_get(obj, "meta");
  struct str text = yyjson_is_arr(turns) ? transcript(scratch, turns) : json_str(obj, "text");
  if (!text.p)
    return bad_line(r, "neither \"text\" nor \"turns\"");
  d.text = keep(r, titled(scratch, json_str(obj, "title"), text));
  d.group = keep(r, json_str(obj, "group"));
  d.at = time_of(yyjson_obj_get(meta, "date"));
  struct str session = text_of(scratch, yyjson_obj_get(meta, "session"));
  if (session.p && yyjson_obj_get(meta, "speaker"))
    d.session = keep(r, arena_printf(scratch, "%.*s/%.*s", STR_ARG(d.group), STR_ARG(session)));
  names_put(&r->docs, d.id, r->set->docs.n);
  list_push(r->a, &r->set->docs, d);
  return STATUS_OK;
}

/* ---- queries ---- */

static enum status read_query(struct reader *r, struct arena *scratch, struct str line) {
  struct eval_query q = {.own = SIZE_MAX};
  struct asked asked = {0};
  yyjson_val *obj = NULL, *c;
  size_t i, n;
  TRY(parse(r, scratch, line, &obj));
  TRY(take_id(r, scratch, obj, &r->queries, &q.id));
  if (!json_str(obj, "text").p)
    return bad_line(r, "no \"text\"");
  yyjson_val *meta = yyjson_obj_get(obj, "meta"), *dates = yyjson_obj_get(meta, "dates");
  q.text = keep(r, json_str(obj, "text"));
  struct str type = json_str(meta, "type");
  q.type = type.p ? keep(r, type) : STR_NONE;
  q.at = time_of(yyjson_obj_get(meta, "date"));
  q.own = names_get(&r->docs, q.id);
  asked.group = keep(r, json_str(obj, "group"));
  yyjson_arr_foreach(yyjson_obj_get(obj, "cand"), i, n, c) {
    struct str id = text_of(scratch, c);
    if (names_get(&r->docs, id) == SIZE_MAX)
      return bad_line(r, arena_printf(scratch, "candidate '%.*s' is not in the corpus", STR_ARG(id)).p);
    strs_push(r->a, &asked.cand, keep(r, id));
    list_push(r->a, &asked.at, time_of(yyjson_obj_getn(dates, id.p, id.n)));
  }
  names_put(&r->queries, q.id, r->set->queries.n);
  list_push(r->a, &r->set->queries, q);
  list_push(r->a, &r->asked, asked);
  return STATUS_OK;
}

/* ---- judgements ---- */

static enum status read_rel(struct reader *r, struct arena *scratch, struct str line) {
  struct str query, doc, rest = line;
  double score;
  if (!str_next(&rest, '\t', &query) || !str_next(&rest, '\t', &doc) || str_empty(rest))
    return bad_line(r, "not three columns: query, document, score");
  if (!str_double(str_trim(rest), &score)) /* only the header line may have no number */
    return r->line == 1 ? STATUS_OK : bad_line(r, "the score is not a number");
  size_t q = names_get(&r->queries, query), d = names_get(&r->docs, doc);
  if (q == SIZE_MAX)
    return bad_line(r, arena_printf(scratch, "query '%.*s' is not in queries.jsonl", STR_ARG(query)).p);
  if (d == SIZE_MAX)
    return bad_line(r, arena_printf(scratch, "document '%.*s' is not in corpus.jsonl", STR_ARG(doc)).p);
  struct eval_query *v = &r->set->queries.v[q];
  for (size_t i = 0; i < v->rels.n; i++)
    if (v->rels.v[i].doc == d)
      return bad_line(r, "this pair was judged already");
  if (score > 0 && d != v->own)
    list_push(r->a, &v->rels, (struct eval_rel){d, score});
  return STATUS_OK;
}

/* Drops queries without a relevant document, and those beyond the limit. */
static void keep_judged(struct reader *r, size_t limit) {
  struct eval_set *set = r->set;
  size_t n = 0;
  assert(r->asked.n == set->queries.n);
  for (size_t i = 0; i < set->queries.n; i++) {
    if (!set->queries.v[i].rels.n) {
      set->unjudged++;
      continue;
    }
    if (limit && n == limit)
      continue;
    r->asked.v[n] = r->asked.v[i];
    set->queries.v[n++] = set->queries.v[i];
  }
  set->queries.n = n;
}

/* ---- groups ---- */

static int by_doc(const void *x, const void *y) {
  const struct eval_entry *a = x, *b = y;
  return (a->doc > b->doc) - (a->doc < b->doc);
}

static int by_time(const void *x, const void *y) {
  const struct eval_entry *a = x, *b = y;
  return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : by_doc(x, y);
}

static void add_candidates(struct reader *r, const struct asked *asked, struct eval_group *g) {
  for (size_t i = 0; i < asked->cand.n; i++) {
    size_t doc = names_get(&r->docs, asked->cand.v[i]);
    assert(doc < r->set->docs.n);
    int64_t at = asked->at.v[i] ? asked->at.v[i] : r->set->docs.v[doc].at;
    list_push(r->a, &g->entries, (struct eval_entry){doc, at});
  }
  qsort(g->entries.v, g->entries.n, sizeof(*g->entries.v), by_doc);
  size_t n = 0;
  for (size_t i = 0; i < g->entries.n; i++)
    if (i == 0 || g->entries.v[i].doc != g->entries.v[i - 1].doc)
      g->entries.v[n++] = g->entries.v[i];
  g->entries.n = n;
}

static void add_members(struct reader *r, struct str group, struct eval_group *g) {
  for (size_t i = 0; i < r->set->docs.n; i++)
    if (str_empty(group) || str_eq(r->set->docs.v[i].group, group))
      list_push(r->a, &g->entries, (struct eval_entry){i, r->set->docs.v[i].at});
}

/* Sorts by time, unless the time of some document is unknown. */
static void settle_times(struct eval_group *g) {
  bool all = true;
  for (size_t i = 0; i < g->entries.n; i++) {
    all &= g->entries.v[i].at != 0;
    g->newest = g->entries.v[i].at > g->newest ? g->entries.v[i].at : g->newest;
  }
  for (size_t i = 0; i < g->entries.n; i++)
    if (!g->entries.v[i].at)
      g->entries.v[i].at = g->newest;
  if (all && g->entries.n)
    qsort(g->entries.v, g->entries.n, sizeof(*g->entries.v), by_time);
}

/* Queries with the same candidates share a group. */
static struct str key_of(struct reader *r, const struct asked *asked, const struct eval_group *g) {
  struct buf key = BUF(r->a);
  if (!asked->cand.n)
    buf_addf(&key, "group %.*s", STR_ARG(asked->group));
  for (size_t i = 0; asked->cand.n && i < g->entries.n; i++)
    buf_addf(&key, "%zu ", g->entries.v[i].doc);
  return buf_str(&key);
}

static void make_groups(struct reader *r) {
  struct eval_set *set = r->set;
  for (size_t i = 0; i < set->queries.n; i++) {
    const struct asked *asked = &r->asked.v[i];
    struct eval_group g = {.name = asked->group};
    if (asked->cand.n)
      add_candidates(r, asked, &g);
    struct str key = key_of(r, asked, &g);
    size_t at = names_get(&r->groups, key);
    if (at == SIZE_MAX) {
      if (!asked->cand.n)
        add_members(r, asked->group, &g);
      settle_times(&g);
      at = set->groups.n;
      list_push(r->a, &set->groups, g);
      names_put(&r->groups, key, at);
    }
    set->queries.v[i].group = at;
    list_push(r->a, &set->groups.v[at].queries, i);
  }
}

enum status eval_set_read(struct op_call *call, struct str path, size_t limit, struct eval_set *ret_set) {
  struct arena *a = call->arena;
  struct reader *r = arena_new(a, struct reader);
  *r = (struct reader){
      .call = call, .set = arena_new(a, struct eval_set), .a = a, .docs.a = a, .queries.a = a, .groups.a = a};
  r->set->path = path;
  TRY(read_lines(r, "corpus.jsonl", read_doc));
  TRY(read_lines(r, "queries.jsonl", read_query));
  TRY(read_lines(r, "qrels.tsv", read_rel));
  keep_judged(r, limit);
  make_groups(r);
  if (!r->set->queries.n) {
    error_set(call->err, STATUS_USAGE, "%.*s: no query has a relevant document", STR_ARG(path));
    return error_fix(call->err, "qrels.tsv names them: query, document, score above 0");
  }
  *ret_set = *r->set;
  return STATUS_OK;
}
