/* cli.c: runs the program on a private store of the running test. */
#include "support/cli.h"

#include <pthread.h>

#include "base/os/clock.h"
#include "store/db/place.h"
#include "support/schema_check.h"
#include "support/store.h"

/* Both live as long as the test's process; `memory` is used only by the test's main thread. */
static struct arena memory;
static LIST(const char *) surroundings;

/* Any thread may create texts, including HTTP handlers. */
static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct arena texts;

/* ---- environment ---- */

const char *textf(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  pthread_mutex_lock(&texts_lock);
  struct str s = arena_vprintf(&texts, fmt, ap);
  pthread_mutex_unlock(&texts_lock);
  va_end(ap);
  return s.p;
}

const char *cstr(struct str s) {
  pthread_mutex_lock(&texts_lock);
  const char *text = arena_cstr(&texts, s);
  pthread_mutex_unlock(&texts_lock);
  return text;
}

const char *words(const char *stem, int n) {
  struct buf b = BUF(&memory);
  for (int i = 1; i <= n; i++)
    buf_addf(&b, "%s%s%d", i > 1 ? " " : "", stem, i);
  return buf_str(&b).p;
}

const char *cli_db(void) { return test_store("test.db"); }

const char *cli_side(const char *tail) {
  char path[PLACE_MAX];
  place_side(cli_db(), tail, path);
  return textf("%s", path);
}

static int64_t ms_of_day(double days) {
  int64_t start = 0;
  CHECK(time_parse(STR("2026-03-01T12:00:00Z"), &start));
  return start + (int64_t)(days * (double)MS_PER_DAY);
}

const char *cli_time(double days) {
  char text[TIME_TEXT_SIZE];
  return arena_cstr(&memory, time_format(ms_of_day(days), text));
}

static void set_defaults(void) {
  static const char *const unset[] = {"XDG_DATA_HOME",   "CAIRN_PROJECT",          "CAIRN_TEAM",
                                      "CAIRN_SOURCE",    "CAIRN_SESSION",          "CAIRN_BUSY_MS",
                                      "NO_COLOR",        "CAIRN_GATE_MODE",        "CAIRN_SECRETS_MODE",
                                      "CAIRN_VAULT_KEY", "CAIRN_VAULT_PASSPHRASE", "CAIRN_VAULT_KEY_FILE"};
  if (surroundings.n)
    return;
  list_push(&memory, &surroundings, textf("HOME=%s", test_dir()));
  list_push(&memory, &surroundings, textf("CAIRN_DB=%s", cli_db()));
  list_push(&memory, &surroundings, "CAIRN_NO_MAINTAIN=1");
  list_push(&memory, &surroundings, "CAIRN_CHECK_STATEMENTS=1"); /* see tests/program/statement_check.h */
  list_push(&memory, &surroundings, "CAIRN_EMBEDDER=hash-v1");   /* fast, and the same in a build without a model */
  list_push(&memory, &surroundings, textf("CAIRN_NOW=%s", cli_time(0)));
  for (size_t i = 0; i < ARRAY_LEN(unset); i++)
    list_push(&memory, &surroundings, unset[i]);
}

/* Later entries win, so appending is enough. */
void cli_set(const char *assignment) {
  set_defaults();
  list_push(&memory, &surroundings, assignment);
}

void cli_day(double days) { cli_set(textf("CAIRN_NOW=%s", cli_time(days))); }

const char *const *cli_env(void) {
  LIST(const char *) env = {0};
  set_defaults();
  for (size_t i = 0; i < surroundings.n; i++)
    list_push(&memory, &env, surroundings.v[i]);
  list_push(&memory, &env, NULL);
  return env.v;
}

/* ---- calls ---- */

static struct run run_with(const char *last, struct str input, const char *const *args) {
  LIST(const char *) argv = {0};
  list_push(&memory, &argv, CAIRN_BIN);
  if (last)
    list_push(&memory, &argv, last);
  for (; *args; args++)
    list_push(&memory, &argv, *args);
  list_push(&memory, &argv, NULL);
  return proc_run(.argv = argv.v, .env = cli_env(), .input = input);
}

struct run cli_run(struct str input, const char *const *args) { return run_with(NULL, input, args); }

static struct run run_json(struct str input, const char *const *args) { return run_with("--json", input, args); }

static const char *shown(const char *const *args) {
  struct buf b = BUF(&memory);
  for (; *args; args++) {
    struct str arg = str_from(*args);
    buf_addf(&b, " %.*s%s", (int)(arg.n < 200 ? arg.n : 200), arg.p, arg.n < 200 ? "" : "...");
  }
  return buf_str(&b).p;
}

static size_t count_lines(struct str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    n += text.p[i] == '\n';
  return n;
}

static yyjson_val *parse(const char *file, int line, struct str text) {
  yyjson_val *root = NULL;
  struct error err;
  if (json_read(&memory, text, &root, &err) != STATUS_OK)
    test_fail(file, line, "not JSON (%s): %.*s", err.message, STR_ARG(text));
  return root;
}

