/* read.c: looking up and loading memories. */
#include <assert.h>

#include "base/id.h"
#include "core/files/memfile.h"
#include "store/memories/documents.h"
#include "store/memories/memories.h"
#include "store/store_internal.h"

void memory_columns(struct buf *b) {
  for (size_t i = 0; i < memory_field_count; i++) {
    buf_adds(b, i ? ", m." : "m.");
    buf_adds(b, memory_fields[i].name);
  }
}

void memory_row(const struct rows *r, struct arena *a, struct memory *ret_memory) {
  *ret_memory = (struct memory){0};
  for (size_t i = 0; i < memory_field_count; i++) {
    void *at = field_at(ret_memory, memory_fields[i].offset);
    switch (memory_fields[i].form) {
    case FIELD_TEXT:
      *(struct str *)at = rows_dup(r, (int)i, a);
      break;
    case FIELD_REAL:
      *(double *)at = rows_real(r, (int)i);
      break;
    default:
      *(int64_t *)at = rows_int(r, (int)i);
    }
  }
}

struct sql memory_select(struct arena *a) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT ");
  memory_columns(&q.text);
  sql_add(&q, " FROM memory m WHERE ");
  return q;
}

/* The rule of visible(). Transcripts are readable only for agents with their own access to the project. */
static bool is_readable(const struct reach *reach, const struct memory *m) {
  return reach_can_read(reach, m->project) &&
         (reach_owns(reach, m->project) || !str_is(m->corpus, corpus_names[CORPUS_SESSIONS]));
}

enum status memory_collect(struct store *st, const struct sql *q, struct arena *a, struct memories *ret_list,
                           struct error *err) {
  struct rows r;
  struct reach reach = store_reach(st);
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r)) {
    struct memory m;
    memory_row(&r, a, &m);
    if (is_readable(&reach, &m))
      list_push(a, ret_list, m);
  }
  return rows_end(&r);
}

static enum status find_one(struct store *st, struct arena *a, const struct sql *q, struct memory *ret_memory,
                            bool *ret_found, struct error *err) {
  struct rows r;
  struct memory m = {0};
  struct reach reach = store_reach(st);
  db_query_sql(st->db, &r, err, q);
  bool found = rows_next(&r);
  if (found)
    memory_row(&r, a, &m);
  TRY(rows_end(&r));
  *ret_found = found && is_readable(&reach, &m);
  if (*ret_found)
    *ret_memory = m;
  return STATUS_OK;
}

static struct sql select_in_team(struct arena *a, struct str team) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  return q;
}

enum status memory_by_id(struct store *st, struct str team, int64_t id, struct arena *a, struct memory *ret_memory,
                         bool *ret_found, struct error *err) {
  struct sql q = select_in_team(a, team);
  sql_add(&q, " AND m.id = ");
  sql_int(&q, id);
  return find_one(st, a, &q, ret_memory, ret_found, err);
}

enum status memory_by_uid(struct store *st, struct str team, struct str uid, struct arena *a, struct memory *ret_memory,
                          bool *ret_found, struct error *err) {
  struct sql q = select_in_team(a, team);
  sql_add(&q, " AND m.uid = ");
  sql_text(&q, uid);
  return find_one(st, a, &q, ret_memory, ret_found, err);
}

enum status memory_by_key(struct store *st, struct str team, struct str project, struct str key, struct arena *a,
                          struct memory *ret_memory, bool *ret_found, struct error *err) {
  struct sql q = select_in_team(a, team);
  sql_add(&q, " AND m.project = ");
  sql_text(&q, project);
  sql_add(&q, " AND m.state = 'active' AND m.key = ");
  sql_text(&q, key);
  return find_one(st, a, &q, ret_memory, ret_found, err);
}

enum status memory_by_skill(struct store *st, struct str team, struct str name, struct arena *a,
                            struct memory *ret_memory, bool *ret_found, struct error *err) {
  struct sql q = select_in_team(a, team);
  sql_add(&q, " AND m.state = 'active' AND m.skill_name = ");
  sql_text(&q, name);
  return find_one(st, a, &q, ret_memory, ret_found, err);
}

