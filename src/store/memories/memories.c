/* memories.c: inserting, changing, deleting and purging rows of memories, each with its event. */
#include "store/memories/memories.h"

#include <assert.h>
#include <stdio.h>

#include "base/id.h"
#include "core/memory/types.h"
#include "core/text/terms.h"
#include "core/text/text.h"
#include "store/memories/lifecycle.h"
#include "store/memories/links.h"
#include "store/search/lexical.h"
#include "store/store_internal.h"
#include "store/tables/events.h"
#include "store/vectors/embed_cache.h"
#include "transcript/store/neighbours.h"

static void bind_field(struct sql *q, const struct field *f, const struct memory *m) {
  const void *at = field_at(m, f->offset);
  switch (f->form) {
  case FIELD_TEXT:
    sql_text(q, *(const struct str *)at);
    break;
  case FIELD_REAL:
    sql_real(q, *(const double *)at);
    break;
  default:
    if (f->flags & FIELD_NULL)
      sql_time(q, *(const int64_t *)at);
    else
      sql_int(q, *(const int64_t *)at);
  }
}

/* ---- insert ---- */

void body_hash(struct arena *a, struct str body, char out[65]) { hash_text(text_normal(a, body), out); }

struct str memory_body_hash(struct arena *a, const struct memory *m) {
  if (m->body_hash.p)
    return m->body_hash;
  char *hash = arena_alloc(a, HASH_TEXT_SIZE);
  body_hash(a, m->body, hash);
  return str_from(hash);
}

/* A row without an id gets the next free one. */
static enum status insert_row(struct txn *txn, struct arena *a, struct memory *m, struct error *err) {
  struct sql q = SQL(a);
  if (str_empty(m->corpus))
    m->corpus = STR("memory");
  size_t first = m->id ? 0 : 1;
  sql_add(&q, "INSERT INTO memory (");
  for (size_t i = first; i < memory_field_count; i++) {
    sql_add(&q, i > first ? ", " : "");
    sql_add(&q, memory_fields[i].name);
  }
  sql_add(&q, ") VALUES (");
  for (size_t i = first; i < memory_field_count; i++) {
    sql_add(&q, i > first ? ", " : "");
    bind_field(&q, &memory_fields[i], m);
  }
  sql_add(&q, ") RETURNING id");
  return db_int_sql(txn->store->db, &m->id, NULL, err, &q);
}

static enum status insert_lists(struct txn *txn, const struct memory *m, struct error *err) {
  for (size_t i = 0; i < memory_list_count; i++)
    for (size_t k = 0; k < list_at(m, i)->n; k++)
      TRY(db_exec(txn->store->db, err,
                  "INSERT INTO label (team, memory_id, field, pos, value) VALUES (?1, ?2, ?3, ?4, ?5)", "sisis",
                  m->team, m->id, str_from(memory_lists[i].name), (int64_t)k, list_at(m, i)->v[k]));
  return STATUS_OK;
}

/* Key, tags, notes and reasons: indexed with the first chunk. */
static struct str extra_text(struct arena *a, const struct memory *m, const struct notes *notes,
                             const struct strs *reasons) {
  struct buf b = BUF(a);
  buf_add(&b, m->key);
  for (size_t i = 0; i < m->tags.n; i++)
    buf_addf(&b, " %.*s", STR_ARG(m->tags.v[i]));
  for (size_t i = 0; notes && i < notes->n; i++)
    buf_addf(&b, "\n%.*s", STR_ARG(notes->v[i].text));
  for (size_t i = 0; reasons && i < reasons->n; i++)
    buf_addf(&b, "\n%.*s", STR_ARG(reasons->v[i]));
  return buf_str(&b);
}

struct chunk_text memory_chunk_text(struct arena *a, const struct memory *m, const struct chunks *parts, size_t i) {
  assert(i < parts->n && parts->v[i].start + parts->v[i].len <= m->body.n);
  struct str body = {m->body.p + parts->v[i].start, parts->v[i].len};
  struct str extra = i == 0 ? extra_text(a, m, NULL, NULL) : STR("");
  char *hash = arena_alloc(a, HASH_TEXT_SIZE);
  hash_text(body, hash);
  return (struct chunk_text){.team = m->team,
                             .memory_id = m->id,
                             .seq = (int64_t)i,
                             .hash = str_from(hash),
                             .headline = m->headline,
                             .body = body,
                             .extra = extra,
                             .terms = terms_of_chunk(a, m->project, m->headline, body, extra)};
}