/* Exactly one object on one line, and nothing on standard error. */
static yyjson_val *object_of(const char *file, int line, struct run r, const char *const *args) {
  if (r.err.n)
    test_fail(file, line, "cairn%s: standard error: %.*s", shown(args), STR_ARG(r.err));
  if (count_lines(r.out) != 1)
    test_fail(file, line, "cairn%s: %zu lines: %.*s", shown(args), count_lines(r.out), STR_ARG(r.out));
  yyjson_val *v = parse(file, line, r.out);
  if (!yyjson_is_obj(v))
    test_fail(file, line, "cairn%s: not an object: %.*s", shown(args), STR_ARG(r.out));
  return v;
}

yyjson_val *cli_ok(const char *file, int line, struct str input, const char *const *args) {
  struct run r = run_json(input, args);
  if (r.exit_code != 0)
    test_fail(file, line, "cairn%s: exit code %d, signal %d: %.*s%.*s", shown(args), r.exit_code, r.signal,
              STR_ARG(r.out), STR_ARG(r.err));
  yyjson_val *result = object_of(file, line, r, args);
  check_printed(file, line, args, result);
  return result;
}

static int exit_code_of(const char *file, int line, const char *code) {
  for (int s = STATUS_OK + 1; s < STATUS_COUNT; s++)
    if (strcmp(status_name((enum status)s), code) == 0)
      return status_exit_code((enum status)s);
  test_fail(file, line, "there is no status '%s'", code);
}

static void check_one_line(const char *file, int line, yyjson_val *error, const char *member) {
  struct str s = json_str(error, member);
  if (s.n == 0 || memchr(s.p, '\n', s.n))
    test_fail(file, line, "%s is not one line: \"%.*s\" (message: %.*s)", member, STR_ARG(s),
              STR_ARG(json_str(error, "message")));
}

yyjson_val *cli_refused(const char *file, int line, const char *code, struct str input, const char *const *args) {
  struct str before = snapshot();
  struct run r = run_json(input, args);
  if (r.exit_code <= 0)
    test_fail(file, line, "cairn%s: exit code %d, signal %d: %.*s", shown(args), r.exit_code, r.signal, STR_ARG(r.out));
  yyjson_val *error = yyjson_obj_get(object_of(file, line, r, args), "error");
  if (!str_is(json_str(error, "code"), code))
    test_fail(file, line, "cairn%s: expected '%s': %.*s", shown(args), code, STR_ARG(r.out));
  test_check_int(file, line, "the exit code", r.exit_code, exit_code_of(file, line, code));
  check_one_line(file, line, error, "message");
  check_one_line(file, line, error, "fix");
  check_same(file, line, before, snapshot());
  return error;
}

yyjson_val *cli_refused_at(const char *file, int line, const char *step, const char *code, struct str input,
                           const char *const *args) {
  yyjson_val *error = cli_refused(file, line, code, input, args);
  test_check_str(file, line, "the step", json_str(error, "step"), step);
  return error;
}

struct json_lines lines_of(struct str text) {
  struct json_lines list = {0};
  struct str rest = text, line;
  while (str_line(&rest, &line))
    list_push(&memory, &list, parse(__FILE__, __LINE__, line));
  return list;
}

struct json_lines events_since(int64_t seq) {
  struct run r = CAIRN("events", "--json", "--limit", "0", "--since", num(seq));
  CHECK_INT(r.exit_code, 0);
  return lines_of(r.out);
}

int64_t last_seq(void) { return jint(OK("stats"), "last_seq"); }

int64_t cli_store(const char *file, int line, const char *const *args) {
  yyjson_val *r = cli_ok(file, line, STR_NONE, args);
  if (!str_is(json_str(r, "action"), "stored"))
    test_fail(file, line, "cairn%s: not stored but %.*s", shown(args), STR_ARG(json_str(r, "action")));
  return jint(r, "id");
}

int64_t cli_store_as_agent(const char *file, int line, const char *const *args) {
  (void)CAIRN("agent", "add", "bot", "--role", "admin"); /* fails if an earlier call has added it */
  cli_set("CAIRN_AGENT=bot");
  int64_t id = cli_store(file, line, args);
  cli_set("CAIRN_AGENT");
  return id;
}

const char *num(int64_t id) { return textf("%lld", (long long)id); }

struct str memory_state(int64_t id) {
  return sql_string(textf("SELECT state FROM memory WHERE id = %lld", (long long)id));
}

/* ---- results ---- */

yyjson_val *jget(yyjson_val *v, const char *path) {
  const char *p = path;
  while (*p && v) {
    if (*p == '[') {
      char *end;
      v = yyjson_arr_get(v, (size_t)strtoul(p + 1, &end, 10));
      p = *end == ']' ? end + 1 : end;
    } else {
      p += *p == '.';
      size_t n = strcspn(p, ".[");
      v = yyjson_obj_getn(v, p, n);
      p += n;
    }
  }
  return v;
}

static yyjson_val *must(yyjson_val *v, const char *path, bool ok) {
  if (!ok)
    FAIL("no such '%s' in %.*s", path, STR_ARG(json_write_val(&memory, v)));
  return jget(v, path);
}

