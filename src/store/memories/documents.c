/* documents.c: rows of documents, written one group at a time, and their locations. */
#include "store/memories/documents.h"

#include <assert.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/utf8.h"
#include "core/memory/chunk.h"
#include "core/memory/headline.h"
#include "core/memory/types.h"
#include "core/text/terms.h"
#include "core/trust/suspect.h"
#include "store/search/lexical.h"
#include "store/store_internal.h"

enum {
  PATH_MAX_BYTES = 1500, /* fits into an index of every engine, with the other columns of the key */
  REF_MAX_BYTES = 300,
  BULK_FROM = 8, /* from this many new texts on, filling the full-text index once is faster */
};

const char *const corpus_names[CORPUS_COUNT] = {"memory", "items", "sessions", "sources"};

bool corpus_parse(struct str name, enum corpus *ret_corpus) {
  for (enum corpus c = 0; c < CORPUS_COUNT; c++)
    if (str_is(name, corpus_names[c])) {
      *ret_corpus = c;
      return true;
    }
  return false;
}

/* One call that writes a group. */
struct work {
  struct txn *txn;
  struct arena *a;
  enum corpus number;
  struct str corpus, project; /* "" if the transaction has no project */
  const struct document_group *group;
  struct error *err;
};

static struct str text_or_empty(struct str text) { return text.p ? text : STR(""); }

static struct work work_start(struct txn *txn, struct arena *a, enum corpus corpus, const struct document_group *group,
                              struct error *err) {
  assert(corpus > CORPUS_MEMORY && corpus < CORPUS_COUNT && db_in_transaction(txn->store->db));
  return (struct work){
      txn, a, corpus, str_from(corpus_names[corpus]), text_or_empty(txn->project), group, err,
  };
}

static enum status check_group(const struct work *w) {
  if (!str_empty(w->group->path) && w->group->path.n <= PATH_MAX_BYTES)
    return reach_check_write(w->txn->store, w->project, "documents of", w->err);
  error_set(w->err, STATUS_USAGE, "a path of %zu bytes cannot be indexed", w->group->path.n);
  return error_fix(w->err, "paths have at most %d bytes: index a folder further down", (int)PATH_MAX_BYTES);
}

/* ---- one document ---- */

/* Valid UTF-8 without NULs, as the schema requires. */
static struct str clean(struct arena *a, struct str text) {
  if (str_empty(text) || (utf8_check(text) == text.n && !memchr(text.p, 0, text.n)))
    return text_or_empty(text);
  struct buf b = BUF(a);
  for (size_t pos = 0; pos < text.n;) {
    char out[4];
    uint32_t cp = utf8_next(text, &pos);
    size_t n = utf8_put(cp ? cp : ' ', out);
    buf_add(&b, (struct str){out, n});
  }
  return buf_str(&b);
}

/* A document prepared for storage. */
struct entry {
  const struct document *d;
  struct str ref, headline, text;
  const char *type, *kind, *severity; /* severity NULL: none */
  char hash[HASH_TEXT_SIZE];
  size_t order;
  bool skip;               /* stored already, or blank */
  const struct old *moved; /* stored row with the same text under another ref */
};

static void set_type(struct entry *e) {
  const struct mem_type *t = type_find(e->d->type);
  e->severity = t ? t->severity : NULL;
  if (t && t->stored_as)
    t = type_find(str_from(t->stored_as));
  if (!t)
    t = type_of_prose();
  e->type = t->name;
  e->kind = kind_names[t->kind];
  if (t->kind != KIND_RULE)
    e->severity = NULL;
  else if (!e->severity || str_is(str_from(e->severity), "deprecated"))
    e->severity = "pattern";
}

static void set_headline(struct entry *e, struct arena *a, struct str path) {
  e->headline = headline_cut(a, clean(a, e->d->headline));
  if (str_empty(e->headline))
    e->headline = headline_derive(a, e->text);
  if (str_empty(e->headline))
    e->headline = headline_cut(a, path);
  if (str_empty(e->headline))
    e->headline = STR("untitled");
}

static void set_hash(struct entry *e, struct arena *a) {
  struct buf b = BUF(a);
  const struct str parts[] = {str_from(e->type), e->headline, e->d->session, e->text};
  for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
    buf_add(&b, parts[i]);
    buf_addc(&b, 0);
  }
  hash_text(buf_str(&b), e->hash);
}

