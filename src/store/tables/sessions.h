/* sessions.h: sessions of agents as rows: who is there, since when, last heard of when, and the notes they hand on.
 *
 * Sessions are not undone: their events belong to no transaction. */
#pragma once

#include "store/tables/events.h"

enum {
  HANDOFF_CHARACTERS = 2000,
  SESSION_TASK_CHARACTERS = 2000,
  SESSION_HANDLE_SIZE = 13,
  BEAT_EVERY_MS = 10000,
  SESSIONS_KEPT_DAYS = 90
};

struct session {
  int64_t id;
  struct str team, handle, project, source, cwd, host, connection, client, client_version, task;
  int64_t pid, started;
  int64_t last_item; /* the newest action item when it booted */
  int64_t booted_at, heartbeat_at, ended_at;
  struct str end_reason;
};
struct sessions {
  struct session *v;
  size_t n, cap;
};

/* The live sessions of the process with host ?2, pid ?3 and start ?4 (NULL: unknown), which is read to some ms. */
#define SESSION_OF_PROCESS                                                                                             \
  "host = ?2 AND pid = ?3 AND (?4 IS NULL OR started IS NULL OR started BETWEEN ?4 - 2000 AND ?4 + 2000)"              \
  " AND connection IS NULL AND ended_at IS NULL"

/* A write without a transaction number: `who` gives team, project, source, session, op, now. It waits for another
 * process for some seconds at most: nobody's work waits for the registry. */
NODISCARD enum status sessions_begin(struct store *st, const struct txn *who, struct txn *ret_txn, struct error *err);

/* A new handle: "s-" and ten characters that nobody guesses. */
void session_new_handle(char out[SESSION_HANDLE_SIZE]);
NODISCARD enum status session_insert(struct txn *txn, struct arena *a, struct session *s, struct error *err);
/* A boot of a session that is live already: project, task, last_item and the times. */
NODISCARD enum status session_refresh(struct txn *txn, struct arena *a, const struct session *s, struct error *err);
NODISCARD enum status session_set_task(struct txn *txn, struct arena *a, const struct session *s, struct str task,
                                       struct error *err);
/* Ends it, with its event; nothing happens to one that has ended. */
NODISCARD enum status session_end(struct txn *txn, struct arena *a, const struct session *s, const char *reason,
                                  struct error *err);

/* By handle, or by number; live or not. */
NODISCARD enum status session_find(struct store *st, struct str team, struct str ref, struct arena *a,
                                   struct session *ret_session, bool *ret_found, struct error *err);
/* The newest live one of this connection, or, where there is none, of this process: of one program in several folders,
 * that of this one. */
NODISCARD enum status session_of_origin(struct store *st, struct str team, struct str connection, struct str host,
                                        int64_t pid, int64_t started, struct str cwd, struct arena *a,
                                        struct session *ret_session, bool *ret_found, struct error *err);
/* Live ones of the team, of one project unless it is absent; newest first. */
NODISCARD enum status sessions_live(struct store *st, struct str team, struct str project, struct arena *a,
                                    struct sessions *ret_list, struct error *err);

/* A sign of life; at most one write in BEAT_EVERY_MS, which does not wait for the disk, nor for another process. A
 * session that was ended by mistake is live again: who calls is not dead. Never fails. */
struct beat {
  struct str team, handle, connection, host;
  int64_t pid, started;
};
void session_beat(struct store *st, const struct beat *b, int64_t now);
/* Whether it was ended by a look from outside, or by a connection that closed: its next call shows that it lives. */
bool session_ended_outside(const struct session *s);
/* That call. */
void session_revive(struct store *st, struct session *s, int64_t now);

struct handoff {
  int64_t id;
  struct str project, session, source, text;
  int64_t created_at;
};
NODISCARD enum status handoff_add(struct txn *txn, struct arena *a, struct str session, struct str text,
                                  int64_t *ret_id, struct error *err);
/* The newest of the project or global, not of the session `except` (may be absent). */
NODISCARD enum status handoff_last(struct store *st, struct str team, struct str project, struct str except,
                                   struct arena *a, struct handoff *ret_handoff, bool *ret_found, struct error *err);

/* Forgets what ended long ago. */
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
/* Values of the session other than `key`: how many, and their characters together. */
NODISCARD enum status scratch_size(struct store *st, const struct session *s, struct str key, int64_t *ret_count,
                                   int64_t *ret_length, struct error *err);

/* ---- checkpoints ---- */

/* When this source last asked before this action; 0: never. */
NODISCARD enum status checkpoint_last(struct store *st, struct str team, struct str project, struct str source,
                                      struct str hash, int64_t *ret_at, struct error *err);
NODISCARD enum status checkpoint_note(struct txn *txn, struct str hash, struct error *err);
