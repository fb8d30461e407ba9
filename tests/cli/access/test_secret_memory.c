/* test_secret_memory.c: secrets in a server's memory: during a call they are only in locked memory that is excluded
 * from core dumps, and after it nowhere else. */
#include <signal.h>
#include <time.h>

#include "base/os/clock.h"
#include "support/scan.h"
#include "support/serve.h"
#include "support/store.h"

#define HUSH "hush-81cd-Quiet/20b7+still"
#define JSON_HEADERS "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
#define MODERN_HEADERS JSON_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: "
#define META                                                                                                           \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                             \
  "\"io.modelcontextprotocol/clientCapabilities\":{},"                                                                 \
  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}"
#define SET_ARGUMENTS "{\"key\":\"more\",\"value\":\"" HUSH "\",\"is_secret\":true}"
#define CALL_SET                                                                                                       \
  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"vault_set\",\"arguments\":"          \
  "" SET_ARGUMENTS "," META "}}"
#define CALL_GET                                                                                                       \
  "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"vault_get\",\"arguments\":{"         \
  "\"key\":\"more\"}," META "}}"
#define SET_BODY "{\"key\":\"more\",\"value\":\"" HUSH "\",\"secret\":true}"

static struct scan look(pid_t pid) {
  char masked[sizeof(HUSH)];
  for (size_t i = 0; i < sizeof(HUSH); i++)
    masked[i] = (char)(HUSH[i] ^ SCAN_MASK);
  struct scan found = scan_memory(pid, (struct str){masked, sizeof(HUSH) - 1});
  if (!found.readable)
    test_unable("root, to look into a process that holds keys");
  return found;
}

static void pause_a_little(void) { nanosleep(&(struct timespec){0, 20000000}, NULL); }

static int64_t deadline(void) { return clock_ticks_us() + INT64_C(15000000) * test_slowness(); }

/* A reply may arrive before the memory of its call is freed. */
static void nowhere_in_the_open(pid_t pid) {
  struct scan found = look(pid);
  for (int64_t until = deadline(); found.risky && clock_ticks_us() < until; found = look(pid))
    pause_a_little();
  CHECK_INT(found.risky, 0);
}

/* The call has delivered the value and waits for the store. */
static void held_safely(pid_t pid) {
  struct scan found = look(pid);
  for (int64_t until = deadline(); (found.risky || !found.safe) && clock_ticks_us() < until; found = look(pid))
    pause_a_little();
  CHECK(found.safe > 0);
  CHECK_INT(found.risky, 0);
}

/* Makes the key on the command line. A server cannot: its sandbox denies access to the folder of the key. */
static void make_key(void) { OK_FED(STR("it made the key"), "vault", "set", "first", "-", "--secret"); }

static void grant(void) { OK("vault", "grant", "more", "--to", "*"); }

/* ---- HTTP ---- */

struct interface {
  const char *path, *headers;
  struct str body;
};

static const struct interface set_interfaces[] = {
    {"/api/v1/ops/vault-set", JSON_HEADERS, STR_INIT(SET_BODY)},
    {"/mcp/openhive", MODERN_HEADERS "vault_set\r\n", STR_INIT(CALL_SET)},
};
static const struct interface get_interfaces[] = {
    {"/api/v1/ops/vault-get", JSON_HEADERS, STR_INIT("{\"key\":\"more\",\"reveal\":true}")},
    {"/mcp/openhive", MODERN_HEADERS "vault_get\r\n", STR_INIT(CALL_GET)},
};

static void ask(struct wire *w, const struct interface *d) {
  wire_send(w, request_text("POST", d->path, d->headers, d->body));
}

static struct str answered(struct wire *w) {
  struct answer a = wire_answer(w, false);
  test_note("%.*s", STR_ARG(a.body));
  CHECK(a.status == 200 || a.status == 201);
  return a.body;
}

/* The connections stay open with their buffers. */
TEST(secrets_over_http_leave_no_copy_in_unlocked_memory, .seconds = 120, .slow = true) {
  make_key();
  struct serve *s = serve_start(NULL);
  struct wire *w[4];
  for (size_t i = 0; i < 2; i++) {
    w[i] = wire_open(s);
    ask(w[i], &set_interfaces[i]);
    CHECK(has(answered(w[i]), "vault:more"));
    nowhere_in_the_open(serve_pid(s));
    if (i == 0)
      OK("vault", "delete", "more");
  }
  grant();
  for (size_t i = 0; i < 2; i++) {
    w[2 + i] = wire_open(s);
    ask(w[2 + i], &get_interfaces[i]);
    CHECK(has(answered(w[2 + i]), HUSH));
    nowhere_in_the_open(serve_pid(s));
  }
  for (size_t i = 0; i < ARRAY_LEN(w); i++)
    wire_close(w[i]);
  nowhere_in_the_open(serve_pid(s));
  serve_stop(s);
}

