/* session.c: the session part of boot: registers the session, ends sessions that are gone, collects action items from
 * recent memories, and loads handoff, action items and other sessions. */
#include "op/session/session.h"
#include "base/os/process.h"
#include "base/utf8.h"

/* Boot continues after an error and reports it. */
static void degrade(struct op_call *call, struct booted *b, const char *what, const struct error *why) {
  b->degraded = arena_printf(call->arena, "%.*s%s%s: %.*s", STR_ARG(b->degraded), b->degraded.p ? "; " : "", what,
                             STR_ARG(call_message(call, why->message)));
}

static struct str storable(struct str text, size_t max) {
  return str_empty(text) ? STR_NONE : first_characters(text, max);
}

/* Arguments override the transport's data about the caller: a hook boots for the program that started it. */
static void draft(struct op_call *call, struct session *ret) {
  static const struct origin nobody = {0};
  const struct origin *o = call->caller.origin ? call->caller.origin : &nobody;
  struct str host = json_str(call->args, "host"), cwd = json_str(call->args, "cwd"), here = process_host(call->arena);
  int64_t pid = json_int(call->args, "pid", 0);
  struct session s = {.team = call->caller.team,
                      .project = call->caller.project,
                      .source = call->caller.source,
                      .cwd = storable(cwd.p ? cwd : o->cwd, 1000),
                      .host = o->host,
                      .pid = o->pid,
                      .started = o->started,
                      .connection = o->connection,
                      .client = storable(o->client, 100),
                      .client_version = storable(o->client_version, 100),
                      .task = storable(str_trim(json_str(call->args, "task")), SESSION_TASK_CHARACTERS)};
  if (pid > 0) {
    s.host = str_empty(host) ? here : arena_lower(call->arena, storable(host, 255));
    s.pid = pid;
    s.started = 0;
    /* Ignore a pid that does not exist on this host: an agent may have made it up, and it would end the session. */
    if (here.p && s.host.p && str_eq(s.host, here) && !process_started(pid, &s.started))
      s.pid = 0;
  } else if (!str_empty(host)) {
    s.host = arena_lower(call->arena, storable(host, 255));
  } else if (!s.host.p) {
    s.host = here;
  }
  *ret = s;
}

/* True for a restart: the same connection, or the same process and working directory. With connections the pid is not
 * compared: several connections may share one server process. */
static bool is_restart_of(const struct session *now, const struct session *old) {
  if (now->connection.p || old->connection.p)
    return now->connection.p && str_eq(now->connection, old->connection);
  return now->pid && now->pid == old->pid && str_eq(now->host, old->host) && str_eq(now->source, old->source) &&
         str_eq(now->cwd, old->cwd);
}

static enum status end_replaced(struct op_call *call, struct txn *txn, const struct session *now) {
  struct sessions live = {0};
  TRY(sessions_live(txn->store, txn->team, STR_NONE, call->arena, &live, call->err));
  for (size_t i = 0; i < live.n; i++)
    if (live.v[i].id != now->id && is_restart_of(now, &live.v[i]))
      TRY(session_end(txn, call->arena, &live.v[i], "replaced", call->err));
  return STATUS_OK;
}

static enum status write_session(struct op_call *call, struct txn *txn, struct session *s) {
  struct scope scope = call_scope(call);
  int64_t added;
  TRY(end_replaced(call, txn, s));
  if (call->caller.extracted_items)
    TRY(actions_collect(txn, &scope, call->arena, &added, call->err));
  TRY(actions_newest(txn->store, txn->team, &s->last_item, call->err));
  TRY(s->id ? session_refresh(txn, call->arena, s, call->err) : session_insert(txn, call->arena, s, call->err));
  return sessions_tidy(txn, call->err);
}

/* A boot that names a live session restarts it: its handle and scratch values stay. */
static enum status register_session(struct op_call *call, struct booted *b) {
  struct session s, known = {0};
  bool found = false;
  struct txn who = call_author(call), txn;
  draft(call, &s);
  if (!str_empty(call->caller.session))
    TRY(session_current(call, &known, &found));
  if (found) {
    s.id = known.id;
    s.handle = known.handle;
  } else {
    char *handle = arena_alloc(call->arena, SESSION_HANDLE_SIZE);
    session_new_handle(handle);
    s.handle = str_from(handle);
  }
  who.session = s.handle;
  TRY(sessions_judge(call, call->caller.project, &b->judged));
  TRY(sessions_begin(call->engine->store, &who, &txn, call->err));
  TRY(sessions_end_gone(call, &txn, &b->judged, &b->ended));
  TRY(write_session(call, &txn, &s));
  TRY(txn_commit(&txn, call->err));
  b->session = s;
  b->registered = true;
  return STATUS_OK;
}

/* A caller without write access to the project boots without a session. */
static enum status refuse_session(struct op_call *call) {
  return error_set(call->err, STATUS_DENIED, "the caller may not write here");
}

/* Register if the arguments ask for it, or if the process or connection of the caller is known. */
static bool wants_session(const struct op_call *call) {
  const struct origin *o = call->caller.origin;
  if (call->hooks.safe)
    return false;
  return json_bool(call->args, "register", false) || json_int(call->args, "pid", 0) > 0 ||
         (o && (o->pid > 0 || o->connection.p));
}

static enum status load_others(struct op_call *call, struct booted *b) {
  struct store *st = call->engine->store;
  const struct caller *c = &call->caller;
  TRY(sessions_judge(call, c->project, &b->judged));
  TRY(handoff_last(st, c->team, c->project, b->registered ? b->session.handle : c->session, call->arena, &b->handoff,
                   call->err));
  struct pending_query q = {
      .team = c->team, .project = c->project, .limit = ACTION_CAP, .extracted = c->extracted_items};
  return actions_pending(st, &q, call->arena, &b->items, &b->pending, call->err);
}

void session_boot(struct op_call *call, struct booted *ret_booted) {
  struct booted *b = ret_booted;
  struct error *outer = call->err, mine;
  *b = (struct booted){0};
  call->err = &mine;
  bool writes = store_can_write(call->engine->store, call->caller.project);
  if (wants_session(call) && (writes ? register_session(call, b) : refuse_session(call)) != STATUS_OK) {
    store_rollback(call->engine->store);
    b->ended.n = 0;
    degrade(call, b, "the session was not registered", &mine);
  }
  if (load_others(call, b) != STATUS_OK)
    degrade(call, b, "other sessions and action items could not be read", &mine);
  call->err = outer;
}
