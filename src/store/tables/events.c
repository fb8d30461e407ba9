/* events.c: append-only event log, and the queue of reads that are not written yet. */
#include "store/tables/events.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/json.h"
#include "store/store_internal.h"

/* READS_BATCH, READS_AGE_MS: each commit invalidates the page caches of all other connections, so commits are rare
 * under load. An idle engine is flushed much sooner (op/telemetry/write.c).
 * READS_MAX: if another process holds the lock for long, further reads are not recorded. */
enum { READS_BATCH = 512, READS_MAX = 4096, READS_AGE_MS = 5000, READS_BUSY_MS = 2000, CALLS_BUSY_MS = 100 };

enum status event_add(struct txn *txn, const struct event *e, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(e->action.n > 0);
  return db_exec(txn->store->db, err,
                 "INSERT INTO event (team, txn, at, action, change, op, memory_id, uid, project, source, session,"
                 " before, after, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                 "stissstsssssss", txn->team, txn->id, txn->now, e->action, str_from(e->change), str_from(txn->op),
                 e->memory_id, e->uid, e->project.p ? e->project : txn->project, txn->source, txn->session, e->before,
                 e->after, e->detail);
}

/* ---- the feed ---- */

#define EVENT_COLUMNS                                                                                                  \
  "SELECT seq, txn, at, action, change, op, memory_id, uid, project, source, session, before, after, detail, purged"   \
  " FROM event "

static enum status visit_rows(struct rows *r, event_visit visit, void *arg) {
  enum status stop = STATUS_OK;
  char change[16];
  while (stop == STATUS_OK && rows_next(r)) {
    struct str c = rows_text(r, 4);
    size_t n = c.n < sizeof(change) ? c.n : sizeof(change) - 1;
    if (n)
      memcpy(change, c.p, n);
    change[n] = 0;
    struct event e = {.seq = rows_int(r, 0),
                      .txn = rows_int(r, 1),
                      .at = rows_int(r, 2),
                      .action = rows_text(r, 3),
                      .change = c.p ? change : NULL,
                      .op = rows_text(r, 5),
                      .memory_id = rows_int(r, 6),
                      .uid = rows_text(r, 7),
                      .project = rows_text(r, 8),
                      .source = rows_text(r, 9),
                      .session = rows_text(r, 10),
                      .before = rows_text(r, 11),
                      .after = rows_text(r, 12),
                      .detail = rows_text(r, 13),
                      .purged = rows_int(r, 14) != 0};
    stop = visit(arg, &e);
  }
  TRY(rows_end(r));
  return stop;
}

static int64_t limit_of(const struct event_query *q) { return q->limit > 0 ? q->limit : INT64_MAX; }

/* For callers with limited access: events of readable memories, except links, which name another memory. */
static struct sql select_within(struct arena *a, const struct reach *reach, const struct event_query *which) {
  struct sql q = SQL(a);
  sql_add(&q, EVENT_COLUMNS "WHERE seq > ");
  sql_int(&q, which->since);
  sql_add(&q, " AND team = ");
  sql_text(&q, which->team);
  if (which->action.p) {
    sql_add(&q, " AND action = ");
    sql_text(&q, which->action);
  }
  reach_where(&q, reach, "project");
  sql_add(&q, " AND (change IS NULL OR change NOT IN ('link', 'unlink'))"
              " AND EXISTS (SELECT 1 FROM memory m WHERE m.team = event.team AND m.id = event.memory_id");
  reach_where(&q, reach, "m.project");
  sql_add(&q, which->newest_first ? ") ORDER BY seq DESC LIMIT " : ") ORDER BY seq LIMIT ");
  sql_int(&q, limit_of(which));
  return q;
}

static enum status walk_within(struct store *st, const struct reach *reach, const struct event_query *which,
                               event_visit visit, void *arg, struct error *err) {
  struct arena scratch;
  jmp_buf oom;
  volatile enum status s;
  arena_init(&scratch);
  if (ARENA_BOUNDARY(&scratch, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else {
    struct rows r;
    struct sql q = select_within(&scratch, reach, which);
    db_query_sql(st->db, &r, err, &q);
    s = visit_rows(&r, visit, arg);
  }
  arena_release(&scratch);
  return s;
}

#define MATCHES "WHERE seq > ?1 AND team = ?2 AND (?3 IS NULL OR action = ?3) "

enum status events_walk(struct store *st, const struct event_query *q, event_visit visit, void *arg,
                        struct error *err) {
  struct rows r;
  struct reach reach = store_reach(st);
  if (reach.role != ROLE_ADMIN)
    return walk_within(st, &reach, q, visit, arg, err);
  db_query(st->db, &r, err,
           q->newest_first ? EVENT_COLUMNS MATCHES "ORDER BY seq DESC LIMIT ?4"
                           : EVENT_COLUMNS MATCHES "ORDER BY seq LIMIT ?4",
           "issi", q->since, q->team, q->action, limit_of(q));
  return visit_rows(&r, visit, arg);
}

enum status events_newest(struct store *st, struct str team, int64_t limit, event_visit visit, void *arg,
                          struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "the event log", err));
  db_query(st->db, &r, err, EVENT_COLUMNS "WHERE team = ?1 ORDER BY seq DESC LIMIT ?2", "si", team, limit);
  return visit_rows(&r, visit, arg);
}

