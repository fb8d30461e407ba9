/* dispatch.c: finds operations, checks their arguments and runs them. */
#include "op/op.h"

#include <assert.h>

#include "core/gate/gate.h"
#include "op/access/roles.h"
#include "op/run/common.h"
#include "op/run/retry.h"
#include "op/run/scrub.h"
#include "op/session/action.h"
#include "op/session/session.h"
#include "op/telemetry/telemetry.h"
#include "store/tables/events.h"

const struct op *op_find(struct str name) {
  EACH_OP(op)
    if (str_is(name, op->name))
      return op;
  return NULL;
}

static const struct param *find_param(const struct param *list, struct str name) {
  for (const struct param *p = list; p->name; p++)
    if (str_is(name, p->name))
      return p;
  return NULL;
}

const struct param *op_param(const struct op *op, struct str name) {
  const struct param *p = find_param(op->params, name);
  return p ? p : find_param(common_params, name);
}

/* ---- arguments ---- */

static enum status bad_form(const struct op *op, const struct param *p, const char *form, struct error *err) {
  error_set(err, STATUS_USAGE, "%s: %s must be %s", op->name, p->name, form);
  return error_fix(err, "%s: %s", p->name, p->help);
}

/* Appends ", NAME" as long as there is room. */
static void add_names(char *list, size_t size, const struct param *params) {
  for (const struct param *p = params; p->name; p++) {
    size_t n = strlen(list);
    if (n + strlen(p->name) + 3 < size)
      snprintf(list + n, size - n, "%s%s", n ? ", " : "", p->name);
  }
}

static enum status unknown_argument(const struct op *op, struct str name, struct error *err) {
  char list[400] = "";
  add_names(list, sizeof(list), op->params);
  add_names(list, sizeof(list), common_params);
  error_set(err, STATUS_USAGE, "%s: unknown argument '%.*s'", op->name, STR_ARG(name));
  return error_fix(err, "it takes: %s", list);
}

static enum status check_choice(const struct op *op, const struct param *p, struct str value, struct error *err) {
  if (!p->choices || (p->flags & PARAM_OPEN))
    return STATUS_OK;
  char list[300];
  size_t n = 0;
  for (const char *const *c = p->choices; *c; c++) {
    if (str_is(value, *c))
      return STATUS_OK;
    size_t len = strlen(*c);
    if (n + len + 3 < sizeof(list)) {
      if (n) {
        memcpy(list + n, ", ", 2);
        n += 2;
      }
      memcpy(list + n, *c, len);
      n += len;
    }
  }
  assert(n < sizeof(list));
  list[n] = 0;
  error_set(err, STATUS_USAGE, "%s: '%.*s' is not a valid value of %s", op->name, STR_ARG(value), p->name);
  return error_fix(err, "one of: %s", list);
}

static enum status check_text(const struct op *op, const struct param *p, yyjson_val *v, struct error *err) {
  struct str s = json_val_str(v);
  if (s.n && memchr(s.p, 0, s.n) && !(p->flags & PARAM_NOISE)) {
    error_set(err, STATUS_USAGE, "%s: %s holds a NUL character", op->name, p->name);
    return error_fix(err, "remove it: memories are text");
  }
  return check_choice(op, p, s, err);
}

static enum status check_list(const struct op *op, const struct param *p, yyjson_val *v, struct error *err) {
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(v, i, n, e) {
    if (!yyjson_is_str(e))
      return bad_form(op, p, "a list of texts", err);
    TRY(check_text(op, p, e, err));
  }
  return STATUS_OK;
}

