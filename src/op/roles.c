/* roles.c: the table of what roles may call, and the way of a call into the reach of its agent. */
#include "op/roles.h"

/* Of agents that work in one project: what is about memories, tasks and sessions, all of which the store keeps within
 * their project, and their own transcripts, which are files of the project. Everything else is closed to them, and to
 * agents with the role skill all of it: the vault, settings, the log, copies of the store, what concerns a whole team
 * or names files, and operations that are not listed because they are newer than this list. */
static const char *const of_project[] = {
    "action ack",
    "action add",
    "action list",
    "agent message", /* from itself alone */
    "annotate",
    "boot",
    "capture",
    "checkpoint",
    "file create",
    "file delete",
    "file insert",
    "file rename",
    "file str_replace",
    "file view",
    "forget",
    "get",
    "graph create",
    "graph delete",
    "graph observe",
    "graph read",
    "history",
    "link",
    "list",
    "page",
    "pin",
    "promote",
    "rate",
    "remember",
    "repeats",
    "scratch get",
    "scratch list",
    "scratch set",
    "search",
    "session end",
    "session handoff",
    "session list",
    "session task",
    "skill list",
    "skill load",
    "supersede",
    "task add",
    "task block",
    "task claim",
    "task list",
    "task ready",
    "task status",
    "task unblock",
    "transcript append",
    "transcript compact",
    "transcript flush",
    "transcript list",
    "transcript read",
    "unlink",
    "unpin",
    "unsupersede",
    NULL,
};
static const char *const of_skill[] = {NULL};

static const char *const *const open_to[] = {[ROLE_PROJECT] = of_project, [ROLE_SKILL] = of_skill};

bool role_may(enum role role, struct str op) {
  if (role == ROLE_ADMIN)
    return true;
  for (const char *const *name = open_to[role]; *name; name++)
    if (str_is(op, *name))
      return true;
  return false;
}

static enum status refuse_unknown(const char *agent, struct error *err) {
  error_set(err, STATUS_DENIED, "no agent '%s' is declared in this store", agent);
  return error_fix(err, "whoever runs Cairn without an agent's name declares it: cairn agent add %s --role ROLE",
                   agent);
}

static enum status refuse_op(const struct agent *agent, const char *op, struct error *err) {
  error_set(err, STATUS_DENIED, "an agent with the role %s may not call '%s'", role_names[agent->role], op);
  if (agent->role == ROLE_SKILL)
    return error_fix(err, "work with the context of the message, and hand the result back to its sender");
  return error_fix(err,
                   "ask whoever runs Cairn without an agent's name; 'cairn help agent add' says what roles may do");
}

/* Who is bound to the engine, as the store has it now; a removed agent may nothing from the next call on. */
static enum status find_agent(struct store *st, struct str team, const char *name, const char *op, struct arena *a,
                              struct agent *ret_agent, struct error *err) {
  bool found = false;
  struct reach nothing = {.role = ROLE_SKILL};
  store_bind(st, &nothing);
  enum status s = agent_find(st, team, str_from(name), a, ret_agent, &found, err);
  if (s != STATUS_OK)
    return s;
  if (!found) {
    reach_note(st, "operation", str_from(op));
    return refuse_unknown(name, err);
  }
  struct reach reach = agent_reach(ret_agent);
  store_bind(st, &reach);
  if (role_may(ret_agent->role, str_from(op)))
    return STATUS_OK;
  reach_note(st, "operation", str_from(op));
  return refuse_op(ret_agent, op, err);
}

/* An agent of a project is there, wherever its process runs; it may look at global memories alone, and at no other
 * project. */
