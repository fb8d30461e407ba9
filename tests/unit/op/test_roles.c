/* test_roles.c: which operations roles and tokens may call, and what they can reach. */
#include "op/access/roles.h"

#include "base/alloc.h"
#include "support/cli.h"

/* Operations for project agents, from the specification: memories, tasks and sessions of their own. */
static const char *const families[] = {"task ", "skill ", "session ", "action ", "scratch ", "file ", "graph ", NULL};
static const char *const others[] = {"remember",
                                     "capture",
                                     "get",
                                     "search",
                                     "list",
                                     "boot",
                                     "supersede",
                                     "unsupersede",
                                     "history",
                                     "repeats",
                                     "annotate",
                                     "rate",
                                     "pin",
                                     "unpin",
                                     "link",
                                     "unlink",
                                     "forget",
                                     "checkpoint",
                                     "agent message",
                                     "page",
                                     "transcript append",
                                     "transcript read",
                                     "transcript list",
                                     "transcript flush",
                                     "transcript compact",
                                     NULL};

static bool expected(struct str op) {
  if (str_is(op, "task sync")) /* names a file */
    return false;
  for (const char *const *f = families; *f; f++)
    if (str_starts(op, str_from(*f)))
      return true;
  for (const char *const *o = others; *o; o++)
    if (str_is(op, *o))
      return true;
  return false;
}

TEST(project_agents_may_call_memory_operations) {
  EACH_OP(op) {
    test_note("%s", op->name);
    CHECK(role_may(ROLE_PROJECT, op) == expected(str_from(op->name)));
  }
}

TEST(an_agent_with_the_role_skill_may_call_nothing) {
  EACH_OP(op)
    CHECK(!role_may(ROLE_SKILL, op));
}

TEST(operations_are_denied_unless_their_row_allows_them) {
  static const char *const names[] = {"transcript archive", "transcript index", "transcript import", "sync", "extract",
                                      "source add",         "task sync",        "vault get",         "undo", "export"};
  struct op added = {.name = "added"};
  CHECK(!role_may(ROLE_PROJECT, &added) && !role_may(ROLE_SKILL, &added) && role_may(ROLE_ADMIN, &added));
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    const struct op *op = op_find(str_from(names[i]));
    test_note("%s", names[i]);
    CHECK(!role_may(ROLE_PROJECT, op) && !role_may(ROLE_SKILL, op) && role_may(ROLE_ADMIN, op));
  }
}

/* ---- tokens ---- */

#define NOW INT64_C(1800000000000)

static struct arena a;
static struct engine *engine;
static struct error err;
static yyjson_val *result;

static struct str both[] = {STR_INIT("alpha"), STR_INIT("beta")};

static void open_as(const char *agent) {
  struct engine_options o = {.path = cli_db(), .clock = {.fixed = NOW}};
  snprintf(o.agent, sizeof(o.agent), "%s", agent);
  engine_close(&engine);
  CHECK_OK(engine_open(&o, &engine, &err), &err);
}

static struct principal bearer(enum role role, size_t projects, bool read_only) {
  return (struct principal){.name = STR("token:ci"),
                            .team = STR("default"),
                            .role = role,
                            .projects = {both, projects, projects},
                            .read_only = read_only};
}

/* As a client that claims to be the command line. */
static enum status call_as(const struct principal *who, const char *trust, const char *op, const char *args) {
  struct caller caller = {.team = STR("default"),
                          .project = STR("elsewhere"),
                          .source = STR("cli"),
                          .trust = str_from(trust),
                          .principal = who};
  yyjson_val *v;
  yyjson_mut_val *out = NULL;
  CHECK_OK(json_read(&a, str_from(args), &v, &err), &err);
  enum status s = op_run(engine, op_find(str_from(op)), &caller, NULL, &a, v, &out, &err);
  if (s == STATUS_OK)
    CHECK_OK(json_read(&a, json_write(&a, out, false), &result, &err), &err);
  return s;
}

static enum status call(const struct principal *who, const char *op, const char *args) {
  return call_as(who, who ? "agent" : "user", op, args);
}

static int64_t refusals(const char *wanted) {
  return sql_number(textf("SELECT count(*) FROM event WHERE action = 'scope:refused' AND source = 'token:ci'"
                          " AND detail LIKE '%%\"agent\":\"token:ci\"%%' AND detail LIKE '%%\"wanted\":\"%s\"%%'",
                          wanted));
}