static enum status any_by_key(struct store *st, const struct scope *scope, struct str key, struct arena *a,
                              struct memory *ret_memory, bool *ret_found, struct error *err) {
  struct sql q = select_in_team(a, scope->team);
  sql_add(&q, " AND m.key = ");
  sql_text(&q, key);
  if (!scope->all_projects) {
    sql_add(&q, " AND m.project IN ('', ");
    sql_text(&q, scope->project);
    sql_add(&q, ")");
  }
  reach_where(&q, &scope->reach, "m.project");
  sql_add(&q, " ORDER BY CASE WHEN m.state = 'active' THEN 0 ELSE 1 END, CASE WHEN m.project = '' THEN 1 ELSE 0 END,"
              " m.id DESC LIMIT 1");
  return find_one(st, a, &q, ret_memory, ret_found, err);
}

/* Logs an attempt to read a memory outside the caller's reach. The caller is not told that it exists. */
static enum status log_outside(struct store *st, struct str team, struct str ref, struct error *err) {
  int64_t one_row, id = 0;
  bool found = false;
  if (store_reach(st).role == ROLE_ADMIN)
    return STATUS_OK;
  if (!str_int64(ref, &id))
    id = 0;
  TRY(db_int(st->db, &one_row, &found, err,
             "SELECT 1 FROM memory WHERE team = ?1 AND (id = ?2 OR uid = ?3 OR key = ?3) LIMIT 1", "sis", team, id,
             ref));
  if (found)
    reach_record(st, "memory", ref);
  return STATUS_OK;
}

/* Only its pipeline changes a document: the error names the file it comes from. */
static enum status refuse_document(struct store *st, const struct memory *m, struct arena *a, struct error *err) {
  struct document_place place;
  TRY(documents_places(st, m->team, &m->id, 1, a, &place, err));
  struct str at = place.line ? arena_printf(a, ":%lld", (long long)place.line) : STR("");
  error_set(err, STATUS_CONFLICT, "document %lld comes from %.*s%.*s", (long long)m->id, STR_ARG(place.path),
            STR_ARG(at));
  if (place.corpus == CORPUS_SESSIONS)
    return error_fix(err, "'cairn get %lld' shows it; messages of a transcript are never changed", (long long)m->id);
  return error_fix(err, "change the file, and run 'cairn %s'",
                   place.corpus == CORPUS_ITEMS ? "extract" : "source refresh");
}

static bool includes_corpus(const struct scope *scope, const struct memory *m) {
  enum corpus corpus;
  return !memory_is_document(m) || (corpus_parse(m->corpus, &corpus) && (scope->corpora & (1U << corpus)));
}

enum status memory_find(struct store *st, const struct scope *scope, struct str ref, struct arena *a,
                        struct memory *ret_memory, struct error *err) {
  int64_t id;
  bool found = false;
  if (str_int64(ref, &id) && ascii_digit(ref.p[0]))
    TRY(memory_by_id(st, scope->team, id, a, ret_memory, &found, err));
  else if (uuid_is_valid(ref))
    TRY(memory_by_uid(st, scope->team, ref, a, ret_memory, &found, err));
  else
    TRY(any_by_key(st, scope, ref, a, ret_memory, &found, err));
  if (found)
    return includes_corpus(scope, ret_memory) ? STATUS_OK : refuse_document(st, ret_memory, a, err);
  TRY(log_outside(st, scope->team, ref, err));
  error_set(err, STATUS_NOT_FOUND, "no memory '%.*s'", STR_ARG(ref));
  return error_fix(err, "name an id, uid or key; 'cairn list' and 'cairn search' show them");
}

enum status memory_uid_of_deleted(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_uid,
                                  struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT uid FROM event WHERE team = ?1 AND memory_id = ?2 AND uid IS NOT NULL LIMIT 1",
           "si", team, id);
  *ret_uid = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