static enum status check_value(const struct op *op, const struct param *p, yyjson_val *v, struct error *err) {
  static const char *const forms[] = {"a text", "a whole number", "a number", "true or false", "a list of texts"};
  bool ok = false;
  switch (p->form) {
  case PARAM_TEXT:
    ok = yyjson_is_str(v);
    break;
  case PARAM_INT:
    ok = yyjson_is_int(v);
    break;
  case PARAM_NUMBER:
    ok = yyjson_is_num(v);
    break;
  case PARAM_BOOL:
    ok = yyjson_is_bool(v);
    break;
  case PARAM_LIST:
    ok = yyjson_is_arr(v);
    break;
  }
  assert(p->form < ARRAY_LEN(forms));
  if (!ok)
    return bad_form(op, p, forms[p->form], err);
  if (p->form == PARAM_TEXT)
    return check_text(op, p, v, err);
  return p->form == PARAM_LIST ? check_list(op, p, v, err) : STATUS_OK;
}

enum status op_check_args(const struct op *op, yyjson_val *args, struct error *err) {
  if (!yyjson_is_obj(args)) {
    error_set(err, STATUS_USAGE, "%s: the arguments must be an object", op->name);
    return error_fix(err, "pass each argument as a member of it");
  }
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(args, i, n, key, v) {
    struct str name = json_val_str(key);
    const struct param *p = op_param(op, name);
    if (!p)
      return unknown_argument(op, name, err);
    TRY(check_value(op, p, v, err));
  }
  for (const struct param *p = op->params; p->name; p++)
    if ((p->flags & PARAM_REQUIRED) && !yyjson_obj_get(args, p->name)) {
      error_set(err, STATUS_USAGE, "%s: %s is missing", op->name, p->name);
      return error_fix(err, "%s: %s", p->name, p->help);
    }
  return STATUS_OK;
}

/* ---- running ---- */

/* Applies the common arguments to the caller's project; its identity stays as the interface set it. */
static enum status apply_common_args(struct op_call *call) {
  struct caller *c = &call->caller;
  struct str scope = json_str(call->args, "scope");
  yyjson_val *project = yyjson_obj_get(call->args, "project");
  if (project) {
    c->project = json_val_str(project);
    c->project_given = true;
  }
  if (json_bool(call->args, "all_projects", false))
    c->all_projects = true;
  if (str_is(scope, "global")) {
    if (project && !str_empty(c->project)) {
      error_set(call->err, STATUS_USAGE, "scope 'global' conflicts with project '%.*s'", STR_ARG(c->project));
      return error_fix(call->err, "pass only one of them");
    }
    c->project = STR("");
    c->project_given = true;
  }
  if (!c->project.p)
    c->project = STR("");
  return gate_check_project(c->project, call->err);
}

/* Runs after roles_enter(), which may set the project. */
static enum status check_scope(struct op_call *call) {
  if (!str_is(json_str(call->args, "scope"), "project") || !str_empty(call->caller.project))
    return STATUS_OK;
  error_set(call->err, STATUS_USAGE, "scope 'project' needs a project");
  return error_fix(call->err,
                   "name one with --project; at the command line, CAIRN_PROJECT or a git repository names it, too");
}

/* Row-level isolation by team in the database, besides the WHERE clauses. A caller without a team sees no rows. */
static enum status enter_team(const struct op_call *call) {
  struct str team = call->caller.team;
  return call->engine->store ? db_team(store_db(call->engine->store), team.p ? team : STR(""), call->err) : STATUS_OK;
}

/* Work between calls (queued reads, maintenance) concerns all teams. */
static void leave_team(const struct engine *engine) {
  struct error ignored;
  enum status s = engine->store ? db_team(store_db(engine->store), STR_NONE, &ignored) : STATUS_OK;
  (void)s; /* the next statement reports a broken connection */
}

/* "cairn://task-list/PROJECT" */
static struct str read_path(struct op_call *call) {
  struct buf b = BUF(call->arena);
  buf_adds(&b, "cairn://");
  for (const char *p = call->op->name; *p; p++)
    buf_addc(&b, *p == ' ' ? '-' : *p);
  buf_addc(&b, '/');
  buf_add(&b, call->caller.project);
  return buf_str(&b);
}