int64_t jint(yyjson_val *v, const char *path) { return yyjson_get_sint(must(v, path, yyjson_is_int(jget(v, path)))); }

double jnum(yyjson_val *v, const char *path) { return yyjson_get_num(must(v, path, yyjson_is_num(jget(v, path)))); }

struct str jstr(yyjson_val *v, const char *path) { return json_val_str(must(v, path, yyjson_is_str(jget(v, path)))); }

struct str answer_text(yyjson_val *answer) { return jstr(answer, "result.content[0].text"); }

struct str answer_session(yyjson_val *answer) {
  struct str text = answer_text(answer);
  size_t from = str_find(text, STR("Session s-"), 0), end = from == SIZE_MAX ? from : str_find(text, STR(":"), from);
  if (end == SIZE_MAX)
    FAIL("no session in %.*s", STR_ARG(text));
  return str_slice(text, from + strlen("Session "), end);
}

struct str answer_line(yyjson_val *answer, const char *name) {
  struct str text = answer_text(answer), rest = text, line;
  size_t n = strlen(name);
  while (str_line(&rest, &line))
    if (str_starts(line, str_from(name)) && str_starts(str_slice(line, n, line.n), STR(": ")))
      return str_slice(line, n + 2, line.n);
  FAIL("no line '%s: ' in %.*s", name, STR_ARG(text));
}

bool jbool(yyjson_val *v, const char *path) { return yyjson_get_bool(must(v, path, yyjson_is_bool(jget(v, path)))); }

size_t jlen(yyjson_val *v, const char *path) { return yyjson_arr_size(must(v, path, yyjson_is_arr(jget(v, path)))); }

int jpos(yyjson_val *v, const char *path, int64_t id) {
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(must(v, path, yyjson_is_arr(jget(v, path))), i, n, e) {
    if ((yyjson_is_int(e) ? yyjson_get_sint(e) : json_int(e, "id", -1)) == id)
      return (int)i;
  }
  return -1;
}

bool jhas_str(yyjson_val *v, const char *path, const char *text) {
  size_t i, n;
  yyjson_val *e;
  yyjson_arr_foreach(jget(v, path), i, n, e) {
    if (str_is(json_val_str(e), text))
      return true;
  }
  return false;
}

yyjson_val *warning(yyjson_val *result, const char *code) {
  size_t i, n;
  yyjson_val *w;
  yyjson_arr_foreach(must(result, "warnings", yyjson_is_arr(jget(result, "warnings"))), i, n, w) {
    if (str_is(json_str(w, "code"), code))
      return w;
  }
  return NULL;
}

bool has(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }

/* ---- direct access to the store ---- */

struct str snapshot(void) { return store_dump(cli_db()); }

void check_same(const char *file, int line, struct str before, struct str after) {
  if (str_eq(before, after))
    return;
  struct str x, y;
  while (str_line(&before, &x) && str_line(&after, &y))
    if (!str_eq(x, y))
      test_fail(file, line, "the store has changed:\n  was %.*s\n  is  %.*s", (int)(x.n < 600 ? x.n : 600), x.p,
                (int)(y.n < 600 ? y.n : 600), y.p);
  test_fail(file, line, "the store has more or fewer rows: '%.*s' '%.*s'", STR_ARG(before), STR_ARG(after));
}

bool sql_try(const char *sql) {
  struct direct *d = direct_open(cli_db());
  bool done = direct_try(d, sql);
  direct_close(d);
  return done;
}

void sql_do(const char *sql) {
  struct direct *d = direct_open(cli_db());
  direct_do(d, sql);
  direct_close(d);
}

struct str sql_string(const char *sql) {
  struct direct *d = direct_open(cli_db());
  struct str s = direct_string(d, sql);
  direct_close(d);
  return s;
}

int64_t sql_number(const char *sql) {
  int64_t n;
  CHECK(str_int64(sql_string(sql), &n));
  return n;
}

bool store_holds_bytes(struct str bytes) { return store_has(cli_db(), bytes); }

bool store_holds(const char *text) { return store_holds_bytes(str_from(text)); }

void cli_healthy(const char *file, int line) {
  yyjson_val *r = cli_ok(file, line, STR_NONE, ARGS("doctor"));
  if (!json_bool(r, "ok", false))
    test_fail(file, line, "the store is not healthy: %.*s", STR_ARG(json_write_val(&memory, r)));
}

bool cli_use_built_in(void) {
  struct run r = CAIRN("model", "show", "--json");
  if (r.exit_code != 0)
    return false;
  cli_set(textf("CAIRN_EMBEDDER=%s", cstr(jstr(OK("model", "show"), "name"))));
  return true;
}

struct str cli_call_tool(const char *profile, const char *tool, const char *args) {
  struct str line =
      str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"_meta\":{"
                     "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                     "\"io.modelcontextprotocol/clientCapabilities\":{}},\"name\":\"%s\",\"arguments\":%s}}\n",
                     tool, args));
  struct run r = CAIRN_FED(line, "mcp", "--profile", profile);
  CHECK_INT(r.exit_code, 0);
  CHECK(!has(r.out, "\"isError\":true") && !has(r.out, "\"error\""));
  return r.out;
}