enum status memory_pruned(struct store *st, struct str team, struct str ref, struct arena *a, struct memory *ret_memory,
                          bool *ret_found, struct error *err) {
  int64_t id = 0;
  struct rows r;
  struct str record = STR_NONE;
  yyjson_val *was;
  struct error ignored;
  if (!str_int64(ref, &id))
    id = 0;
  db_query(st->db, &r, err,
           "SELECT memory_id, uid, before FROM event WHERE team = ?1 AND change = 'delete' AND purged = 0"
           " AND (memory_id = ?2 OR uid = ?3) ORDER BY seq DESC LIMIT 1",
           "sis", team, id, ref);
  bool found = rows_next(&r);
  if (found) {
    *ret_memory = (struct memory){.id = rows_int(&r, 0), .uid = rows_dup(&r, 1, a), .team = team, .project = STR("")};
    record = rows_dup(&r, 2, a);
  }
  TRY(rows_end(&r));
  if (found && json_read(a, record, &was, &ignored) == STATUS_OK) {
    ret_memory->type = json_str(was, "type");
    ret_memory->session = json_str(was, "session");
    if (json_str(was, "project").p)
      ret_memory->project = json_str(was, "project");
  }
  struct reach reach = store_reach(st);
  *ret_found = found && reach_can_read(&reach, ret_memory->project);
  return STATUS_OK;
}

enum status memory_load_body(struct store *st, struct arena *a, struct memory *m, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT text FROM body WHERE memory_id = ?1 AND team = ?2", "is", m->id, m->team);
  m->body = rows_next(&r) ? rows_dup(&r, 0, a) : STR("");
  return rows_end(&r);
}

/* SQLite has no octet_length(), PostgreSQL no cast of text to BLOB. */
#define SIZE(bytes)                                                                                                    \
  "SELECT " bytes " - CASE WHEN EXISTS (SELECT 1 FROM label l WHERE l.team = ?1 AND l.memory_id = ?2"                  \
  " AND l.field = 'tags' AND l.value = ?3) THEN ?4 ELSE 0 END FROM body b WHERE b.team = ?1 AND b.memory_id = ?2"

enum status memory_file_size(struct store *st, struct str team, int64_t id, int64_t *ret_size, struct error *err) {
  return db_int(st->db, ret_size, NULL, err,
                db_engine(st->db) == DB_SQLITE ? SIZE("length(CAST(b.text AS BLOB))") : SIZE("octet_length(b.text)"),
                "sisi", team, id, STR(MEMFILE_BLANK_TAG), (int64_t)(sizeof(MEMFILE_BLANK) - 1));
}

enum status memory_bodies(struct store *st, struct str team, int64_t after, int64_t limit, struct arena *a,
                          struct bodies *ret_list, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT memory_id, text FROM body WHERE team = ?1 AND memory_id > ?2 ORDER BY memory_id LIMIT ?3", "sii",
           team, after, limit);
  while (rows_next(&r))
    list_push(a, ret_list, (struct body){rows_int(&r, 0), rows_dup(&r, 1, a)});
  return rows_end(&r);
}

static struct strs *list_named(struct memory *m, struct str name) {
  for (size_t i = 0; i < memory_list_count; i++)
    if (str_is(name, memory_lists[i].name))
      return list_at(m, i);
  return NULL;
}

enum status memory_load_lists(struct store *st, struct arena *a, struct memory *m, struct error *err) {
  for (size_t i = 0; i < memory_list_count; i++)
    *list_at(m, i) = (struct strs){0};
  struct rows r;
  db_query(st->db, &r, err, "SELECT field, value FROM label WHERE memory_id = ?1 AND team = ?2 ORDER BY field, pos",
           "is", m->id, m->team);
  while (rows_next(&r)) {
    struct strs *list = list_named(m, rows_text(&r, 0));
    if (list)
      strs_push(a, list, rows_dup(&r, 1, a));
  }
  return rows_end(&r);
}

/* ---- several at once: a query for many rows costs one round trip to the server ---- */

