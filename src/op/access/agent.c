/* agent.c: declares, lists and removes agents, and writes messages with context from one to another. */
#include "core/gate/gate.h"
#include "core/text/text.h"
#include "core/text/token_count.h"
#include "op/access/roles.h"
#include "op/handlers.h"
#include "op/search/retrieve.h"
#include "store/tables/sessions.h"

enum { BUDGET_DEFAULT = 1000, BUDGET_MAX = 20000, HITS_MAX = 20, RULES_MAX = 50, TEXT_MAX = 8000 };

/* ---- declare, list, remove ---- */

static enum status check_name(struct op_call *call, struct str name) {
  if (agent_name_is_valid(name))
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "an agent name is 1 to %d characters: A-Z a-z 0-9 _ . -", (int)AGENT_NAME_MAX);
  return error_fix(call->err, "for example agent_skill_seo");
}

static enum status check_project(struct op_call *call, struct agent *agent) {
  struct str project = call->caller.project_given ? call->caller.project : STR("");
  if (agent->role != ROLE_PROJECT) {
    if (str_empty(project))
      return STATUS_OK;
    error_set(call->err, STATUS_USAGE, "the role %s has no project", role_names[agent->role]);
    return error_fix(call->err, "omit --project, or use --role project");
  }
  if (str_empty(project) || project.n > REACH_PROJECT_MAX) {
    error_set(call->err, STATUS_USAGE, "the role project needs a project");
    return error_fix(call->err, "cairn agent add %.*s --role project --project NAME", STR_ARG(agent->name));
  }
  agent->project = project;
  return STATUS_OK;
}

static void put_agent(struct op_call *call, yyjson_mut_val *obj, const struct agent *agent) {
  char time[TIME_TEXT_SIZE];
  json_put(call->doc, obj, "name", agent->name);
  json_put(call->doc, obj, "role", str_from(role_names[agent->role]));
  json_put_opt(call->doc, obj, "project", agent->project);
  json_put_opt(call->doc, obj, "note", agent->note);
  json_put(call->doc, obj, "created_at", time_format(agent->created_at, time));
}

enum status op_agent_add(struct op_call *call) {
  struct agent agent = {.team = call->caller.team,
                        .name = json_str(call->args, "name"),
                        .note = json_str(call->args, "note"),
                        .created_at = call->now};
  struct txn who = call_author(call), txn;
  TRY(check_name(call, agent.name));
  if (!role_find(json_str(call->args, "role"), &agent.role))
    return error_set(call->err, STATUS_USAGE, "the role must be admin, project or skill");
  TRY(check_project(call, &agent));
  TRY(sessions_begin(call->engine->store, &who, &txn, call->err));
  TRY(agent_insert(&txn, call->arena, &agent, call->err));
  put_agent(call, call->result, &agent);
  return txn_commit(&txn, call->err);
}

