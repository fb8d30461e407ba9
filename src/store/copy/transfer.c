/* transfer.c: reading a team's records for an export, and writing the rows of an import. */
#include "store/copy/transfer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/id.h"
#include "store/store_internal.h"

/* ---- snapshot ---- */

enum status transfer_begin(struct store *st, struct error *err) {
  assert(!db_in_transaction(st->db));
  TRY(reach_check_admin(st, "a copy of the store", err));
  reads_flush(st); /* queued access counts belong to the export */
  bool begun;
  return db_snapshot(st->db, &begun, err);
}

enum status transfer_end(struct store *st, struct error *err) { return db_snapshot_end(st->db, true, STATUS_OK, err); }

/* ---- reading ---- */

static struct sql team_sql(const struct transfer *t, const char *first) {
  struct sql q = SQL(t->scratch);
  sql_add(&q, first);
  sql_text(&q, t->team);
  return q;
}

static void project_sql(struct sql *q, const struct transfer *t, const char *condition) {
  if (!t->one_project)
    return;
  sql_add(q, condition);
  sql_text(q, t->project);
}

/* Only the statement's text may be in the scratch arena, which is released after each record: the driver copies the
 * text but binds values without copying. The bound values, team and project, belong to the caller. */
static void start(const struct transfer *t, struct rows *r, const struct sql *q) {
  db_query_sql(t->store->db, r, t->err, q);
}

static enum status finish(struct rows *r, enum status visited) {
  TRY(rows_end(r));
  return visited;
}

enum status transfer_count(const struct transfer *t, int64_t *ret_count) {
  struct rows r;
  struct sql q = team_sql(t, "SELECT count(*) FROM memory m WHERE m.corpus = 'memory' AND m.team = ");
  project_sql(&q, t, " AND m.project = ");
  start(t, &r, &q);
  int64_t count = rows_next(&r) ? rows_int(&r, 0) : 0;
  TRY(rows_end(&r));
  *ret_count = count;
  return STATUS_OK;
}

static enum status one_memory(const struct transfer *t, const struct rows *r, memory_visit visit, void *arg) {
  struct memory m;
  struct notes notes = {0};
  memory_row(r, t->scratch, &m);
  m.body = rows_null(r, (int)memory_field_count) ? STR("") : rows_dup(r, (int)memory_field_count, t->scratch);
  TRY(memory_load_lists(t->store, t->scratch, &m, t->err));
  TRY(notes_load(t->store, t->scratch, &m, &notes, t->err));
  return visit(arg, &m, &notes);
}

enum status transfer_memories(const struct transfer *t, memory_visit visit, void *arg) {
  struct rows r;
  struct sql q = SQL(t->scratch);
  sql_add(&q, "SELECT ");
  memory_columns(&q.text);
  sql_add(&q, ", b.text FROM memory m LEFT JOIN body b ON b.team = m.team AND b.memory_id = m.id"
              " WHERE m.corpus = 'memory' AND m.team = ");
  sql_text(&q, t->team);
  project_sql(&q, t, " AND m.project = ");
  sql_add(&q, " ORDER BY m.uid");
  start(t, &r, &q);
  enum status s = STATUS_OK;
  while (s == STATUS_OK && rows_next(&r)) {
    arena_release(t->scratch);
    s = one_memory(t, &r, visit, arg);
  }
  return finish(&r, s);
}

enum status transfer_links(const struct transfer *t, link_visit visit, void *arg) {
  struct rows r;
  /* Follows the index on uids, so only the links of one memory are sorted at a time. */
  struct sql q = team_sql(t, "SELECT s.uid, l.rel, d.uid, l.at, l.reason, l.prior"
                             " FROM memory s CROSS JOIN link l JOIN memory d ON d.team = l.team AND d.id = l.dst"
                             " WHERE l.team = s.team AND l.src = s.id AND s.team = ");
  project_sql(&q, t, " AND s.project = ");
  project_sql(&q, t, " AND d.project = ");
  sql_add(&q, " ORDER BY s.uid, l.rel, d.uid");
  start(t, &r, &q);
  enum status s = STATUS_OK;
  while (s == STATUS_OK && rows_next(&r)) {
    arena_release(t->scratch);
    struct link l = {.src_uid = rows_text(&r, 0),
                     .rel = rows_text(&r, 1),
                     .dst_uid = rows_text(&r, 2),
                     .at = rows_int(&r, 3),
                     .reason = rows_text(&r, 4),
                     .prior = rows_text(&r, 5)};
    s = visit(arg, &l);
  }
  return finish(&r, s);
}

