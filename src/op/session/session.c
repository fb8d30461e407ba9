/* session.c: the session of a call; session list, task, handoff, end. */
#include "op/session/session.h"

#include "base/os/process.h"
#include "base/utf8.h"
#include "op/access/authenticate.h"
#include "op/access/roles.h"
#include "op/handlers.h"

struct str first_characters(struct str text, size_t max) {
  size_t pos = 0;
  for (size_t n = 0; n < max && pos < text.n; n++)
    utf8_next(text, &pos);
  return str_slice(text, 0, pos);
}

/* ---- the session of a call ---- */

static struct str host_of(struct op_call *call) {
  const struct origin *o = call->caller.origin;
  return o->host.p ? o->host : process_host(call->arena);
}

/* True if both processes are known and differ: two servers of one client, for instance. */
static bool is_other_process(const struct origin *o, const struct session *s) {
  return o && o->pid > 0 && s->pid > 0 && !o->connection.p && !s->connection.p &&
         (o->pid != s->pid || o->started != s->started || !str_eq(o->host, s->host));
}

static bool is_same_client(const struct origin *o, const struct session *s) {
  if (o && o->connection.p)
    return str_eq(o->connection, s->connection);
  return o && o->pid > 0 && o->pid == s->pid && !is_other_process(o, s);
}

/* By handle or number. Numbers can be guessed, so they work only for the client that booted the session, by its process
 * or connection, or if neither is known by its source. */
static enum status find_named(struct op_call *call, struct session *ret_session, bool *ret_found) {
  const struct caller *c = &call->caller;
  struct session s;
  bool found;
  int64_t number;
  TRY(session_find(call->engine->store, c->team, c->session, call->arena, &s, &found, call->err));
  *ret_found = found && (!str_int64(c->session, &number) || is_same_client(c->origin, &s) ||
                         (str_eq(s.source, c->source) && !is_other_process(c->origin, &s)));
  if (*ret_found)
    *ret_session = s;
  return STATUS_OK;
}

/* A caller with a token never gets a session of another source, even with its handle or on its connection: a proxy may
 * send several clients over one connection. */
static bool is_own(const struct caller *c, const struct session *s) {
  return !c->principal || str_eq(s->source, c->source);
}

enum status session_current(struct op_call *call, struct session *ret_session, bool *ret_found) {
  const struct caller *c = &call->caller;
  struct store *st = call->engine->store;
  struct session s;
  bool exists = false;
  if (!str_empty(c->session))
    TRY(find_named(call, &s, &exists));
  else if (c->origin)
    TRY(session_of_origin(st,
                          &(struct session_origin){.team = c->team,
                                                   .connection = c->origin->connection,
                                                   .host = host_of(call),
                                                   .pid = c->origin->pid,
                                                   .started = c->origin->started},
                          call->arena, &s, &exists, call->err));
  exists = exists && is_own(c, &s);
  if (exists && session_can_be_revived(&s)) {
    if (call->hooks.safe)
      s.ended_at = 0;
    else
      session_revive(st, &s, call->now);
  }
  *ret_found = exists && !s.ended_at;
  if (*ret_found)
    *ret_session = s;
  return STATUS_OK;
}

static enum status refuse_no_session(struct op_call *call) {
  struct str given = call->caller.session;
  if (str_empty(given))
    error_set(call->err, STATUS_CONFLICT, "%s needs a session, and this call has none", call->op->name);
  else
    error_set(call->err, STATUS_NOT_FOUND, "there is no live session '%.*s'", STR_ARG(given));
  return error_fix(call->err, "boot first (cairn boot --register), and pass the session that it returns with each call "
                              "(--session, or CAIRN_SESSION)");
}

enum status session_required(struct op_call *call, struct session *ret_session) {
  bool found;
  TRY(session_current(call, ret_session, &found));
  return found ? STATUS_OK : refuse_no_session(call);
}

void session_record_heartbeat(struct op_call *call) {
  const struct origin *o = call->caller.origin;
  struct beat b = {.team = call->caller.team};
  if (call->hooks.safe)
    return;
  if (!str_empty(call->caller.session)) {
    b.handle = call->caller.session;
  } else if (o) {
    b.connection = o->connection;
    b.host = o->host;
    b.pid = o->host.p ? o->pid : 0;
    b.started = o->started;
  }
  session_heartbeat(call->engine->store, &b, call->now);
}

/* ---- for servers ---- */

typedef enum status (*session_fn)(struct engine *engine, struct arena *a, struct session *session, struct error *err);

static enum status end_disconnected(struct engine *engine, struct arena *a, struct session *session,
                                    struct error *err) {
  struct txn who = {
      .team = session->team, .source = STR("server"), .op = "session end", .now = clock_now(&engine->clock)};
  struct txn txn;
  if (session->ended_at)
    return STATUS_OK;
  TRY(sessions_begin(engine->store, &who, &txn, err));
  TRY(session_end(&txn, a, session, "connection closed", err));
  return txn_commit(&txn, err);
}