static enum status insert_chunk(struct txn *txn, struct arena *a, const struct chunk_text *text, struct chunk_rows *ret,
                                struct error *err) {
  struct chunk_row row = {.headline = text->headline, .body = text->body, .extra = text->extra};
  TRY(lexical_add(txn, a, text, &row.id, err));
  list_push(a, ret, row);
  return STATUS_OK;
}

/* A memory whose later chunks are still to be indexed has a row among the settings. It is not settable: `cairn config`
 * knows only those of its table. Like them it is copied with the store and deleted with the team. */
#define UNINDEXED "unindexed."

static struct str unindexed_name(struct arena *a, int64_t id) {
  return arena_printf(a, UNINDEXED "%lld", (long long)id);
}

static enum status set_unindexed(struct txn *txn, struct arena *a, const struct memory *m, struct error *err) {
  return db_exec(txn->store->db, err, "INSERT INTO setting (team, name, value) VALUES (?1, ?2, ?3)", "sss", m->team,
                 unindexed_name(a, m->id), m->uid);
}

static enum status clear_unindexed(struct txn *txn, struct arena *a, const struct memory *m, struct error *err) {
  return db_exec(txn->store->db, err, "DELETE FROM setting WHERE team = ?1 AND name = ?2", "ss", m->team,
                 unindexed_name(a, m->id));
}

static enum status is_unindexed(struct txn *txn, struct arena *a, const struct memory *m, bool *ret,
                                struct error *err) {
  int64_t one;
  return db_int(txn->store->db, &one, ret, err, "SELECT 1 FROM setting WHERE team = ?1 AND name = ?2", "ss", m->team,
                unindexed_name(a, m->id));
}

enum status memories_unindexed(struct store *st, struct str team, struct arena *a, struct memory_ids *ret_ids,
                               struct error *err) {
  struct rows r;
  int64_t id;
  db_query(st->db, &r, err,
           "SELECT substr(name, 11) FROM setting WHERE team = ?1 AND name > '" UNINDEXED "' AND name < 'unindexed/'",
           "s", team);
  while (rows_next(&r))
    if (str_int64(rows_text(&r, 0), &id))
      list_push(a, ret_ids, id);
  return rows_end(&r);
}

/* The caller of memory_insert_split() and maintenance may both be at it: each adds what is still missing. */
enum status memory_add_chunks(struct txn *txn, struct arena *a, const struct memory *m, const struct chunk_text *texts,
                              size_t n, bool last, struct chunk_rows *ret_chunks, bool *ret_missing,
                              struct error *err) {
  int64_t stored = 0;
  assert(db_in_transaction(txn->store->db) && str_eq(m->team, txn->team));
  TRY(is_unindexed(txn, a, m, ret_missing, err));
  if (!*ret_missing)
    return STATUS_OK;
  TRY(db_int(txn->store->db, &stored, NULL, err, "SELECT count(*) FROM chunk WHERE team = ?1 AND memory_id = ?2", "si",
             m->team, m->id));
  for (size_t i = 0; i < n; i++)
    if (texts[i].seq >= stored)
      TRY(insert_chunk(txn, a, &texts[i], ret_chunks, err));
  if (!last)
    return STATUS_OK;
  *ret_missing = false;
  return clear_unindexed(txn, a, m, err);
}

static enum status full_record(struct txn *txn, struct arena *a, const struct memory *m, struct str *ret_record,
                               struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  memory_put_fields(doc, obj, m, 0, 0);
  json_put(doc, obj, "body", m->body);
  memory_put_lists(doc, obj, m);
  struct notes notes = {0};
  struct links links = {0};
  TRY(notes_load(txn->store, a, m, &notes, err));
  TRY(links_of(txn->store, m->team, m->id, a, &links, err));
  for (size_t i = 0; i < links.n; i++) /* the other memory may be purged later: its text must not stay here */
    links.v[i].other_headline = STR("");
  notes_put(doc, obj, &notes);
  links_put(doc, obj, m->id, &links);
  *ret_record = json_write(a, obj, false);
  return STATUS_OK;
}