static enum status run_inside(struct op_call *call) {
  TRY(op_check_args(call->op, call->args, call->err));
  TRY(scrub_args(call));
  TRY(apply_common_args(call));
  TRY(operator_enter(call));
  TRY(roles_enter(call));
  TRY(check_scope(call));
  TRY(call_check_shown(call));
  if (call->op->flags & OP_GATED)
    TRY(action_gate(call));
  TRY(call->op->run(call));
  if (call->op->flags & OP_READS)
    note_result_read(call, call->op->name, read_path(call), NULL, false);
  return STATUS_OK;
}

/* Removes secrets from the result or the error. */
static enum status run_scrubbed(struct op_call *call) {
  enum status s = enter_team(call);
  if (s == STATUS_OK) {
    scrub_begin(call);
    s = run_inside(call);
  }
  call->done = s == STATUS_OK;
  if (call->done)
    scrub_result(call);
  else
    scrub_error(call);
  return s;
}

/* Each retry has its own arena, so the memory of the run before it can be released. */
static enum status run_once(struct op_call *call, struct arena *arena, bool again) {
  jmp_buf oom, *outer = arena->oom;
  struct arena *volatile own = arena;
  volatile enum status s;
  if (ARENA_BOUNDARY(arena, oom)) {
    s = error_set(call->err, STATUS_NOMEM, "out of memory; %s",
                  call->done         ? "the operation succeeded, but its result cannot be shown"
                  : call->stored_txn ? "a part was stored"
                                     : "nothing was changed");
    if (call->stored_txn && !call->done)
      error_fix(call->err, "'cairn undo %lld' removes it", (long long)call->stored_txn);
  } else {
    if (again)
      own = arena_child(arena);
    call->arena = own;
    call->doc = json_new(own);
    call->result = yyjson_mut_obj(call->doc);
    call->now = clock_now(&call->engine->clock);
    call->chunks_embedded = 0;
    call->stored_txn = 0;
    s = run_scrubbed(call);
  }
  arena->oom = own->oom = outer;
  if (s != STATUS_OK && call->engine->store)
    store_rollback(call->engine->store);
  return s;
}

/* Id of the agent behind a tool call: its connection or process; absent for other calls. */
static struct str client_of(const struct caller *c, char number[24]) {
  if (!c->tool.p || !c->origin)
    return STR_NONE;
  if (!str_empty(c->origin->connection))
    return c->origin->connection;
  snprintf(number, 24, "p%lld", (long long)c->origin->pid);
  return c->origin->pid ? str_from(number) : STR_NONE;
}

static struct telemetry_call describe(const struct caller *c, struct str op, int64_t now, int64_t began_us,
                                      const struct error *err, char number[24]) {
  return (struct telemetry_call){.name = c->tool.p ? c->tool : op,
                                 .op = op,
                                 .team = c->team,
                                 .project = c->project,
                                 .source = c->principal ? c->principal->name : c->source,
                                 .session = c->session,
                                 .client = client_of(c, number),
                                 .at = now,
                                 .duration_us = clock_ticks_us() - began_us,
                                 .error = err};
}

static void note_call(const struct op_call *call, enum status s, int64_t began_us) {
  char number[24];
  bool booted = s == STATUS_OK && (call->op->flags & OP_BOOTS);
  struct telemetry_call t =
      describe(&call->caller, str_from(call->op->name), call->now, began_us, s == STATUS_OK ? NULL : call->err, number);
  t.unrecorded = call->unrecorded;
  const char *session = booted ? yyjson_mut_get_str(yyjson_mut_obj_get(call->result, "session")) : NULL;
  if (session)
    t.session = str_from(session);
  if (!call->caller.part)
    telemetry_note_in(call->engine, &t);
  if (booted)
    telemetry_flush_before_boot(call->engine, t.client, t.session);
}

