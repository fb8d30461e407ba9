/* session.c: what a boot does besides gathering memories: registers the session, ends those that are gone, turns
 * action items of recent memories into rows, and looks for what others left. */
#include "op/session/session.h"
#include "base/os/process.h"
#include "base/utf8.h"

/* What went wrong is said; the boot goes on. */
static void degrade(struct op_call *call, struct booted *b, const char *what, const struct error *why) {
  b->degraded =
      arena_printf(call->arena, "%.*s%s%s: %s", STR_ARG(b->degraded), b->degraded.p ? "; " : "", what, why->message);
}

/* The beginning of a text that is about to be stored with the session. */
static struct str storable(struct str text, size_t most) {
  if (str_empty(text))
    return STR_NONE;
  size_t pos = 0;
  for (size_t n = 0; n < most && pos < text.n; n++)
    utf8_next(text, &pos);
  return str_slice(text, 0, pos);
}

/* The door says who calls; arguments say it for somebody else: a hook for the program that started it. */
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
    /* One that is not there cannot be watched: a number that an agent made up must not end its session. */
    if (here.p && s.host.p && str_eq(s.host, here) && !process_started(pid, &s.started))
      s.pid = 0;
  } else if (!str_empty(host)) {
    s.host = arena_lower(call->arena, storable(host, 255));
  } else if (!s.host.p) {
    s.host = here;
  }
  *ret = s;
}

/* A restart: the same connection, or the same program in the same place. A pid of a server that several connections
 * share says nothing. */
static bool replaces(const struct session *now, const struct session *old) {
  if (now->connection.p || old->connection.p)
    return now->connection.p && str_eq(now->connection, old->connection);
  return now->pid && now->pid == old->pid && str_eq(now->host, old->host) && str_eq(now->source, old->source) &&
         str_eq(now->cwd, old->cwd);
}

static enum status end_replaced(struct op_call *call, struct txn *txn, const struct session *now) {
  struct sessions live = {0};
  TRY(sessions_live(txn->store, txn->team, STR_NONE, call->arena, &live, call->err));
  for (size_t i = 0; i < live.n; i++)
    if (live.v[i].id != now->id && replaces(now, &live.v[i]))
      TRY(session_end(txn, call->arena, &live.v[i], "replaced", call->err));
  return STATUS_OK;
}

static enum status write_session(struct op_call *call, struct txn *txn, struct session *s) {
  struct scope scope = scope_of(call);
  int64_t added;
  TRY(end_replaced(call, txn, s));
  TRY(actions_collect(txn, &scope, call->arena, &added, call->err));
  TRY(actions_newest(txn->store, txn->team, &s->last_item, call->err));
  TRY(s->id ? session_refresh(txn, call->arena, s, call->err) : session_insert(txn, call->arena, s, call->err));
  return sessions_tidy(txn, call->err);
}

/* A boot that names a live session is a new beginning of that session: its handle and scratch values stay. */
static enum status register_session(struct op_call *call, struct booted *b) {
  struct session s, known = {0};
  bool found = false;
  struct txn who = who_of(call), txn;
  draft(call, &s);
  enum status status = STATUS_OK;
  if (!str_empty(call->caller.session))
    status = session_current(call, &known, &found);
  if (found) {
    s.id = known.id;
    s.handle = known.handle;
  } else {
    char *handle = arena_alloc(call->arena, SESSION_HANDLE_SIZE);
    session_new_handle(handle);
    s.handle = str_from(handle);
  }
  who.session = s.handle;
  if (status == STATUS_OK)
    status = roll_call(call, call->caller.project, &b->roll);
  if (status == STATUS_OK)
    status = sessions_begin(call->engine->store, &who, &txn, call->err);
  if (status == STATUS_OK)
    status = roll_end(call, &txn, &b->roll, &b->ended);
  if (status == STATUS_OK)
    status = write_session(call, &txn, &s);
  if (status == STATUS_OK)
    status = txn_commit(&txn, call->err);
  if (status != STATUS_OK)
    return status;
  b->session = s;
  b->registered = true;
  return STATUS_OK;
}

/* Who only reads, or works elsewhere, boots as others do, but leaves no session. */
static enum status refuse_session(struct op_call *call) {
  return error_set(call->err, STATUS_DENIED, "the caller may not write here");
}

/* Something is known by which the session can be told from others, or somebody wants it. */
static bool wanted(const struct op_call *call) {
  const struct origin *o = call->caller.origin;
  return json_bool(call->args, "register", false) || json_int(call->args, "pid", 0) > 0 ||
         (o && (o->pid > 0 || o->connection.p));
}

static enum status look_around(struct op_call *call, struct booted *b) {
  struct store *st = call->engine->store;
  const struct caller *c = &call->caller;
  bool found;
  TRY(roll_call(call, c->project, &b->roll));
  TRY(handoff_last(st, c->team, c->project, b->registered ? b->session.handle : c->session, call->arena, &b->handoff,
                   &found, call->err));
  return actions_pending(st, c->team, c->project, 0, ACTION_CAP, call->arena, &b->items, &b->pending, call->err);
}

void session_boot(struct op_call *call, struct booted *ret_booted) {
  struct booted *b = ret_booted;
  struct error *outer = call->err, mine;
  *b = (struct booted){0};
  call->err = &mine;
  bool writes = store_writes(call->engine->store, call->caller.project);
  if (wanted(call) && (writes ? register_session(call, b) : refuse_session(call)) != STATUS_OK) {
    store_rollback(call->engine->store);
    b->ended.n = 0;
    degrade(call, b, "the session is not registered", &mine);
  }
  if (look_around(call, b) != STATUS_OK)
    degrade(call, b, "other sessions and action items are not known", &mine);
  call->err = outer;
}
