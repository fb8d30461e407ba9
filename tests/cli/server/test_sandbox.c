/* test_sandbox.c: servers running an attacker's code. Its actions fail in the sandbox and succeed without it. */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/serve.h"

#define MARK "INJECTED-CODE-RUNS-NOW"
#define TALK(params)                                                                                                   \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","            \
  "\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"                                          \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"                                                   \
  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{" params "}}\n"

/* ---- the attacker ---- */

static const char *const tries[] = {
    "read a file: ",       "write a file: ", "make a file: ", "go out: ",   "start a program: ",
    "signal the parent: ", "map code: ",     "make code: ",   "load code: "};

/* A file outside the store's folder. The store is in the test's folder. */
static const char *foreign_file(void) {
  const char *folder = textf("%s-outside", test_dir());
  CHECK(mkdir(folder, 0700) == 0);
  file_write(path_join(folder, "secret"), STR("of somebody else"));
  return path_join(folder, "secret");
}

static void remove_foreign(const char *file) {
  unlink(file);
  unlink(textf("%s.new", file));
  const char *folder = textf("%s-outside", test_dir());
  CHECK(rmdir(folder) == 0);
}

static int open_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof(address);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, 4) == 0);
  CHECK(getsockname(fd, (struct sockaddr *)&address, &n) == 0);
  return ntohs(address.sin_port);
}

static const char *inject(const char *file) {
  const char *report = path_join(NULL, "report");
  cli_set(textf("LD_PRELOAD=%s/libinject.so", CAIRN_BINARY_DIR));
  cli_set("ASAN_OPTIONS=verify_asan_link_order=0");
  cli_set(textf("INJECT_FILE=%s", file));
  cli_set(textf("INJECT_PORT=%d", open_port()));
  cli_set(textf("INJECT_OUT=%s", report));
  return report;
}

static void check_report(const char *path, bool fenced) {
  while (access(path, F_OK) != 0)
    usleep(1000); /* bounded only by the test's time limit */
  struct str text = file_read(path);
  for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
    size_t at = str_find(text, str_from(tries[i]), 0);
    CHECK(at != SIZE_MAX);
    int failed = (int)strtol(text.p + at + strlen(tries[i]), NULL, 10);
    if (fenced ? failed != EACCES && failed != EPERM : failed != 0)
      FAIL("%s%d (%s)", tries[i], failed, fenced ? "fenced in" : "free");
  }
}

/* Only for stores in a file. A store on a database server needs the network, which is then open to such code too. */
static void attack_mcp(const char *mode) {
  const char *file = foreign_file(), *report = inject(file);
  struct run r = CAIRN_FED(STR(TALK("\"name\":\"memory_remember\",\"arguments\":{\"text\":\"" MARK "\"}")), "mcp",
                           "--profile", "full", "--sandbox", mode);
  CHECK_INT(r.exit_code, 0);
  CHECK(has(r.out, "\"isError\":false"));
  check_report(report, strcmp(mode, "on") == 0);
  remove_foreign(file);
}

TEST(the_sandbox_stops_code_inside_mcp, .only = TEST_ON_SQLITE) { attack_mcp("on"); }
TEST(without_the_sandbox_code_inside_mcp_succeeds, .only = TEST_ON_SQLITE) { attack_mcp("off"); }

static void attack_serve(const char *mode, const char *const *args) {
  const char *file = foreign_file(), *report = inject(file);
  struct serve *s = serve_start(args);
  struct answer answer =
      serve_do(s, "POST", "/api/v1/memories", "Content-Type: application/json\r\n", STR("{\"text\":\"" MARK "\"}"));
  CHECK_INT(answer.status, 201);
  check_report(report, strcmp(mode, "on") == 0);
  serve_stop(s);
  remove_foreign(file);
}

TEST(the_sandbox_stops_code_inside_serve, .only = TEST_ON_SQLITE) { attack_serve("on", ARGS("--sandbox", "on")); }
TEST(the_sandbox_stops_code_inside_serve_on_a_socket, .only = TEST_ON_SQLITE) {
  const char *socket = path_join(NULL, "s");
  attack_serve("on", ARGS("--socket", socket));
  CHECK(access(socket, F_OK) != 0); /* the socket file is still removed */
}
TEST(without_the_sandbox_code_inside_serve_succeeds, .only = TEST_ON_SQLITE) {
  attack_serve("off", ARGS("--sandbox", "off"));
}

/* ---- the switch ---- */

static struct str sandbox_of_health(const char *const *args) {
  LIST(const char *) all = {0};
  static struct arena memory;
  for (; *args; args++)
    list_push(&memory, &all, *args);
  list_push(&memory, &all, NULL);
  struct run r = cli_run(STR(TALK("\"name\":\"memory_health\",\"arguments\":{}")), all.v);
  CHECK_INT(r.exit_code, 0);
  struct json_lines lines = lines_of(r.out);
  struct error err;
  yyjson_val *server = NULL;
  CHECK_OK(json_read(&memory, answer_line(lines.v[lines.n - 1], "server"), &server, &err), &err);
  return jstr(server, "sandbox");
}
#define MCP_WITH(...) sandbox_of_health(ARGS("mcp", "--profile", "full", __VA_ARGS__))

