/* heartbeats.c: heartbeats of sessions: every call is one, but few are written. */
#include <assert.h>

#include "base/alloc.h"
#include "base/id.h"
#include "store/store_internal.h"
#include "store/tables/sessions.h"

/* Sessions cached per store handle: a process has one, a server several. */
enum { BEATS_KNOWN = 64 };

struct heartbeats {
  struct {
    uint8_t who[HASH_BYTES];
    int64_t at; /* time of the last heartbeat in the store */
  } known[BEATS_KNOWN];
};

/* Reasons with which others end a session. A call from such a session shows that it was still alive. */
#define BY_MISTAKE                                                                                                     \
  "end_reason = 'process ended' OR end_reason = 'pid reused' OR end_reason = 'silent'"                                 \
  " OR end_reason = 'connection closed'"
#define BY_HANDLE " WHERE team = ?1 AND handle = ?2 AND (ended_at IS NULL OR " BY_MISTAKE ")"
#define BY_CONNECTION " WHERE team = ?1 AND connection = ?2 AND ended_at IS NULL"
#define BY_PROCESS " WHERE team = ?1 AND " SESSION_OF_PROCESS
#define LAST "SELECT max(CASE WHEN ended_at IS NULL THEN heartbeat_at ELSE 0 END) FROM session"

/* Last heartbeat in the store; 0 if the session was ended by mistake. found is false if there is no such session. */
static enum status last_heartbeat(struct store *st, const struct beat *b, int64_t *ret_at, bool *ret_found,
                                  struct error *err) {
  struct rows r;
  if (b->handle.p)
    db_query(st->db, &r, err, LAST BY_HANDLE, "ss", b->team, b->handle);
  else if (b->connection.p)
    db_query(st->db, &r, err, LAST BY_CONNECTION, "ss", b->team, b->connection);
  else
    db_query(st->db, &r, err, LAST BY_PROCESS, "ssit", b->team, b->host, b->pid, b->started);
  *ret_found = rows_next(&r) && !rows_null(&r, 0);
  *ret_at = *ret_found ? rows_int(&r, 0) : 0;
  return rows_end(&r);
}

static enum status write_heartbeat(struct store *st, const struct beat *b, int64_t now, struct error *err) {
  if (b->handle.p)
    return db_exec(st->db, err, "UPDATE session SET heartbeat_at = ?3, ended_at = NULL, end_reason = NULL" BY_HANDLE,
                   "ssi", b->team, b->handle, now);
  if (b->connection.p)
    return db_exec(st->db, err, "UPDATE session SET heartbeat_at = ?3" BY_CONNECTION, "ssi", b->team, b->connection,
                   now);
  return db_exec(st->db, err, "UPDATE session SET heartbeat_at = ?5" BY_PROCESS, "ssiti", b->team, b->host, b->pid,
                 b->started, now);
}

#define PROJECTS "SELECT DISTINCT project FROM session"

/* True if the session belongs to a project that the caller does not own. */
static bool is_foreign(struct store *st, const struct beat *b) {
  struct error ignored;
  struct reach reach = store_reach(st);
  struct rows r;
  bool foreign = false;
  if (reach.role == ROLE_ADMIN)
    return false;
  if (b->handle.p)
    db_query(st->db, &r, &ignored, PROJECTS BY_HANDLE, "ss", b->team, b->handle);
  else if (b->connection.p)
    db_query(st->db, &r, &ignored, PROJECTS BY_CONNECTION, "ss", b->team, b->connection);
  else
    db_query(st->db, &r, &ignored, PROJECTS BY_PROCESS, "ssit", b->team, b->host, b->pid, b->started);
  while (rows_next(&r))
    foreign |= !reach_owns(&reach, rows_text(&r, 0));
  return rows_end(&r) != STATUS_OK || foreign;
}

/* True if written. A locked store is tried again at the next call. */
static bool flush_heartbeat(struct store *st, const struct beat *b, int64_t now) {
  assert(!db_in_transaction(st->db));
  struct error err;
  int busy = db_set_busy(st->db, 0);
  enum status s = db_begin(st->db, b->team, true, &err);
  if (s == STATUS_OK) {
    s = write_heartbeat(st, b, now, &err);
    if (s == STATUS_OK)
      s = db_commit(st->db, &err);
    if (s != STATUS_OK)
      db_rollback(st->db);
  }
  db_set_busy(st->db, busy);
  return s == STATUS_OK;
}

/* The slot of a caller; evicts the oldest entry if there is none. */
static size_t find_slot(struct heartbeats *heartbeats, const uint8_t who[HASH_BYTES]) {
  size_t oldest = 0;
  for (size_t i = 0; i < BEATS_KNOWN; i++) {
    if (memcmp(heartbeats->known[i].who, who, HASH_BYTES) == 0)
      return i;
    if (heartbeats->known[i].at < heartbeats->known[oldest].at)
      oldest = i;
  }
  memcpy(heartbeats->known[oldest].who, who, HASH_BYTES);
  heartbeats->known[oldest].at = 0;
  return oldest;
}

static void hash_caller(const struct beat *b, uint8_t out[HASH_BYTES]) {
  uint8_t parts[3][HASH_BYTES] = {{0}};
  hash_bytes(b->team, parts[0]);
  hash_bytes(b->handle.p ? b->handle : b->connection.p ? b->connection : b->host, parts[1]);
  memcpy(parts[2], &b->pid, sizeof(b->pid));
  memcpy(parts[2] + sizeof(b->pid), &b->started, sizeof(b->started));
  parts[2][HASH_BYTES - 1] = (uint8_t)(b->handle.p ? 1 : b->connection.p ? 2 : 3);
  hash_bytes((struct str){(const char *)parts, sizeof(parts)}, out);
}

void session_heartbeat(struct store *st, const struct beat *b, int64_t now) {
  if ((!b->handle.n && !b->connection.p && b->pid <= 0) || st->bound.reach.read_only || db_read_only(st->db) ||
      db_in_transaction(st->db))
    return;
  if (!st->heartbeats && !(st->heartbeats = mem_zalloc(sizeof(*st->heartbeats))))
    return;
  uint8_t who[HASH_BYTES];
  hash_caller(b, who);
  size_t slot = find_slot(st->heartbeats, who);
  assert(slot < BEATS_KNOWN);
  int64_t *at = &st->heartbeats->known[slot].at, last;
  if (*at && now - *at < HEARTBEAT_INTERVAL_MS && now >= *at)
    return;
  struct error err;
  bool found;
  if (is_foreign(st, b) || last_heartbeat(st, b, &last, &found, &err) != STATUS_OK)
    return;
  if (!found || (now - last < HEARTBEAT_INTERVAL_MS && now >= last))
    *at = found ? last : now;
  else if (flush_heartbeat(st, b, now))
    *at = now;
}

bool session_can_be_revived(const struct session *s) {
  static const char *const reasons[] = {"process ended", "pid reused", "silent", "connection closed"};
  for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
    if (s->ended_at && str_is(s->end_reason, reasons[i]))
      return true;
  return false;
}

void session_revive(struct store *st, struct session *s, int64_t now) {
  struct beat b = {.team = s->team, .handle = s->handle};
  if (!store_can_write(st, s->project) || db_in_transaction(st->db) || !flush_heartbeat(st, &b, now))
    return;
  s->heartbeat_at = now;
  s->ended_at = 0;
  s->end_reason = STR_NONE;
}

void heartbeats_free(struct heartbeats *heartbeats) { mem_free(heartbeats); }