/* Large bodies use other memory than small ones, and arrive in several pieces. */
TEST(a_large_body_is_gathered_in_locked_memory, .seconds = 120, .slow = true) {
  enum { FILLER = 300000 };
  static char filler[FILLER + 1];
  memset(filler, 'x', FILLER);
  make_key();
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  struct str body = str_from(textf("{\"key\":\"more\",\"value\":\"" HUSH "%s\",\"secret\":true}", filler));
  struct str all = request_text("POST", "/api/v1/ops/vault-set", JSON_HEADERS, body);
  wire_send(w, str_slice(all, 0, all.n - 1)); /* waits for the last byte */
  held_safely(serve_pid(s));
  wire_send(w, str_slice(all, all.n - 1, all.n));
  CHECK(has(answered(w), "vault:more"));
  nowhere_in_the_open(serve_pid(s));
  wire_close(w);
  serve_stop(s);
}

TEST(the_secret_of_a_waiting_http_call_is_locked, .seconds = 120, .slow = true) {
  make_key();
  struct serve *s = serve_start(NULL);
  CHECK_INT(serve_get(s, "/healthz").status, 200);
  for (size_t i = 0; i < ARRAY_LEN(set_interfaces); i++) {
    struct direct *lock = direct_open(cli_db());
    direct_lock(lock);
    struct wire *w = wire_open(s);
    ask(w, &set_interfaces[i]);
    held_safely(serve_pid(s));
    direct_close(lock);
    CHECK(has(answered(w), "vault:more"));
    wire_close(w);
    nowhere_in_the_open(serve_pid(s));
    OK("vault", "delete", "more");
  }
  serve_stop(s);
}

#define LISTEN                                                                                                         \
  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{"                  \
  "\"resourcesListChanged\":true},\"unknown\":\"" HUSH "\"," META "}}"

/* Streams stay open for long, and there may be many. They must not use up the lockable memory. */
TEST(an_open_stream_frees_its_request, .seconds = 120) {
  struct serve *s = serve_start(NULL);
  struct wire *w = wire_open(s);
  struct sse e;
  wire_send(w, request_text("POST", "/mcp",
                            JSON_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
                            STR(LISTEN)));
  CHECK_INT(wire_answer(w, false).status, 200);
  CHECK(sse_next(w, 20000 * test_slowness(), &e));
  struct scan found = look(serve_pid(s));
  for (int64_t until = deadline(); (found.risky || found.safe) && clock_ticks_us() < until; found = look(serve_pid(s)))
    pause_a_little();
  CHECK_INT(found.risky, 0);
  CHECK_INT(found.safe, 0);
  CHECK(!w->ended);
  wire_close(w);
  serve_stop(s);
}

/* ---- standard input ---- */

static struct proc *talk(void) {
  return proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--profile", "openhive"), .env = cli_env(), .timeout_ms = 90000);
}

static struct str next(struct proc *p) {
  struct str line;
  CHECK(proc_line(p, 20000, &line));
  test_note("%.*s", STR_ARG(line));
  return line;
}

TEST(secrets_over_mcp_are_locked_and_then_wiped, .seconds = 120, .slow = true) {
  make_key();
  struct proc *p = talk();
  struct direct *lock = direct_open(cli_db());
  direct_lock(lock);
  CHECK(proc_send(p, STR(CALL_SET "\n")));
  held_safely(proc_pid(p));
  direct_close(lock);
  CHECK(has(next(p), "vault:more"));
  nowhere_in_the_open(proc_pid(p));
  grant();
  CHECK(proc_send(p, STR(CALL_GET "\n")));
  CHECK(has(next(p), HUSH));
  nowhere_in_the_open(proc_pid(p));
  proc_kill(p, SIGKILL);
  proc_wait(p);
}

/* ---- low memory lock limit ---- */

TEST(unlockable_memory_is_a_warning_printed_once, .seconds = 60) {
  struct proc *p = proc_start(.argv = ARGS("sh", "-c", "ulimit -l 64; exec \"$0\" mcp --profile openhive", CAIRN_BIN),
                              .env = cli_env(), .timeout_ms = 50000);
  for (int i = 0; i < 2; i++) {
    CHECK(proc_send(p, STR(CALL_GET "\n")));
    CHECK(has(next(p), "\"id\":3"));
  }
  proc_kill(p, SIGTERM);
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 0);
  if (test_slowness() > 1)
    return; /* sanitizers turn mlock() off */
  size_t first = str_find(r.err, STR("can be locked"), 0);
  CHECK(first != SIZE_MAX);
  CHECK(str_find(r.err, STR("can be locked"), first + 1) == SIZE_MAX);
}
