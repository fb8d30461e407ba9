/* test_agents.c: agents with a role, and attempts to exceed it through the CLI, MCP, REST and the library. */
#include "support/serve.h"

#include "cairn.h"

enum { WAIT_MS = 8000 };

static struct arena memory;

/* Only the administrator and agents of project beta may see this. */
#define SECRET_WORD "Zanzibar"

struct world {
  int64_t own, global, foreign, shadow;
  const char *foreign_uid;
  int64_t seq;
};

/* Two projects, a global memory, an agent of the first project and an agent without a project. */
static struct world begin(void) {
  struct world w = {0};
  OK("agent", "add", "alpha-agent", "--role", "project", "--project", "alpha");
  OK("agent", "add", "seo", "--role", "skill");
  OK("agent", "add", "boss", "--role", "admin", "--note", "plans the work");
  w.own = STORE("The alpha build runs on nine green machines", "--project", "alpha", "--key", "alpha-key");
  w.global = STORE("Everybody writes tests before a release", "--type", "rule", "--project", "", "--key", "global-key");
  w.foreign = STORE("The beta launch codes are kept in " SECRET_WORD, "--project", "beta", "--key", "beta-key",
                    "--skill-name", "beta-skill", "--skill-keyword", "launch");
  w.shadow = jint(OK("supersede", num(w.global), "In beta the tests wait until " SECRET_WORD " is ready", "--reason",
                     "beta is late", "--project", "beta"),
                  "id");
  OK("link", num(w.global), "relates", num(w.foreign), "--all-projects");
  OK("vault", "set", "codes", SECRET_WORD);
  w.foreign_uid = cstr(jstr(OK("get", num(w.foreign)), "uid"));
  w.seq = last_seq();
  return w;
}

static const char *beside(const char *name) { return textf("%s/%s", test_dir(), name); }

static int64_t refusals(const char *detail) {
  return sql_number(
      textf("SELECT count(*) FROM event WHERE action = 'scope:refused' AND detail LIKE '%%%s%%'", detail));
}

/* A call that must fail with this code, reveal nothing, and be logged as an attempt to get `wanted`. */
static void check_closed(const char *file, int line, const char *code, const char *wanted, const char *const *args) {
  const char *argv[32] = {0};
  size_t n = 0;
  int64_t before = refusals(wanted);
  while (args[n]) {
    argv[n] = args[n];
    n++;
  }
  argv[n++] = "--json";
  struct run r = cli_run(STR_NONE, argv);
  struct json_lines out = lines_of(r.out.n ? r.out : r.err);
  if (r.exit_code == 0 || out.n == 0 || !str_is(jstr(out.v[0], "error.code"), code))
    test_fail(file, line, "%s: exit %d, %s", args[0], r.exit_code, cstr(r.out.n ? r.out : r.err));
  if (has(r.out, SECRET_WORD) || has(r.err, SECRET_WORD))
    test_fail(file, line, "%s tells what is closed: %s", args[0], cstr(r.out));
  if (refusals(wanted) != before + 1)
    test_fail(file, line, "%s: the attempt to get '%s' is not recorded", args[0], wanted);
}
#define CLOSED(code, wanted, ...) check_closed(__FILE__, __LINE__, code, wanted, ARGS(__VA_ARGS__))

/* A call that must succeed and reveal nothing of the other project. */
static yyjson_val *check_open(const char *file, int line, const char *const *args) {
  yyjson_val *r = cli_ok(file, line, STR_NONE, args);
  struct str text = json_write_val(&memory, r);
  if (has(text, SECRET_WORD) || has(text, "beta"))
    test_fail(file, line, "%s tells of another project: %s", args[0], cstr(text));
  return r;
}
#define OPEN(...) check_open(__FILE__, __LINE__, ARGS(__VA_ARGS__))

/* ---- transcripts ---- */

