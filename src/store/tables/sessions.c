/* sessions.c: rows of agent sessions, handoffs, scratch values and checkpoints. */
#include "store/tables/sessions.h"

#include <assert.h>
#include <sodium.h>

#include "base/json.h"
#include "store/store_internal.h"

enum { SESSION_BUSY_MS = 5000 };

enum status sessions_begin(struct store *st, const struct txn *who, struct txn *ret_txn, struct error *err) {
  assert(who->team.n > 0 && !db_in_transaction(st->db));
  TRY(reach_check_write(st, who->project, "write in", err));
  int busy = db_set_busy(st->db, SESSION_BUSY_MS);
  if (busy < SESSION_BUSY_MS)
    db_set_busy(st->db, busy);
  enum status s = db_begin(st->db, who->team, false, err);
  db_set_busy(st->db, busy);
  if (s != STATUS_OK)
    return s;
  *ret_txn = *who;
  ret_txn->store = st;
  ret_txn->id = 0;
  return STATUS_OK;
}

/* 50 random bits in Crockford base 32, which has no letters that look like digits. */
void session_new_handle(char out[SESSION_HANDLE_SIZE]) {
  static const char letters[33] = "0123456789abcdefghjkmnpqrstvwxyz";
  uint8_t bytes[SESSION_HANDLE_SIZE - 3];
  randombytes_buf(bytes, sizeof(bytes));
  memcpy(out, "s-", 2);
  for (size_t i = 0; i < sizeof(bytes); i++)
    out[2 + i] = letters[bytes[i] & 31];
  out[SESSION_HANDLE_SIZE - 1] = 0;
}

/* ---- changes ---- */

static enum status add_event(struct txn *txn, struct arena *a, const struct session *s, const char *action,
                             const char *name, struct str value, struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "session", s->handle);
  json_put_opt(doc, detail, name, value);
  struct event e = {.action = str_from(action), .project = s->project, .detail = json_write(a, detail, false)};
  return event_add(txn, &e, err);
}

enum status session_insert(struct txn *txn, struct arena *a, struct session *s, struct error *err) {
  assert(s->handle.n > 0 && str_eq(s->team, txn->team));
  TRY(db_int(
      txn->store->db, &s->id, NULL, err,
      "INSERT INTO session (team, handle, project, source, cwd, host, pid, started, connection, client, client_version,"
      " task, last_item, booted_at, heartbeat_at)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14) RETURNING id",
      "ssssssttssssii", s->team, s->handle, s->project, s->source, s->cwd, s->host, s->pid, s->started, s->connection,
      s->client, s->client_version, s->task, s->last_item, txn->now));
  s->booted_at = s->heartbeat_at = txn->now;
  return add_event(txn, a, s, "session:boot", "task", s->task, err);
}

enum status session_refresh(struct txn *txn, struct arena *a, const struct session *s, struct error *err) {
  TRY(db_exec(txn->store->db, err,
              "UPDATE session SET project = ?1, task = ?2, last_item = ?3, booted_at = ?4,"
              " heartbeat_at = ?4 WHERE team = ?5 AND id = ?6",
              "ssiisi", s->project, s->task, s->last_item, txn->now, s->team, s->id));
  return add_event(txn, a, s, "session:boot", "task", s->task, err);
}

enum status session_set_task(struct txn *txn, struct arena *a, const struct session *s, struct str task,
                             struct error *err) {
  TRY(db_exec(txn->store->db, err, "UPDATE session SET task = ?1, heartbeat_at = ?2 WHERE team = ?3 AND id = ?4",
              "sisi", task, txn->now, s->team, s->id));
  return add_event(txn, a, s, "session:task", "task", task, err);
}

enum status session_end(struct txn *txn, struct arena *a, const struct session *s, const char *reason,
                        struct error *err) {
  TRY(db_exec(txn->store->db, err,
              "UPDATE session SET ended_at = ?1, end_reason = ?2 WHERE team = ?3 AND id = ?4 AND ended_at IS NULL",
              "issi", txn->now, str_from(reason), s->team, s->id));
  if (db_changes(txn->store->db) == 0)
    return STATUS_OK;
  struct txn who = *txn;
  who.team = s->team;
  return add_event(&who, a, s, "session:end", "reason", str_from(reason), err);
}

