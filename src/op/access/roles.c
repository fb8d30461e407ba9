/* roles.c: which operations a caller may call; binds the store to what the caller can reach. */
#include "op/access/roles.h"

#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/limit.h"
#include "core/gate/gate.h"
#include "op/run/common.h"

/* Agents with the role project work with memories, tasks, sessions and transcripts of their project (OP_PROJECT).
 * Everything else is closed to them: the vault, settings, the log, copies of the store, operations on a whole team or
 * on files, and all others whose row does not have the flag. Agents with the role skill can call nothing. */
bool role_may(enum role role, const struct op *op) {
  return role == ROLE_ADMIN || (role == ROLE_PROJECT && (op->flags & OP_PROJECT));
}

bool principal_may(const struct principal *who, const struct op *op) {
  return !who || (role_may(who->role, op) &&
                  !(who->read_only && (op->flags & (OP_WRITE | OP_NO_TXN)))); /* OP_NO_TXN may write files */
}

/* ---- the log of refusals ---- */

/* Refusals of a caller that are recorded: per second, and at once. A caller that is refused again and again must not
 * fill the disk. */
enum { LOG_RATE = 1, LOG_BURST = 60 };

struct refusal_limit {
  pthread_mutex_t lock;
  struct limits limits;
};

struct refusal_limit *refusal_limit_new(void) {
  struct refusal_limit *r = mem_zalloc(sizeof(*r));
  if (!r)
    return NULL;
  pthread_mutex_init(&r->lock, NULL);
  limits_init(&r->limits);
  return r;
}

void refusal_limit_free(struct refusal_limit **limit) {
  if (*limit)
    pthread_mutex_destroy(&(*limit)->lock);
  mem_free(*limit);
  *limit = NULL;
}

bool refusal_limit_take(struct refusal_limit *limit, struct str team, struct str name) {
  char who[300];
  if (!limit)
    return true;
  snprintf(who, sizeof(who), "%.*s/%.*s", STR_ARG(team), STR_ARG(name));
  pthread_mutex_lock(&limit->lock);
  bool may = limit_take(&limit->limits, str_from(who), LOG_RATE, LOG_BURST, clock_ticks_us()) == 0;
  pthread_mutex_unlock(&limit->lock);
  return may;
}

static struct str caller_name(const struct op_call *call) {
  return call->caller.principal ? call->caller.principal->name : str_from(call->engine->agent);
}

bool roles_record_refusal(struct op_call *call) {
  struct engine *e = call->engine;
  if (!e->refusals)
    e->refusals = e->own_refusals = refusal_limit_new();
  call->unrecorded = !refusal_limit_take(e->refusals, call->caller.team, caller_name(call));
  return !call->unrecorded;
}

/* ---- the operator ---- */

static const struct param *given_file(const struct op_call *call) {
  for (const struct param *p = call->op->params; p->name; p++)
    if ((p->flags & PARAM_PATH) && yyjson_obj_get(call->args, p->name))
      return p;
  return NULL;
}

enum status operator_only(const struct op_call *call) {
  if (!call->caller.principal)
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "'%s' concerns more than one team and is not available to tokens",
            call->op->name);
  return error_fix(call->err, "ask the operator to run it on the store's machine");
}

enum status operator_enter(const struct op_call *call) {
  if (call->engine->store)
    TRY(gate_check_team(call->caller.team, call->err));
  if (call->op->flags & OP_OPERATOR)
    return operator_only(call);
  const struct param *file = call->caller.principal ? given_file(call) : NULL;
  if (!file)
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "%s: '%s' names a file of the machine, which tokens cannot access",
            call->op->name, file->name);
  return error_fix(call->err, "omit it, or ask the operator of the store");
}

enum status operator_person(const struct op_call *call) {
  if (call_is_by_person(call))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "only a person can call '%s'", call->op->name);
  return error_fix(call->err, "run 'cairn %s' in a terminal on the store's machine", call->op->name);
}

/* ---- the caller ---- */

static enum status refuse_unknown(const char *agent, struct error *err) {
  error_set(err, STATUS_DENIED, "no agent '%s' is declared in this store", agent);
  return error_fix(err, "declare it, without --agent and CAIRN_AGENT: cairn agent add %s --role ROLE", agent);
}

/* The interface has verified the token; this checks whether the process and the team accept it. */
static enum status check_principal(const struct op_call *call) {
  if (call->engine->agent[0]) {
    error_set(call->err, STATUS_DENIED, "this process is bound to agent '%s' and does not accept tokens",
              call->engine->agent);
    return error_fix(call->err, "use a server that is not bound to an agent");
  }
  if (str_eq(call->caller.team, call->caller.principal->team))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "a token is valid only for its own team");
  return error_fix(call->err, "use a token of the other team");
}