enum status transfer_tombstones(const struct transfer *t, tombstone_visit visit, void *arg) {
  struct rows r;
  /* Tombstones have no project. */
  if (t->one_project)
    return STATUS_OK;
  struct sql q = team_sql(t, "SELECT uid, at, by FROM tombstone WHERE team = ");
  sql_add(&q, " ORDER BY uid");
  start(t, &r, &q);
  enum status s = STATUS_OK;
  while (s == STATUS_OK && rows_next(&r)) {
    arena_release(t->scratch);
    struct tombstone stone = {.uid = rows_text(&r, 0), .at = rows_int(&r, 1), .by = rows_text(&r, 2)};
    s = visit(arg, &stone);
  }
  return finish(&r, s);
}

enum status transfer_txns(const struct transfer *t, txn_visit visit, void *arg) {
  struct rows r;
  struct sql q = team_sql(t, "SELECT t.uid, t.at, t.op, t.source, t.session, u.uid FROM txn t"
                             " LEFT JOIN txn u ON u.team = t.team AND u.id = t.undoes AND u.op <> 'import'"
                             " WHERE t.op <> 'import' AND t.team = ");
  if (t->one_project) {
    sql_add(&q, " AND EXISTS (SELECT 1 FROM event e WHERE e.team = t.team AND e.txn = t.id AND e.project = ");
    sql_text(&q, t->project);
    sql_add(&q, ")");
  }
  sql_add(&q, " ORDER BY t.id");
  start(t, &r, &q);
  enum status s = STATUS_OK;
  while (s == STATUS_OK && rows_next(&r)) {
    arena_release(t->scratch);
    struct txn_record record = {.uid = rows_text(&r, 0),
                                .at = rows_int(&r, 1),
                                .op = rows_text(&r, 2),
                                .source = rows_text(&r, 3),
                                .session = rows_text(&r, 4),
                                .undoes = rows_text(&r, 5)};
    s = visit(arg, &record);
  }
  return finish(&r, s);
}

/* ---- JSON of events: export replaces ids with uids, import replaces uids with ids of the new store ---- */

static void drop_member(yyjson_mut_val *obj, const char *name) { yyjson_mut_obj_remove_key(obj, name); }

/* Removes ids and team, which have no meaning in another store. Links keep their uids. */
static void drop_local(yyjson_mut_val *record) {
  drop_member(record, "id");
  drop_member(record, "team");
  size_t i, n;
  yyjson_mut_val *v;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(record, "links"), i, n, v) {
    drop_member(v, "id");
  }
}

