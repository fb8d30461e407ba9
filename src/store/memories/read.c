/* read.c: finding and loading memories. */
#include <stdlib.h>

#include "base/id.h"
#include "core/memory/types.h"
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

/* As visible() says it. Transcripts are read by who works where they were made. */
static bool seen(const struct reach *reach, const struct memory *m) {
  return reach_reads(reach, m->project) &&
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
    if (seen(&reach, &m))
      list_push(a, ret_list, m);
  }
  return rows_end(&r);
}

static enum status one(struct store *st, struct arena *a, const struct sql *q, struct memory *ret_memory,
                       bool *ret_found, struct error *err) {
  struct rows r;
  struct memory m;
  struct reach reach = store_reach(st);
  db_query_sql(st->db, &r, err, q);
  bool found = rows_next(&r);
  if (found)
    memory_row(&r, a, &m);
  TRY(rows_end(&r));
  *ret_found = found && seen(&reach, &m);
  if (*ret_found)
    *ret_memory = m;
  return STATUS_OK;
}

enum status memory_by_id(struct store *st, struct str team, int64_t id, struct arena *a, struct memory *ret_memory,
                         bool *ret_found, struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.id = ");
  sql_int(&q, id);
  return one(st, a, &q, ret_memory, ret_found, err);
}

enum status memory_by_uid(struct store *st, struct str team, struct str uid, struct arena *a, struct memory *ret_memory,
                          bool *ret_found, struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.uid = ");
  sql_text(&q, uid);
  return one(st, a, &q, ret_memory, ret_found, err);
}

enum status memory_by_key(struct store *st, struct str team, struct str project, struct str key, struct arena *a,
                          struct memory *ret_memory, bool *ret_found, struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.project = ");
  sql_text(&q, project);
  sql_add(&q, " AND m.state = 'active' AND m.key = ");
  sql_text(&q, key);
  return one(st, a, &q, ret_memory, ret_found, err);
}

enum status memory_by_skill(struct store *st, struct str team, struct str name, struct arena *a,
                            struct memory *ret_memory, bool *ret_found, struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.state = 'active' AND m.skill_name = ");
  sql_text(&q, name);
  return one(st, a, &q, ret_memory, ret_found, err);
}

static enum status any_by_key(struct store *st, const struct scope *scope, struct str key, struct arena *a,
                              struct memory *ret_memory, bool *ret_found, struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, scope->team);
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
  return one(st, a, &q, ret_memory, ret_found, err);
}

/* Whether there is one outside of what the caller may reach: for the log, not for the caller. */
static enum status note_outside(struct store *st, struct str team, struct str ref, struct error *err) {
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
    reach_note(st, "memory", ref);
  return STATUS_OK;
}

/* Only its pipeline changes a document: who does not ask for its corpus is told where it comes from. */
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

static bool asks_for(const struct scope *scope, const struct memory *m) {
  enum corpus corpus;
  return !memory_is_document(m) || (corpus_parse(m->corpus, &corpus) && (scope->corpora & (1U << corpus)));
}

enum status memory_find(struct store *st, const struct scope *scope, struct str ref, struct arena *a,
                        struct memory *ret_memory, struct error *err) {
  int64_t id;
  bool found = false;
  enum status s;
  if (str_int64(ref, &id) && ascii_digit(ref.p[0]))
    s = memory_by_id(st, scope->team, id, a, ret_memory, &found, err);
  else if (uuid_valid(ref))
    s = memory_by_uid(st, scope->team, ref, a, ret_memory, &found, err);
  else
    s = any_by_key(st, scope, ref, a, ret_memory, &found, err);
  if (s == STATUS_OK && !found)
    s = note_outside(st, scope->team, ref, err);
  if (s == STATUS_OK && found && !asks_for(scope, ret_memory))
    return refuse_document(st, ret_memory, a, err);
  if (s != STATUS_OK || found)
    return s;
  error_set(err, STATUS_NOT_FOUND, "no memory '%.*s'", STR_ARG(ref));
  return error_fix(err, "name an id, uid or key; 'cairn list' and 'cairn search' show them");
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
  *ret_found = found && reach_reads(&reach, ret_memory->project);
  return STATUS_OK;
}

