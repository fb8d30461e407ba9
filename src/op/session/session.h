/* session.h: sessions in operations: the session of a call, liveness, registration at boot.
 *
 * A session is named by the handle that boot returned. A call without a handle belongs to the session of its process or
 * connection (struct origin): one process, one session. */
#pragma once

#include "op/run/common.h"
#include "store/tables/actions.h"
#include "store/tables/sessions.h"

/* Silence after which a session whose process cannot be inspected is stale, and after which it is ended. */
#define SESSION_STALE_MS (600 * MS_PER_SECOND)
#define SESSION_SILENT_MS (24 * MS_PER_HOUR)

/* ---- op/session/life.c ---- */

enum life { LIFE_LIVE, LIFE_UNRESPONSIVE, LIFE_STALE, LIFE_GONE };
extern const char *const life_names[];

/* Milliseconds since the last heartbeat. */
static inline int64_t session_silence(const struct session *s, int64_t now) {
  return now > s->heartbeat_at ? now - s->heartbeat_at : 0;
}

/* State of a session that has not ended; for LIFE_GONE *ret_reason is set. `here` is process_host(). *ret_seen: the
 * process was inspected, so silence does not count. */
enum life session_judge(const struct session *s, struct str here, int64_t now, const char **ret_reason, bool *ret_seen);

struct judged_sessions {
  struct sessions live; /* newest first */
  struct sessions gone; /* not ended yet */
  const char **reasons; /* for each of `gone` */
  enum life *lives;     /* for each of `live` */
  int64_t staleness_ms; /* longest silence of a live session that could not be inspected */
};
/* Live sessions of the project (absent: of all projects), and sessions of the whole team that are gone. Read-only. */
NODISCARD enum status sessions_judge(struct op_call *call, struct str project, struct judged_sessions *ret_judged);
/* Ends the sessions in judged->gone and adds their handles to ret_ended. In a transaction. */
NODISCARD enum status sessions_end_gone(struct op_call *call, struct txn *txn, const struct judged_sessions *judged,
                                        struct strs *ret_ended);
/* Writes the session as JSON. */
void put_session(struct op_call *call, yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct session *s,
                 enum life life);

/* ---- session.c ---- */

/* The live session of this call; *ret_found is false if it has none. */
NODISCARD enum status session_current(struct op_call *call, struct session *ret_session, bool *ret_found);
/* The live session of this call; an error if it has none. */
NODISCARD enum status session_required(struct op_call *call, struct session *ret_session);
/* Trims the handoff note and checks its length: 1 to HANDOFF_CHARACTERS. */
NODISCARD enum status handoff_check(struct op_call *call, struct str *text);
void put_handoff(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct handoff *h);
/* Records a heartbeat; op_run() calls it for every call. */
void session_record_heartbeat(struct op_call *call);
/* For servers: ends the session of a client that disconnected. Never fails; takes the engine's lock. */
void session_disconnected(struct engine *engine, struct str team, struct str handle);
/* For servers: the client is connected again, so a session that it did not end itself is live again. Never fails; takes
 * the engine's lock. */
void session_reconnected(struct engine *engine, struct str team, struct str handle);
/* The live session of the call: {"session", "session_id"}. Run it with op_run(); it is not in the table of operations
 * and needs the rights of `session end`. */
extern const struct op session_of_call;
/* At most `max` characters from the start of a text. */
struct str first_characters(struct str text, size_t max);

/* ---- op/boot/session.c ---- */

struct booted {
  bool registered;
  struct session session;
  struct strs ended;             /* handles of sessions that were gone and are now ended */
  struct judged_sessions judged; /* all live sessions of the project */
  struct handoff handoff;        /* id 0: none */
  struct action_items items;     /* pending, newest first */
  int64_t pending;
  struct str degraded; /* failures; absent if none */
};
/* Registers the session if the caller can be identified, and loads handoff, action items and other sessions. Errors go
 * into `degraded`; boot continues. */
void session_boot(struct op_call *call, struct booted *ret_booted);