/* The agent as a principal. Read from the store for every call; a removed agent has no access from its next call on. */
static enum status find_agent(struct store *st, struct str team, const char *name, struct arena *a,
                              struct principal *ret_who, bool *ret_found, struct error *err) {
  struct agent agent;
  TRY(agent_find(st, team, str_from(name), a, &agent, ret_found, err));
  *ret_who = (struct principal){.name = arena_dup(a, str_from(name)), .team = team, .role = ROLE_SKILL};
  if (*ret_found)
    ret_who->role = agent.role;
  if (ret_who->role == ROLE_PROJECT)
    strs_push(a, &ret_who->projects, agent.project);
  return STATUS_OK;
}

static enum status identify(const struct op_call *call, struct principal *ret_who) {
  if (!call->engine->store) {
    error_set(call->err, STATUS_DENIED, "'%s' opens no store, so the caller cannot be looked up", call->op->name);
    return error_fix(call->err, "call it without an agent name (--agent, CAIRN_AGENT)");
  }
  if (call->caller.principal) {
    *ret_who = *call->caller.principal;
    return check_principal(call);
  }
  bool found;
  TRY(find_agent(call->engine->store, call->caller.team, call->engine->agent, call->arena, ret_who, &found, call->err));
  if (found)
    return STATUS_OK;
  reach_record(call->engine->store, "operation", str_from(call->op->name));
  return refuse_unknown(call->engine->agent, call->err);
}

/* ---- its operations and projects ---- */

static enum status refuse_op(const struct principal *who, const struct op *op, struct error *err) {
  if (who->read_only && role_may(who->role, op)) {
    error_set(err, STATUS_DENIED, "'%.*s' is read-only and may not call '%s'", STR_ARG(who->name), op->name);
    return error_fix(err, "report the change to your user instead");
  }
  error_set(err, STATUS_DENIED, "'%.*s' has the role %s, and may not call '%s'", STR_ARG(who->name),
            role_names[who->role], op->name);
  if (who->role == ROLE_SKILL)
    return error_fix(err, "work with the context in the message, and return the result to its sender");
  return error_fix(err, "ask the administrator for another role");
}

static enum status refuse_place(struct op_call *call, const struct principal *who, enum status why, const char *what,
                                struct str wanted) {
  char names[REACH_WANTED_MAX];
  struct reach reach = principal_reach(who);
  if (why == STATUS_DENIED)
    reach_record(call->engine->store, "project", wanted);
  reach_names(&reach, names, sizeof(names));
  error_set(call->err, why, "'%.*s' %s '%s'", STR_ARG(who->name), what, names);
  if (call->caller.project_given && !yyjson_obj_get(call->args, "project") && !json_str(call->args, "scope").p)
    return error_fix(call->err, "the connection names that project: ask the user to name another one in the URL of the "
                                "server or its header Cairn-Project, or none");
  return error_fix(call->err, who->projects.n == 1 ? "omit project, scope and all_projects: its own is the default"
                                                   : "name one of its projects");
}

/* With one project, that is the default, wherever the process runs. With several, the caller names one, or reads global
 * memories. Other projects are refused. */
static enum status settle_place(struct op_call *call, const struct principal *who) {
  struct caller *c = &call->caller;
  struct reach reach = principal_reach(who);
  if (who->role != ROLE_PROJECT)
    return STATUS_OK;
  if (c->project_given && !str_empty(c->project) && !reach_owns(&reach, c->project))
    return refuse_place(call, who, STATUS_DENIED, "works only in project", c->project);
  if (c->all_projects)
    return refuse_place(call, who, STATUS_DENIED, "sees only global memories and those of project", STR("all"));
  /* OP_NO_TXN is for sessions, which have a project. */
  if (!c->project_given && who->projects.n > 1 && (call->op->flags & (OP_WRITE | OP_NO_TXN)) == OP_WRITE)
    return refuse_place(call, who, STATUS_USAGE, "must name the project to write to, one of", STR_NONE);
  if (!c->project_given)
    c->project = who->projects.n == 1 ? who->projects.v[0] : STR("");
  /* The store's isolation does not cover files: transcripts without a project are only for the administrator. */
  if (str_starts(str_from(call->op->name), STR("transcript ")) && !reach_owns(&reach, c->project))
    return refuse_place(call, who, STATUS_DENIED, "has transcripts only in project", STR("none"));
  return STATUS_OK;
}

static bool is_local_user(const struct op_call *call) { return !call->engine->agent[0] && !call->caller.principal; }

void roles_deny_all(const struct op_call *call) {
  struct reach nothing = {.role = ROLE_SKILL};
  if (call->engine->store && !is_local_user(call))
    store_bind(call->engine->store, &nothing);
}