TEST(agents_see_only_transcripts_of_their_project) {
  begin();
  OK("transcript", "append", "talk", "--content", "The beta codes are in " SECRET_WORD, "--project", "beta");
  OK("transcript", "append", "talk", "--content", "The board meets in " SECRET_WORD, "--project", "");
  cli_set("CAIRN_AGENT=alpha-agent");
  OPEN("transcript", "append", "talk", "--content", "Nine machines are enough");
  yyjson_val *r = OPEN("transcript", "read", "talk");
  CHECK(!yyjson_obj_get(r, "degraded"));
  CHECK_INT(jlen(r, "messages"), 1);
  CHECK_STR(jstr(r, "messages[0].content"), "Nine machines are enough");
  CHECK_INT(jlen(OPEN("transcript", "list"), "sessions"), 1);
  CLOSED("denied", "project beta", "transcript", "read", "talk", "--project", "beta");
  CLOSED("denied", "project none", "transcript", "read", "talk", "--project", "");
  CLOSED("denied", "project none", "transcript", "list", "--scope", "global");
  CLOSED("denied", "project none", "transcript", "append", "talk", "--content", "x", "--scope", "global");
  CLOSED("denied", "operation transcript archive", "transcript", "archive", "talk");
  CLOSED("denied", "operation transcript import", "transcript", "import");
  cli_set("CAIRN_AGENT=seo");
  CLOSED("denied", "operation transcript read", "transcript", "read", "talk", "--project", "alpha");
  CLOSED("denied", "operation transcript append", "transcript", "append", "talk", "--content", "x");
  cli_set("CAIRN_AGENT");
  CHECK_INT(jlen(OK("transcript", "read", "talk", "--project", ""), "messages"), 1);
}

/* ---- declaring ---- */

TEST(agents_are_declared_listed_and_removed) {
  begin();
  yyjson_val *r = OK("agent", "list");
  CHECK_INT(jint(r, "count"), 3);
  CHECK_STR(jstr(r, "agents[0].name"), "alpha-agent");
  CHECK_STR(jstr(r, "agents[0].role"), "project");
  CHECK_STR(jstr(r, "agents[0].project"), "alpha");
  CHECK_STR(jstr(r, "agents[1].role"), "admin");
  CHECK_STR(jstr(r, "agents[1].note"), "plans the work");
  CHECK_STR(jstr(r, "agents[2].name"), "seo");
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'agent:add'"), 3);
  REFUSED("conflict", "agent", "add", "seo", "--role", "admin");
  REFUSED("usage", "agent", "add", "two words", "--role", "skill");
  REFUSED("usage", "agent", "add", "x", "--role", "project");
  REFUSED("usage", "agent", "add", "x", "--role", "skill", "--project", "alpha");
  REFUSED("usage", "agent", "add", "x", "--role", "king");
  REFUSED("not_found", "agent", "remove", "nobody");
  CHECK_STR(jstr(OK("agent", "remove", "seo"), "name"), "seo");
  CHECK_INT(jint(OK("agent", "list"), "count"), 2);
  CHECK_HEALTHY();
}

TEST(an_undeclared_agent_has_no_access) {
  begin();
  cli_set("CAIRN_AGENT=stranger");
  CLOSED("denied", "operation search", "search", "tests");
  CLOSED("denied", "operation agent add", "agent", "add", "stranger", "--role", "admin");
  cli_set("CAIRN_AGENT=alpha-agent");
  OPEN("search", "green machines");
  struct run r = CAIRN("search", "tests", "--agent", "boss", "--json");
  CHECK_INT(r.exit_code, 13); /* a bound agent cannot pick another name */
  cli_set("CAIRN_AGENT");
  OK("agent", "remove", "alpha-agent");
  CLOSED("denied", "operation search", "search", "tests", "--agent", "alpha-agent");
}

TEST(an_administrator_has_full_access) {
  struct world w = begin();
  cli_set("CAIRN_AGENT=boss");
  CHECK(has(jstr(OK("get", num(w.foreign)), "body"), SECRET_WORD));
  CHECK_INT(jint(OK("list", "--all-projects"), "total"), 4);
  STORE("The gamma project begins in autumn", "--project", "gamma");
  OK("vault", "get", "codes");
  CHECK_INT(refusals(""), 0);
}

/* ---- the command line ---- */