static enum status revive_reconnected(struct engine *engine, struct arena *a UNUSED, struct session *session,
                                      struct error *err UNUSED) {
  if (session_can_be_revived(session))
    session_revive(engine->store, session, clock_now(&engine->clock));
  return STATUS_OK;
}

static void with_engine_lock(struct engine *engine, struct str team, struct str handle, session_fn fn) {
  struct arena a;
  struct error err;
  jmp_buf oom;
  arena_init(&a);
  volatile enum status held = engine_lock_team(engine, team, &err);
  if (held == STATUS_OK && !ARENA_BOUNDARY(&a, oom)) {
    struct session session;
    bool found = false;
    store_bind(engine->store, NULL); /* the server checked access when the client connected */
    enum status s = session_find(engine->store, team, handle, &a, &session, &found, &err);
    if (s == STATUS_OK && found)
      s = fn(engine, &a, &session, &err);
    (void)s;
  }
  if (engine->store)
    store_rollback(engine->store);
  roles_reset(engine);
  arena_release(&a);
  held = engine_unlock_team(engine, held, &err);
}

void session_disconnected(struct engine *engine, struct str team, struct str handle) {
  with_engine_lock(engine, team, handle, end_disconnected);
}

void session_reconnected(struct engine *engine, struct str team, struct str handle) {
  with_engine_lock(engine, team, handle, revive_reconnected);
}

static void put_name(struct op_call *call, const struct session *s) {
  json_put(call->doc, call->result, "session", s->handle);
  json_put_int(call->doc, call->result, "session_id", s->id);
}

static enum status put_current(struct op_call *call) {
  struct session session;
  TRY(session_required(call, &session));
  put_name(call, &session);
  return STATUS_OK;
}

static const struct param none[] = {{0}};
const struct op session_of_call = {
    .name = "session end", .params = none, .flags = OP_WRITE | OP_NO_TXN, .run = put_current};

/* ---- operations ---- */

/* Begins a transaction of the session, in its project unless the call names one. */
static enum status begin(struct op_call *call, const struct session *s, struct txn *ret_txn) {
  struct txn who = call_author(call);
  if (s) {
    who.session = s->handle;
    if (!call->caller.project_given)
      who.project = s->project;
  }
  return sessions_begin(call->engine->store, &who, ret_txn, call->err);
}

enum status op_session_list(struct op_call *call) {
  struct judged_sessions judged;
  struct session self;
  bool has_self = false;
  struct strs ended = {0};
  TRY(session_current(call, &self, &has_self));
  TRY(sessions_judge(call, call->caller.all_projects ? STR_NONE : call->caller.project, &judged));
  /* Sessions that are gone are left out of the list even if they cannot be ended now. */
  struct txn txn;
  if (judged.gone.n && !call->hooks.safe && store_can_write(call->engine->store, call->caller.project) &&
      begin(call, NULL, &txn) == STATUS_OK &&
      (sessions_end_gone(call, &txn, &judged, &ended) != STATUS_OK || txn_commit(&txn, call->err) != STATUS_OK)) {
    store_rollback(call->engine->store);
    ended.n = 0;
  }
  bool exclude_self = json_bool(call->args, "exclude_self", false);
  yyjson_mut_val *list = json_put_arr(call->doc, call->result, "sessions");
  for (size_t i = 0; i < judged.live.n; i++) {
    bool own = has_self && judged.live.v[i].id == self.id;
    if (own && exclude_self)
      continue;
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, list);
    put_session(call, call->doc, v, &judged.live.v[i], judged.lives[i]);
    if (own)
      json_put_bool(call->doc, v, "self", true);
  }
  json_put_int(call->doc, call->result, "count", (int64_t)yyjson_mut_arr_size(list));
  json_put_strs(call->doc, call->result, "ended", &ended);
  json_put_int(call->doc, call->result, "staleness_s", judged.staleness_ms / 1000);
  json_put_bool(call->doc, call->result, "trustworthy", judged.staleness_ms <= SESSION_STALE_MS);
  return STATUS_OK;
}

enum status op_session_task(struct op_call *call) {
  struct str task = str_trim(json_str(call->args, "task"));
  struct session session;
  struct txn txn;
  char time[TIME_TEXT_SIZE];
  if (utf8_length(task) > SESSION_TASK_CHARACTERS) {
    error_set(call->err, STATUS_REFUSED, "the task has %zu characters; the maximum is %d", utf8_length(task),
              (int)SESSION_TASK_CHARACTERS);
    return error_fix(call->err, "say in a sentence or two what is being done");
  }
  TRY(session_required(call, &session));
  TRY(begin(call, &session, &txn));
  TRY(session_set_task(&txn, call->arena, &session, str_empty(task) ? STR_NONE : task, call->err));
  put_name(call, &session);
  json_put(call->doc, call->result, "task", task);
  json_put(call->doc, call->result, "heartbeat_at", time_format(call->now, time));
  return txn_commit(&txn, call->err);
}

