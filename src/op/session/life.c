/* life.c: liveness of sessions: by their process if it can be inspected, otherwise by silence.
 *
 *   process of this host, ended or a zombie        gone: "process ended"
 *   its pid belongs to another process             gone: "pid reused"
 *   the process is stopped, or hangs in a system call   live, "unresponsive"
 *   another host, a connection, no process known   live; "stale" after ten minutes of silence, gone after a day
 * A session that was ended by mistake is live again at its next call: see heartbeats.c. */
#include <assert.h>

#include "base/os/process.h"
#include "op/session/session.h"

enum { HANG_MS = 60000 }; /* silence after which a process in a system call counts as hanging */

const char *const life_names[] = {"live", "unresponsive", "stale", "gone"};

enum life session_judge(const struct session *s, struct str here, int64_t now, const char **ret_reason,
                        bool *ret_seen) {
  int64_t silent = session_silence(s, now);
  enum process_state state = process_check(here, s->host, s->pid, s->started);
  *ret_seen = state != PROCESS_UNKNOWN && !s->connection.p;
  if (state == PROCESS_DEAD || state == PROCESS_REUSED) {
    *ret_reason = state == PROCESS_DEAD ? "process ended" : "pid reused";
    return LIFE_GONE;
  }
  if (*ret_seen && (state == PROCESS_STOPPED || (state == PROCESS_WAITING && silent > HANG_MS)))
    return LIFE_UNRESPONSIVE;
  if (*ret_seen || silent <= SESSION_STALE_MS)
    return LIFE_LIVE;
  if (silent <= SESSION_SILENT_MS)
    return LIFE_STALE;
  *ret_reason = "silent";
  return LIFE_GONE;
}

enum status sessions_judge(struct op_call *call, struct str project, struct judged_sessions *ret_judged) {
  struct arena *a = call->arena;
  struct sessions all = {0};
  struct judged_sessions judged = {0};
  TRY(sessions_live(call->engine->store, call->caller.team, STR_NONE, a, &all, call->err));
  struct str here = process_host(a);
  judged.reasons = arena_array(a, const char *, all.n + 1);
  judged.lives = arena_array(a, enum life, all.n + 1);
  for (size_t i = 0; i < all.n; i++) {
    const struct session *one = &all.v[i];
    const char *reason = "";
    bool seen;
    enum life life = session_judge(one, here, call->now, &reason, &seen);
    if (life == LIFE_GONE) {
      assert(reason[0]);
      judged.reasons[judged.gone.n] = reason;
      list_push(a, &judged.gone, *one);
    } else if (!project.p || str_eq(project, one->project)) {
      int64_t silent = session_silence(one, call->now);
      if (!seen && silent > judged.staleness_ms)
        judged.staleness_ms = silent;
      judged.lives[judged.live.n] = life;
      list_push(a, &judged.live, *one);
    }
  }
  *ret_judged = judged;
  return STATUS_OK;
}

enum status sessions_end_gone(struct op_call *call, struct txn *txn, const struct judged_sessions *judged,
                              struct strs *ret_ended) {
  assert(db_in_transaction(store_db(txn->store)));
  for (size_t i = 0; i < judged->gone.n; i++) {
    TRY(session_end(txn, call->arena, &judged->gone.v[i], judged->reasons[i], call->err));
    strs_push(call->arena, ret_ended, judged->gone.v[i].handle);
  }
  return STATUS_OK;
}

void put_session(struct op_call *call, yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct session *s,
                 enum life life) {
  assert((size_t)life < ARRAY_LEN(life_names));
  char time[TIME_TEXT_SIZE];
  json_put(doc, obj, "session", s->handle);
  json_put_int(doc, obj, "session_id", s->id);
  json_put(doc, obj, "project", s->project);
  json_put(doc, obj, "source", s->source);
  json_put_opt(doc, obj, "task", s->task);
  json_put_opt(doc, obj, "client", s->client);
  json_put_opt(doc, obj, "client_version", s->client_version);
  json_put_opt(doc, obj, "cwd", s->cwd.p ? call_path(call, s->cwd) : STR_NONE);
  json_put_opt(doc, obj, "host", s->host);
  if (s->pid)
    json_put_int(doc, obj, "pid", s->pid);
  json_put(doc, obj, "booted_at", time_format(s->booted_at, time));
  json_put(doc, obj, "heartbeat_at", time_format(s->heartbeat_at, time));
  json_put_int(doc, obj, "silent_s", session_silence(s, call->now) / 1000);
  json_put(doc, obj, "state", str_from(life_names[life]));
}