TEST(a_project_agent_works_in_its_project) {
  struct world w = begin();
  cli_set("CAIRN_AGENT=alpha-agent");
  CHECK_STR(jstr(OPEN("get", num(w.own)), "project"), "alpha");
  CHECK_STR(jstr(OPEN("get", "global-key"), "project"), "");
  int64_t id = STORE("The alpha logo is a blue heron");
  yyjson_val *r = OPEN("get", num(id));
  CHECK_STR(jstr(r, "project"), "alpha"); /* whatever the working directory */
  CHECK_INT(jint(OPEN("list"), "total"), 3);
  CHECK_INT(jpos(OPEN("search", "blue heron"), "results", id), 0);
  OPEN("rate", num(id), "up");
  OPEN("annotate", num(id), "it flies to the left");
  OPEN("pin", num(id));
  OPEN("link", num(id), "relates", num(w.global));
  r = OPEN("supersede", num(id), "The alpha logo is a grey heron", "--reason", "it was repainted");
  OPEN("history", num(jint(r, "id")));
  OPEN("forget", num(w.own), "--reason", "moved");
  int64_t task = ADD_TASK("Paint the heron on the door");
  OPEN("task", "list");
  OPEN("task", "claim", num(task));
  OPEN("task", "status", num(task), "done");
  OPEN("boot", "--task", "release", "--register");
  OPEN("session", "list");
  OPEN("session", "handoff", "The heron is painted");
  OPEN("action", "list");
  OPEN("checkpoint", "deploy the release");
  OPEN("skill", "list");
  OPEN("file", "create", "/memories/alpha.md", "notes");
  OPEN("file", "view");
  OPEN("graph", "create",
       "{\"type\":\"entity\",\"name\":\"Heron\",\"entityType\":\"bird\",\"observations\":[\"is grey\"]}");
  OPEN("graph", "read");
  OPEN("repeats");
  /* A project's version of a global memory belongs to the project. */
  r = OPEN("supersede", num(w.global), "In alpha we write the tests afterwards", "--reason", "speed", "--project",
           "alpha");
  CHECK_STR(jstr(OPEN("get", num(jint(r, "id"))), "project"), "alpha");
  CHECK_INT(refusals(""), 0);
  cli_set("CAIRN_AGENT");
  CHECK_STR(jstr(OK("get", num(w.global)), "state"), "active");
  CHECK_HEALTHY();
}

TEST(memories_of_other_projects_do_not_exist) {
  struct world w = begin();
  cli_set("CAIRN_AGENT=alpha-agent");
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "get", num(w.foreign));
  CLOSED("not_found", w.foreign_uid, "get", w.foreign_uid);
  CLOSED("not_found", "memory beta-key", "get", "beta-key");
  CLOSED("not_found", "memory beta-key", "history", "beta-key");
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "forget", num(w.foreign), "--reason", "x");
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "supersede", num(w.foreign), "mine", "--reason", "x");
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "annotate", num(w.foreign), "hello");
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "rate", num(w.foreign), "up");
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "pin", num(w.foreign));
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "link", num(w.own), "relates", num(w.foreign));
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "unlink", num(w.global), "relates", num(w.foreign));
  CLOSED("not_found", textf("memory %lld", (long long)w.shadow), "unsupersede", num(w.shadow));
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "remember", "A note about the codes", "--link",
         num(w.foreign));
  CLOSED("not_found", textf("memory %lld", (long long)w.foreign), "task", "claim", num(w.foreign));
  /* Same message as for an id that never existed. */
  struct run closed = CAIRN("get", num(w.foreign)), none = CAIRN("get", "99999");
  CHECK_INT(closed.exit_code, none.exit_code);
  CHECK(str_starts(closed.err, STR("cairn: no memory '")));
  CHECK(str_starts(none.err, STR("cairn: no memory '")));
  CHECK_INT(refusals("99999"), 0);
  REFUSED("not_found", "skill", "load", "beta-skill");
  /* A global memory does not reveal that another project overrides it or links to it. */
  CHECK(!jget(OPEN("get", num(w.global)), "links"));
  cli_set("CAIRN_AGENT");
  CHECK_STR(jstr(OK("get", num(w.foreign)), "state"), "active");
  CHECK_INT(jlen(OK("get", num(w.global)), "links"), 2);
}