enum status handoff_check(struct op_call *call, struct str *text) {
  *text = str_trim(*text);
  size_t length = utf8_length(*text);
  if (length == 0) {
    error_set(call->err, STATUS_REFUSED, "the handoff is empty");
    return error_fix(call->err, "say what was done, what is left, and what the next session must know");
  }
  if (length > HANDOFF_CHARACTERS) {
    error_set(call->err, STATUS_REFUSED, "the handoff has %zu characters; the maximum is %d", length,
              (int)HANDOFF_CHARACTERS);
    return error_fix(call->err, "shorten it by %zu character%s; store lasting knowledge as a memory",
                     length - HANDOFF_CHARACTERS, length - HANDOFF_CHARACTERS == 1 ? "" : "s");
  }
  return STATUS_OK;
}

void put_handoff(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct handoff *h) {
  char time[TIME_TEXT_SIZE];
  json_put_int(doc, obj, "id", h->id);
  json_put(doc, obj, "text", h->text);
  json_put(doc, obj, "project", h->project);
  json_put(doc, obj, "source", h->source);
  json_put_opt(doc, obj, "session", h->session);
  json_put(doc, obj, "created_at", time_format(h->created_at, time));
}

static enum status show_handoff(struct op_call *call) {
  struct handoff h;
  TRY(handoff_last(call->engine->store, call->caller.team, call->caller.project, STR_NONE, call->arena, &h, call->err));
  if (h.id)
    put_handoff(call->doc, json_put_obj(call->doc, call->result, "handoff"), &h);
  else
    yyjson_mut_obj_add_null(call->doc, call->result, "handoff");
  note_result_read(call, "handoff", arena_printf(call->arena, "cairn://handoff/%.*s", STR_ARG(call->caller.project)),
                   NULL, false);
  return STATUS_OK;
}

enum status op_session_handoff(struct op_call *call) {
  struct str text = json_str(call->args, "text");
  struct session session;
  bool found = false;
  struct txn txn;
  int64_t id;
  if (!text.p)
    return show_handoff(call);
  TRY(handoff_check(call, &text));
  TRY(session_current(call, &session, &found));
  TRY(begin(call, found ? &session : NULL, &txn));
  TRY(handoff_add(&txn, call->arena, found ? session.handle : STR_NONE, text, &id, call->err));
  json_put_int(call->doc, call->result, "id", id);
  json_put_opt(call->doc, call->result, "session", found ? session.handle : STR_NONE);
  json_put(call->doc, call->result, "project", txn.project);
  json_put_int(call->doc, call->result, "length", (int64_t)utf8_length(text));
  put_no_project(call, txn.project);
  return txn_commit(&txn, call->err);
}

static bool is_admin(const struct caller *c) { return c->principal && c->principal->role == ROLE_ADMIN; }

/* An administrator may end the live sessions of others. */
static enum status find_for_admin(struct op_call *call, struct session *ret_session, bool *ret_found) {
  if (!is_admin(&call->caller) || str_empty(call->caller.session))
    return STATUS_OK;
  TRY(find_named(call, ret_session, ret_found));
  *ret_found = *ret_found && !ret_session->ended_at;
  return STATUS_OK;
}

/* Ending a session twice is not an error. The handoff note is stored all the same. */
static enum status end_again(struct op_call *call, struct str text) {
  struct session session;
  bool found = false;
  struct txn txn;
  int64_t note;
  char time[TIME_TEXT_SIZE];
  if (!str_empty(call->caller.session))
    TRY(find_named(call, &session, &found));
  if (!found)
    return refuse_no_session(call);
  if (!is_own(&call->caller, &session) && !is_admin(&call->caller)) {
    error_set(call->err, STATUS_DENIED, "session %.*s belongs to %.*s", STR_ARG(session.handle),
              STR_ARG(session.source));
    return error_fix(call->err, "end only your own session; an administrator may end any");
  }
  put_name(call, &session);
  json_put(call->doc, call->result, "ended_at", time_format(session.ended_at, time));
  json_put(call->doc, call->result, "reason", session.end_reason);
  json_put_bool(call->doc, call->result, "already", true);
  if (!text.p)
    return STATUS_OK;
  TRY(begin(call, &session, &txn));
  TRY(handoff_add(&txn, call->arena, session.handle, text, &note, call->err));
  json_put_int(call->doc, call->result, "handoff", note);
  return txn_commit(&txn, call->err);
}

enum status op_session_end(struct op_call *call) {
  struct str text = json_str(call->args, "handoff");
  struct session session;
  bool found = false;
  struct txn txn;
  int64_t note = 0;
  char time[TIME_TEXT_SIZE];
  if (text.p)
    TRY(handoff_check(call, &text));
  TRY(session_current(call, &session, &found));
  if (!found)
    TRY(find_for_admin(call, &session, &found));
  if (!found)
    return end_again(call, text);
  TRY(begin(call, &session, &txn));
  if (text.p)
    TRY(handoff_add(&txn, call->arena, session.handle, text, &note, call->err));
  TRY(session_end(&txn, call->arena, &session, "ended", call->err));
  put_name(call, &session);
  json_put(call->doc, call->result, "ended_at", time_format(call->now, time));
  json_put(call->doc, call->result, "reason", STR("ended"));
  if (note)
    json_put_int(call->doc, call->result, "handoff", note);
  return txn_commit(&txn, call->err);
}