enum status roles_enter(struct op_call *call) {
  struct principal who;
  if (is_local_user(call))
    return STATUS_OK;
  roles_deny_all(call);
  TRY(identify(call, &who));
  struct reach reach = principal_reach(&who);
  store_bind(call->engine->store, &reach);
  if (call->caller.principal)
    call->caller.source = who.name; /* the client's own name is untrusted */
  if (principal_may(&who, call->op))
    return settle_place(call, &who);
  reach_record(call->engine->store, "operation", str_from(call->op->name));
  return refuse_op(&who, call->op, call->err);
}

void roles_reset(struct engine *engine) {
  struct reach nothing = {.role = ROLE_SKILL};
  if (engine->store)
    store_bind(engine->store, engine->agent[0] ? &nothing : NULL);
}

void roles_leave(struct op_call *call) {
  struct store *st = call->engine->store;
  if (!st || is_local_user(call))
    return;
  struct str wanted = store_refusal(st);
  struct error ignored;
  struct txn who = {.team = call->caller.team,
                    .project = STR(""),
                    .source = call->caller.source,
                    .session = call->caller.session,
                    .op = call->op->name,
                    .now = call->now};
  if (wanted.p && roles_record_refusal(call) && !db_read_only(store_db(st)) && !db_in_transaction(store_db(st))) {
    enum status s = agent_log_refusal(st, &who, caller_name(call), wanted, &ignored);
    (void)s; /* refused in any case, recorded or not */
  }
  roles_reset(call->engine);
}

/* ---- without an operation ---- */

enum status roles_check(struct engine *engine, const struct caller *caller, const char *op, struct error *err) {
  struct arena a;
  struct store_boundary oom;
  struct op_call call = {.op = op_find(str_from(op)),
                         .engine = engine,
                         .caller = *caller,
                         .now = clock_now(&engine->clock),
                         .arena = &a,
                         .err = err};
  assert(call.op);
  if (is_local_user(&call))
    return STATUS_OK;
  arena_init(&a);
  volatile enum status s = engine_lock_team(engine, caller->team, err);
  if (STORE_BOUNDARY(engine->store, &a, oom))
    s = error_set(err, STATUS_NOMEM, "out of memory");
  else if (s == STATUS_OK)
    s = roles_enter(&call);
  roles_leave(&call);
  s = engine_unlock_team(engine, s, err);
  arena_release(&a);
  return s;
}

enum status roles_principal(struct engine *engine, const struct caller *caller, struct arena *a,
                            const struct principal **ret_who, struct error *err) {
  struct store_boundary oom;
  jmp_buf *outer = a->oom;
  struct principal *volatile who = NULL;
  bool found; /* undeclared agents have no access */
  if (!engine->agent[0]) {
    *ret_who = caller->principal;
    return STATUS_OK;
  }
  volatile enum status s = engine_lock_team(engine, caller->team, err);
  if (STORE_BOUNDARY(engine->store, a, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else if (s == STATUS_OK) {
    who = arena_new(a, struct principal);
    s = find_agent(engine->store, caller->team, engine->agent, a, who, &found, err);
  }
  a->oom = outer;
  s = engine_unlock_team(engine, s, err);
  if (s == STATUS_OK)
    *ret_who = who;
  return s;
}

static enum status bind_principal(struct store *st, const struct principal *who, int64_t now, bool *ret_over,
                                  struct error *err) {
  bool live = false;
  struct reach reach = principal_reach(who);
  TRY(principal_is_live(st, who, now, &live, err));
  if (live)
    store_bind(st, &reach);
  *ret_over = !live;
  return STATUS_OK;
}

static enum status bind_agent(struct store *st, struct str team, const char *agent, struct error *err) {
  struct arena a;
  struct store_boundary oom;
  volatile enum status s;
  arena_init(&a);
  if (STORE_BOUNDARY(st, &a, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else {
    struct principal who = {.role = ROLE_SKILL};
    bool found;
    s = find_agent(st, team, agent, &a, &who, &found, err);
    struct reach reach = principal_reach(&who);
    store_bind(st, &reach);
  }
  arena_release(&a);
  return s;
}

enum status roles_bind(struct store *st, const struct principal *who, struct str team, const char *agent, int64_t now,
                       bool *ret_over, struct error *err) {
  struct reach nothing = {.role = ROLE_SKILL};
  store_bind(st, agent[0] || who ? &nothing : NULL);
  if (who && !agent[0])
    return bind_principal(st, who, now, ret_over, err);
  *ret_over = who != NULL; /* a process bound to an agent does not accept tokens */
  return agent[0] && !who ? bind_agent(st, team, agent, err) : STATUS_OK;
}