/* Memories of agents age (lifecycle.h), except imported ones and those stored through the tools of another system. */
static bool ages(const struct txn *txn, const struct memory *m) {
  const struct mem_type *t = type_find(m->type);
  return !txn->foreign && !m->lasts && (str_is(m->trust, "agent") || str_is(m->trust, "tool")) && t &&
         (t->decay == DECAY_FADE || t->archives || t->kind == KIND_TASK);
}

enum status memory_insert(struct txn *txn, struct arena *a, struct memory *m, struct chunk_rows *ret_chunks,
                          struct error *err) {
  struct chunks parts = {0};
  chunk_split(a, m->body, &parts);
  return memory_insert_split(txn, a, m, &parts, parts.n, ret_chunks, err);
}

enum status memory_insert_split(struct txn *txn, struct arena *a, struct memory *m, const struct chunks *parts,
                                size_t first, struct chunk_rows *ret_chunks, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(str_eq(m->team, txn->team));
  struct str hash = memory_body_hash(a, m);
  TRY(reach_check_write(txn->store, m->project, "a new memory in", err));
  TRY(store_check_type(txn->store, m->type, m->kind, err));
  TRY(insert_row(txn, a, m, err));
  TRY(db_exec(txn->store->db, err, "INSERT INTO body (memory_id, team, text, hash) VALUES (?1, ?2, ?3, ?4)", "isss",
              m->id, m->team, m->body, hash));
  TRY(insert_lists(txn, m, err));
  for (size_t i = 0; i < parts->n && i < first; i++) {
    struct chunk_text text = memory_chunk_text(a, m, parts, i);
    TRY(insert_chunk(txn, a, &text, ret_chunks, err));
  }
  if (first < parts->n)
    TRY(set_unindexed(txn, a, m, err));
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *after = yyjson_mut_obj(doc);
  memory_put_fields(doc, after, m, 0, FIELD_LOCAL);
  memory_put_lists(doc, after, m);
  /* The body is immutable and stays in its row; the log has only its hash. */
  json_put_int(doc, after, "body_bytes", (int64_t)m->body.n);
  json_put(doc, after, "body_hash", hash);
  struct event e = {.action = STR("memory:write"),
                    .change = "insert",
                    .memory_id = m->id,
                    .uid = m->uid,
                    .project = m->project,
                    .after = json_write(a, after, false),
                    .detail =
                        arena_printf(a, "{\"type\":\"%.*s\",\"path\":\"cairn://memory/%.*s\",\"delta\":%zu%s}",
                                     STR_ARG(m->type), STR_ARG(m->uid), m->body.n, ages(txn, m) ? "," EVENT_AGES : "")};
  return event_add(txn, &e, err);
}

/* ---- change ---- */

static void put_or_null(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct field *f, const struct memory *m) {
  size_t before = yyjson_mut_obj_size(obj);
  memory_put_field(doc, obj, f, m);
  if (yyjson_mut_obj_size(obj) == before)
    yyjson_mut_obj_add_null(doc, obj, f->name);
}

/* Fails if the key or skill name of a memory that becomes active again is taken; the schema's error would be obscure.
 */
static enum status check_names_free(struct txn *txn, struct arena *a, const struct memory *m, struct error *err) {
  struct memory held;
  bool by_key = false, by_skill = false;
  if (m->key.p)
    TRY(memory_by_key(txn->store, m->team, m->project, m->key, a, &held, &by_key, err));
  if (!by_key && m->skill_name.p)
    TRY(memory_by_skill(txn->store, m->team, m->skill_name, a, &held, &by_skill, err));
  if (!(by_key || by_skill) || held.id == m->id)
    return STATUS_OK;
  error_set(err, STATUS_CONFLICT, "the %s '%.*s' of memory %lld is now taken by memory %lld",
            by_key ? "key" : "skill name", STR_ARG(by_key ? m->key : m->skill_name), (long long)m->id,
            (long long)held.id);
  error_step(err, by_key ? "key" : "fields");
  return error_fix(err, "forget or supersede memory %lld first", (long long)held.id);
}