static enum status uid_of(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_uid,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT uid FROM memory WHERE team = ?1 AND id = ?2", "si", team, id);
  *ret_uid = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

/* "results" of a search: ids to uids, or back. Memories that no longer exist are omitted. */
static enum status translate_results(struct store *st, struct str team, struct arena *a, yyjson_mut_doc *doc,
                                     yyjson_mut_val *detail, bool outward, struct error *err) {
  yyjson_mut_val *was = yyjson_mut_obj_get(detail, "results"), *now = yyjson_mut_arr(doc), *v;
  if (!yyjson_mut_is_arr(was))
    return STATUS_OK;
  size_t i, n;
  yyjson_mut_arr_foreach(was, i, n, v) {
    struct str uid = {yyjson_mut_get_str(v), yyjson_mut_get_len(v)};
    int64_t id = yyjson_mut_get_sint(v);
    if (outward && yyjson_mut_is_int(v)) {
      TRY(uid_of(st, team, id, a, &uid, err));
      if (uid.p)
        json_add_str(doc, now, uid);
    } else if (!outward && yyjson_mut_is_str(v)) {
      TRY(transfer_find(st, team, uid, &id, NULL, err));
      if (id)
        yyjson_mut_arr_add_sint(doc, now, id);
    }
  }
  yyjson_mut_obj_replace(detail, yyjson_mut_strcpy(doc, "results"), now);
  return STATUS_OK;
}

static enum status translate(struct store *st, struct str team, struct arena *a, bool outward, struct str *json,
                             struct error *err) {
  struct error ignored;
  yyjson_val *root;
  if (!json->p || json_read(a, *json, &root, &ignored) != STATUS_OK)
    return STATUS_OK;
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *copy = yyjson_val_mut_copy(doc, root);
  if (yyjson_mut_is_obj(copy)) {
    drop_local(copy);
    TRY(translate_results(st, team, a, doc, copy, outward, err));
  }
  *json = json_write(a, copy, false);
  return STATUS_OK;
}

static enum status translate_event(struct store *st, struct str team, struct arena *a, bool outward,
                                   struct event_record *e, struct error *err) {
  struct str *texts[] = {&e->before, &e->after, &e->detail};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    TRY(translate(st, team, a, outward, texts[i], err));
  return STATUS_OK;
}

#define EVENT_COLUMNS                                                                                                  \
  "SELECT t.uid, e.at, e.action, e.change, e.op, e.uid, e.project, e.source, e.session, e.before, e.after, e.detail,"  \
  " e.purged FROM event e LEFT JOIN txn t ON t.team = e.team AND t.id = e.txn WHERE "

static struct event_record event_row(const struct rows *r) {
  return (struct event_record){.txn = rows_text(r, 0),
                               .at = rows_int(r, 1),
                               .action = rows_text(r, 2),
                               .change = rows_text(r, 3),
                               .op = rows_text(r, 4),
                               .uid = rows_text(r, 5),
                               .project = rows_text(r, 6),
                               .source = rows_text(r, 7),
                               .session = rows_text(r, 8),
                               .before = rows_text(r, 9),
                               .after = rows_text(r, 10),
                               .detail = rows_text(r, 11),
                               .purged = rows_int(r, 12)};
}

enum status transfer_events(const struct transfer *t, event_record_visit visit, void *arg) {
  struct rows r;
  struct sql q = team_sql(t, EVENT_COLUMNS "e.op <> 'import' AND e.team = ");
  project_sql(&q, t, " AND e.project = ");
  sql_add(&q, " ORDER BY e.seq");
  start(t, &r, &q);
  enum status s = STATUS_OK;
  while (s == STATUS_OK && rows_next(&r)) {
    arena_release(t->scratch);
    struct event_record e = event_row(&r);
    s = translate_event(t->store, t->team, t->scratch, true, &e, t->err);
    if (s == STATUS_OK)
      s = visit(arg, &e);
  }
  return finish(&r, s);
}

/* ---- lookup ---- */

enum status transfer_find(struct store *st, struct str team, struct str uid, int64_t *ret_id, bool *ret_standing,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT id, state FROM memory WHERE team = ?1 AND uid = ?2", "ss", team, uid);
  bool found = rows_next(&r), standing = false;
  int64_t id = found ? rows_int(&r, 0) : 0;
  if (found)
    standing = !str_is(rows_text(&r, 1), "superseded") && !str_is(rows_text(&r, 1), "forgotten");
  TRY(rows_end(&r));
  *ret_id = id;
  if (ret_standing)
    *ret_standing = standing;
  return STATUS_OK;
}

enum status transfer_find_txn(struct store *st, struct str team, struct str uid, int64_t *ret_id, struct error *err) {
  bool found;
  return db_int(st->db, ret_id, &found, err, "SELECT id FROM txn WHERE team = ?1 AND uid = ?2", "ss", team, uid);
}

enum status transfer_has_link(struct store *st, struct str team, int64_t src, struct str rel, int64_t dst,
                              bool *ret_there, struct error *err) {
  int64_t one;
  return db_int(st->db, &one, ret_there, err,
                "SELECT 1 FROM link WHERE team = ?1 AND src = ?2 AND rel = ?3 AND dst = ?4", "sisi", team, src, rel,
                dst);
}

enum status transfer_has_tombstones(struct store *st, struct str team, bool *ret_some, struct error *err) {
  int64_t one;
  return db_int(st->db, &one, ret_some, err, "SELECT 1 FROM tombstone WHERE team = ?1 LIMIT 1", "s", team);
}

/* ---- writing ---- */

enum status transfer_add_tombstone(struct txn *txn, const struct tombstone *stone, bool *ret_added, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  TRY(db_exec(txn->store->db, err,
              "INSERT INTO tombstone (team, uid, at, by) VALUES (?1, ?2, ?3, ?4)"
              " ON CONFLICT (team, uid) DO NOTHING",
              "ssis", txn->team, stone->uid, stone->at, stone->by));
  *ret_added = db_changes(txn->store->db) > 0;
  struct event e = {.action = STR("memory:tombstone"), .uid = stone->uid};
  return *ret_added ? event_add(txn, &e, err) : STATUS_OK;
}

enum status transfer_add_txn(struct txn *txn, const struct txn_record *record, int64_t undoes, int64_t *ret_id,
                             struct error *err) {
  return db_int(txn->store->db, ret_id, NULL, err,
                "INSERT INTO txn (uid, team, at, op, source, session, undoes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                " RETURNING id",
                "ssissst", record->uid, txn->team, record->at, record->op, record->source, record->session, undoes);
}

/* True if the event is about a memory that was purged here, or lists it among the results of a search. */
static enum status mentions_purged(struct txn *txn, struct arena *a, const struct event_record *e, bool *ret_purged,
                                   struct error *err) {
  struct error ignored;
  yyjson_val *detail = NULL, *v;
  size_t i, n;
  *ret_purged = false;
  if (e->uid.p)
    TRY(tombstone_exists(txn->store, txn->team, e->uid, ret_purged, err));
  if (e->detail.p && json_read(a, e->detail, &detail, &ignored) != STATUS_OK)
    return STATUS_OK;
  yyjson_arr_foreach(yyjson_obj_get(detail, "results"), i, n, v) {
    if (!*ret_purged && yyjson_is_str(v))
      TRY(tombstone_exists(txn->store, txn->team, json_val_str(v), ret_purged, err));
  }
  return STATUS_OK;
}

enum status transfer_add_event(struct txn *txn, struct arena *a, const struct event_record *record, int64_t of,
                               struct error *err) {
  assert(db_in_transaction(txn->store->db));
  struct event_record e = *record;
  int64_t memory_id = 0;
  bool purged;
  TRY(mentions_purged(txn, a, &e, &purged, err));
  if (purged) {
    e.before = e.after = e.detail = STR_NONE;
    /* The purge event itself never had a text. */
    e.purged = e.purged || !str_is(e.change, "purge");
  }
  TRY(translate_event(txn->store, txn->team, a, false, &e, err));
  if (e.uid.p)
    TRY(transfer_find(txn->store, txn->team, e.uid, &memory_id, NULL, err));
  return db_exec(txn->store->db, err,
                 "INSERT INTO event (team, txn, at, action, change, op, memory_id, uid, project, source, session,"
                 " before, after, detail, purged)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
                 "stissstsssssssi", txn->team, of, e.at, e.action, e.change, e.op, memory_id, e.uid, e.project,
                 e.source, e.session, e.before, e.after, e.detail, e.purged);
}

/* ---- fingerprints of reads: FNV-1a ---- */

static uint64_t hash_add(uint64_t h, const void *p, size_t n) {
  const unsigned char *bytes = p;
  for (size_t i = 0; i < n; i++)
    h = (h ^ bytes[i]) * 1099511628211u;
  return (h ^ 0xff) * 1099511628211u; /* separator */
}

uint64_t transfer_read_fingerprint(const struct event_record *e) {
  const struct str texts[] = {e->action, e->op, e->uid, e->project, e->source, e->session};
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < sizeof(e->at); i++) {
    unsigned char byte = (unsigned char)((uint64_t)e->at >> (8 * i));
    h = hash_add(h, &byte, 1);
  }
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    h = hash_add(h, texts[i].p, texts[i].n);
  return h;
}

static int by_value(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

enum status transfer_read_fingerprints(struct store *st, struct str team, struct arena *a, struct read_marks *ret_marks,
                                       struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, EVENT_COLUMNS "e.txn IS NULL AND e.team = ?1", "s", team);
  while (rows_next(&r)) {
    struct event_record e = event_row(&r);
    list_push(a, ret_marks, transfer_read_fingerprint(&e));
  }
  if (ret_marks->n)
    qsort(ret_marks->v, ret_marks->n, sizeof(*ret_marks->v), by_value);
  return rows_end(&r);
}