static void begin(void) {
  open_as("");
  CHECK_OK(call(NULL, "remember", "{\"text\":\"The alpha build runs on nine machines\",\"project\":\"alpha\"}"), &err);
  CHECK_OK(call(NULL, "remember", "{\"text\":\"The beta launch is in May\",\"project\":\"beta\",\"key\":\"launch\"}"),
           &err);
  CHECK_OK(call(NULL, "remember", "{\"text\":\"Everybody writes tests\",\"project\":\"\"}"), &err);
  CHECK_OK(call(NULL, "remember", "{\"text\":\"The gamma team is on holiday\",\"project\":\"gamma\"}"), &err);
}

static size_t seen(const struct principal *who, const char *args) {
  CHECK_OK(call(who, "list", args), &err);
  return jlen(result, "memories");
}

TEST(a_token_of_one_project_acts_in_it) {
  struct principal who = bearer(ROLE_PROJECT, 1, false);
  begin();
  CHECK_INT((int64_t)seen(&who, "{}"), 2);
  CHECK_INT((int64_t)seen(&who, "{\"project\":\"alpha\"}"), 2);
  CHECK_INT((int64_t)seen(&who, "{\"scope\":\"global\"}"), 1);
  CHECK_INT(call(&who, "list", "{\"project\":\"beta\"}"), STATUS_DENIED);
  CHECK_INT(call(&who, "list", "{\"all_projects\":true}"), STATUS_DENIED);
  CHECK_INT(call(&who, "get", "{\"id\":\"launch\"}"), STATUS_NOT_FOUND);
  CHECK_INT(call(&who, "stats", "{}"), STATUS_DENIED);
  CHECK_INT(refusals("project beta"), 1);
  CHECK_INT(refusals("project all"), 1);
  CHECK_INT(refusals("memory launch"), 1);
  CHECK_INT(refusals("operation stats"), 1);
  CHECK_OK(call(&who, "remember", "{\"text\":\"The alpha fence is eleven feet high\"}"), &err);
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%fence%'"), "alpha");
  CHECK_STR(sql_string("SELECT source FROM memory WHERE headline LIKE '%fence%'"), "token:ci");
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'memory:write' AND source = 'token:ci'"), 1);
  engine_close(&engine);
}

TEST(a_token_of_several_projects_must_name_one) {
  struct principal who = bearer(ROLE_PROJECT, 2, false);
  begin();
  CHECK_INT((int64_t)seen(&who, "{}"), 1); /* the global one */
  CHECK_INT((int64_t)seen(&who, "{\"project\":\"alpha\"}"), 2);
  CHECK_INT((int64_t)seen(&who, "{\"project\":\"beta\"}"), 2);
  CHECK_INT(call(&who, "list", "{\"project\":\"gamma\"}"), STATUS_DENIED);
  CHECK_INT(call(&who, "remember", "{\"text\":\"The fence is eleven feet high\"}"), STATUS_USAGE);
  CHECK(strstr(err.message, "alpha, beta"));
  CHECK_INT(call(&who, "remember", "{\"text\":\"The fence is eleven feet high\",\"project\":\"\"}"), STATUS_DENIED);
  CHECK_INT(call(&who, "remember", "{\"text\":\"The fence is eleven feet high\",\"project\":\"gamma\"}"),
            STATUS_DENIED);
  CHECK_OK(call(&who, "remember", "{\"text\":\"The fence is eleven feet high\",\"project\":\"beta\"}"), &err);
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%fence%'"), "beta");
  engine_close(&engine);
}

