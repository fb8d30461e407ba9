/* context.c: store, caller and clock, from options, environment and working directory. */
#include "cli/context.h"

#include <assert.h>
#include <stdlib.h>

#include "base/os/fs.h"
#include "base/os/project.h"
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "file/config.h"

enum { BUSY_MAX_MS = 3600 * 1000 };

/* An empty variable counts as unset. */
static enum status variable(const char *name, struct str *ret_value, struct error *err) {
  struct str value = str_from(getenv(name));
  if (utf8_check(value) != value.n) {
    error_set(err, STATUS_USAGE, "the variable %s is not valid UTF-8", name);
    return error_fix(err, "unset %s", name);
  }
  *ret_value = value.n ? value : STR_NONE;
  return STATUS_OK;
}

/* The option, else the variable, else absent. */
static enum status option_or_variable(const struct cli_args *args, const char *option, const char *name,
                                      struct str *ret_value, struct error *err) {
  struct str given = args_text(args->globals, option);
  if (!given.p)
    return variable(name, ret_value, err);
  *ret_value = given;
  return STATUS_OK;
}

static enum status load_team(struct caller *caller, struct error *err) {
  TRY(variable("CAIRN_TEAM", &caller->team, err));
  if (!caller->team.p)
    caller->team = STR("default");
  if (gate_check_team(caller->team, err) != STATUS_OK)
    return error_fix(err, "CAIRN_TEAM=my-team   (1 to %d characters: a-z 0-9 _ -)", TEAM_BYTES);
  return STATUS_OK;
}

static enum status load_project(struct arena *a, const struct cli_args *args, struct caller *caller,
                                struct error *err) {
  /* --project is a parameter of every operation, so it is also among the arguments. */
  struct str given = args_text(args->args, "project");
  caller->project_given = given.p != NULL; /* named in the call; the environment does not count */
  if (!given.p)
    TRY(variable("CAIRN_PROJECT", &given, err));
  caller->project = given.p ? given : STR("");
  struct str found;
  if (given.p || !project_find(a, NULL, &found))
    return STATUS_OK;
  if (utf8_check(found) != found.n) {
    error_set(err, STATUS_USAGE, "the name of the git repository's folder is not valid UTF-8");
    return error_fix(err, "--project NAME");
  }
  caller->project = found;
  return STATUS_OK;
}

static enum status load_caller(struct arena *a, const struct cli_args *args, struct caller *caller, struct error *err) {
  caller->trust = STR("user");
  TRY(load_team(caller, err));
  TRY(load_project(a, args, caller, err));
  TRY(option_or_variable(args, "source", "CAIRN_SOURCE", &caller->source, err));
  TRY(option_or_variable(args, "session", "CAIRN_SESSION", &caller->session, err));
  return STATUS_OK;
}

static enum status load_store(struct arena *a, const struct cli_args *args, struct context *c, struct error *err) {
  struct str path;
  TRY(option_or_variable(args, "db", "CAIRN_DB", &path, err));
  c->default_store = path.p == NULL;
  if (path.p && path.n == 0) {
    error_set(err, STATUS_USAGE, "--db is empty");
    return error_fix(err, "--db FILE");
  }
  if (c->default_store && engine_default_path(a, &path, err) != STATUS_OK)
    return error_fix(err, "--db FILE");
  c->engine.path = arena_cstr(a, path);
  return STATUS_OK;
}

static enum status load_settings(struct context *c, struct error *err) {
  struct str now, busy, quiet;
  TRY(variable("CAIRN_NOW", &now, err));
  TRY(variable("CAIRN_BUSY_MS", &busy, err));
  TRY(variable("CAIRN_NO_MAINTAIN", &quiet, err));
  if (now.p && (!time_parse(now, &c->engine.clock.fixed) || c->engine.clock.fixed <= 0)) {
    error_set(err, STATUS_USAGE, "CAIRN_NOW is not a timestamp after 1970");
    return error_fix(err, "CAIRN_NOW=2026-01-31T12:00:00Z");
  }
  int64_t ms = 0;
  if (busy.p && (!str_int64(busy, &ms) || ms < 0 || ms > BUSY_MAX_MS)) {
    error_set(err, STATUS_USAGE, "CAIRN_BUSY_MS is not a number of milliseconds, at most %d", (int)BUSY_MAX_MS);
    return error_fix(err, "CAIRN_BUSY_MS=5000");
  }
  /* The engine treats 0 as its default, but CAIRN_BUSY_MS=0 means no waiting. */
  c->engine.busy_ms = busy.p && ms == 0 ? 1 : (int)ms;
  c->no_maintain = quiet.p && !str_is(quiet, "0");
  return STATUS_OK;
}

static enum status load_config(struct arena *a, const struct cli_args *args, struct context *c, struct error *err) {
  struct config_source source = {.file = args_text(args->globals, "config"), .option = "--set"};
  yyjson_mut_val *list = yyjson_mut_obj_get(args->globals, "set"), *one;
  size_t i, n;
  yyjson_mut_arr_foreach(list, i, n, one) {
    strs_push(a, &source.assignments, (struct str){yyjson_mut_get_str(one), yyjson_mut_get_len(one)});
  }
  return config_load(a, &source, &c->engine.settings, err);
}

/* A process started as an agent stays bound to it: the option may only repeat CAIRN_AGENT. */
static enum status load_agent(const struct cli_args *args, struct context *c, struct error *err) {
  struct str given = args_text(args->globals, "agent"), bound;
  TRY(variable("CAIRN_AGENT", &bound, err));
  if (given.p && bound.p && !str_eq(given, bound)) {
    error_set(err, STATUS_DENIED, "this process is bound to agent '%.*s' by CAIRN_AGENT", STR_ARG(bound));
    return error_fix(err, "omit --agent");
  }
  struct str name = given.p ? given : bound;
  if (!name.p)
    return STATUS_OK;
  if (!agent_name_is_valid(name)) {
    error_set(err, STATUS_USAGE, "an agent name is 1 to %d characters: A-Z a-z 0-9 _ . -", (int)AGENT_NAME_MAX);
    return error_fix(err, "--agent NAME; 'cairn agent list' shows declared agents");
  }
  assert(name.n > 0 && name.n < sizeof(c->engine.agent));
  memcpy(c->engine.agent, name.p, name.n);
  c->caller.trust = STR("agent"); /* its writes are not trusted like those of a person */
  return STATUS_OK;
}

enum status context_load(struct arena *a, const struct cli_args *args, struct context *ret_context, struct error *err) {
  struct context c = {0};
  TRY(load_caller(a, args, &c.caller, err));
  TRY(load_store(a, args, &c, err));
  TRY(load_settings(&c, err));
  TRY(load_config(a, args, &c, err));
  TRY(load_agent(args, &c, err));
  if (str_empty(c.caller.source))
    c.caller.source = c.engine.agent[0] ? arena_dup(a, str_from(c.engine.agent)) : STR("cli");
  assert(c.engine.path && c.caller.team.n > 0 && c.caller.source.n > 0 && c.caller.trust.n > 0);
  *ret_context = c;
  return STATUS_OK;
}