static struct entry entry_make(const struct work *w, const struct document *d, size_t order) {
  struct entry e = {.d = d, .order = order, .text = clean(w->a, d->text)};
  e.ref = utf8_cut(clean(w->a, d->ref), REF_MAX_BYTES);
  e.skip = str_empty(str_trim(e.text));
  set_type(&e);
  set_headline(&e, w->a, w->group->path);
  set_hash(&e, w->a);
  return e;
}

static double confidence_of(const struct document *d) {
  return d->confidence > 1 ? 1 : d->confidence > 0 ? d->confidence : 0;
}
static int64_t line_of(const struct document *d) { return d->line > 0 ? d->line : 0; }

static enum status insert_memory(const struct work *w, const struct entry *e, int64_t *ret_id) {
  const struct txn *t = w->txn;
  char uid[UUID_SIZE];
  bool task = str_is(str_from(e->kind), "task");
  int64_t at = e->d->at > 0 ? e->d->at : t->now;
  uuid7_new(t->now, uid);
  TRY(store_check_type(t->store, str_from(e->type), str_from(e->kind), w->err));
  return db_int(t->store->db, ret_id, NULL, w->err,
                "INSERT INTO memory (uid, team, project, kind, type, severity, headline, trust, valid_from, created_at,"
                " updated_at, status, priority, source, session, corpus, suspect) VALUES"
                " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) RETURNING id",
                "ssssssssiissssss", str_from(uid), t->team, w->project, str_from(e->kind), str_from(e->type),
                e->severity ? str_from(e->severity) : STR_NONE, e->headline,
                w->number == CORPUS_ITEMS ? STR("extraction") : STR("import"), at, t->now,
                task ? STR("open") : STR_NONE, task ? STR("medium") : STR_NONE, t->source,
                str_empty(e->d->session) ? STR_NONE : e->d->session, w->corpus, suspect_text(w->a, e->text));
}

static enum status insert_place(const struct work *w, const struct entry *e, int64_t id) {
  return db_exec(w->txn->store->db, w->err,
                 "INSERT INTO document (memory_id, team, corpus, project, path, ref, line, confidence, hash)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                 "isssssids", id, w->txn->team, w->corpus, w->project, w->group->path, e->ref, line_of(e->d),
                 confidence_of(e->d), str_from(e->hash));
}

/* A file's path is indexed with its first chunk. A session's path is not: it says nothing about the text. */
static enum status insert_chunks(const struct work *w, const struct entry *e, int64_t id) {
  struct chunks parts = {0};
  chunk_split(w->a, e->text, &parts);
  for (size_t i = 0; i < parts.n; i++) {
    struct str body = {e->text.p + parts.v[i].start, parts.v[i].len};
    struct str extra = i == 0 && w->number != CORPUS_SESSIONS ? w->group->path : STR("");
    char hash[HASH_TEXT_SIZE];
    int64_t chunk;
    hash_text(body, hash);
    struct chunk_text text = {.team = w->txn->team,
                              .memory_id = id,
                              .seq = (int64_t)i,
                              .hash = str_from(hash),
                              .headline = e->headline,
                              .body = body,
                              .extra = extra,
                              .terms = terms_of_text(w->a, w->corpus, w->project, e->headline, body, extra)};
    TRY(lexical_add(w->txn, w->a, &text, &chunk, w->err));
  }
  return STATUS_OK;
}

static enum status insert(const struct work *w, const struct entry *e) {
  int64_t id;
  char hash[HASH_TEXT_SIZE];
  TRY(insert_memory(w, e, &id));
  body_hash(w->a, e->text, hash);
  TRY(db_exec(w->txn->store->db, w->err, "INSERT INTO body (memory_id, team, text, hash) VALUES (?1, ?2, ?3, ?4)",
              "isss", id, w->txn->team, e->text, str_from(hash)));
  TRY(insert_place(w, e, id));
  return insert_chunks(w, e, id);
}

static enum status insert_all(const struct work *w, const struct entry *entries, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!entries[i].skip)
      TRY(insert(w, &entries[i]));
  return STATUS_OK;
}

/* True if a caller that writes many groups has already called lexical_hold(). */
static enum status is_held(const struct work *w, bool *ret_held) {
  int64_t one;
  struct store *st = w->txn->store;
  if (db_engine(st->db) == DB_SQLITE)
    return db_int(st->db, &one, ret_held, w->err, "SELECT 1 FROM meta WHERE name = 'full_text_held'", NULL);
  *ret_held = st->held_by && st->held_by == w->txn->id;
  return STATUS_OK;
}