TEST(a_read_only_token_changes_nothing) {
  struct principal one = bearer(ROLE_PROJECT, 1, true), all = bearer(ROLE_ADMIN, 0, true);
  const struct principal *const readers[] = {&one, &all};
  begin();
  sql_do("UPDATE memory SET state = 'faded', state_reason = 'unused', state_at = 1 WHERE headline LIKE '%nine%'");
  for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
    EACH_OP(op) {
      test_note("%s", op->name);
      CHECK(principal_may(readers[i], op) == (role_may(readers[i]->role, op) && !(op->flags & (OP_WRITE | OP_NO_TXN))));
    }
    struct str before = sql_string("SELECT count(*) FROM memory");
    CHECK_INT(call(readers[i], "remember", "{\"text\":\"The fence is eleven feet high\"}"), STATUS_DENIED);
    CHECK(strstr(err.message, "is read-only"));
    CHECK_INT(call(readers[i], "session handoff", "{\"text\":\"go on\"}"), STATUS_DENIED);
    CHECK_INT(call(readers[i], "scratch set", "{\"key\":\"a\",\"value\":\"b\"}"), STATUS_DENIED);
    CHECK_INT(call(readers[i], "config", "{\"name\":\"gate.mode\",\"value\":\"strict\"}"), STATUS_DENIED);
    CHECK_OK(call(readers[i], "search", "{\"query\":\"machines\",\"project\":\"alpha\"}"), &err);
    CHECK_OK(call(readers[i], "get", "{\"id\":\"1\",\"project\":\"alpha\"}"), &err);
    CHECK_OK(call(readers[i], "checkpoint", "{\"action\":\"force-push\"}"), &err);
    CHECK(!jget(result, "degraded"));
    CHECK_OK(call(readers[i], "boot", "{\"register\":true}"), &err);
    CHECK(!jget(result, "session"));
    CHECK_STR(sql_string("SELECT count(*) FROM memory"), cstr(before));
  }
  CHECK_INT(sql_number("SELECT count(*) FROM session"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM checkpoint"), 0);
  CHECK_STR(sql_string("SELECT state FROM memory WHERE headline LIKE '%nine%'"), "faded");
  CHECK_INT(refusals("operation remember"), 2);
  engine_close(&engine);
}

TEST(a_token_is_refused_for_other_teams_and_by_bound_processes) {
  struct principal who = bearer(ROLE_ADMIN, 0, false);
  begin();
  CHECK_OK(call(NULL, "agent add", "{\"name\":\"boss\",\"role\":\"admin\"}"), &err);
  CHECK_INT((int64_t)seen(&who, "{\"all_projects\":true}"), 4);
  who.team = STR("red");
  CHECK_INT(call(&who, "list", "{}"), STATUS_DENIED);
  who.team = STR("default");
  open_as("boss");
  CHECK_INT((int64_t)seen(NULL, "{\"all_projects\":true}"), 4);
  CHECK_INT(call(&who, "list", "{}"), STATUS_DENIED);
  struct caller caller = {.team = STR("default"), .source = STR("http"), .principal = &who};
  CHECK_INT(roles_check(engine, &caller, "events", &err), STATUS_DENIED);
  engine_close(&engine);
}

TEST(access_checks_without_an_operation) {
  struct principal one = bearer(ROLE_PROJECT, 1, false), all = bearer(ROLE_ADMIN, 0, true);
  struct caller caller = {.team = STR("default"), .source = STR("http")};
  begin();
  CHECK_OK(roles_check(engine, &caller, "events", &err), &err);
  caller.principal = &all;
  CHECK_OK(roles_check(engine, &caller, "events", &err), &err);
  caller.principal = &one;
  CHECK_INT(roles_check(engine, &caller, "events", &err), STATUS_DENIED);
  CHECK_INT(refusals("operation events"), 1);
  CHECK_INT((int64_t)seen(NULL, "{\"all_projects\":true}"), 4); /* the store is no longer bound */
  engine_close(&engine);
}

/* ---- tokens that create tokens ---- */

TEST(only_people_and_admins_create_tokens) {
  struct principal project = bearer(ROLE_PROJECT, 1, false), reader = bearer(ROLE_ADMIN, 0, true);
  begin();
  CHECK_INT(call(&project, "token add", "{\"name\":\"x\"}"), STATUS_DENIED);
  CHECK_INT(call(&project, "token list", "{}"), STATUS_DENIED);
  CHECK_INT(call(&reader, "token add", "{\"name\":\"x\"}"), STATUS_DENIED);
  CHECK_OK(call(&reader, "token list", "{}"), &err);
  /* A program without a token may be driven by a model. */
  CHECK_INT(call_as(NULL, "agent", "token add", "{\"name\":\"x\"}"), STATUS_DENIED);
  CHECK_INT(call_as(NULL, "agent", "token list", "{}"), STATUS_DENIED);
  CHECK_OK(call(NULL, "agent add", "{\"name\":\"boss\",\"role\":\"admin\"}"), &err);
  CHECK_INT(sql_number("SELECT count(*) FROM token"), 0);
  open_as("boss");
  CHECK_INT(call(NULL, "token add", "{\"name\":\"x\"}"), STATUS_DENIED);
  engine_close(&engine);
}

TEST(a_token_grants_no_more_than_it_has) {
  struct principal who = bearer(ROLE_ADMIN, 0, false);
  begin();
  who.expires_at = NOW + 10 * MS_PER_DAY;
  CHECK_INT(call(&who, "token add", "{\"name\":\"x\",\"ttl\":\"never\"}"), STATUS_DENIED);
  CHECK_INT(call(&who, "token add", "{\"name\":\"x\",\"ttl\":\"11d\"}"), STATUS_DENIED);
  CHECK_OK(call(&who, "token add", "{\"name\":\"x\",\"ttl\":\"9d\"}"), &err);
  CHECK_OK(call(&who, "token add", "{\"name\":\"y\"}"), &err);
  CHECK_INT(sql_number("SELECT expires_at FROM token WHERE name = 'y'"), who.expires_at);
  CHECK_STR(sql_string("SELECT created_by FROM token WHERE name = 'y'"), "token:ci");
  who.profile = STR("readonly");
  CHECK_INT(call(&who, "token add", "{\"name\":\"z\",\"profile\":\"full\"}"), STATUS_DENIED);
  CHECK_OK(call(&who, "token add", "{\"name\":\"z\"}"), &err);
  CHECK_STR(sql_string("SELECT profile FROM token WHERE name = 'z'"), "readonly");
  engine_close(&engine);
}

TEST(events_of_tokens_contain_no_secret) {
  struct principal who = bearer(ROLE_ADMIN, 0, false);
  begin();
  CHECK_OK(call(&who, "token add", "{\"name\":\"x\",\"projects\":[\"web\"],\"read\":true}"), &err);
  struct str token = jstr(result, "token"), id = jstr(result, "id");
  struct str detail = sql_string("SELECT detail FROM event WHERE action = 'token:add' AND source = 'token:ci'");
  CHECK(has(detail, cstr(id)) && has(detail, "\"name\":\"x\"") && has(detail, "[\"web\"]") && has(detail, "\"read\""));
  CHECK(!has(detail, cstr(str_slice(token, token.n - 43, token.n))));
  engine_close(&engine);
}

/* A call that fails before its caller is known is not a heartbeat for a session. */
TEST(an_invalid_call_touches_no_session_of_others) {
  struct principal who = bearer(ROLE_PROJECT, 1, false);
  begin();
  CHECK_OK(call(NULL, "boot", "{\"register\":true,\"project\":\"beta\"}"), &err);
  struct caller caller = {.team = STR("default"),
                          .project = STR(""),
                          .trust = STR("agent"),
                          .session = jstr(result, "session"),
                          .principal = &who};
  yyjson_val *v;
  yyjson_mut_val *out;
  sql_do("UPDATE session SET heartbeat_at = 1");
  open_as("");
  CHECK_OK(json_read(&a, STR("{\"nonsense\":1}"), &v, &err), &err);
  CHECK_INT(op_run(engine, op_find(STR("list")), &caller, NULL, &a, v, &out, &err), STATUS_USAGE);
  CHECK_INT(sql_number("SELECT heartbeat_at FROM session"), 1);
  CHECK_OK(json_read(&a, STR("{}"), &v, &err), &err);
  CHECK_OK(op_run(engine, op_find(STR("list")), &caller, NULL, &a, v, &out, &err), &err);
  CHECK_INT(sql_number("SELECT heartbeat_at FROM session"), 1);
  caller.principal = NULL;
  CHECK_OK(op_run(engine, op_find(STR("list")), &caller, NULL, &a, v, &out, &err), &err);
  CHECK_INT(sql_number("SELECT heartbeat_at FROM session"), NOW);
  engine_close(&engine);
}

TEST(a_session_belongs_to_its_token) {
  struct principal one = bearer(ROLE_ADMIN, 0, false), two = bearer(ROLE_ADMIN, 0, false);
  struct origin origin = {.connection = STR("http-1")};
  two.name = STR("token:other");
  begin();
  CHECK_OK(call(&one, "boot", "{\"register\":true}"), &err);
  struct str handle = jstr(result, "session");
  const struct principal *const both_of[] = {&one, &two};
  yyjson_val *v;
  yyjson_mut_val *out;
  CHECK_OK(json_read(&a, STR("{\"key\":\"branch\",\"value\":\"main\"}"), &v, &err), &err);
  for (int i = 0; i < 2; i++) {
    struct caller caller = {
        .team = STR("default"), .project = STR(""), .trust = STR("agent"), .session = handle, .principal = both_of[i]};
    CHECK_INT(op_run(engine, op_find(STR("scratch set")), &caller, NULL, &a, v, &out, &err),
              i ? STATUS_NOT_FOUND : STATUS_OK);
    caller.session = STR_NONE;
    caller.origin = &origin;
    sql_do("UPDATE session SET connection = 'http-1', heartbeat_at = 1800000000000");
    CHECK_INT(op_run(engine, op_find(STR("scratch set")), &caller, NULL, &a, v, &out, &err),
              i ? STATUS_CONFLICT : STATUS_OK);
  }
  engine_close(&engine);
}

TEST(a_session_knows_its_project) {
  struct principal who = bearer(ROLE_PROJECT, 2, false);
  begin();
  CHECK_OK(call(&who, "boot", "{}"), &err); /* without a project: global memories, and no session */
  CHECK(!jget(result, "session"));
  CHECK_OK(call(&who, "boot", "{\"register\":true,\"project\":\"beta\"}"), &err);
  struct caller caller = {.team = STR("default"),
                          .project = STR(""),
                          .trust = STR("agent"),
                          .session = jstr(result, "session"),
                          .principal = &who};
  static const char *const calls[][2] = {{"scratch set", "{\"key\":\"branch\",\"value\":\"main\"}"},
                                         {"session task", "{\"task\":\"the launch\"}"},
                                         {"session handoff", "{\"text\":\"Go on with the launch.\"}"},
                                         {"session end", "{}"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    yyjson_val *v;
    yyjson_mut_val *out;
    test_note("%s", calls[i][0]);
    CHECK_OK(json_read(&a, str_from(calls[i][1]), &v, &err), &err);
    CHECK_OK(op_run(engine, op_find(str_from(calls[i][0])), &caller, NULL, &a, v, &out, &err), &err);
  }
  CHECK_STR(sql_string("SELECT project FROM handoff"), "beta");
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'scope:refused'"), 0);
  CHECK_INT(call(&who, "action add", "{\"text\":\"Rotate the key\"}"), STATUS_DENIED);
  CHECK(strstr(err.message, "alpha, beta"));
  engine_close(&engine);
}

/* ---- out of memory ---- */

static const struct caller of_agent = {
    .team = STR_INIT("default"), .project = STR_INIT(""), .source = STR_INIT("mcp"), .trust = STR_INIT("agent")};

static void ask_who(void *arg UNUSED) {
  struct arena own;
  const struct principal *who = NULL;
  arena_init(&own);
  enum status s = roles_principal(engine, &of_agent, &own, &who, &err);
  CHECK_INT(s, alloc_failures() ? STATUS_NOMEM : STATUS_OK);
  CHECK((who != NULL) == (s == STATUS_OK));
  arena_release(&own);
}

static void ask_whether_allowed(void *arg UNUSED) {
  enum status s = roles_check(engine, &of_agent, "search", &err);
  CHECK_INT(s, alloc_failures() ? STATUS_NOMEM : STATUS_OK);
}

static void bind(void *arg UNUSED) {
  bool over = true;
  enum status s = roles_bind(engine->store, NULL, STR("default"), "web", NOW, &over, &err);
  CHECK_INT(s, alloc_failures() ? STATUS_NOMEM : STATUS_OK);
}

TEST(an_out_of_memory_agent_lookup_leaves_no_snapshot) {
  no_statement_check();
  open_as("");
  CHECK_OK(call(NULL, "agent add", "{\"name\":\"web\",\"role\":\"project\",\"project\":\"alpha\"}"), &err);
  open_as("web");
  CHECK(check_leaves_no_snapshot(engine->store, cli_db(), ask_who, NULL) >= 1);
  CHECK(check_leaves_no_snapshot(engine->store, cli_db(), ask_whether_allowed, NULL) >= 1);
  CHECK(check_leaves_no_snapshot(engine->store, cli_db(), bind, NULL) >= 1);
  engine_close(&engine);
}
