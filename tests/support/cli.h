/* cli.h: the program on a private store of the running test: calls with --json, results by path, the store's bytes.
 *
 *   OK("remember", "The build machine has 64 cores");
 *   yyjson_val *r = OK("search", "build machine");
 *   CHECK_INT(jint(r, "results[0].id"), 1);
 *
 * Nothing of the surroundings reaches the program, its clock stands still (cli_day() moves it), and maintenance does
 * not run by itself unless a test asks for it. */
#pragma once

#include "base/json.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

/* ---- the surroundings of every later call ---- */

/* The clock: so many days after 2026-03-01T12:00:00Z. */
void cli_day(double days);
/* That moment as text, as the program writes it. */
const char *cli_time(double days);
/* "NAME=value" sets, "NAME" unsets. */
void cli_set(const char *assignment);
/* The store: a file, or the URL of a database. */
const char *cli_db(void);
/* A private file of this machine that belongs to the store. */
const char *cli_side(const char *tail);
const char *const *cli_env(void);
const char *textf(const char *fmt, ...) PRINTF_FMT(1, 2);
/* A copy that ends with a NUL. */
const char *cstr(struct str s);
/* n words "w1 w2 ...", each with this beginning. */
const char *words(const char *stem, int n);

/* ---- calls ---- */

struct run cli_run(struct str input, const char *const *args);
#define CAIRN(...) cli_run(STR_NONE, ARGS(__VA_ARGS__))
#define CAIRN_FED(input, ...) cli_run((input), ARGS(__VA_ARGS__))

/* With --json added. The call succeeds, prints one object on one line, and nothing else. */
yyjson_val *cli_ok(const char *file, int line, struct str input, const char *const *args);
#define OK(...) cli_ok(__FILE__, __LINE__, STR_NONE, ARGS(__VA_ARGS__))
#define OK_FED(input, ...) cli_ok(__FILE__, __LINE__, (input), ARGS(__VA_ARGS__))

/* With --json added. The call fails with this code and the exit code that belongs to it, says so in one object on one
 * line with a message of one line and what to do next, and leaves every row of the store as it was. */
yyjson_val *cli_refused(const char *file, int line, const char *code, struct str input, const char *const *args);
#define REFUSED(code, ...) cli_refused(__FILE__, __LINE__, code, STR_NONE, ARGS(__VA_ARGS__))
#define REFUSED_FED(code, input, ...) cli_refused(__FILE__, __LINE__, code, (input), ARGS(__VA_ARGS__))
/* The same, and the gate's step. */
yyjson_val *cli_refused_at(const char *file, int line, const char *step, const char *code, struct str input,
                           const char *const *args);
#define REFUSED_AT(step, code, ...) cli_refused_at(__FILE__, __LINE__, step, code, STR_NONE, ARGS(__VA_ARGS__))
#define REFUSED_AT_FED(step, code, input, ...)                                                                         \
  cli_refused_at(__FILE__, __LINE__, step, code, (input), ARGS(__VA_ARGS__))

/* One JSON value a line. */
struct json_lines {
  yyjson_val **v;
  size_t n, cap;
};
struct json_lines lines_of(struct str text);
/* The event log after this sequence number. */
struct json_lines events_since(int64_t seq);
int64_t last_seq(void);

/* The id of a memory that is stored without ado; ends the test when it is not. */
int64_t cli_store(const char *file, int line, const char *const *args);
#define STORE(...) cli_store(__FILE__, __LINE__, ARGS("remember", __VA_ARGS__))
#define ADD_TASK(...) cli_store(__FILE__, __LINE__, ARGS("task", "add", __VA_ARGS__))
/* Its number as an argument. */
const char *num(int64_t id);
/* The whole memory, read from outside the program's counters: no access is recorded. */
struct str memory_state(int64_t id);

/* ---- results ---- */

/* By a path such as "results[0].id"; NULL when it is not there. */
yyjson_val *jget(yyjson_val *v, const char *path);
/* A member that is not there, or is something else, ends the test. */
int64_t jint(yyjson_val *v, const char *path);
double jnum(yyjson_val *v, const char *path);
struct str jstr(yyjson_val *v, const char *path);
bool jbool(yyjson_val *v, const char *path);
/* Elements of an array. */
size_t jlen(yyjson_val *v, const char *path);
/* The place of the element with this id in an array of objects, or of this number in an array of numbers; -1. */
int jpos(yyjson_val *v, const char *path, int64_t id);
bool jhas_str(yyjson_val *v, const char *path, const char *text);
/* The warning with this code, or NULL. */
yyjson_val *warning(yyjson_val *result, const char *code);
bool has(struct str text, const char *part);

/* ---- the store, from outside ---- */

/* Every row of every table as text: two that are equal are the same store. "" when there is none. */
struct str snapshot(void);
void check_same(const char *file, int line, struct str before, struct str after);
#define CHECK_UNCHANGED(before) check_same(__FILE__, __LINE__, (before), snapshot())
/* SQL past the program, that both engines understand; see store.h. */
void sql_do(const char *sql);
/* Whether the schema lets it happen. */
bool sql_try(const char *sql);
int64_t sql_number(const char *sql);
struct str sql_string(const char *sql);
/* Whether the bytes are anywhere in the store's files (database, log) or tables, compared without ASCII case. */
bool store_holds(const char *text);
bool store_holds_bytes(struct str bytes);
/* doctor finds nothing. */
void cli_healthy(const char *file, int line);
#define CHECK_HEALTHY() cli_healthy(__FILE__, __LINE__)