static enum status insert_new(const struct work *w, const struct entry *entries, size_t n) {
  size_t fresh = 0;
  bool held = true;
  for (size_t i = 0; i < n; i++)
    fresh += !entries[i].skip;
  if (fresh >= BULK_FROM)
    TRY(is_held(w, &held));
  if (held)
    return insert_all(w, entries, n);
  /* A failure rolls the transaction back, and the hold with it. */
  TRY(lexical_hold(w->txn, w->err));
  TRY(insert_all(w, entries, n));
  return lexical_release(w->txn, w->err);
}

static enum status delete_one(const struct work *w, int64_t id) {
  struct db *db = w->txn->store->db;
  TRY(vec_remove(w->txn, id, w->err));
  /* Delete chunks explicitly: the triggers of the full-text index do not fire on cascades. */
  TRY(db_exec(db, w->err, "DELETE FROM chunk WHERE team = ?1 AND memory_id = ?2", "si", w->txn->team, id));
  return db_exec(db, w->err, "DELETE FROM memory WHERE team = ?1 AND id = ?2", "si", w->txn->team, id);
}

/* ---- a group ---- */

static enum status save_group(const struct work *w) {
  const struct document_group *g = w->group;
  return db_exec(w->txn->store->db, w->err,
                 "INSERT INTO document_group (team, corpus, project, path, hash, size, changed_at)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (team, corpus, project, path)"
                 " DO UPDATE SET hash = excluded.hash, size = excluded.size, changed_at = excluded.changed_at",
                 "sssssii", w->txn->team, w->corpus, w->project, g->path, text_or_empty(g->hash),
                 g->size > 0 ? g->size : 0, g->changed_at);
}

/* A stored document of the group. */
struct old {
  int64_t id, line;
  struct str ref, hash;
  double confidence;
  bool kept;
};
struct olds {
  struct old *v;
  size_t n, cap;
};

static enum status load_group(const struct work *w, struct olds *ret) {
  struct rows r;
  db_query(w->txn->store->db, &r, w->err,
           "SELECT memory_id, line, ref, hash, confidence FROM document"
           " WHERE team = ?1 AND corpus = ?2 AND project = ?3 AND path = ?4 ORDER BY memory_id",
           "ssss", w->txn->team, w->corpus, w->project, w->group->path);
  while (rows_next(&r)) {
    struct old o = {.id = rows_int(&r, 0),
                    .line = rows_int(&r, 1),
                    .ref = rows_dup(&r, 2, w->a),
                    .hash = rows_dup(&r, 3, w->a),
                    .confidence = rows_real(&r, 4)};
    list_push(w->a, ret, o);
  }
  return rows_end(&r);
}