enum status memory_change(struct txn *txn, struct arena *a, const struct memory *was, const struct memory *now,
                          const char *action, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(was->id == now->id && str_eq(was->team, now->team) && str_eq(was->team, txn->team));
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *before = yyjson_mut_obj(doc), *after = yyjson_mut_obj(doc);
  struct sql q = SQL(a);
  sql_add(&q, "UPDATE memory SET ");
  size_t changed = 0;
  for (size_t i = 0; i < memory_field_count; i++) {
    const struct field *f = &memory_fields[i];
    if (!(f->flags & FIELD_MUTABLE) || memory_field_equal(f, was, now))
      continue;
    sql_addf(&q, "%s%s = ", changed++ ? ", " : "", f->name);
    bind_field(&q, f, now);
    put_or_null(doc, before, f, was);
    put_or_null(doc, after, f, now);
  }
  if (!changed)
    return STATUS_OK;
  TRY(reach_check_write(txn->store, was->project, "change a memory of", err));
  if (str_is(now->state, "active") && !str_is(was->state, "active"))
    TRY(check_names_free(txn, a, now, err));
  sql_add(&q, " WHERE team = ");
  sql_text(&q, was->team);
  sql_add(&q, " AND id = ");
  sql_int(&q, was->id);
  TRY(db_exec_sql(txn->store->db, err, &q));
  struct event e = {.action = str_from(action),
                    .change = "update",
                    .memory_id = was->id,
                    .uid = was->uid,
                    .project = was->project,
                    .before = json_write(a, before, false),
                    .after = json_write(a, after, false)};
  return event_add(txn, &e, err);
}

/* ---- delete ---- */

static enum status delete_rows(struct txn *txn, struct arena *a, const struct memory *m, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(m->id > 0 && str_eq(m->team, txn->team));
  TRY(embed_cache_forget(txn, a, m->id, err));
  TRY(vec_remove(txn, m->id, err));
  TRY(clear_unindexed(txn, a, m, err));
  /* Delete chunks explicitly: the triggers of the full-text index do not fire on cascades. */
  TRY(db_exec(txn->store->db, err, "DELETE FROM chunk WHERE team = ?1 AND memory_id = ?2", "si", m->team, m->id));
  return db_exec(txn->store->db, err, "DELETE FROM memory WHERE team = ?1 AND id = ?2", "si", m->team, m->id);
}

enum status memory_delete(struct txn *txn, struct arena *a, const struct memory *m, struct error *err) {
  struct memory full = *m;
  struct event e = {
      .action = STR("memory:prune"), .change = "delete", .memory_id = m->id, .uid = m->uid, .project = m->project};
  TRY(reach_check_write(txn->store, m->project, "delete a memory of", err));
  TRY(memory_load_body(txn->store, a, &full, err));
  TRY(memory_load_lists(txn->store, a, &full, err));
  TRY(full_record(txn, a, &full, &e.before, err));
  TRY(event_add(txn, &e, err));
  return delete_rows(txn, a, m, err);
}

/* Rows that name a memory are read and changed a page at a time, so memory use does not grow with the log. */
enum { PURGE_PAGE = SQL_IDS };

static bool lists(struct arena *a, struct str detail, int64_t id) {
  yyjson_val *read, *v;
  struct error ignored;
  size_t i, n;
  if (json_read(a, detail, &read, &ignored) != STATUS_OK)
    return false;
  yyjson_arr_foreach(yyjson_obj_get(read, "results"), i, n, v) {
    if (yyjson_get_sint(v) == id)
      return true;
  }
  return false;
}

