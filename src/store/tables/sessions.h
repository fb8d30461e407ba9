/* sessions.h: rows of agent sessions with their heartbeats, handoffs, scratch values and checkpoints.
 *
 * Session changes cannot be undone: their events have no transaction number. */
#pragma once

#include "store/tables/events.h"

enum {
  HANDOFF_CHARACTERS = 2000,
  SESSION_TASK_CHARACTERS = 2000,
  SESSION_HANDLE_SIZE = 13,
  HEARTBEAT_INTERVAL_MS = 10000,
  SESSIONS_KEPT_DAYS = 90
};

struct session {
  int64_t id;
  struct str team, handle, project, source, cwd, host, connection, client, client_version, task;
  int64_t pid, started;
  int64_t last_item; /* newest action item at boot */
  int64_t booted_at, heartbeat_at, ended_at;
  struct str end_reason;
};
struct sessions {
  struct session *v;
  size_t n, cap;
};

/* Live sessions of the process with host ?2, pid ?3 and start time ?4 (NULL if unknown). Start times are imprecise:
 * 2 s of difference are accepted. */
#define SESSION_OF_PROCESS                                                                                             \
  "host = ?2 AND pid = ?3 AND (?4 IS NULL OR started IS NULL OR started BETWEEN ?4 - 2000 AND ?4 + 2000)"              \
  " AND connection IS NULL AND ended_at IS NULL"

/* Begins a write without a transaction number; `who` gives team, project, source, session, op, now. Waits only a few
 * seconds for the lock, since bookkeeping must not delay work. */
NODISCARD enum status sessions_begin(struct store *st, const struct txn *who, struct txn *ret_txn, struct error *err);

/* A new handle: "s-" and ten random characters. */
void session_new_handle(char out[SESSION_HANDLE_SIZE]);
NODISCARD enum status session_insert(struct txn *txn, struct arena *a, struct session *s, struct error *err);
/* Updates a live session at another boot: project, task, last_item and the times. */
NODISCARD enum status session_refresh(struct txn *txn, struct arena *a, const struct session *s, struct error *err);
NODISCARD enum status session_set_task(struct txn *txn, struct arena *a, const struct session *s, struct str task,
                                       struct error *err);
/* Ends the session, with its event; does nothing if it has ended. */
NODISCARD enum status session_end(struct txn *txn, struct arena *a, const struct session *s, const char *reason,
                                  struct error *err);

/* By handle or id, live or ended. */
NODISCARD enum status session_find(struct store *st, struct str team, struct str ref, struct arena *a,
                                   struct session *ret_session, bool *ret_found, struct error *err);
struct session_origin {
  struct str team, connection, host; /* connection may be absent */
  int64_t pid, started;
};
/* The newest live session of this connection or, without a connection, of this process. */
NODISCARD enum status session_of_origin(struct store *st, const struct session_origin *from, struct arena *a,
                                        struct session *ret_session, bool *ret_found, struct error *err);
/* Live sessions of the team, of one project unless `project` is absent; newest first. */
NODISCARD enum status sessions_live(struct store *st, struct str team, struct str project, struct arena *a,
                                    struct sessions *ret_list, struct error *err);

/* Heartbeat of the session with this handle, or of this connection or process. */
struct beat {
  struct str team, handle, connection, host;
  int64_t pid, started;
};
/* Records a heartbeat: at most one write in HEARTBEAT_INTERVAL_MS, without waiting for the lock or the disk. Revives a
 * session that was ended by mistake. Never fails. */
void session_heartbeat(struct store *st, const struct beat *b, int64_t now);
/* True if the session was ended by others (process gone, silent, connection closed) and can be revived. */
bool session_can_be_revived(const struct session *s);
/* Revives such a session. */
void session_revive(struct store *st, struct session *s, int64_t now);

struct handoff {
  int64_t id;
  struct str project, session, source, text;
  int64_t created_at;
};
NODISCARD enum status handoff_add(struct txn *txn, struct arena *a, struct str session, struct str text,
                                  int64_t *ret_id, struct error *err);
/* The newest handoff of the project or global, not of session `except` (may be absent); id 0 if there is none. */
NODISCARD enum status handoff_last(struct store *st, struct str team, struct str project, struct str except,
                                   struct arena *a, struct handoff *ret_handoff, struct error *err);

/* Deletes sessions that ended more than SESSIONS_KEPT_DAYS ago, and old scratch values and checkpoints. */
NODISCARD enum status sessions_tidy(struct txn *txn, struct error *err);

/* ---- scratch values ---- */

struct scratch {
  struct str key, value;
  int64_t updated_at;
};
struct scratches {
  struct scratch *v;
  size_t n, cap;
};
NODISCARD enum status scratch_set(struct txn *txn, const struct session *s, struct str key, struct str value,
                                  struct error *err);
NODISCARD enum status scratch_get(struct store *st, const struct session *s, struct str key, struct arena *a,
                                  struct str *ret_value, struct error *err);
NODISCARD enum status scratch_list(struct store *st, const struct session *s, struct arena *a,
                                   struct scratches *ret_list, struct error *err);
/* Number and total bytes of the session's values, except `key`. */
NODISCARD enum status scratch_size(struct store *st, const struct session *s, struct str key, int64_t *ret_count,
                                   int64_t *ret_bytes, struct error *err);

/* ---- checkpoints ---- */

/* Time of the last checkpoint of this source for this action; 0 if never. */
NODISCARD enum status checkpoint_last(struct store *st, struct str team, struct str project, struct str source,
                                      struct str hash, int64_t *ret_at, struct error *err);
NODISCARD enum status checkpoint_set(struct txn *txn, struct str hash, struct error *err);