void op_note(struct engine *engine, const struct caller *caller, struct str op, int64_t began_us,
             const struct error *err) {
  char number[24];
  struct arena a;
  struct error ignored;
  struct store_boundary oom;
  struct caller named = *caller;
  arena_init(&a);
  enum status s = engine_lock_team(engine, caller->team.p ? caller->team : STR(""), &ignored);
  if (STORE_BOUNDARY(engine->store, &a, oom) || (engine->store && s != STATUS_OK))
    named.project = named.source = named.session = STR(""); /* rather than with secrets */
  else
    scrub_caller(engine, &a, &named);
  struct telemetry_call t = describe(&named, op, clock_now(&engine->clock), began_us, err, number);
  t.unrecorded = err && err->unrecorded;
  telemetry_note_in(engine, &t);
  s = engine_unlock_team(engine, s, &ignored);
  (void)s; /* the next call reports a broken connection */
  arena_release(&a);
}

/* A sandboxed server cannot write to paths that were configured after it started. */
static void add_sandbox_fix(const struct op_call *call, enum status s) {
  const char *how = telemetry_sandbox(call->engine->telemetry);
  if (s == STATUS_READONLY && !call->err->fix[0] && how && strcmp(how, "off") != 0)
    error_fix(call->err, "the server runs in a sandbox: restart it if the path was configured after it started, or add "
                         "the path to the setting sandbox.paths");
}

enum status op_run(struct engine *engine, const struct op *op, const struct caller *caller,
                   const struct op_hooks *hooks, struct arena *arena, yyjson_val *args, yyjson_mut_val **ret_result,
                   struct error *err) {
  int64_t began = clock_ticks_us();
  assert(engine->store || (op->flags & OP_NO_STORE));
  if (op->flags & OP_SECRET)
    arena_guard(arena);
  else
    arena_unguard(arena);
  pthread_mutex_lock(&engine->lock);
  struct op_call call = {.op = op,
                         .engine = engine,
                         .caller = *caller,
                         .hooks = hooks ? *hooks : (struct op_hooks){0},
                         .arena = arena,
                         .args = args,
                         .err = err};
  struct retry retry;
  struct scrub_stream stream;
  retry_begin(&retry, &call);
  roles_deny_all(&call);
  scrub_open(&stream, &call);
  enum status s = run_once(&call, arena, false);
  while (s != STATUS_OK && retry_wait(&retry, &call, stream.has_output, s)) {
    if (call.arena != arena)
      arena_release(call.arena);
    call.caller = *caller;
    call.args = args;
    s = run_once(&call, arena, true);
  }
  scrub_close(&stream);
  if (s == STATUS_OK)
    *ret_result = call.result;
  else
    add_sandbox_fix(&call, s);
  if (op->flags & (OP_WRITE | OP_NO_TXN))
    atomic_fetch_add(engine->writes, 1);
  assert(!engine->store || !db_in_transaction(store_db(engine->store)));
  leave_team(engine);
  if (engine->store)
    session_record_heartbeat(&call);
  roles_leave(&call);
  err->unrecorded = s != STATUS_OK && call.unrecorded;
  note_call(&call, s, began);
  if (s != STATUS_OK) /* after note_call(): the operator's records have the full paths */
    call_shorten_paths(&call, err);
  pthread_mutex_unlock(&engine->lock);
  return s;
}

yyjson_mut_val *op_error_json(yyjson_mut_doc *doc, const struct error *err) {
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_val *e = json_put_obj(doc, root, "error");
  json_put(doc, e, "code", str_from(status_name(err->code)));
  if (err->step)
    json_put(doc, e, "step", str_from(err->step));
  json_put(doc, e, "message", str_from(err->message));
  if (err->fix[0])
    json_put(doc, e, "fix", str_from(err->fix));
  if (err->about)
    json_put_int(doc, e, "memory", err->about);
  if (err->similarity > 0)
    json_put_num(doc, e, "similarity", json_round(err->similarity, 4));
  return root;
}
