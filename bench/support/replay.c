/* replay.c: replays recorded statements directly through libpq. */
#include <stdlib.h>
#include <string.h>

#include "support/measure.h"
#include "support/pg.h"
#include "support/recorder.h"

enum { STATEMENTS = 1024, IDS = 256, UID = 36, UID_TAIL = 12 };

struct replay {
  const struct libpq *pq;
  PGconn *conn;
  struct str sql[STATEMENTS];
  size_t statements;
  uint64_t run;
  struct {
    int64_t recorded, given;
  } ids[IDS];
  size_t id_count;
};

static _Noreturn void fail_with(struct replay *p) { fail("replay: %s", p->pq->errorMessage(p->conn)); }

struct replay *replay_open(const char *url) {
  struct replay *p = calloc(1, sizeof(*p));
  if (!p)
    fail("out of memory");
  p->pq = pg_library();
  p->conn = pg_connect(url);
  p->run = (uint64_t)p->pq->socket(p->conn) + (uint64_t)now_us() * 1000;
  /* The same settings as the program's. */
  pg_run(p->conn, "SET search_path = cairn, public, extensions, pg_temp; SET jit = off;"
                  "SET lock_timeout = 60000; SET statement_timeout = 60000");
  if (!p->pq->enterPipelineMode(p->conn))
    fail_with(p);
  return p;
}

void replay_close(struct replay *p) {
  p->pq->finish(p->conn);
  free(p);
}

/* ---- values ---- */

static int64_t get64(const char *b) {
  uint64_t n = 0;
  for (int i = 0; i < 8; i++)
    n = n << 8 | (unsigned char)b[i];
  return (int64_t)n;
}
static void put64(int64_t v, char out[8]) {
  for (int i = 0; i < 8; i++)
    out[i] = (char)((uint64_t)v >> (56 - 8 * i));
}

static bool is_uid(struct str s) {
  return s.n == UID && s.p[8] == '-' && s.p[13] == '-' && s.p[18] == '-' && s.p[23] == '-';
}

/* The value to send: the recorded one, or an id or uid of this replay, in `room`. */
static const char *value_of(struct replay *p, const struct recorded_value *v, Oid type, char room[UID + 1]) {
  enum { INT8_OID = 20 };
  if (v->null)
    return NULL;
  if (type == INT8_OID && v->binary && v->bytes.n == 8) {
    int64_t id = get64(v->bytes.p);
    for (size_t i = 0; i < p->id_count; i++)
      if (p->ids[i].recorded == id) {
        put64(p->ids[i].given, room);
        return room;
      }
  }
  if (!is_uid(v->bytes))
    return v->bytes.p;
  memcpy(room, v->bytes.p, UID);
  snprintf(room + UID - UID_TAIL, UID_TAIL + 1, "%012llx", (unsigned long long)(p->run & 0xffffffffffff));
  return room;
}

/* ---- statements ---- */

static void send_statement(struct replay *p, const struct recorded *one, const char *name) {
  const char *values[RECORDED_VALUES];
  int lengths[RECORDED_VALUES], forms[RECORDED_VALUES];
  char rooms[RECORDED_VALUES][UID + 1];
  for (int i = 0; i < one->n; i++) {
    values[i] = value_of(p, &one->values[i], one->types[i], rooms[i]);
    lengths[i] = (int)one->values[i].bytes.n;
    forms[i] = one->values[i].binary;
  }
  if (!p->pq->sendQueryPrepared(p->conn, name, one->n, values, lengths, forms, 1))
    fail_with(p);
}

/* ret_new: it was not prepared yet, and now is. */
static void name_of(struct replay *p, const struct recorded *one, char name[24], bool *ret_new) {
  size_t i = 0;
  while (i < p->statements && !(p->sql[i].p == one->sql.p || str_eq(p->sql[i], one->sql)))
    i++;
  snprintf(name, 24, "s%zu", i);
  *ret_new = i == p->statements;
  if (!*ret_new)
    return;
  if (i == STATEMENTS)
    fail("too many statements to replay");
  p->sql[p->statements++] = one->sql;
  if (!p->pq->sendPrepare(p->conn, name, one->sql.p, one->n, one->types))
    fail_with(p);
}

/* Only ids of new rows: other numbers are not ids. */
static void note_answer(struct replay *p, const struct recorded *one, const PGresult *r) {
  if (!one->answered || str_find(one->sql, STR("RETURNING"), 0) == SIZE_MAX || p->pq->ntuples(r) == 0 ||
      p->pq->getlength(r, 0, 0) != 8 || p->id_count == IDS)
    return;
  p->ids[p->id_count].recorded = one->answer;
  p->ids[p->id_count++].given = get64(p->pq->getvalue(r, 0, 0));
}

static void read_result(struct replay *p, const struct recorded *one) {
  PGresult *r = p->pq->getResult(p->conn);
  ExecStatusType s = r ? p->pq->resultStatus(r) : PGRES_FATAL_ERROR;
  if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK)
    fail("replay: %.300s: %s", one ? one->sql.p : "", r ? p->pq->resultErrorMessage(r) : "no answer");
  if (one)
    note_answer(p, one, r);
  p->pq->clear(r);
  if (p->pq->getResult(p->conn))
    fail("replay: one result too many");
}

static void run_trip(struct replay *p, const struct recorded *from, size_t n) {
  static bool fresh[1024];
  char name[24];
  if (n > sizeof(fresh) / sizeof(fresh[0]))
    fail("too many statements in one round trip");
  for (size_t i = 0; i < n; i++) {
    name_of(p, &from[i], name, &fresh[i]);
    send_statement(p, &from[i], name);
  }
  if (!p->pq->pipelineSync(p->conn) || p->pq->flush(p->conn) != 0)
    fail_with(p);
  for (size_t i = 0; i < n; i++) {
    if (fresh[i])
      read_result(p, NULL);
    read_result(p, &from[i]);
  }
  PGresult *sync = p->pq->getResult(p->conn);
  if (!sync || p->pq->resultStatus(sync) != PGRES_PIPELINE_SYNC)
    fail("replay: no end of a group");
  p->pq->clear(sync);
}

void replay_run(struct replay *p, const struct recording *r) {
  p->run++;
  p->id_count = 0;
  for (size_t at = 0, end; at < r->n; at = end) {
    for (end = at + 1; end < r->n && r->v[end].trip == r->v[at].trip;)
      end++;
    run_trip(p, r->v + at, end - at);
  }
}

static void run_alone(struct replay *p, const char *sql) {
  if (!p->pq->exitPipelineMode(p->conn))
    fail_with(p);
  pg_run(p->conn, sql);
  if (!p->pq->enterPipelineMode(p->conn))
    fail_with(p);
}

void replay_team(struct replay *p, const char *team) {
  char sql[100];
  snprintf(sql, sizeof(sql), "SELECT set_config('cairn.team', '%s', false)", team);
  run_alone(p, sql);
}

int replay_backend(struct replay *p) {
  if (!p->pq->exitPipelineMode(p->conn))
    fail_with(p);
  int pid = (int)pg_number(p->conn, "SELECT pg_backend_pid()");
  if (!p->pq->enterPipelineMode(p->conn))
    fail_with(p);
  return pid;
}