enum status memory_load_body(struct store *st, struct arena *a, struct memory *m, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT text FROM body WHERE memory_id = ?1 AND team = ?2", "is", m->id, m->team);
  m->body = rows_next(&r) ? rows_dup(&r, 0, a) : STR("");
  return rows_end(&r);
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

/* ---- several at once: a server answers one question about many as fast as about one ---- */

static size_t some_ids(struct memory *const *list, size_t n, int64_t ids[SQL_IDS]) {
  size_t some = n < SQL_IDS ? n : SQL_IDS;
  for (size_t i = 0; i < some; i++)
    ids[i] = list[i]->id;
  return some;
}

static enum status rows_of_some(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                size_t n, const int64_t *ids, bool *ret_found, struct error *err) {
  struct sql q = memory_select(a);
  struct memories rows = {0};
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.id IN ");
  sql_ids(&q, ids, n);
  TRY(memory_collect(st, &q, a, &rows, err));
  for (size_t i = 0; i < n; i++) {
    ret_found[i] = false;
    for (size_t k = 0; k < rows.n && !ret_found[i]; k++)
      if (rows.v[k].id == ids[i]) {
        *list[i] = rows.v[k];
        ret_found[i] = true;
      }
  }
  return STATUS_OK;
}

enum status memories_by_ids(struct store *st, struct str team, struct arena *a, struct memory *const *list, size_t n,
                            bool *ret_found, struct error *err) {
  int64_t ids[SQL_IDS];
  for (size_t at = 0, some; at < n; at += some) {
    some = some_ids(list + at, n - at, ids);
    TRY(rows_of_some(st, team, a, list + at, some, ids, ret_found + at, err));
  }
  return STATUS_OK;
}

static enum status lists_of_some(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                 size_t n, const int64_t *ids, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT memory_id, field, value FROM label WHERE team = ");
  sql_text(&q, team);
  sql_add(&q, " AND memory_id IN ");
  sql_ids(&q, ids, n);
  sql_add(&q, " ORDER BY memory_id, field, pos");
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    for (size_t i = 0; i < n; i++) {
      struct strs *values = ids[i] == rows_int(&r, 0) ? list_named(list[i], rows_text(&r, 1)) : NULL;
      if (values)
        strs_push(a, values, rows_dup(&r, 2, a));
    }
  return rows_end(&r);
}

enum status memories_load_lists(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                size_t n, struct error *err) {
  int64_t ids[SQL_IDS];
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < memory_list_count; k++)
      *list_at(list[i], k) = (struct strs){0};
  for (size_t at = 0, some; at < n; at += some) {
    some = some_ids(list + at, n - at, ids);
    TRY(lists_of_some(st, team, a, list + at, some, ids, err));
  }
  return STATUS_OK;
}

/* ---- lists ---- */

static void where_text(struct sql *q, const char *condition, struct str value) {
  if (str_empty(value))
    return;
  sql_add(q, condition);
  sql_text(q, value);
}

static void where_labels(struct sql *q, const char *field, const struct strs *values) {
  for (size_t i = 0; i < values->n; i++) {
    sql_addf(q,
             " AND EXISTS (SELECT 1 FROM label l WHERE l.team = m.team AND l.memory_id = m.id AND l.field = '%s' AND "
             "l.value = ",
             field);
    sql_text(q, values->v[i]);
    sql_add(q, ")");
  }
}

void filter_where(struct sql *q, const struct filter *f) {
  where_text(q, " AND m.kind = ", f->kind);
  where_text(q, " AND m.type = ", f->type);
  where_text(q, " AND m.severity = ", f->severity);
  where_text(q, " AND m.delivery = ", f->delivery);
  where_text(q, " AND m.status = ", f->status);
  where_text(q, " AND m.milestone = ", f->milestone);
  where_text(q, " AND m.skill_name = ", f->skill_name);
  where_labels(q, "tags", &f->tags);
  where_labels(q, "people", &f->people);
  if (f->no_retired_tasks)
    sql_add(q, " AND (m.status IS NULL OR m.status IN ('open', 'blocked'))");
  if (f->trusted)
    sql_add(q, " AND " SQL_TRUSTED);
  if (f->since) {
    sql_add(q, " AND m.created_at >= ");
    sql_int(q, f->since);
  }
  if (f->until) {
    sql_add(q, " AND m.created_at <= ");
    sql_int(q, f->until);
  }
}