enum status events_of_txn(struct store *st, struct str team, int64_t txn, bool backwards, event_visit visit, void *arg,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           backwards ? EVENT_COLUMNS "WHERE txn = ?1 AND team = ?2 ORDER BY seq DESC"
                     : EVENT_COLUMNS "WHERE txn = ?1 AND team = ?2 ORDER BY seq",
           "is", txn, team);
  return visit_rows(&r, visit, arg);
}

enum status events_last_seq(struct store *st, struct str team, int64_t *ret_seq, int64_t *ret_count,
                            struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT coalesce(max(seq), 0), count(*) FROM event WHERE team = ?1", "s", team);
  bool found = rows_next(&r);
  *ret_seq = found ? rows_int(&r, 0) : 0;
  *ret_count = found ? rows_int(&r, 1) : 0;
  return rows_end(&r);
}

/* SQLite has one writer at a time, so the end of the whole log serves every team. On PostgreSQL teams write
 * concurrently: another team may commit a larger seq before this team commits a smaller one. */
enum status events_end(struct store *st, struct str team, int64_t *ret_seq, struct error *err) {
  if (db_engine(st->db) == DB_SQLITE)
    return db_int(st->db, ret_seq, NULL, err,
                  "/* all teams: end of the log of a file */ SELECT coalesce(max(seq), 0) FROM event", NULL);
  return db_int(st->db, ret_seq, NULL, err, "SELECT coalesce(max(seq), 0) FROM event WHERE team = ?1", "s", team);
}

enum status events_position(struct store *st, struct str team, int64_t seq, int64_t at, int64_t *ret_seq,
                            struct error *err) {
  bool found;
  TRY(db_int(st->db, ret_seq, &found, err,
             "SELECT seq FROM event WHERE team = ?1 AND seq <= ?2 AND at <= ?3 ORDER BY seq DESC LIMIT 1", "sii", team,
             seq, at));
  if (!found)
    *ret_seq = 0;
  return STATUS_OK;
}

enum status events_epoch(struct store *st, char ret_epoch[EVENTS_EPOCH_SIZE], struct error *err) {
  struct rows r;
  memset(ret_epoch, 0, EVENTS_EPOCH_SIZE);
  db_query(st->db, &r, err, "SELECT value FROM meta WHERE name = 'epoch'", NULL);
  if (rows_next(&r)) {
    struct str v = rows_text(&r, 0);
    memcpy(ret_epoch, v.p, v.n < EVENTS_EPOCH_SIZE ? v.n : EVENTS_EPOCH_SIZE - 1);
  }
  return rows_end(&r);
}

/* ---- the queue of reads ---- */

struct read_note {
  struct txn who;
  struct str action, uid, detail;
  int64_t memory_id;
};

struct read_queue {
  struct arena arena;
  LIST(struct read_note) notes;
  int64_t since; /* ticks of the oldest note */
};

/* Memories in the list `results` of a note were shown by a search or delivered at boot. That is a use, but not a read:
 * access_count would raise their rank in the next search. Showing one again within an hour writes nothing. */
static enum status count_shown(struct store *st, struct arena *a, const struct read_note *n, struct error *err) {
  yyjson_val *detail = NULL, *v;
  struct error ignored;
  int64_t ids[SQL_IDS];
  size_t i, count, used = 0;
  if (!n->detail.p || json_read(a, n->detail, &detail, &ignored) != STATUS_OK)
    return STATUS_OK;
  yyjson_val *list = yyjson_obj_get(detail, "results");
  yyjson_arr_foreach(list, i, count, v) {
    ids[used++] = yyjson_get_sint(v);
    if (used < SQL_IDS && i + 1 < count)
      continue;
    struct sql q = SQL(a);
    sql_add(&q, "UPDATE memory SET last_accessed = ");
    sql_int(&q, n->who.now);
    sql_add(&q, " WHERE team = ");
    sql_text(&q, n->who.team);
    sql_add(&q, " AND id IN ");
    sql_ids(&q, ids, used);
    sql_add(&q, " AND corpus = 'memory' AND (last_accessed IS NULL OR last_accessed <= ");
    sql_int(&q, n->who.now - MS_PER_HOUR);
    sql_add(&q, ")");
    TRY(db_exec_sql(st->db, err, &q));
    used = 0;
  }
  return STATUS_OK;
}

static enum status count_access(struct store *st, const struct read_note *n, struct error *err) {
  return db_exec(
      st->db, err,
      "UPDATE memory SET access_count = access_count + 1,"
      " last_accessed = CASE WHEN last_accessed > ?1 THEN last_accessed ELSE ?1 END WHERE team = ?2 AND id = ?3",
      "isi", n->who.now, n->who.team, n->memory_id);
}