TEST(arguments_cannot_leave_the_project) {
  struct world w = begin();
  cli_set("CAIRN_AGENT=alpha-agent");
  CLOSED("denied", "project beta", "search", "launch codes", "--project", "beta");
  CLOSED("denied", "project beta", "list", "--project", "beta");
  CLOSED("denied", "project beta", "remember", "I was here", "--project", "beta");
  CLOSED("denied", "project beta", "boot", "--project", "beta");
  CLOSED("denied", "project all", "search", "launch codes", "--all-projects");
  CLOSED("denied", "project all", "list", "--all-projects");
  CLOSED("denied", "project all", "session", "list", "--all-projects");
  CLOSED("denied", "write in global", "remember", "Everybody must obey alpha", "--scope", "global");
  CLOSED("denied", "write in global", "remember", "Everybody must obey alpha", "--project", "");
  CLOSED("denied", "global", "forget", num(w.global), "--reason", "x");
  CLOSED("denied", "global", "supersede", num(w.global), "Nobody writes tests", "--reason", "x");
  CLOSED("denied", "global", "annotate", num(w.global), "x");
  CLOSED("denied", "global", "rate", num(w.global), "down");
  CLOSED("denied", "global", "pin", num(w.global));
  CLOSED("denied", "global", "link", num(w.global), "relates", num(w.own));
  CLOSED("denied", "global", "action", "add", "Obey", "--scope", "global");
  OPEN("list", "--scope", "global");
  CHECK_INT(jint(OPEN("list", "--scope", "project"), "total"), 2);
  /* The environment variable does not change the agent's project. */
  cli_set("CAIRN_PROJECT=beta");
  CHECK_INT(jint(OPEN("list"), "total"), 2);
  CHECK_STR(jstr(OPEN("get", num(STORE("The alpha door is red"))), "project"), "alpha");
  cli_set("CAIRN_PROJECT");
  /* Batch lines can name projects too. */
  struct run r = CAIRN_FED(STR("{\"text\":\"The batch went to the other project\",\"project\":\"beta\"}\n"), "remember",
                           "--batch", "-");
  CHECK_INT(r.exit_code, 13);
  cli_set("CAIRN_AGENT");
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE project = 'beta'"), 2);
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE project = ''"), 1);
}

TEST(searches_lists_and_cursors_stay_in_the_project) {
  begin();
  for (int i = 0; i < 6; i++) {
    STORE(textf("Beta note %d about " SECRET_WORD " and machines number %d", i, i * 37), "--project", "beta",
          "--keep-both");
    STORE(textf("Alpha remark %d on green machines, batch %d", i, i * 53), "--project", "alpha", "--keep-both");
  }
  /* A cursor of the administrator, who sees all projects, is only a position. */
  struct str cursor = jstr(OK("list", "--all-projects", "--limit", "1"), "next_cursor");
  cli_set("CAIRN_AGENT=alpha-agent");
  yyjson_val *page = OPEN("list", "--cursor", cstr(cursor), "--limit", "100");
  for (size_t i = 0; i < jlen(page, "memories"); i++)
    CHECK(!str_is(jstr(page, textf("memories[%zu].project", i)), "beta"));
  static const char *const modes[] = {"hybrid", "keyword", "vector"};
  for (size_t i = 0; i < ARRAY_LEN(modes); i++)
    OPEN("search", "machines", "--mode", modes[i], "--limit", "100", "--detail", "full");
  OPEN("search", "launch", "--include-superseded", "--explain");
  OPEN("list", "--state", "superseded");
  OPEN("list", "--as-of", cli_time(0), "--detail", "full");
  CHECK_INT(jlen(OK("search", SECRET_WORD, "--mode", "keyword"), "results"), 0);
}