enum status op_agent_list(struct op_call *call) {
  struct agents list = {0};
  TRY(agents_list(call->engine->store, call->caller.team, call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "agents");
  for (size_t i = 0; i < list.n; i++)
    put_agent(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

static enum status find_agent(struct op_call *call, struct str name, struct agent *ret_agent) {
  bool found = false;
  TRY(agent_find(call->engine->store, call->caller.team, name, call->arena, ret_agent, &found, call->err));
  if (found)
    return STATUS_OK;
  error_set(call->err, STATUS_NOT_FOUND, "no agent '%.*s' is declared", STR_ARG(name));
  return error_fix(call->err, "'cairn agent list' lists the agents");
}

enum status op_agent_remove(struct op_call *call) {
  struct agent agent;
  struct txn who = call_author(call), txn;
  TRY(sessions_begin(call->engine->store, &who, &txn, call->err));
  TRY(find_agent(call, json_str(call->args, "name"), &agent));
  TRY(agent_delete(&txn, call->arena, &agent, call->err));
  put_agent(call, call->result, &agent);
  return txn_commit(&txn, call->err);
}

/* ---- messages ---- */

struct message {
  struct op_call *call;
  struct agent from, to;
  struct str action, task, snippet;
  size_t budget;
  int64_t left_out;
  yyjson_mut_val *memories; /* ids of the memories in it */
};

static bool has_memory(const struct message *m, int64_t id) {
  size_t i, n;
  yyjson_mut_val *v;
  yyjson_mut_arr_foreach(m->memories, i, n, v) {
    if (yyjson_mut_get_sint(v) == id)
      return true;
  }
  return false;
}

/* Adds a line if it fits into the budget as a whole. */
static void add_line(struct message *m, struct buf *b, size_t budget, struct str text, int64_t id) {
  struct str line = arena_printf(m->call->arena, "%s%.*s", b->n ? "\n" : "", STR_ARG(text));
  if (tokens_estimate(buf_str(b)) + tokens_estimate(line) > budget) {
    m->left_out++;
    return;
  }
  buf_add(b, line);
  if (id && !has_memory(m, id))
    yyjson_mut_arr_add_int(m->call->doc, m->memories, id);
}

/* True if the project context has the memory's headline, and its text says no more. */
static bool is_said(const struct message *m, const struct memory *rule) {
  struct arena *a = m->call->arena;
  return has_memory(m, rule->id) && str_eq(text_normal(a, rule->headline), text_normal(a, rule->body));
}

/* The given snippet, and trusted memories about the task: nothing from tools and imports is passed on. */
static enum status gather_snippet(struct message *m, size_t budget, struct buf *b) {
  struct op_call *call = m->call;
  struct query q = {.call = call,
                    .text = str_empty(m->task) ? m->action : m->task,
                    .scope = call_scope(call),
                    .limit = HITS_MAX,
                    .filter = {.trusted = true}};
  struct hits hits = {0};
  q.fusion.words = q.fusion.means = true;
  if (!str_empty(m->snippet))
    buf_add(b, tokens_cut(m->snippet, budget));
  TRY(retrieve_prepare(&q));
  TRY(retrieve(&q, STATES_LIVE, HITS_MAX, &hits));
  for (size_t i = 0; i < hits.n; i++) {
    TRY(memory_load_body(call->engine->store, call->arena, &hits.v[i].m, call->err));
    if (!is_said(m, &hits.v[i].m))
      add_line(m, b, budget, hits.v[i].m.body, hits.v[i].m.id);
  }
  return STATUS_OK;
}

/* Rules of the sender's project, blockers and pinned ones first. */
static enum status gather_project(struct message *m, size_t budget, struct buf *b) {
  struct op_call *call = m->call;
  struct scope scope = call_scope(call);
  struct memories list = {0};
  struct filter f = {.kind = STR("rule"),
                     .trusted = true,
                     .limit = RULES_MAX,
                     .order = "CASE WHEN m.severity = 'blocker' THEN 0 ELSE 1 END,"
                              " CASE WHEN m.delivery = 'pinned' THEN 0 ELSE 1 END, m.created_at DESC, m.id DESC"};
  if (!str_empty(scope.project))
    add_line(m, b, budget, arena_printf(call->arena, "Project %.*s.", STR_ARG(scope.project)), 0);
  if (!str_empty(m->task))
    add_line(m, b, budget, m->task, 0);
  TRY(memory_list(call->engine->store, &scope, &f, call->arena, &list, call->err));
  for (size_t i = 0; i < list.n; i++)
    add_line(m, b, budget, list.v[i].headline, list.v[i].id);
  return STATUS_OK;
}

/* Gathers the context with the access of the sender, not of the caller. */
static enum status gather(struct message *m, struct buf *snippet, struct buf *project) {
  struct op_call *call = m->call;
  struct store *st = call->engine->store;
  struct caller caller = call->caller;
  struct reach bound = store_reach(st), was = reach_dup(call->arena, &bound), from = agent_reach(&m->from);
  if (m->from.role == ROLE_PROJECT) {
    call->caller.project = m->from.project;
    call->caller.all_projects = false;
  }
  store_bind(st, &from);
  enum status s = gather_project(m, m->budget / 3, project);
  if (s == STATUS_OK)
    s = gather_snippet(m, m->budget - tokens_estimate(buf_str(project)), snippet);
  store_bind(st, &was);
  call->caller = caller;
  return s;
}

static enum status parse_message(struct op_call *call, struct message *m) {
  struct str from = json_str(call->args, "from"), to = json_str(call->args, "to");
  struct reach reach = store_reach(call->engine->store);
  int64_t budget;
  m->action = str_trim(json_str(call->args, "action"));
  m->task = str_trim(json_str(call->args, "task"));
  m->snippet = str_trim(json_str(call->args, "snippet"));
  const struct principal *who = call->caller.principal;
  struct str self = who ? who->name : str_from(call->engine->agent);
  if (reach.role != ROLE_ADMIN && !str_eq(from, self)) {
    reach_record(call->engine->store, "a message from", from);
    error_set(call->err, STATUS_DENIED, "'%.*s' can send messages only from itself", STR_ARG(self));
    return error_fix(call->err, "cairn agent message %.*s TO --action ACTION", STR_ARG(self));
  }
  if (str_empty(m->action) || m->action.n > TEXT_MAX || m->task.n > TEXT_MAX || m->snippet.n > TEXT_MAX) {
    error_set(call->err, STATUS_USAGE, "an action is required; action, task and snippet have at most %d bytes each",
              (int)TEXT_MAX);
    return error_fix(call->err, "--action analyze --task 'what it is about'");
  }
  TRY(call_int(call, "budget", BUDGET_DEFAULT, 50, BUDGET_MAX, &budget));
  TRY(find_agent(call, from, &m->from));
  TRY(find_agent(call, to, &m->to));
  m->budget = (size_t)budget;
  return STATUS_OK;
}

/* Logs the message: ids of its memories, not their text. */
static void log_message(struct message *m) {
  struct op_call *call = m->call;
  struct txn who = call_author(call);
  yyjson_mut_val *detail = yyjson_mut_obj(call->doc);
  json_put(call->doc, detail, "from", m->from.name);
  json_put(call->doc, detail, "to", m->to.name);
  json_put(call->doc, detail, "action", m->action);
  yyjson_mut_obj_add_val(call->doc, detail, "memories", yyjson_mut_val_mut_copy(call->doc, m->memories));
  reads_queue(call->engine->store, &who, STR("agent:message"), 0, STR_NONE, json_write(call->arena, detail, false));
}

enum status op_agent_message(struct op_call *call) {
  struct message m = {.call = call, .memories = yyjson_mut_arr(call->doc)};
  struct buf snippet = BUF(call->arena), project = BUF(call->arena);
  TRY(parse_message(call, &m));
  TRY(gather(&m, &snippet, &project));
  yyjson_mut_doc *doc = call->doc;
  yyjson_mut_val *message = json_put_obj(doc, call->result, "message");
  json_put(doc, message, "from", m.from.name);
  json_put(doc, message, "to", m.to.name);
  json_put(doc, message, "type", STR("request"));
  yyjson_mut_val *payload = json_put_obj(doc, message, "payload");
  json_put(doc, payload, "action", m.action);
  yyjson_mut_val *context = json_put_obj(doc, payload, "context");
  json_put(doc, context, "memory_snippet", buf_str(&snippet));
  json_put(doc, context, "project_context", buf_str(&project));
  yyjson_mut_obj_add_val(doc, call->result, "memories", m.memories);
  json_put_int(doc, call->result, "left_out", m.left_out);
  json_put_int(doc, call->result, "tokens",
               (int64_t)(tokens_estimate(buf_str(&snippet)) + tokens_estimate(buf_str(&project))));
  log_message(&m);
  return STATUS_OK;
}