TEST(the_switch_is_an_option_a_variable_and_a_setting) {
  CHECK(str_starts(MCP_WITH("--quiet"), STR("on (Landlock ")));
  CHECK_STR(MCP_WITH("--sandbox", "off"), "off");
  CHECK_STR(MCP_WITH("--set", "sandbox=off"), "off");
  cli_set("CAIRN_SANDBOX=off");
  CHECK_STR(MCP_WITH("--quiet"), "off");
  CHECK(str_starts(MCP_WITH("--sandbox", "on"), STR("on (")));
  cli_set("CAIRN_SANDBOX=maybe");
  CHECK_INT(CAIRN_FED(STR(""), "mcp").exit_code, 2);
  cli_set("CAIRN_SANDBOX");
  CHECK_INT(CAIRN("mcp", "--sandbox", "maybe").exit_code, 2);
  file_write(path_join(NULL, "c.toml"), STR("[sandbox]\nmode = \"off\"\npaths = \"/srv:/mnt\"\n"));
  CHECK_STR(MCP_WITH("--config", path_join(NULL, "c.toml")), "off");
}

TEST(the_store_cannot_turn_off_the_sandbox) {
  OK("stats");
  REFUSED("refused", "config", "sandbox", "off");
  REFUSED("refused", "config", "sandbox.paths", "/");
  sql_do("INSERT INTO setting (team, name, value) VALUES ('default', 'sandbox', 'off')");
  CHECK(str_starts(MCP_WITH("--quiet"), STR("on (")));
  CHECK_STR(jstr(OK("config", "sandbox"), "origin"), "default");
}

/* These paths and URLs decide what the sandbox of a restarted server opens, and where texts are sent. */
TEST(an_agent_cannot_change_paths_and_urls) {
  static const char *const names[] = {"files.root",   "files.memory_path", "files.sessions_path", "embedder",
                                      "embedder.url", "embedder.file",     "embedder.key_env"};
  static const char *const values[] = {"/tmp/x", "/tmp/x.md", "/tmp/x", "ollama", "http://evil.example",
                                       "/tmp/x", "HOME"};
  OK("remember", "The build machine has 64 cores");
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    test_note("%s", names[i]);
    const char *talk =
        textf(TALK("\"name\":\"memory_config\",\"arguments\":{\"name\":\"%s\",\"value\":\"%s\"}"), names[i], values[i]);
    struct run r = CAIRN_FED(str_from(talk), "mcp", "--profile", "full", "--project", "p");
    CHECK_INT(r.exit_code, 0);
    CHECK(has(r.out, "agents may not change"));
    CHECK_INT(sql_number("SELECT count(*) FROM setting"), 0);
  }
  OK("config", "embedder.url", "http://localhost:9/v1"); /* a person may */
}

/* ---- places ---- */

static const char *folder_beside(const char *name) {
  const char *folder = textf("%s-%s", test_dir(), name);
  CHECK(mkdir(folder, 0700) == 0);
  return folder;
}

static void remove_page(const char *folder) {
  unlink(path_join(folder, "MEMORY.md"));
  CHECK(rmdir(folder) == 0);
}

/* A running server after the handshake. */
static struct proc *mcp_start(const char *option, const char *value) {
  struct str line;
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--profile", "full", option, value), .env = cli_env(),
                              .timeout_ms = 8000);
  CHECK(proc_send(p, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")));
  CHECK(proc_line(p, 8000 * test_slowness(), &line));
  return p;
}

static struct str sync_by(struct proc *p, const char *project) {
  struct str line;
  CHECK(proc_send(p, str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                                    "\"memory_sync\",\"arguments\":{\"project\":\"%s\"}}}\n",
                                    project))));
  CHECK(proc_line(p, 8000 * test_slowness(), &line));
  return line;
}

static void end(struct proc *p) { CHECK_INT(proc_wait(p).exit_code, 0); }

/* Folders known at startup can be used. Those set later need a restart, and the message says so. */
TEST(pages_outside_the_store_are_reachable_if_set_at_startup) {
  const char *known = folder_beside("known"), *later = folder_beside("later");
  OK("remember", "The build machine has 64 cores", "--project", "p");
  OK("sync", "--path", path_join(known, "MEMORY.md"), "--project", "p");
  struct proc *p = mcp_start("--sandbox", "on");
  OK("remember", "The office has a garden", "--project", "p");
  OK("remember", "The office has a garden", "--project", "q");
  OK("sync", "--path", path_join(later, "MEMORY.md"), "--project", "q");
  CHECK(has(sync_by(p, "p"), "\"isError\":false"));
  CHECK(has(file_read(path_join(known, "MEMORY.md")), "garden"));
  struct str before = file_read(path_join(later, "MEMORY.md")), answer = sync_by(p, "q");
  CHECK(has(answer, "\"isError\":true") && has(answer, "Permission denied") && has(answer, "sandbox.paths"));
  CHECK(str_eq(file_read(path_join(later, "MEMORY.md")), before));
  end(p);
  p = mcp_start("--sandbox", "on");
  CHECK(has(sync_by(p, "q"), "\"isError\":false"));
  end(p);
  remove_page(known);
  remove_page(later);
}

TEST(a_setting_allows_more_folders) {
  const char *folder = folder_beside("named");
  OK("remember", "The build machine has 64 cores", "--project", "p");
  struct proc *p = mcp_start("--set", textf("sandbox.paths=/nothing/here:%s", folder));
  OK("sync", "--path", path_join(folder, "MEMORY.md"), "--project", "p");
  CHECK(has(sync_by(p, "p"), "\"isError\":false"));
  end(p);
  remove_page(folder);
  CHECK_INT(CAIRN("mcp", "--set", "sandbox.paths=relative").exit_code, 2);
}