TEST(other_operations_are_denied_to_a_project_agent) {
  struct world w = begin();
  cli_set("CAIRN_AGENT=alpha-agent");
  CLOSED("denied", "operation vault get", "vault", "get", "codes");
  CLOSED("denied", "operation vault list", "vault", "list");
  CLOSED("denied", "operation vault set", "vault", "set", "codes", "x");
  CLOSED("denied", "operation export", "export");
  CLOSED("denied", "operation backup", "backup", beside("copy.db"));
  CLOSED("denied", "operation restore", "restore", beside("copy.db"), "--confirm");
  CLOSED("denied", "operation migrate", "migrate", "--to", beside("moved.db"));
  CLOSED("denied", "operation import", "import", beside("none.jsonl"));
  CLOSED("denied", "operation events", "events");
  CLOSED("denied", "operation stats", "stats");
  CLOSED("denied", "operation health", "health");
  CLOSED("denied", "operation metrics", "metrics");
  CLOSED("denied", "operation errors", "errors");
  CLOSED("denied", "operation config", "config", "gate.mode", "strict");
  CLOSED("denied", "operation doctor", "doctor");
  CLOSED("denied", "operation maintain", "maintain");
  CLOSED("denied", "operation undo", "undo", "1");
  CLOSED("denied", "operation purge", "purge", num(w.own), "--confirm");
  CLOSED("denied", "operation prune", "prune");
  CLOSED("denied", "operation agent list", "agent", "list");
  CLOSED("denied", "operation agent add", "agent", "add", "me", "--role", "admin");
  CLOSED("denied", "operation agent remove", "agent", "remove", "boss");
  CLOSED("denied", "operation events", "top", "--once");
  struct run r = CAIRN("model", "show", "--json");
  CHECK_INT(r.exit_code, 13);
}

TEST(sessions_of_others_are_invisible) {
  begin();
  const char *handle = cstr(jstr(OK("boot", "--register", "--project", "beta"), "session"));
  OK("scratch", "set", "plan", SECRET_WORD, "--session", handle, "--project", "beta");
  OK("session", "handoff", SECRET_WORD " is ready", "--project", "beta", "--session", handle);
  int64_t item = jint(OK("action", "add", "Call " SECRET_WORD, "--project", "beta"), "id");
  cli_set("CAIRN_AGENT=alpha-agent");
  CLOSED("not_found", "session", "scratch", "get", "plan", "--session", handle);
  CLOSED("not_found", "session", "scratch", "list", "--session", handle);
  CLOSED("not_found", "session", "session", "end", "--session", handle);
  CLOSED("not_found", "session", "session", "task", "mine", "--session", handle);
  CLOSED("not_found", "action item", "action", "ack", num(item), "will_execute");
  CHECK_INT(jint(OPEN("session", "list"), "count"), 0);
  CHECK_INT(jint(OPEN("action", "list", "--all"), "count"), 0);
  CHECK(yyjson_is_null(jget(OPEN("session", "handoff"), "handoff")));
  OPEN("boot", "--register");
  cli_set("CAIRN_AGENT");
  CHECK_INT(jint(OK("session", "list", "--project", "beta"), "count"), 1);
}

TEST(idempotent_results_are_not_shared_between_agents) {
  begin();
  OK("remember", "The " SECRET_WORD " harbour closes at nine", "--project", "beta", "--idempotency-key", "k1");
  cli_set("CAIRN_AGENT=alpha-agent");
  yyjson_val *r = OPEN("remember", "The alpha cat sleeps on the printer", "--idempotency-key", "k1");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_INT(jint(OPEN("remember", "The alpha cat sleeps on the printer", "--idempotency-key", "k1"), "id"),
            jint(r, "id"));
}

TEST(a_skill_agent_has_no_access) {
  struct world w = begin();
  cli_set("CAIRN_AGENT=seo");
  CLOSED("denied", "operation search", "search", "tests");
  CLOSED("denied", "operation list", "list");
  CLOSED("denied", "operation get", "get", num(w.global));
  CLOSED("denied", "operation boot", "boot");
  CLOSED("denied", "operation remember", "remember", "I was here");
  CLOSED("denied", "operation agent message", "agent", "message", "seo", "boss", "--action", "tell");
  CLOSED("denied", "operation session list", "session", "list");
  CLOSED("denied", "operation file view", "file", "view");
  CLOSED("denied", "operation graph read", "graph", "read");
  CLOSED("denied", "operation vault get", "vault", "get", "codes");
  CLOSED("denied", "operation events", "events");
}

