/* cli.h: runs the program on a private store of the running test: calls with --json, results by path, direct access
 * to the store.
 *
 *   OK("remember", "The build machine has 64 cores");
 *   yyjson_val *r = OK("search", "build machine");
 *   CHECK_INT(jint(r, "results[0].id"), 1);
 *
 * The program inherits no environment, its clock is frozen (cli_day() moves it), and automatic maintenance is off
 * unless a test enables it. */
#pragma once

#include "base/json.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

/* ---- environment of later calls ---- */

/* Sets the clock to this many days after 2026-03-01T12:00:00Z. */
void cli_day(double days);
/* That time as the program prints it. */
const char *cli_time(double days);
/* "NAME=value" sets, "NAME" unsets. */
void cli_set(const char *assignment);
/* Embeds with the built-in model. False if the program was built without it. */
bool cli_use_built_in(void);
/* Path or URL of the store. */
const char *cli_db(void);
/* A local file next to the store. */
const char *cli_side(const char *tail);
const char *const *cli_env(void);
const char *textf(const char *fmt, ...) PRINTF_FMT(1, 2);
/* A NUL-terminated copy. */
const char *cstr(struct str s);
/* n words "w1 w2 ...", with `stem` for "w". */
const char *words(const char *stem, int n);

/* ---- calls ---- */

struct run cli_run(struct str input, const char *const *args);
#define CAIRN(...) cli_run(STR_NONE, ARGS(__VA_ARGS__))
#define CAIRN_FED(input, ...) cli_run((input), ARGS(__VA_ARGS__))

/* Adds --json. The call must succeed and print exactly one object on one line. */
yyjson_val *cli_ok(const char *file, int line, struct str input, const char *const *args);
#define OK(...) cli_ok(__FILE__, __LINE__, STR_NONE, ARGS(__VA_ARGS__))
#define OK_FED(input, ...) cli_ok(__FILE__, __LINE__, (input), ARGS(__VA_ARGS__))

/* Adds --json. The call must fail with this code and its exit code, print one object on one line with a one-line
 * message and a fix, and leave every row of the store unchanged. */
yyjson_val *cli_refused(const char *file, int line, const char *code, struct str input, const char *const *args);
#define REFUSED(code, ...) cli_refused(__FILE__, __LINE__, code, STR_NONE, ARGS(__VA_ARGS__))
#define REFUSED_FED(code, input, ...) cli_refused(__FILE__, __LINE__, code, (input), ARGS(__VA_ARGS__))
/* Also checks the gate's step. */
yyjson_val *cli_refused_at(const char *file, int line, const char *step, const char *code, struct str input,
                           const char *const *args);
#define REFUSED_AT(step, code, ...) cli_refused_at(__FILE__, __LINE__, step, code, STR_NONE, ARGS(__VA_ARGS__))
#define REFUSED_AT_FED(step, code, input, ...)                                                                         \
  cli_refused_at(__FILE__, __LINE__, step, code, (input), ARGS(__VA_ARGS__))

/* One JSON value per line. */
struct json_lines {
  yyjson_val **v;
  size_t n, cap;
};
struct json_lines lines_of(struct str text);
/* Events after this sequence number. */
struct json_lines events_since(int64_t seq);
int64_t last_seq(void);

/* Stores a memory and returns its id; fails the test if the action is not "stored". */
int64_t cli_store(const char *file, int line, const char *const *args);
int64_t cli_store_as_agent(const char *file, int line, const char *const *args);
#define STORE(...) cli_store(__FILE__, __LINE__, ARGS("remember", __VA_ARGS__))
/* The same as an agent, whose facts fade. */
#define STORE_AS_AGENT(...) cli_store_as_agent(__FILE__, __LINE__, ARGS("remember", __VA_ARGS__))
#define ADD_TASK_AS_AGENT(...) cli_store_as_agent(__FILE__, __LINE__, ARGS("task", "add", __VA_ARGS__))
#define ADD_TASK(...) cli_store(__FILE__, __LINE__, ARGS("task", "add", __VA_ARGS__))
/* The id as an argument. */
const char *num(int64_t id);
/* Calls a tool of `cairn mcp` in a process of its own. Returns the reply. */
struct str cli_call_tool(const char *profile, const char *tool, const char *args);
/* The state of a memory, read without recording an access. */
struct str memory_state(int64_t id);

/* ---- results ---- */

/* The value at a path such as "results[0].id"; NULL if missing. */
yyjson_val *jget(yyjson_val *v, const char *path);
/* A missing member, or one of another type, fails the test. */
int64_t jint(yyjson_val *v, const char *path);
double jnum(yyjson_val *v, const char *path);
struct str jstr(yyjson_val *v, const char *path);
bool jbool(yyjson_val *v, const char *path);
/* The text of an MCP answer, and the value of its line "NAME: value"; without such a line the test fails. */
struct str answer_text(yyjson_val *answer);
struct str answer_line(yyjson_val *answer, const char *name);
/* The session handle in the text of a boot. */
struct str answer_session(yyjson_val *answer);
/* Array length. */
size_t jlen(yyjson_val *v, const char *path);
/* The index of the object with this id, or of this number, in an array; -1 if not found. */
int jpos(yyjson_val *v, const char *path, int64_t id);
bool jhas_str(yyjson_val *v, const char *path, const char *text);
/* The warning with this code, or NULL. */
yyjson_val *warning(yyjson_val *result, const char *code);
bool has(struct str text, const char *part);

/* ---- direct access to the store ---- */

/* Every row of every table as text, to compare stores; "" if there is no store. */
struct str snapshot(void);
void check_same(const char *file, int line, struct str before, struct str after);
#define CHECK_UNCHANGED(before) check_same(__FILE__, __LINE__, (before), snapshot())
/* Runs SQL directly on the store; it must be valid on both engines. See store.h. */
void sql_do(const char *sql);
/* False if the schema rejects it. */
bool sql_try(const char *sql);
int64_t sql_number(const char *sql);
struct str sql_string(const char *sql);
/* True if the text is anywhere in the store's files (database, log) or tables; ignores ASCII case. */
bool store_holds(const char *text);
bool store_holds_bytes(struct str bytes);
/* `doctor` must find no problem. */
void cli_healthy(const char *file, int line);
#define CHECK_HEALTHY() cli_healthy(__FILE__, __LINE__)