void filter_by_label(struct sql *q, struct str team, const char *field, const struct strs *values) {
  if (values->n == 0)
    return;
  sql_addf(q, " AND m.id IN (SELECT lv.memory_id FROM label lv WHERE lv.field = '%s' AND lv.team = ", field);
  sql_text(q, team);
  sql_add(q, " AND lv.value = ");
  sql_text(q, values->v[0]);
  sql_add(q, ")");
}

static void where_own(struct sql *q, const struct scope *scope, const struct filter *f) {
  if (!f->own)
    return;
  sql_add(q, " AND m.project = ");
  sql_text(q, scope->project);
}

/* As the list is ordered: newest first, or by TASK_ORDER. */
static void where_after(struct sql *q, const struct filter *f) {
  if (!f->after.id)
    return;
  sql_add(q, f->order ? " AND (" TASK_RANK ", m.created_at, m.id) > (" : " AND (m.created_at, m.id) < (");
  if (f->order) {
    sql_int(q, f->after.rank);
    sql_add(q, ", ");
  }
  sql_int(q, f->after.at);
  sql_add(q, ", ");
  sql_int(q, f->after.id);
  sql_add(q, ")");
}

/* ---- lists in parts ---- */

/* A list of several corpora, or of all kinds of a project's own memories, is read in parts that an index leads to: as
 * one question it would make the engine read and sort everything that the team has, for each page. */
struct part {
  unsigned corpora;
  const char *kind; /* NULL: all */
};
enum { PARTS_MOST = (int)CORPUS_COUNT + (int)KIND_COUNT, PART_ROWS = 2000 };

static size_t parts_of(const struct scope *scope, const struct filter *f, struct part parts[PARTS_MOST]) {
  unsigned corpora = scope->corpora ? scope->corpora : 1U << CORPUS_MEMORY;
  bool by_kind = f->own && str_empty(f->kind) && !f->states && !scope->as_of;
  size_t n = 0;
  for (unsigned c = 0; c < CORPUS_COUNT; c++) {
    if (!(corpora & (1U << c)))
      continue;
    if (c != CORPUS_MEMORY || !by_kind)
      parts[n++] = (struct part){1U << c, NULL};
    for (int k = 0; c == CORPUS_MEMORY && by_kind && k < KIND_COUNT; k++)
      parts[n++] = (struct part){1U << c, kind_names[k]};
  }
  return n;
}

static int by_newest(const void *x, const void *y) {
  const struct memory *p = x, *q = y;
  if (p->created_at != q->created_at)
    return p->created_at < q->created_at ? 1 : -1;
  return p->id < q->id ? 1 : -(p->id > q->id);
}

static enum status list_part(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                             struct memories *ret_list, struct error *err) {
  struct sql q = memory_select(a);
  visible(&q, scope, f->states ? f->states : STATES_LIVE);
  filter_where(&q, f);
  where_own(&q, scope, f);
  where_after(&q, f);
  sql_addf(&q, " ORDER BY %s LIMIT ", f->order ? f->order : "m.created_at DESC, m.id DESC");
  sql_int(&q, f->limit > 0 ? f->limit : INT64_MAX);
  sql_add(&q, " OFFSET ");
  sql_int(&q, f->offset);
  return memory_collect(st, &q, a, ret_list, err);
}

static enum status list_parts(struct store *st, const struct scope *scope, const struct filter *f,
                              const struct part *parts, size_t n, struct arena *a, struct memories *list,
                              struct error *err) {
  for (size_t i = 0; i < n; i++) {
    struct scope of_part = *scope;
    struct filter rows = *f;
    of_part.corpora = parts[i].corpora;
    rows.limit += rows.offset;
    rows.offset = 0;
    if (parts[i].kind)
      rows.kind = str_from(parts[i].kind);
    TRY(list_part(st, &of_part, &rows, a, list, err));
  }
  return STATUS_OK;
}

