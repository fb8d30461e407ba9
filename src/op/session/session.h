/* session.h: sessions as operations see them: whose call this is, which sessions live, and what boot registers.
 *
 * A session is named by the handle that boot gave. Where a call brings none, it is found by the process or connection
 * behind the call (struct origin): one process, one session. */
#pragma once

#include "op/run/common.h"
#include "store/tables/actions.h"
#include "store/tables/sessions.h"

/* A silence after which a session that cannot be looked at is called stale, and after which it is ended. */
#define SESSION_STALE_MS (600 * MS_PER_SECOND)
#define SESSION_SILENT_MS (24 * MS_PER_HOUR)

/* ---- op/session/life.c ---- */

enum life { LIFE_LIVE, LIFE_UNRESPONSIVE, LIFE_STALE, LIFE_GONE };
extern const char *const life_names[];

/* For how long nothing was heard of it, ms. */
static inline int64_t session_silence(const struct session *s, int64_t now) {
  return now > s->heartbeat_at ? now - s->heartbeat_at : 0;
}

/* What can be said of a session that has not ended; for LIFE_GONE ret_reason says why. `here` is process_host().
 * ret_seen: its process was looked at, so that a silence means nothing. */
enum life session_judge(const struct session *s, struct str here, int64_t now, const char **ret_reason, bool *ret_seen);

struct roll {
  struct sessions live; /* newest first */
  struct sessions gone; /* to be ended */
  const char **reasons; /* of those that are gone */
  enum life *lives;     /* of those that are live */
  int64_t staleness_ms; /* the longest silence of one that could not be looked at */
};
/* Who is live in the project (absent: in all of them), and who of the team is gone. Changes nothing. */
NODISCARD enum status roll_call(struct op_call *call, struct str project, struct roll *ret_roll);
/* Ends those that are gone; their handles are added to ret_ended. In a transaction. */
NODISCARD enum status roll_end(struct op_call *call, struct txn *txn, const struct roll *roll, struct strs *ret_ended);
/* The object of the contract. */
void put_session(struct op_call *call, yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct session *s,
                 enum life life);

/* ---- session.c ---- */

/* The live session of this call; found is false where it has none. */
NODISCARD enum status session_current(struct op_call *call, struct session *ret_session, bool *ret_found);
/* The same for operations that cannot do without. */
NODISCARD enum status session_required(struct op_call *call, struct session *ret_session);
/* A note that may be handed on: not empty, at most HANDOFF_CHARACTERS, no secrets. */
NODISCARD enum status handoff_check(struct op_call *call, struct str *text);
void put_handoff(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct handoff *h);
/* Every call is a sign of life; op_run() calls it. */
void session_touch(struct op_call *call);
/* For servers: the client of this session is gone. Never fails; takes the engine's lock. */
void session_lost(struct engine *engine, struct str team, struct str handle);
/* And it is there after all: what ended without its doing is live again. The same. */
void session_back(struct engine *engine, struct str team, struct str handle);
/* For doors, with op_run(); not a part of the table: the live session of the call, {"session", "session_id"}, by the
 * rights of `session end`. */
extern const struct op session_of_call;

/* ---- op/boot/session.c ---- */

struct booted {
  bool registered;
  struct session session;
  struct strs ended;         /* handles of those that turned out to be gone */
  struct roll roll;          /* others */
  struct handoff handoff;    /* id 0: none */
  struct action_items items; /* pending, newest first */
  int64_t pending;
  struct str degraded; /* absent, or what did not work */
};
/* Registers the session, where there is something to register, and gathers what it must know of others. What fails is
 * said in `degraded`: a boot goes on. */
void session_boot(struct op_call *call, struct booted *ret_booted);