/* The SQL condition may also match the text of the query, so the listed ids are checked here. */
static enum status purge_some_searches(struct txn *txn, struct arena *a, int64_t id, int64_t *after, bool *ret_more,
                                       int64_t *ret_count, struct error *err) {
  int64_t hits[PURGE_PAGE];
  size_t n = 0, read = 0;
  struct rows r;
  db_query(txn->store->db, &r, err,
           "SELECT seq, detail FROM event WHERE team = ?1 AND action = 'memory:search' AND seq > ?2"
           " AND replace(replace(replace(detail, ' ', ''), '[', ','), ']', ',') LIKE ?3 ORDER BY seq LIMIT ?4",
           "sisi", txn->team, *after, arena_printf(a, "%%,%lld,%%", (long long)id), (int64_t)PURGE_PAGE);
  for (; rows_next(&r); read++) {
    assert(n < PURGE_PAGE);
    *after = rows_int(&r, 0);
    if (lists(a, rows_text(&r, 1), id))
      hits[n++] = *after;
  }
  enum status s = rows_end(&r);
  *ret_more = read == PURGE_PAGE;
  if (s != STATUS_OK || n == 0)
    return s;
  *ret_count += (int64_t)n;
  struct sql q = SQL(a);
  sql_add(&q, "UPDATE event SET detail = NULL, purged = 1 WHERE team = ");
  sql_text(&q, txn->team);
  sql_add(&q, " AND seq IN ");
  sql_ids(&q, hits, n);
  return db_exec_sql(txn->store->db, err, &q);
}

/* The event of a search that found the memory has the query, which may repeat the text. */
static enum status purge_searches(struct txn *txn, struct arena *a, int64_t id, int64_t *ret_count, struct error *err) {
  int64_t after = 0;
  bool more = true;
  enum status s = STATUS_OK;
  while (s == STATUS_OK && more) {
    struct arena *page = arena_child(a);
    s = purge_some_searches(txn, page, id, &after, &more, ret_count, err);
    arena_release(page);
  }
  return s;
}

static bool mentions(yyjson_val *result, int64_t id) {
  size_t i, n, k, m;
  yyjson_val *w, *v;
  yyjson_arr_foreach(yyjson_obj_get(result, "warnings"), i, n, w) {
    yyjson_arr_foreach(yyjson_obj_get(w, "memories"), k, m, v) {
      if (json_int(v, "id", 0) == id)
        return true;
    }
  }
  return false;
}

static struct str without_warnings(struct arena *a, yyjson_val *result) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *copy = yyjson_val_mut_copy(doc, result);
  yyjson_mut_obj_remove_key(copy, "warnings");
  json_put_arr(doc, copy, "warnings");
  return json_write(a, copy, false);
}

enum { RESULT_KEY_BYTES = 200 * 4 }; /* the schema allows 200 characters */

static enum status purge_some_results(struct txn *txn, struct arena *a, int64_t id, char after[RESULT_KEY_BYTES + 1],
                                      bool *ret_more, struct error *err) {
  struct strs keys = {0}, results = {0};
  size_t read = 0;
  struct rows r;
  db_query(txn->store->db, &r, err,
           "SELECT key, result FROM idempotency WHERE team = ?1 AND key > ?2 AND result LIKE '%\"memories\"%'"
           " AND (replace(result, ' ', '') LIKE ?3 OR replace(result, ' ', '') LIKE ?4) ORDER BY key LIMIT ?5",
           "ssssi", txn->team, str_from(after), arena_printf(a, "%%\"id\":%lld,%%", (long long)id),
           arena_printf(a, "%%\"id\":%lld}%%", (long long)id), (int64_t)PURGE_PAGE);
  for (; rows_next(&r); read++) {
    yyjson_val *result;
    struct error ignored;
    snprintf(after, RESULT_KEY_BYTES + 1, "%.*s", STR_ARG(rows_text(&r, 0)));
    if (json_read(a, rows_text(&r, 1), &result, &ignored) != STATUS_OK || !mentions(result, id))
      continue;
    strs_push(a, &keys, rows_dup(&r, 0, a));
    strs_push(a, &results, without_warnings(a, result));
  }
  enum status s = rows_end(&r);
  *ret_more = read == PURGE_PAGE;
  for (size_t i = 0; s == STATUS_OK && i < keys.n; i++)
    s = db_exec(txn->store->db, err, "UPDATE idempotency SET result = ?1 WHERE team = ?2 AND key = ?3", "sss",
                results.v[i], txn->team, keys.v[i]);
  return s;
}