TEST(a_message_contains_only_text_its_sender_may_read) {
  struct world w = begin();
  yyjson_val *r = OK("agent", "message", "alpha-agent", "seo", "--action", "analyze", "--task",
                     "launch codes and green machines", "--snippet", "Be brief.");
  CHECK_STR(jstr(r, "message.from"), "alpha-agent");
  CHECK_STR(jstr(r, "message.to"), "seo");
  CHECK_STR(jstr(r, "message.type"), "request");
  CHECK_STR(jstr(r, "message.payload.action"), "analyze");
  struct str snippet = jstr(r, "message.payload.context.memory_snippet");
  CHECK(str_starts(snippet, STR("Be brief.")));
  CHECK(has(snippet, "nine green machines"));
  CHECK(!has(snippet, SECRET_WORD));
  struct str about = jstr(r, "message.payload.context.project_context");
  CHECK(has(about, "alpha"));
  CHECK(has(about, "Everybody writes tests before a release"));
  CHECK(!has(about, "beta"));
  CHECK(jpos(r, "memories", w.foreign) < 0);
  CHECK(jpos(r, "memories", w.own) >= 0);
  /* A rule whose headline says all stands in one of the two texts; a longer one also with its body. Ids are not
   * repeated.
   */
  int64_t longer = STORE("--project", "alpha", "--type", "rule", "--headline", "Sign every release tag",
                         "Sign every release tag with the key of the build machine, because customers check it.");
  r = OK("agent", "message", "alpha-agent", "seo", "--action", "analyze", "--task", "release tests and release tags");
  snippet = jstr(r, "message.payload.context.memory_snippet");
  about = jstr(r, "message.payload.context.project_context");
  CHECK(has(about, "Everybody writes tests before a release") && has(about, "Sign every release tag"));
  CHECK(!has(snippet, "Everybody writes tests") && has(snippet, "because customers check it"));
  for (size_t i = 0; i < jlen(r, "memories"); i++)
    CHECK_INT(jpos(r, "memories", jint(r, textf("memories[%zu]", i))), (int)i);
  CHECK(jpos(r, "memories", longer) >= 0 && jpos(r, "memories", w.global) >= 0);
  /* The administrator sees more, so its messages may contain more. */
  r = OK("agent", "message", "boss", "seo", "--action", "analyze", "--task", "launch codes", "--project", "beta");
  CHECK(has(jstr(r, "message.payload.context.memory_snippet"), SECRET_WORD));
  /* The budget is respected. */
  r = OK("agent", "message", "alpha-agent", "seo", "--action", "analyze", "--task", "machines", "--budget", "50");
  CHECK(jint(r, "tokens") <= 50);
  REFUSED("not_found", "agent", "message", "alpha-agent", "nobody", "--action", "x");
  REFUSED("usage", "agent", "message", "alpha-agent", "seo", "--action", " ");
  cli_set("CAIRN_AGENT=alpha-agent");
  OPEN("agent", "message", "alpha-agent", "seo", "--action", "analyze", "--task", "launch codes");
  CLOSED("denied", "a message from boss", "agent", "message", "boss", "seo", "--action", "analyze", "--task",
         "launch codes");
}

/* ---- MCP over standard input and output ---- */

#define META                                                                                                           \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                             \
  "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static struct str ask(struct proc *p, int id, const char *method, const char *params) {
  struct str line;
  CHECK(proc_send(p, str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s,%s}}\n", id,
                                    method, params, META))));
  CHECK(proc_line(p, WAIT_MS * test_slowness(), &line));
  return arena_dup(&memory, line);
}

static struct proc *mcp_start(const char *profile, const char *agent) {
  return proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--db", cli_db(), "--profile", profile, "--agent", agent),
                    .env = cli_env(), .timeout_ms = 60000);
}

static void end(struct proc *p) {
  proc_close(p);
  CHECK_INT(proc_wait(p).exit_code, 0);
}

static struct str tool(struct proc *p, int id, const char *name, const char *args) {
  return ask(p, id, "tools/call", textf("\"name\":\"%s\",\"arguments\":{%s}", name, args));
}