static void add_ids(struct sql *q, struct memory *const *list, size_t n) {
  int64_t ids[SQL_IDS];
  assert(n <= SQL_IDS);
  for (size_t i = 0; i < n; i++)
    ids[i] = list[i]->id;
  sql_ids(q, ids, n);
}

static enum status load_some(struct store *st, struct str team, struct arena *a, struct memory *const *list, size_t n,
                             bool *ret_found, struct error *err) {
  struct sql q = select_in_team(a, team);
  struct memories rows = {0};
  sql_add(&q, " AND m.id IN ");
  add_ids(&q, list, n);
  TRY(memory_collect(st, &q, a, &rows, err));
  for (size_t i = 0; i < n; i++) {
    ret_found[i] = false;
    for (size_t k = 0; k < rows.n && !ret_found[i]; k++)
      if (rows.v[k].id == list[i]->id) {
        *list[i] = rows.v[k];
        ret_found[i] = true;
      }
  }
  return STATUS_OK;
}

enum status memories_by_ids(struct store *st, struct str team, struct arena *a, struct memory *const *list, size_t n,
                            bool *ret_found, struct error *err) {
  for (size_t at = 0; at < n; at += SQL_IDS)
    TRY(load_some(st, team, a, list + at, n - at < SQL_IDS ? n - at : SQL_IDS, ret_found + at, err));
  return STATUS_OK;
}

static enum status load_some_lists(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                   size_t n, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT memory_id, field, value FROM label WHERE team = ");
  sql_text(&q, team);
  sql_add(&q, " AND memory_id IN ");
  add_ids(&q, list, n);
  sql_add(&q, " ORDER BY memory_id, field, pos");
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    for (size_t i = 0; i < n; i++) {
      struct strs *values = list[i]->id == rows_int(&r, 0) ? list_named(list[i], rows_text(&r, 1)) : NULL;
      if (values)
        strs_push(a, values, rows_dup(&r, 2, a));
    }
  return rows_end(&r);
}

enum status memories_load_lists(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                size_t n, struct error *err) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < memory_list_count; k++)
      *list_at(list[i], k) = (struct strs){0};
  for (size_t at = 0; at < n; at += SQL_IDS)
    TRY(load_some_lists(st, team, a, list + at, n - at < SQL_IDS ? n - at : SQL_IDS, err));
  return STATUS_OK;
}

/* ---- tombstones, idempotency keys ---- */

enum status tombstone_exists(struct store *st, struct str team, struct str uid, bool *ret_exists, struct error *err) {
  int64_t one_row;
  return db_int(st->db, &one_row, ret_exists, err, "SELECT 1 FROM tombstone WHERE team = ?1 AND uid = ?2", "ss", team,
                uid);
}

enum status idempotency_find(struct store *st, struct str team, struct str key, int64_t now, struct arena *a,
                             struct str *ret_result, struct str *ret_state, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT i.result, m.state FROM idempotency i LEFT JOIN memory m ON m.team = i.team AND m.id = i.memory_id"
           " WHERE i.team = ?1 AND i.key = ?2 AND i.at > ?3",
           "ssi", team, key, now - IDEMPOTENCY_MS);
  *ret_result = *ret_state = STR_NONE;
  if (rows_next(&r)) {
    *ret_result = rows_dup(&r, 0, a);
    *ret_state = rows_dup(&r, 1, a);
  }
  return rows_end(&r);
}

enum status idempotency_save(struct txn *txn, struct str key, int64_t memory_id, struct str result, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(key.n > 0);
  return db_exec(txn->store->db, err,
                 "INSERT INTO idempotency (team, key, at, memory_id, result) VALUES (?1, ?2, ?3, ?4, ?5)"
                 " ON CONFLICT (team, key) DO UPDATE SET at = excluded.at, memory_id = excluded.memory_id,"
                 " result = excluded.result",
                 "ssits", txn->team, key, txn->now, memory_id, result);
}

enum status idempotency_prune(struct store *st, struct str team, int64_t now, struct error *err) {
  return db_exec(st->db, err, "DELETE FROM idempotency WHERE team = ?1 AND at <= ?2", "si", team, now - IDEMPOTENCY_MS);
}