/* The saved result of another write may contain a warning with this memory's headline. */
static enum status purge_results(struct txn *txn, struct arena *a, int64_t id, struct error *err) {
  char after[RESULT_KEY_BYTES + 1] = "";
  bool more = true;
  enum status s = STATUS_OK;
  while (s == STATUS_OK && more) {
    struct arena *page = arena_child(a);
    s = purge_some_results(txn, page, id, after, &more, err);
    arena_release(page);
  }
  return s;
}

static enum status count_rows(struct txn *txn, int64_t id, struct purge_counts *c, struct error *err) {
  struct db *db = txn->store->db;
  TRY(db_int(db, &c->chunks, NULL, err, "SELECT count(*) FROM chunk WHERE team = ?1 AND memory_id = ?2", "si",
             txn->team, id));
  TRY(db_int(db, &c->labels, NULL, err, "SELECT count(*) FROM label WHERE team = ?1 AND memory_id = ?2", "si",
             txn->team, id));
  TRY(db_int(db, &c->annotations, NULL, err, "SELECT count(*) FROM annotation WHERE team = ?1 AND memory_id = ?2", "si",
             txn->team, id));
  return db_int(db, &c->links, NULL, err, "SELECT count(*) FROM link WHERE team = ?1 AND (src = ?2 OR dst = ?2)", "si",
                txn->team, id);
}

/* Memories that replaced this one: their reasons go with the links. */
static enum status reindex_successors(struct txn *txn, struct arena *a, const struct links *links, int64_t id,
                                      struct error *err) {
  for (size_t i = 0; i < links->n; i++)
    if (links->v[i].dst == id && link_is_replacement(links->v[i].rel))
      TRY(memory_reindex(txn, a, links->v[i].src, err));
  return STATUS_OK;
}

enum status memory_purge(struct txn *txn, struct arena *a, const struct memory *m, struct purge_counts *ret_counts,
                         struct error *err) {
  struct db *db = txn->store->db;
  struct purge_counts c = {0};
  struct links links = {0};
  enum status s = reach_check_admin(txn->store, "purging", err);
  if (s == STATUS_OK)
    s = links_of(txn->store, m->team, m->id, a, &links, err);
  if (s == STATUS_OK)
    s = count_rows(txn, m->id, &c, err);
  if (s == STATUS_OK)
    s = db_exec(db, err,
                "UPDATE event SET before = NULL, after = NULL, detail = NULL, purged = 1"
                " WHERE team = ?1 AND (memory_id = ?2 OR uid = ?3 OR (change IN ('link', 'unlink')"
                " AND (before LIKE '%' || ?3 || '%' OR after LIKE '%' || ?3 || '%')))",
                "sis", m->team, m->id, m->uid);
  c.events = db_changes(db);
  if (s == STATUS_OK)
    s = purge_searches(txn, a, m->id, &c.events, err);
  if (s == STATUS_OK)
    s = db_exec(db, err, "DELETE FROM idempotency WHERE team = ?1 AND memory_id = ?2", "si", m->team, m->id);
  if (s == STATUS_OK)
    s = purge_results(txn, a, m->id, err);
  if (s == STATUS_OK)
    s = transcript_delete_vectors_after(txn, m, a, err);
  if (s == STATUS_OK)
    s = delete_rows(txn, a, m, err);
  if (s == STATUS_OK)
    s = reindex_successors(txn, a, &links, m->id, err);
  if (s == STATUS_OK)
    s = db_exec(db, err, "INSERT INTO tombstone (team, uid, at, by) VALUES (?1, ?2, ?3, ?4)", "ssis", m->team, m->uid,
                txn->now, txn->source);
  struct event e = {.action = STR("memory:purge"), .change = "purge", .memory_id = m->id, .uid = m->uid};
  if (s == STATUS_OK)
    s = event_add(txn, &e, err);
  if (s == STATUS_OK)
    *ret_counts = c;
  return s;
}

/* ---- notes ---- */

enum status notes_load(struct store *st, struct arena *a, const struct memory *m, struct notes *ret_notes,
                       struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT at, by, text FROM annotation WHERE team = ?1 AND memory_id = ?2 ORDER BY id", "si",
           m->team, m->id);
  while (rows_next(&r))
    list_push(a, ret_notes, (struct note){.at = rows_int(&r, 0), .by = rows_dup(&r, 1, a), .text = rows_dup(&r, 2, a)});
  return rows_end(&r);
}