enum status sessions_tidy(struct txn *txn, struct error *err) {
  struct db *db = txn->store->db;
  TRY(db_exec(db, err, "DELETE FROM session WHERE team = ?1 AND ended_at IS NOT NULL AND ended_at < ?2", "si",
              txn->team, txn->now - SESSIONS_KEPT_DAYS * MS_PER_DAY));
  TRY(db_exec(db, err,
              "DELETE FROM scratch WHERE team = ?1 AND session IN"
              " (SELECT handle FROM session WHERE team = ?1 AND ended_at IS NOT NULL AND ended_at < ?2)",
              "si", txn->team, txn->now - MS_PER_DAY));
  return db_exec(db, err, "DELETE FROM checkpoint WHERE team = ?1 AND at < ?2", "si", txn->team, txn->now - MS_PER_DAY);
}

/* ---- reading ---- */

#define SESSION_COLUMNS                                                                                                \
  "SELECT id, team, handle, project, source, cwd, host, connection, client, client_version, task, pid, started,"       \
  " last_item, booted_at, heartbeat_at, ended_at, end_reason FROM session "

static struct session read_row(const struct rows *r, struct arena *a) {
  return (struct session){.id = rows_int(r, 0),
                          .team = rows_dup(r, 1, a),
                          .handle = rows_dup(r, 2, a),
                          .project = rows_dup(r, 3, a),
                          .source = rows_dup(r, 4, a),
                          .cwd = rows_dup(r, 5, a),
                          .host = rows_dup(r, 6, a),
                          .connection = rows_dup(r, 7, a),
                          .client = rows_dup(r, 8, a),
                          .client_version = rows_dup(r, 9, a),
                          .task = rows_dup(r, 10, a),
                          .pid = rows_int(r, 11),
                          .started = rows_int(r, 12),
                          .last_item = rows_int(r, 13),
                          .booted_at = rows_int(r, 14),
                          .heartbeat_at = rows_int(r, 15),
                          .ended_at = rows_int(r, 16),
                          .end_reason = rows_dup(r, 17, a)};
}

/* Sessions are visible only to callers who own their project. */
static bool is_visible(const struct store *st, struct str project) {
  struct reach reach = store_reach(st);
  return reach_owns(&reach, project);
}

/* ret_exists: also true if the caller may not see it. */
static enum status read_any(const struct store *st, struct rows *r, struct arena *a, struct session *ret_session,
                            bool *ret_found, bool *ret_exists) {
  bool found = rows_next(r);
  struct session s = {0};
  if (found)
    s = read_row(r, a);
  TRY(rows_end(r));
  *ret_exists = found;
  *ret_found = found && is_visible(st, s.project);
  if (*ret_found)
    *ret_session = s;
  return STATUS_OK;
}

static enum status read_one(const struct store *st, struct rows *r, struct arena *a, struct session *ret_session,
                            bool *ret_found) {
  bool exists;
  return read_any(st, r, a, ret_session, ret_found, &exists);
}

static enum status read_all(const struct store *st, struct rows *r, struct arena *a, struct sessions *ret_list) {
  while (rows_next(r))
    if (is_visible(st, rows_text(r, 3)))
      list_push(a, ret_list, read_row(r, a));
  return rows_end(r);
}

enum status session_find(struct store *st, struct str team, struct str ref, struct arena *a,
                         struct session *ret_session, bool *ret_found, struct error *err) {
  struct rows r;
  int64_t id;
  if (str_int64(ref, &id))
    db_query(st->db, &r, err, SESSION_COLUMNS "WHERE team = ?1 AND id = ?2", "si", team, id);
  else
    db_query(st->db, &r, err, SESSION_COLUMNS "WHERE team = ?1 AND handle = ?2", "ss", team, ref);
  bool exists = false;
  TRY(read_any(st, &r, a, ret_session, ret_found, &exists));
  if (exists && !*ret_found)
    reach_record(st, "session", ref);
  return STATUS_OK;
}

enum status session_of_origin(struct store *st, const struct session_origin *from, struct arena *a,
                              struct session *ret_session, bool *ret_found, struct error *err) {
  struct rows r;
  *ret_found = false;
  if (from->connection.p)
    db_query(st->db, &r, err,
             SESSION_COLUMNS "WHERE team = ?1 AND connection = ?2 AND ended_at IS NULL ORDER BY id DESC LIMIT 1", "ss",
             from->team, from->connection);
  else if (from->pid > 0)
    db_query(st->db, &r, err, SESSION_COLUMNS "WHERE team = ?1 AND " SESSION_OF_PROCESS " ORDER BY id DESC LIMIT 1",
             "ssit", from->team, from->host, from->pid, from->started);
  else
    return STATUS_OK;
  return read_one(st, &r, a, ret_session, ret_found);
}

enum status sessions_live(struct store *st, struct str team, struct str project, struct arena *a,
                          struct sessions *ret_list, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           SESSION_COLUMNS "WHERE team = ?1 AND (?2 IS NULL OR project = ?2) AND ended_at IS NULL ORDER BY id DESC",
           "ss", team, project);
  return read_all(st, &r, a, ret_list);
}