TEST(through_mcp_on_standard_input, .seconds = 60) {
  struct world w = begin();
  struct proc *p = mcp_start("full", "alpha-agent");
  struct str all[] = {
      tool(p, 1, "memory_search", "\"query\":\"launch codes\""),
      tool(p, 2, "memory_get", textf("\"id\":\"%lld\"", (long long)w.foreign)),
      tool(p, 3, "memory_get", textf("\"id\":\"%s\"", w.foreign_uid)),
      tool(p, 4, "memory_get", "\"id\":\"beta-key\""),
      tool(p, 5, "memory_list", "\"project\":\"beta\""),
      tool(p, 6, "memory_list", "\"all_projects\":true"),
      tool(p, 7, "memory_vault_get", "\"key\":\"codes\""),
      tool(p, 8, "memory_events", "\"since\":0"),
      tool(p, 9, "memory_stats", "\"scope\":\"global\""),
      ask(p, 10, "resources/read", textf("\"uri\":\"cairn://memory/%lld\"", (long long)w.foreign)),
      ask(p, 11, "resources/read", "\"uri\":\"cairn://boot/beta\""),
      ask(p, 12, "resources/read", "\"uri\":\"cairn://memory.md/beta\""),
      ask(p, 13, "resources/read", "\"uri\":\"cairn://skill/beta-skill\""),
      ask(p, 14, "resources/list", "\"x\":1"),
      ask(p, 15, "completion/complete",
          "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"cairn://boot/{project}\"},"
          "\"argument\":{\"name\":\"project\",\"value\":\"\"}"),
      ask(p, 16, "prompts/list", "\"x\":1"),
      tool(p, 17, "memory_boot", "\"task\":\"launch\""),
      tool(p, 18, "memory_graph_read", "\"query\":\"launch\""),
  };
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    if (has(all[i], SECRET_WORD))
      FAIL("answer %zu tells what is closed: %s", i + 1, cstr(all[i]));
  }
  CHECK(has(all[1], "no memory"));
  CHECK(has(all[4], "works only in project"));
  CHECK(has(all[6], "may not call"));
  CHECK(has(tool(p, 30, "memory_search", "\"query\":\"green machines\""), "nine green"));
  CHECK(has(tool(p, 31, "memory_remember", "\"text\":\"The alpha chimney is swept in May\""), "stored"));
  end(p);
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%chimney%'"), "alpha");
  CHECK(refusals("operation vault get") == 1);
  CHECK(refusals("memory beta-key") == 1);
  CHECK(refusals("project beta") >= 2);
  p = mcp_start("default", "seo");
  CHECK(has(tool(p, 1, "memory_search", "\"query\":\"tests\""), "may not call"));
  CHECK(!has(ask(p, 2, "resources/read", "\"uri\":\"cairn://boot/\""), "writes tests"));
  end(p);
  p = mcp_start("default", "stranger");
  CHECK(has(tool(p, 1, "memory_search", "\"query\":\"tests\""), "no agent"));
  end(p);
}

/* ---- HTTP: REST, events, MCP ---- */

static struct str over_mcp(const struct serve *s, const char *profile, const char *name, const char *args) {
  return serve_do(s, "POST", textf("/mcp/%s", profile),
                  textf("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n",
                        name),
                  str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                                 "\"arguments\":{%s},%s}}",
                                 name, args, META)))
      .body;
}

static void rest(const struct serve *s, int status, const char *method, const char *path, const char *body) {
  struct answer a = serve_do(s, method, path, body ? "Content-Type: application/json\r\n" : NULL, str_from(body));
  if (a.status != status)
    FAIL("%s %s: %d, not %d: %s", method, path, a.status, status, cstr(a.body));
  if (has(a.body, SECRET_WORD))
    FAIL("%s %s tells what is closed: %s", method, path, cstr(a.body));
}