static struct str notes_json(struct arena *a, const struct notes *notes) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  notes_put(doc, obj, notes);
  return json_write(a, obj, false);
}

/* Updates the extra text of the first chunk and its terms. */
static enum status set_extra(struct txn *txn, struct arena *a, const struct memory *m, struct str extra,
                             struct error *err) {
  struct rows r;
  struct str headline = STR(""), body = STR("");
  db_query(txn->store->db, &r, err, "SELECT headline, body FROM chunk WHERE team = ?1 AND memory_id = ?2 AND seq = 0",
           "si", m->team, m->id);
  if (rows_next(&r)) {
    headline = rows_dup(&r, 0, a);
    body = rows_dup(&r, 1, a);
  }
  TRY(rows_end(&r));
  struct chunk_text text = {.team = m->team,
                            .memory_id = m->id,
                            .headline = headline,
                            .body = body,
                            .extra = extra,
                            .terms = terms_of_chunk(a, m->project, headline, body, extra)};
  return lexical_update(txn, a, &text, err);
}

enum status memory_reindex(struct txn *txn, struct arena *a, int64_t id, struct error *err) {
  struct memory m;
  struct notes notes = {0};
  struct strs reasons = {0};
  struct rows r;
  bool found;
  TRY(memory_by_id(txn->store, txn->team, id, a, &m, &found, err));
  if (!found)
    return STATUS_OK;
  TRY(memory_load_lists(txn->store, a, &m, err));
  TRY(notes_load(txn->store, a, &m, &notes, err));
  db_query(txn->store->db, &r, err,
           "SELECT reason FROM link WHERE team = ?1 AND src = ?2 AND rel IN ('supersedes', 'shadows')"
           " AND reason IS NOT NULL ORDER BY dst",
           "si", m.team, m.id);
  while (rows_next(&r))
    strs_push(a, &reasons, rows_dup(&r, 0, a));
  TRY(rows_end(&r));
  return set_extra(txn, a, &m, extra_text(a, &m, &notes, &reasons), err);
}

enum status notes_set(struct txn *txn, struct arena *a, const struct memory *m, const struct notes *was,
                      const struct notes *now, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(str_eq(m->team, txn->team));
  struct db *db = txn->store->db;
  TRY(reach_check_write(txn->store, m->project, "annotate a memory of", err));
  TRY(db_exec(db, err, "DELETE FROM annotation WHERE team = ?1 AND memory_id = ?2", "si", m->team, m->id));
  for (size_t i = 0; i < now->n; i++)
    TRY(db_exec(db, err, "INSERT INTO annotation (team, memory_id, at, by, text) VALUES (?1, ?2, ?3, ?4, ?5)", "siiss",
                m->team, m->id, now->v[i].at, now->v[i].by, now->v[i].text));
  TRY(memory_reindex(txn, a, m->id, err));
  struct event e = {.action = STR("memory:annotate"),
                    .change = "annotate",
                    .memory_id = m->id,
                    .uid = m->uid,
                    .project = m->project,
                    .before = notes_json(a, was),
                    .after = notes_json(a, now)};
  return event_add(txn, &e, err);
}

void notes_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct notes *notes) {
  if (notes->n == 0)
    return;
  yyjson_mut_val *arr = json_put_arr(doc, obj, "annotations");
  for (size_t i = 0; i < notes->n; i++) {
    yyjson_mut_val *n = yyjson_mut_arr_add_obj(doc, arr);
    char time[TIME_TEXT_SIZE];
    json_put(doc, n, "at", time_format(notes->v[i].at, time));
    json_put(doc, n, "by", notes->v[i].by);
    json_put(doc, n, "text", notes->v[i].text);
  }
}

void notes_get(struct arena *a, yyjson_val *obj, struct notes *ret_notes) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(yyjson_obj_get(obj, "annotations"), i, n, v) {
    struct note note = {.by = arena_dup(a, json_str(v, "by")), .text = arena_dup(a, json_str(v, "text"))};
    if (time_parse(json_str(v, "at"), &note.at) && !str_empty(note.text))
      list_push(a, ret_notes, note);
  }
}