static int by_ref(const void *x, const void *y) {
  const struct old *a = *(struct old *const *)x, *b = *(struct old *const *)y;
  return str_cmp(a->ref, b->ref);
}
static int by_hash(const void *x, const void *y) {
  const struct old *a = *(struct old *const *)x, *b = *(struct old *const *)y;
  int order = str_cmp(a->hash, b->hash);
  return order ? order : (a->id > b->id) - (a->id < b->id);
}
static int entry_by_ref(const void *x, const void *y) {
  const struct entry *a = *(struct entry *const *)x, *b = *(struct entry *const *)y;
  int order = str_cmp(a->ref, b->ref);
  return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* The stored documents, sorted by ref or by hash. */
struct index {
  struct old **v;
  size_t n;
};

static struct index index_build(struct arena *a, struct olds *list, int (*order)(const void *, const void *)) {
  struct index x = {arena_array(a, struct old *, list->n + 1), list->n};
  for (size_t i = 0; i < list->n; i++)
    x.v[i] = &list->v[i];
  if (x.n)
    qsort(x.v, x.n, sizeof(struct old *), order);
  return x;
}

/* Lower bound: position of the first document whose ref (or hash) is not less than the key. */
static size_t lower_bound(const struct index *x, struct str key, bool ref) {
  size_t low = 0, high = x->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (str_cmp(ref ? x->v[mid]->ref : x->v[mid]->hash, key) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static struct old *find_ref(const struct index *refs, struct str ref) {
  size_t i = lower_bound(refs, ref, true);
  return i < refs->n && str_eq(refs->v[i]->ref, ref) ? refs->v[i] : NULL;
}

/* A document with the same text that no entry has claimed yet. */
static struct old *find_hash(const struct index *hashes, struct str hash) {
  for (size_t i = lower_bound(hashes, hash, false); i < hashes->n && str_eq(hashes->v[i]->hash, hash); i++)
    if (!hashes->v[i]->kept)
      return hashes->v[i];
  return NULL;
}

/* Keeps the first entry of each ref. */
static void skip_duplicates(struct arena *a, struct entry *entries, size_t n) {
  struct entry **sorted = arena_array(a, struct entry *, n + 1);
  for (size_t i = 0; i < n; i++)
    sorted[i] = &entries[i];
  if (n)
    qsort(sorted, n, sizeof(*sorted), entry_by_ref);
  const struct entry *first = NULL;
  for (size_t i = 0; i < n; i++) {
    if (sorted[i]->skip)
      continue;
    if (first && str_eq(first->ref, sorted[i]->ref))
      sorted[i]->skip = true;
    else
      first = sorted[i];
  }
}

static struct entry *entries_make(const struct work *w, const struct documents *list) {
  struct entry *entries = arena_array(w->a, struct entry, list->n + 1);
  for (size_t i = 0; i < list->n; i++)
    entries[i] = entry_make(w, &list->v[i], i);
  skip_duplicates(w->a, entries, list->n);
  return entries;
}

static enum status update_place(const struct work *w, const struct entry *e, const struct old *o) {
  if (o->line == line_of(e->d) && o->confidence == confidence_of(e->d))
    return STATUS_OK;
  return db_exec(w->txn->store->db, w->err,
                 "UPDATE document SET line = ?1, confidence = ?2 WHERE team = ?3 AND memory_id = ?4", "idsi",
                 line_of(e->d), confidence_of(e->d), w->txn->team, o->id);
}

/* Matches entries with stored documents: first by ref and text, then by text under another ref. */
static enum status match(const struct work *w, struct olds *olds, struct entry *entries, size_t n,
                         struct document_counts *counts) {
  struct index refs = index_build(w->a, olds, by_ref), hashes = index_build(w->a, olds, by_hash);
  for (size_t i = 0; i < n; i++) {
    struct old *o = entries[i].skip ? NULL : find_ref(&refs, entries[i].ref);
    if (!o || !str_is(o->hash, entries[i].hash))
      continue;
    o->kept = entries[i].skip = true;
    counts->same++;
    TRY(update_place(w, &entries[i], o));
  }
  for (size_t i = 0; i < n; i++) {
    struct old *o = entries[i].skip ? NULL : find_hash(&hashes, str_from(entries[i].hash));
    if (!o)
      continue;
    o->kept = entries[i].skip = true;
    entries[i].moved = o;
    counts->same++;
  }
  for (size_t i = 0; i < n; i++)
    if (!entries[i].skip) {
      const struct old *o = find_ref(&refs, entries[i].ref);
      counts->changed += o && !o->kept;
      counts->added += !o || o->kept;
      counts->removed -= o && !o->kept; /* delete_gone() counts it */
    }
  return STATUS_OK;
}

static enum status delete_gone(const struct work *w, const struct olds *olds, struct document_counts *counts) {
  for (size_t i = 0; i < olds->n; i++)
    if (!olds->v[i].kept) {
      counts->removed++;
      TRY(delete_one(w, olds->v[i].id));
    }
  return STATUS_OK;
}

/* Deletes all old places before inserting new ones: refs may swap. */
static enum status move_refs(const struct work *w, const struct entry *entries, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (entries[i].moved)
      TRY(db_exec(w->txn->store->db, w->err, "DELETE FROM document WHERE team = ?1 AND memory_id = ?2", "si",
                  w->txn->team, entries[i].moved->id));
  for (size_t i = 0; i < n; i++)
    if (entries[i].moved)
      TRY(insert_place(w, &entries[i], entries[i].moved->id));
  return STATUS_OK;
}

enum status documents_replace(struct txn *txn, struct arena *a, enum corpus corpus, const struct document_group *group,
                              const struct documents *list, struct document_counts *counts, struct error *err) {
  struct work w = work_start(txn, a, corpus, group, err);
  struct olds olds = {0};
  TRY(check_group(&w));
  TRY(load_group(&w, &olds));
  struct entry *entries = entries_make(&w, list);
  TRY(match(&w, &olds, entries, list->n, counts));
  TRY(delete_gone(&w, &olds, counts));
  TRY(move_refs(&w, entries, list->n));
  TRY(insert_new(&w, entries, list->n));
  return save_group(&w);
}

/* Looks up each ref: a growing group is never loaded completely. */
static enum status skip_known(const struct work *w, struct entry *entries, size_t n, struct document_counts *counts) {
  for (size_t i = 0; i < n; i++) {
    int64_t one;
    bool there = false;
    if (entries[i].skip)
      continue;
    TRY(db_int(w->txn->store->db, &one, &there, w->err,
               "SELECT 1 FROM document WHERE team = ?1 AND corpus = ?2 AND project = ?3 AND path = ?4 AND ref = ?5",
               "sssss", w->txn->team, w->corpus, w->project, w->group->path, entries[i].ref));
    entries[i].skip = there;
    counts->same += there;
    counts->added += !there;
  }
  return STATUS_OK;
}

enum status documents_append(struct txn *txn, struct arena *a, enum corpus corpus, const struct document_group *group,
                             const struct documents *list, struct document_counts *counts, struct error *err) {
  struct work w = work_start(txn, a, corpus, group, err);
  TRY(check_group(&w));
  struct entry *entries = entries_make(&w, list);
  TRY(skip_known(&w, entries, list->n, counts));
  TRY(insert_new(&w, entries, list->n));
  return save_group(&w);
}

enum status documents_remove(struct txn *txn, struct arena *a, enum corpus corpus, struct str path,
                             struct document_counts *counts, struct error *err) {
  struct document_group group = {.path = path};
  struct work w = work_start(txn, a, corpus, &group, err);
  struct olds olds = {0};
  TRY(check_group(&w));
  TRY(load_group(&w, &olds));
  TRY(delete_gone(&w, &olds, counts));
  return db_exec(txn->store->db, err,
                 "DELETE FROM document_group WHERE team = ?1 AND corpus = ?2 AND project = ?3 AND path = ?4", "ssss",
                 txn->team, w.corpus, w.project, path);
}

enum status documents_groups(struct store *st, struct str team, struct str project, enum corpus corpus, struct arena *a,
                             struct document_groups *ret_groups, struct error *err) {
  struct rows r;
  struct reach reach = store_reach(st);
  if (!reach_can_read(&reach, text_or_empty(project)))
    return STATUS_OK;
  db_query(st->db, &r, err,
           "SELECT path, hash, size, changed_at FROM document_group WHERE team = ?1 AND corpus = ?2 AND project = ?3"
           " ORDER BY path",
           "sss", team, str_from(corpus_names[corpus]), text_or_empty(project));
  while (rows_next(&r)) {
    struct document_group g = {
        .path = rows_dup(&r, 0, a), .hash = rows_dup(&r, 1, a), .size = rows_int(&r, 2), .changed_at = rows_int(&r, 3)};
    list_push(a, ret_groups, g);
  }
  return rows_end(&r);
}

static int by_path(const void *x, const void *y) {
  return str_cmp(((const struct document_group *)x)->path, ((const struct document_group *)y)->path);
}

const struct document_group *document_group_find(const struct document_groups *groups, struct str path) {
  struct document_group key = {.path = path};
  return groups->n ? bsearch(&key, groups->v, groups->n, sizeof(key), by_path) : NULL;
}

/* ---- places ---- */

static enum status some_places(struct store *st, struct str team, const int64_t *ids, size_t n, struct arena *a,
                               struct document_place *ret, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT memory_id, corpus, path, ref, line, confidence FROM document WHERE team = ");
  sql_text(&q, team);
  sql_add(&q, " AND memory_id IN ");
  sql_ids(&q, ids, n);
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r)) {
    struct document_place p = {
        .path = rows_dup(&r, 2, a), .ref = rows_dup(&r, 3, a), .line = rows_int(&r, 4), .confidence = rows_real(&r, 5)};
    bool known = corpus_parse(rows_text(&r, 1), &p.corpus);
    for (size_t i = 0; known && i < n; i++)
      if (ids[i] == rows_int(&r, 0))
        ret[i] = p;
  }
  return rows_end(&r);
}

enum status documents_places(struct store *st, struct str team, const int64_t *memory_ids, size_t n, struct arena *a,
                             struct document_place *ret_places, struct error *err) {
  for (size_t i = 0; i < n; i++)
    ret_places[i] = (struct document_place){.corpus = CORPUS_MEMORY};
  for (size_t at = 0; at < n; at += SQL_IDS)
    TRY(some_places(st, team, memory_ids + at, n - at < SQL_IDS ? n - at : SQL_IDS, a, ret_places + at, err));
  return STATUS_OK;
}

/* ---- folders indexed as sources ---- */

enum status source_root_add(struct txn *txn, struct str path, struct error *err) {
  TRY(reach_check_write(txn->store, txn->project, "a source in", err));
  return db_exec(txn->store->db, err,
                 "INSERT INTO source_root (team, project, path, added_at) VALUES (?1, ?2, ?3, ?4)"
                 " ON CONFLICT (team, project, path) DO NOTHING",
                 "sssi", txn->team, text_or_empty(txn->project), path, txn->now);
}

enum status source_root_remove(struct txn *txn, struct str path, bool *ret_found, struct error *err) {
  struct str project = text_or_empty(txn->project);
  int64_t one;
  bool found = false;
  TRY(reach_check_write(txn->store, txn->project, "a source in", err));
  TRY(db_int(txn->store->db, &one, &found, err,
             "SELECT 1 FROM source_root WHERE team = ?1 AND project = ?2 AND path = ?3", "sss", txn->team, project,
             path));
  if (found)
    TRY(db_exec(txn->store->db, err, "DELETE FROM source_root WHERE team = ?1 AND project = ?2 AND path = ?3", "sss",
                txn->team, project, path));
  *ret_found = found;
  return STATUS_OK;
}

enum status source_roots(struct store *st, struct str team, struct str project, struct arena *a,
                         struct source_roots *ret_roots, struct error *err) {
  struct rows r;
  struct reach reach = store_reach(st);
  if (!reach_can_read(&reach, text_or_empty(project)))
    return STATUS_OK;
  db_query(st->db, &r, err, "SELECT path, added_at FROM source_root WHERE team = ?1 AND project = ?2 ORDER BY path",
           "ss", team, text_or_empty(project));
  while (rows_next(&r))
    list_push(a, ret_roots, (struct source_root){.path = rows_dup(&r, 0, a), .added_at = rows_int(&r, 1)});
  return rows_end(&r);
}

enum status source_roots_all(struct store *st, struct str team, struct arena *a, struct source_roots *ret_roots,
                             struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT project, path, added_at FROM source_root WHERE team = ?1 ORDER BY project, path",
           "s", team);
  while (rows_next(&r))
    list_push(
        a, ret_roots,
        (struct source_root){.project = rows_dup(&r, 0, a), .path = rows_dup(&r, 1, a), .added_at = rows_int(&r, 2)});
  return rows_end(&r);
}