TEST(through_rest_and_mcp_over_http, .seconds = 60) {
  struct world w = begin();
  struct serve *s = serve_start(ARGS("--agent", "alpha-agent"));
  rest(s, 404, "GET", textf("/api/v1/memories/%lld", (long long)w.foreign), NULL);
  rest(s, 404, "GET", textf("/api/v1/memories/%s", w.foreign_uid), NULL);
  rest(s, 404, "GET", "/api/v1/memories/beta-key", NULL);
  rest(s, 403, "GET", "/api/v1/memories?project=beta", NULL);
  rest(s, 403, "GET", "/api/v1/memories?all_projects=true", NULL);
  rest(s, 200, "GET", "/api/v1/memories", NULL);
  rest(s, 403, "GET", "/api/v1/search?query=launch&project=beta", NULL);
  rest(s, 200, "GET", "/api/v1/search?query=launch%20codes", NULL);
  rest(s, 403, "GET", "/api/v1/projects/beta/knowledge", NULL);
  rest(s, 200, "GET", "/api/v1/projects/alpha/knowledge", NULL);
  rest(s, 403, "GET", "/api/v1/memory/search?q=launch&project=beta", NULL);
  rest(s, 403, "GET", "/api/v1/events", NULL);
  rest(s, 403, "GET", "/api/v1/settings", NULL);
  rest(s, 403, "POST", "/api/v1/ops/vault-get", "{\"key\":\"codes\"}");
  rest(s, 404, "POST", "/api/v1/ops/agent-add", "{\"name\":\"me\",\"role\":\"admin\"}");
  rest(s, 403, "GET", "/events?since=0", NULL);
  rest(s, 403, "GET", "/metrics", NULL);
  rest(s, 403, "POST", "/api/v1/memories", "{\"text\":\"Obey alpha, everybody\",\"project\":\"\"}");
  rest(s, 201, "POST", "/api/v1/memories", "{\"text\":\"The alpha fence is eleven feet high\"}");
  CHECK(has(over_mcp(s, "full", "memory_search", "\"query\":\"green machines\""), "nine green"));
  CHECK(!has(over_mcp(s, "full", "memory_search", "\"query\":\"launch codes\""), SECRET_WORD));
  CHECK(has(over_mcp(s, "full", "memory_get", "\"id\":\"beta-key\""), "no memory"));
  CHECK(has(over_mcp(s, "full", "memory_vault_get", "\"key\":\"codes\""), "may not call"));
  CHECK(has(over_mcp(s, "openhive", "vault_get", "\"key\":\"codes\""), "may not call"));
  CHECK(!has(over_mcp(s, "graph", "read_graph", ""), SECRET_WORD));
  CHECK(!has(over_mcp(s, "openbrain", "search", "\"query\":\"launch codes\",\"project\":\"beta\",\"source\":\"t\""),
             SECRET_WORD));
  CHECK(!has(over_mcp(s, "mememory", "recall", "\"query\":\"launch codes\",\"project\":\"beta\",\"scope\":\"project\""),
             SECRET_WORD));
  serve_stop(s);
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%fence%'"), "alpha");
  CHECK(refusals("operation events") == 2);
  CHECK(refusals("memory beta-key") == 2);
}

/* ---- the library ---- */

static int lib(struct cairn *db, const char *op, const char *args, struct str *ret_text) {
  char *json = NULL;
  size_t n = 0;
  int s = cairn_call(db, op, args, 0, &json, &n);
  *ret_text = json ? arena_dup(&memory, (struct str){json, n}) : STR("");
  cairn_free(json);
  return s;
}

TEST(through_the_library) {
  struct world w = begin();
  struct cairn_options o = {.size = sizeof(o), .path = cli_db(), .project = "beta", .agent = "alpha-agent"};
  struct cairn *db;
  struct str text;
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  CHECK_INT(lib(db, "get", textf("{\"id\":\"%lld\"}", (long long)w.foreign), &text), CAIRN_NOT_FOUND);
  CHECK_INT(lib(db, "list", "{\"project\":\"beta\"}", &text), CAIRN_DENIED);
  CHECK_INT(lib(db, "list", "{\"all_projects\":true}", &text), CAIRN_DENIED);
  CHECK_INT(lib(db, "vault get", "{\"key\":\"codes\"}", &text), CAIRN_DENIED);
  CHECK_INT(lib(db, "search", "{\"query\":\"launch codes\"}", &text), CAIRN_OK);
  CHECK(!has(text, SECRET_WORD));
  CHECK_INT(lib(db, "remember", "{\"text\":\"The alpha pond is frozen\"}", &text), CAIRN_OK);
  cairn_close(&db);
  CHECK_STR(sql_string("SELECT project FROM memory WHERE headline LIKE '%pond%'"), "alpha");
  o.agent = "seo";
  CHECK_INT(cairn_open(&o, &db), CAIRN_OK);
  CHECK_INT(lib(db, "list", "{}", &text), CAIRN_DENIED);
  cairn_close(&db);
  o.agent = "two words";
  CHECK_INT(cairn_open(&o, &db), CAIRN_USAGE);
  cairn_close(&db);
}