static enum status write_note(struct store *st, struct read_note *n, struct error *err) {
  n->who.store = st;
  n->who.id = 0;
  struct event e = {
      .action = n->action, .memory_id = n->memory_id, .uid = n->uid, .project = n->who.project, .detail = n->detail};
  if (n->memory_id) {
    TRY(count_access(st, n, err));
    if (db_changes(st->db) == 0) /* purged by another handle since it was read: nothing of it may stay */
      return STATUS_OK;
  }
  if (n->action.p)
    TRY(event_add(&n->who, &e, err));
  if (n->memory_id)
    return STATUS_OK;
  struct arena a;
  jmp_buf oom;
  volatile enum status s = STATUS_OK; /* without memory, the use is not counted */
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom))
    s = count_shown(st, &a, n, err);
  arena_release(&a);
  return s;
}

static size_t read_queue_size(const struct store *st) { return st->reads ? st->reads->notes.n : 0; }

static void read_queue_clear(struct store *st) {
  if (!st->reads)
    return;
  arena_release(&st->reads->arena);
  memset(&st->reads->notes, 0, sizeof(st->reads->notes));
}

static void read_queue_forget(struct store *st, struct str team) {
  size_t kept = 0;
  for (size_t i = 0; i < read_queue_size(st); i++)
    if (!str_eq(st->reads->notes.v[i].who.team, team))
      st->reads->notes.v[kept++] = st->reads->notes.v[i];
  if (st->reads)
    st->reads->notes.n = kept;
}

/* Writes the queued rows of one team. False if the store is locked or the connection lost: the rows stay queued. Other
 * errors drop them. */
static bool flush_team(struct store *st, struct str team) {
  assert(!db_in_transaction(st->db));
  struct error err;
  enum status s = db_begin(st->db, team, true, &err);
  for (size_t i = 0; s == STATUS_OK && i < read_queue_size(st); i++)
    if (str_eq(st->reads->notes.v[i].who.team, team))
      s = write_note(st, &st->reads->notes.v[i], &err);
  if (s == STATUS_OK)
    s = call_queue_write(st, team, &err);
  if (s == STATUS_OK)
    s = db_commit(st->db, &err);
  if (s != STATUS_OK)
    db_rollback(st->db);
  if (s == STATUS_BUSY || s == STATUS_LOST)
    return false;
  read_queue_forget(st, team);
  call_queue_drop_team(st, team);
  return true;
}

/* Team by team, since PostgreSQL locks each team separately. Usually there is one. */
bool queues_flush(struct store *st, int busy_ms) {
  if (read_queue_size(st) + call_queue_size(st) == 0 || db_in_transaction(st->db))
    return true;
  bool done = true;
  int busy = db_set_busy(st->db, busy_ms);
  while (done && read_queue_size(st) + call_queue_size(st) > 0)
    done = flush_team(st, read_queue_size(st) ? st->reads->notes.v[0].who.team : call_queue_team(st));
  db_set_busy(st->db, busy);
  if (read_queue_size(st) == 0)
    read_queue_clear(st);
  if (call_queue_size(st) == 0)
    call_queue_clear(st);
  return done;
}

void reads_queue(struct store *st, const struct txn *who, struct str action, int64_t memory_id, struct str uid,
                 struct str detail) {
  if (db_read_only(st->db))
    return;
  if (!st->reads) {
    st->reads = mem_zalloc(sizeof(*st->reads));
    if (!st->reads)
      return;
    arena_init(&st->reads->arena);
  }
  struct read_queue *q = st->reads;
  jmp_buf oom;
  if (q->notes.n >= READS_MAX && !queues_flush(st, 0))
    return;
  if (ARENA_BOUNDARY(&q->arena, oom))
    return; /* losing the record is better than failing the read */
  if (q->notes.n == 0)
    q->since = clock_ticks_us();
  struct read_note n = {.who = *who, .memory_id = memory_id};
  n.who.team = arena_dup(&q->arena, who->team);
  n.who.project = arena_dup(&q->arena, who->project);
  n.who.source = arena_dup(&q->arena, who->source);
  n.who.session = who->session.p ? arena_dup(&q->arena, who->session) : STR_NONE;
  n.action = action.p ? arena_dup(&q->arena, action) : STR_NONE;
  n.uid = uid.p ? arena_dup(&q->arena, uid) : STR_NONE;
  n.detail = detail.p ? arena_dup(&q->arena, detail) : STR_NONE;
  list_push(&q->arena, &q->notes, n);
  /* Never wait for the lock: the next flush tries again. */
  if (q->notes.n % READS_BATCH == 0 || clock_ticks_us() - q->since > READS_AGE_MS * 1000)
    if (!queues_flush(st, 0))
      q->since = clock_ticks_us();
}

/* Wait less if only calls are queued. */
void reads_flush(struct store *st) { queues_flush(st, read_queue_size(st) ? READS_BUSY_MS : CALLS_BUSY_MS); }

bool reads_flush_now(struct store *st) { return queues_flush(st, 0); }

void read_queue_free(struct read_queue *queue) {
  if (!queue)
    return;
  arena_release(&queue->arena);
  mem_free(queue);
}
