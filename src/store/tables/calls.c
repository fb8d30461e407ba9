/* calls.c: rows of tool calls, and the queue of calls that are not written yet. */
#include "store/tables/calls.h"

#include <assert.h>

#include "base/alloc.h"
#include "store/store_internal.h"

/* If another process holds the lock for long and QUEUE_MAX is reached, further calls are not recorded. */
enum { QUEUE_BATCH = 64, QUEUE_MAX = 4096, QUEUE_AGE_MS = 1000 };

struct call_queue {
  struct arena arena;
  LIST(struct call_row) rows;
  int64_t since; /* ticks of the oldest row */
};

enum status calls_add(struct store *st, const struct call_row *row, struct error *err) {
  return db_exec(st->db, err,
                 "INSERT INTO tool_call (event_id, team, session, tool, op, project, source, at, duration_us, error,"
                 " message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
                 "sssssssiiss", row->event_id, row->team, row->session, row->tool, row->op, row->project, row->source,
                 row->at, row->duration_us, row->error, row->message);
}

/* ---- the queue ---- */

size_t call_queue_size(const struct store *st) { return st->calls ? st->calls->rows.n : 0; }

struct str call_queue_team(const struct store *st) {
  assert(call_queue_size(st) > 0);
  return st->calls->rows.v[0].team;
}

enum status call_queue_write(struct store *st, struct str team, struct error *err) {
  for (size_t i = 0; i < call_queue_size(st); i++)
    if (str_eq(st->calls->rows.v[i].team, team))
      TRY(calls_add(st, &st->calls->rows.v[i], err));
  return STATUS_OK;
}

void call_queue_drop_team(struct store *st, struct str team) {
  size_t kept = 0;
  for (size_t i = 0; i < call_queue_size(st); i++)
    if (!str_eq(st->calls->rows.v[i].team, team))
      st->calls->rows.v[kept++] = st->calls->rows.v[i];
  if (st->calls)
    st->calls->rows.n = kept;
}

void call_queue_clear(struct store *st) {
  if (!st->calls)
    return;
  arena_release(&st->calls->arena);
  memset(&st->calls->rows, 0, sizeof(st->calls->rows));
}

void call_queue_free(struct call_queue *queue) {
  if (!queue)
    return;
  arena_release(&queue->arena);
  mem_free(queue);
}

static struct str copy(struct arena *a, struct str s) { return s.p ? arena_dup(a, s) : STR_NONE; }

void calls_queue(struct store *st, const struct call_row *row) {
  if (db_read_only(st->db))
    return;
  if (!st->calls) {
    st->calls = mem_zalloc(sizeof(*st->calls));
    if (!st->calls)
      return;
    arena_init(&st->calls->arena);
  }
  struct call_queue *q = st->calls;
  jmp_buf oom;
  assert(q->rows.n <= QUEUE_MAX);
  if (q->rows.n >= QUEUE_MAX && !queues_flush(st, 0))
    return;
  if (ARENA_BOUNDARY(&q->arena, oom))
    return; /* losing the record is better than failing the call */
  if (q->rows.n == 0)
    q->since = clock_ticks_us();
  struct call_row r = *row;
  r.event_id = copy(&q->arena, row->event_id);
  r.team = copy(&q->arena, row->team);
  r.session = copy(&q->arena, row->session);
  r.tool = copy(&q->arena, row->tool);
  r.op = copy(&q->arena, row->op);
  r.project = copy(&q->arena, row->project);
  r.source = copy(&q->arena, row->source);
  r.error = copy(&q->arena, row->error);
  r.message = copy(&q->arena, row->message);
  list_push(&q->arena, &q->rows, r);
  /* Never wait for the lock: the next flush tries again. */
  if (q->rows.n % QUEUE_BATCH == 0 || clock_ticks_us() - q->since > QUEUE_AGE_MS * 1000)
    if (!queues_flush(st, 0))
      q->since = clock_ticks_us();
}

/* ---- reading ---- */

#define CALL_COLUMNS                                                                                                   \
  "SELECT event_id, team, session, tool, op, project, source, at, duration_us, error, message FROM tool_call "

static enum status walk(struct rows *r, call_visit visit, void *arg) {
  enum status stop = STATUS_OK;
  while (stop == STATUS_OK && rows_next(r)) {
    struct call_row row = {.event_id = rows_text(r, 0),
                           .team = rows_text(r, 1),
                           .session = rows_text(r, 2),
                           .tool = rows_text(r, 3),
                           .op = rows_text(r, 4),
                           .project = rows_text(r, 5),
                           .source = rows_text(r, 6),
                           .at = rows_int(r, 7),
                           .duration_us = rows_int(r, 8),
                           .error = rows_text(r, 9),
                           .message = rows_text(r, 10)};
    stop = visit(arg, &row);
  }
  TRY(rows_end(r));
  return stop;
}

enum status calls_walk(struct store *st, struct str team, int64_t since, call_visit visit, void *arg,
                       struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, CALL_COLUMNS "WHERE team = ?1 AND at >= ?2", "si", team, since);
  return walk(&r, visit, arg);
}

enum status calls_errors(struct store *st, struct str team, int64_t limit, call_visit visit, void *arg,
                         struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, CALL_COLUMNS "WHERE team = ?1 AND error IS NOT NULL ORDER BY at DESC, id DESC LIMIT ?2",
           "si", team, limit);
  return walk(&r, visit, arg);
}

/* Scans the whole table, but only once a day: an index would not pay. */
enum status calls_prune(struct store *st, struct str team, int64_t now, struct error *err) {
  TRY(db_exec(st->db, err, "DELETE FROM tool_call WHERE team = ?1 AND at < ?2", "si", team,
              now - CALLS_KEPT_DAYS * MS_PER_DAY));
  return db_exec(st->db, err,
                 "DELETE FROM tool_call WHERE team = ?1 AND id <= (SELECT max(id) FROM tool_call WHERE team = ?1) - ?2",
                 "si", team, (int64_t)CALLS_KEPT);
}