static enum status settle_place(struct op_call *call, const struct agent *agent) {
  struct caller *c = &call->caller;
  struct store *st = call->engine->store;
  bool named = c->project_given && !str_empty(c->project);
  if (agent->role != ROLE_PROJECT)
    return STATUS_OK;
  if (named && !str_eq(c->project, agent->project)) {
    reach_note(st, "project", c->project);
    error_set(call->err, STATUS_DENIED, "agent '%.*s' works in project '%.*s' alone", STR_ARG(agent->name),
              STR_ARG(agent->project));
    return error_fix(call->err, "leave the project out: its own is the default");
  }
  if (c->all_projects) {
    reach_note(st, "project", STR("all"));
    error_set(call->err, STATUS_DENIED, "agent '%.*s' may not look into all projects", STR_ARG(agent->name));
    return error_fix(call->err, "leave all_projects out: it sees project '%.*s' and global memories",
                     STR_ARG(agent->project));
  }
  if (!c->project_given)
    c->project = agent->project;
  /* The store does not guard files: those of no project are the administrator's. */
  if (str_starts(str_from(call->op->name), STR("transcript ")) && !str_eq(c->project, agent->project)) {
    reach_note(st, "project", STR("none"));
    error_set(call->err, STATUS_DENIED, "agent '%.*s' has transcripts in project '%.*s' alone", STR_ARG(agent->name),
              STR_ARG(agent->project));
    return error_fix(call->err, "leave the project and the scope out: its own project is the default");
  }
  return STATUS_OK;
}

enum status roles_enter(struct op_call *call) {
  const char *name = call->engine->agent;
  struct store *st = call->engine->store;
  struct agent agent;
  if (!name[0])
    return STATUS_OK;
  if (!st) {
    error_set(call->err, STATUS_DENIED, "'%s' opens no store, in which agent '%s' could be looked up", call->op->name,
              name);
    return error_fix(call->err, "leave the agent's name out: --agent, CAIRN_AGENT");
  }
  enum status s = find_agent(st, call->caller.team, name, call->op->name, call->arena, &agent, call->err);
  return s == STATUS_OK ? settle_place(call, &agent) : s;
}

void roles_rest(struct engine *engine) {
  struct reach nothing = {.role = ROLE_SKILL};
  if (engine->store)
    store_bind(engine->store, engine->agent[0] ? &nothing : NULL);
}

void roles_leave(struct op_call *call) {
  struct store *st = call->engine->store;
  if (!st || !call->engine->agent[0])
    return;
  struct str wanted = store_refusal(st);
  struct error ignored;
  struct txn who = {.team = call->caller.team,
                    .project = STR(""),
                    .source = call->caller.source,
                    .session = call->caller.session,
                    .op = call->op->name,
                    .now = call->now};
  if (wanted.p && !db_read_only(store_db(st)) && !db_in_transaction(store_db(st))) {
    enum status s = agent_refused(st, &who, str_from(call->engine->agent), wanted, &ignored);
    (void)s; /* what was refused stays refused, recorded or not */
  }
  roles_rest(call->engine);
}

enum status roles_check(struct engine *engine, struct str team, const char *op, struct error *err) {
  if (!engine->agent[0])
    return STATUS_OK;
  struct arena a;
  jmp_buf oom;
  volatile enum status s;
  arena_init(&a);
  pthread_mutex_lock(&engine->lock);
  if (ARENA_BOUNDARY(&a, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else {
    struct agent agent;
    struct op known = {.name = op};
    struct op_call call = {.op = &known,
                           .engine = engine,
                           .caller = {.team = team, .source = STR("server")},
                           .now = clock_now(&engine->clock),
                           .arena = &a,
                           .err = err};
    s = engine->store ? db_team(store_db(engine->store), team, err)
                      : error_set(err, STATUS_DENIED, "there is no store to look the agent up");
    if (s == STATUS_OK)
      s = find_agent(engine->store, team, engine->agent, op, &a, &agent, err);
    roles_leave(&call);
    if (engine->store && db_team(store_db(engine->store), STR_NONE, err) != STATUS_OK && s == STATUS_OK)
      s = err->code;
  }
  pthread_mutex_unlock(&engine->lock);
  arena_release(&a);
  return s;
}

enum status roles_bind(struct store *st, struct str team, const char *agent, struct error *err) {
  struct arena a;
  jmp_buf oom;
  volatile enum status s = STATUS_OK;
  struct reach nothing = {.role = ROLE_SKILL};
  if (!agent[0]) {
    store_bind(st, NULL);
    return STATUS_OK;
  }
  store_bind(st, &nothing);
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else {
    struct agent found;
    bool is_there = false;
    s = agent_find(st, team, str_from(agent), &a, &found, &is_there, err);
    if (s == STATUS_OK && is_there) {
      struct reach reach = agent_reach(&found);
      store_bind(st, &reach);
    }
  }
  arena_release(&a);
  return s;
}