enum status source_root_paths(struct store *st, struct str team, struct arena *a, struct strs *ret_paths,
                              struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT DISTINCT path FROM source_root WHERE team = ?1 ORDER BY path", "s", team);
  while (rows_next(&r))
    strs_push(a, ret_paths, rows_dup(&r, 0, a));
  return rows_end(&r);
}

/* ---- stored items ---- */

static int by_place(const void *x, const void *y) {
  const struct stored_item *a = x, *b = y;
  int order = str_cmp(a->path, b->path);
  if (order == 0)
    order = (a->line > b->line) - (a->line < b->line);
  return order ? order : str_cmp(a->id, b->id);
}

enum status items_stored(struct store *st, struct str team, struct str project, struct arena *a,
                         struct stored_items *ret_items, struct error *err) {
  struct stored_items list = {0};
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT d.ref, m.type, m.headline, b.text, d.path, d.line, m.created_at, d.confidence FROM document d"
           " JOIN memory m ON m.team = d.team AND m.id = d.memory_id"
           " JOIN body b ON b.team = d.team AND b.memory_id = d.memory_id"
           " WHERE d.team = ?1 AND d.corpus = ?2 AND d.project = ?3",
           "sss", team, str_from(corpus_names[CORPUS_ITEMS]), text_or_empty(project));
  while (rows_next(&r)) {
    struct stored_item item = {.id = rows_dup(&r, 0, a),
                               .type = rows_dup(&r, 1, a),
                               .title = rows_dup(&r, 2, a),
                               .content = rows_dup(&r, 3, a),
                               .path = rows_dup(&r, 4, a),
                               .line = rows_int(&r, 5),
                               .at = rows_int(&r, 6),
                               .confidence = rows_real(&r, 7)};
    list_push(a, &list, item);
  }
  TRY(rows_end(&r));
  /* Sorted here: PostgreSQL would sort by locale. */
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_place);
  *ret_items = list;
  return STATUS_OK;
}