/* ---- handoffs ---- */

enum status handoff_add(struct txn *txn, struct arena *a, struct str session, struct str text, int64_t *ret_id,
                        struct error *err) {
  TRY(db_int(txn->store->db, ret_id, NULL, err,
             "INSERT INTO handoff (team, project, session, source, text, created_at)"
             " VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
             "sssssi", txn->team, txn->project, session, txn->source, text, txn->now));
  struct event e = {.action = STR("session:handoff"),
                    .detail = arena_printf(a, "{\"handoff\":%lld,\"bytes\":%zu}", (long long)*ret_id, text.n)};
  return event_add(txn, &e, err);
}

enum status handoff_last(struct store *st, struct str team, struct str project, struct str except, struct arena *a,
                         struct handoff *ret_handoff, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT id, project, session, source, text, created_at FROM handoff WHERE team = ?1"
           " AND (project = '' OR project = ?2) AND (?3 IS NULL OR session IS NULL OR session <> ?3)"
           " ORDER BY id DESC LIMIT 1",
           "sss", team, project, except);
  struct handoff h = {0};
  if (rows_next(&r))
    h = (struct handoff){.id = rows_int(&r, 0),
                         .project = rows_dup(&r, 1, a),
                         .session = rows_dup(&r, 2, a),
                         .source = rows_dup(&r, 3, a),
                         .text = rows_dup(&r, 4, a),
                         .created_at = rows_int(&r, 5)};
  TRY(rows_end(&r));
  struct reach reach = store_reach(st);
  *ret_handoff = h.id && reach_can_read(&reach, h.project) ? h : (struct handoff){0};
  return STATUS_OK;
}

/* ---- scratch values ---- */

enum status scratch_set(struct txn *txn, const struct session *s, struct str key, struct str value, struct error *err) {
  return db_exec(txn->store->db, err,
                 "INSERT INTO scratch (team, session, key, value, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)"
                 " ON CONFLICT (team, session, key) DO UPDATE SET value = excluded.value,"
                 " updated_at = excluded.updated_at",
                 "ssssi", s->team, s->handle, key, value, txn->now);
}

enum status scratch_get(struct store *st, const struct session *s, struct str key, struct arena *a,
                        struct str *ret_value, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT value FROM scratch WHERE team = ?1 AND session = ?2 AND key = ?3", "sss", s->team,
           s->handle, key);
  *ret_value = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

enum status scratch_list(struct store *st, const struct session *s, struct arena *a, struct scratches *ret_list,
                         struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT key, value, updated_at FROM scratch WHERE team = ?1 AND session = ?2 ORDER BY key",
           "ss", s->team, s->handle);
  while (rows_next(&r))
    list_push(a, ret_list, (struct scratch){rows_dup(&r, 0, a), rows_dup(&r, 1, a), rows_int(&r, 2)});
  return rows_end(&r);
}

/* SQLite has no octet_length(), PostgreSQL no cast of text to BLOB. */
#define SIZE(bytes)                                                                                                    \
  "SELECT count(*), coalesce(sum(" bytes "), 0) FROM scratch WHERE team = ?1 AND session = ?2 AND key <> ?3"

enum status scratch_size(struct store *st, const struct session *s, struct str key, int64_t *ret_count,
                         int64_t *ret_bytes, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           db_engine(st->db) == DB_SQLITE ? SIZE("length(CAST(value AS BLOB))") : SIZE("octet_length(value)"), "sss",
           s->team, s->handle, key);
  bool found = rows_next(&r);
  *ret_count = found ? rows_int(&r, 0) : 0;
  *ret_bytes = found ? rows_int(&r, 1) : 0;
  return rows_end(&r);
}

/* ---- checkpoints ---- */

enum status checkpoint_last(struct store *st, struct str team, struct str project, struct str source, struct str hash,
                            int64_t *ret_at, struct error *err) {
  *ret_at = 0;
  return db_int(st->db, ret_at, NULL, err,
                "SELECT at FROM checkpoint WHERE team = ?1 AND project = ?2 AND source = ?3 AND action_hash = ?4",
                "ssss", team, project, source, hash);
}

enum status checkpoint_set(struct txn *txn, struct str hash, struct error *err) {
  return db_exec(txn->store->db, err,
                 "INSERT INTO checkpoint (team, project, source, action_hash, at) VALUES (?1, ?2, ?3, ?4, ?5)"
                 " ON CONFLICT (team, project, source, action_hash) DO UPDATE SET at = excluded.at",
                 "ssssi", txn->team, txn->project, txn->source, hash, txn->now);
}