/* The parts are of one state of the store: what moves from one to another meanwhile is in exactly one of them. */
enum status memory_list(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                        struct memories *ret_list, struct error *err) {
  struct part parts[PARTS_MOST];
  struct memories all = {0};
  size_t n = parts_of(scope, f, parts);
  bool alone = false;
  if (n < 2 || f->order || f->limit <= 0 || f->limit > PART_ROWS || f->offset > PART_ROWS - f->limit)
    return list_part(st, scope, f, a, ret_list, err);
  TRY(db_snapshot(st->db, &alone, err));
  TRY(db_snapshot_end(st->db, alone, list_parts(st, scope, f, parts, n, a, &all, err), err));
  if (all.n)
    qsort(all.v, all.n, sizeof(*all.v), by_newest);
  for (size_t i = (size_t)f->offset; i < all.n && i < (size_t)(f->offset + f->limit); i++)
    list_push(a, ret_list, all.v[i]);
  return STATUS_OK;
}

static enum status count_part(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                              int64_t *ret_count, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT count(*) FROM memory m WHERE ");
  visible(&q, scope, f->states ? f->states : STATES_LIVE);
  filter_where(&q, f);
  where_own(&q, scope, f);
  struct rows r;
  db_query_sql(st->db, &r, err, &q);
  if (rows_next(&r))
    *ret_count = rows_int(&r, 0);
  return rows_end(&r);
}

static enum status count_parts(struct store *st, const struct scope *scope, const struct filter *f, unsigned corpora,
                               struct arena *a, int64_t *ret_count, struct error *err) {
  int64_t count = 0;
  enum status s = STATUS_OK;
  for (unsigned c = 0; s == STATUS_OK && c < CORPUS_COUNT; c++) {
    struct scope of_part = *scope;
    int64_t some = 0;
    of_part.corpora = 1U << c;
    if (corpora & of_part.corpora)
      s = count_part(st, &of_part, f, a, &some, err);
    count += some;
  }
  if (s == STATUS_OK)
    *ret_count = count;
  return s;
}

enum status memory_count(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                         int64_t *ret_count, struct error *err) {
  unsigned corpora = scope->corpora ? scope->corpora : 1U << CORPUS_MEMORY;
  bool alone = false;
  int64_t count = 0;
  if ((corpora & (corpora - 1)) == 0) /* one query is of one state by itself */
    return count_parts(st, scope, f, corpora, a, ret_count, err);
  TRY(db_snapshot(st->db, &alone, err));
  TRY(db_snapshot_end(st->db, alone, count_parts(st, scope, f, corpora, a, &count, err), err));
  *ret_count = count;
  return STATUS_OK;
}

/* ---- remembered results, tombstones ---- */

enum status tombstone_exists(struct store *st, struct str team, struct str uid, bool *ret_exists, struct error *err) {
  int64_t one_row;
  return db_int(st->db, &one_row, ret_exists, err, "SELECT 1 FROM tombstone WHERE team = ?1 AND uid = ?2", "ss", team,
                uid);
}

/* Results are remembered for the one who got them: the key of a caller with projects is another one than the same key
 * of anybody else. */
static struct str own_key(const struct store *st, struct arena *a, struct str key) {
  struct reach reach = store_reach(st);
  if (reach.role == ROLE_ADMIN)
    return key;
  char hash[HASH_TEXT_SIZE];
  struct buf b = BUF(a);
  for (size_t i = 0; i < reach.project_count; i++)
    buf_addf(&b, "%zu:%.*s ", reach.projects[i].n, STR_ARG(reach.projects[i]));
  buf_add(&b, key);
  hash_text(buf_str(&b), hash);
  return arena_printf(a, "agent:%s", hash);
}

enum status idempotency_find(struct store *st, struct str team, struct str key, struct arena *a, struct str *ret_result,
                             struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT result FROM idempotency WHERE team = ?1 AND key = ?2", "ss", team,
           own_key(st, a, key));
  *ret_result = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

enum status idempotency_save(struct txn *txn, struct arena *a, struct str key, int64_t memory_id, struct str result,
                             struct error *err) {
  return db_exec(txn->store->db, err,
                 "INSERT INTO idempotency (team, key, at, memory_id, result) VALUES (?1, ?2, ?3, ?4, ?5)", "ssits",
                 txn->team, own_key(txn->store, a, key), txn->now, memory_id, result);
}
