/* test_isolation.c: attacks of one team on another, through every operation of the table: an object of another team is
 * reported as not found, is not shown and is not changed. New operations are covered because they are in the table. */
#include <sqlite3.h>
#include <stdio.h>

#include "op/access/authenticate.h"
#include "op/op.h"
#include "program/statement_check.h"
#include "store/schema/tables.h"
#include "store/sqlite/internal.h"
#include "store/tables/events.h"
#include "support/harness.h"
#include "support/store.h"

static struct arena arena; /* of the test */
static struct engine *engine;
static struct error err;

/* In all texts of the victim; the attacker has none with it. */
#define MARK "zorilla"

static const struct caller victim = {
    .team = STR_INIT("alpha"), .project = STR_INIT(""), .source = STR_INIT("tester"), .trust = STR_INIT("user")};
static const struct caller attacker = {
    .team = STR_INIT("beta"), .project = STR_INIT(""), .source = STR_INIT("tester"), .trust = STR_INIT("user")};

static void setup(void) {
  struct engine_options o = {.path = test_store("teams.db"), .clock = {.fixed = 1763208000000}};
  arena_init(&arena);
  CHECK(setenv("HOME", test_dir(), 1) == 0 && unsetenv("XDG_CONFIG_HOME") == 0 && unsetenv("XDG_STATE_HOME") == 0);
  CHECK_OK(engine_open(&o, &engine, &err), &err);
}

/* ---- calls ---- */

static enum status collect(void *arg, struct str line) {
  buf_add(arg, line);
  return STATUS_OK;
}

static struct str try_args(const struct caller *caller, const struct op *op, yyjson_val *args, enum status *ret) {
  struct arena own; /* of the call, as in every interface: locked after a call that handles secrets */
  struct buf lines = BUF(&arena);
  struct op_hooks hooks = {.arg = &lines, .emit = collect};
  yyjson_mut_val *result = NULL;
  arena_init(&own);
  *ret = op_run(engine, op, caller, &hooks, &own, args, &result, &err);
  if (*ret == STATUS_OK)
    buf_add(&lines, json_write(&own, result, false));
  arena_release(&own);
  return *ret == STATUS_OK ? buf_str(&lines) : arena_printf(&arena, "%s / %s", err.message, err.fix);
}

static yyjson_val *parsed(struct str json) {
  yyjson_val *v = NULL;
  CHECK_OK(json_read(&arena, json, &v, &err), &err);
  return v;
}

static yyjson_val *run(const struct caller *caller, const char *op, const char *json) {
  enum status s;
  struct str r = try_args(caller, op_find(str_from(op)), parsed(str_from(json)), &s);
  if (s != STATUS_OK)
    FAIL("%s %s: %.*s", op, json, STR_ARG(r));
  return parsed(r);
}

/* ---- two teams ---- */

/* Names and ids of a team's objects, each with an unused one of the same form. */
enum { NAMES = 16 };
struct names {
  struct str mine[NAMES], nobody[NAMES];
  size_t n;
  struct str session;
};

static void add_name(struct names *names, struct str mine, const char *nobody) {
  CHECK(names->n < NAMES && mine.n > 0);
  names->mine[names->n] = mine;
  names->nobody[names->n++] = str_from(nobody);
}

static struct str number(yyjson_val *v, const char *name) {
  return arena_printf(&arena, "%lld", (long long)json_int(v, name, 0));
}

#define TEXTF(...) arena_printf(&arena, __VA_ARGS__).p

static void name_memories(const struct caller *caller, const char *name, const char *word, struct names *names) {
  yyjson_val *m = run(caller, "remember",
                      TEXTF("{\"text\":\"The %s pump runs at four bar\",\"key\":\"%s-pump\",\"tags\":[\"%s\"],"
                            "\"idempotency_key\":\"call-1\"}",
                            word, name, word));
  add_name(names, number(m, "id"), "999999");
  add_name(names, number(m, "txn"), "999998");
  add_name(names, json_str(m, "uid"), "01900000-0000-7000-8000-000000000000");
  add_name(names, arena_printf(&arena, "%s-pump", name), "unknown-pump");
  run(caller, "supersede",
      TEXTF("{\"id\":\"%s-pump\",\"text\":\"The %s pump runs at five bar\",\"reason\":\"%s was measured\"}", name, word,
            word));
  run(caller, "remember",
      TEXTF("{\"text\":\"Bleed the %s valve first\",\"skill_name\":\"%s-skill\",\"skill_keywords\":[\"bleed\"]}", word,
            name));
  add_name(names, arena_printf(&arena, "%s-skill", name), "unknown-skill");
  m = run(caller, "task add", TEXTF("{\"text\":\"Order a %s gasket\"}", word));
  add_name(names, number(m, "id"), "999997");
  run(caller, "file create", TEXTF("{\"path\":\"/memories/%s.md\",\"file_text\":\"The %s file\"}", name, word));
  add_name(names, arena_printf(&arena, "/memories/%s.md", name), "/memories/unknown.md");
  run(caller, "graph create",
      TEXTF("{\"lines\":[\"{\\\"type\\\":\\\"entity\\\",\\\"name\\\":\\\"%s-engine\\\",\\\"entityType\\\":\\\"part\\\","
            "\\\"observations\\\":[\\\"The %s hums\\\"]}\"]}",
            name, word));
  add_name(names, arena_printf(&arena, "%s-engine", name), "unknown-engine");
}

static void name_others(const struct caller *caller, const char *name, const char *word, struct names *names) {
  struct caller in_session = *caller;
  yyjson_val *last = NULL;
  for (int i = 0; i < 12; i++)
    last = run(caller, "action add", TEXTF("{\"text\":\"Answer %s question %d\"}", word, i));
  add_name(names, number(last, "id"), "999996");
  in_session.session = json_str(run(caller, "boot", "{\"register\":true}"), "session");
  names->session = in_session.session;
  add_name(names, in_session.session, "s-unknown");
  run(&in_session, "scratch set", TEXTF("{\"key\":\"branch\",\"value\":\"%s\"}", word));
  run(&in_session, "session handoff", TEXTF("{\"text\":\"The %s is half done\"}", word));
  run(caller, "vault set", TEXTF("{\"key\":\"%s:last\",\"value\":\"%s\"}", name, word));
  add_name(names, arena_printf(&arena, "%s:last", name), "unknown:last");
  run(caller, "agent add", TEXTF("{\"name\":\"%s-agent\",\"role\":\"admin\",\"note\":\"%s\"}", name, word));
  add_name(names, arena_printf(&arena, "%s-agent", name), "unknown-agent");
  run(caller, "transcript append", TEXTF("{\"session\":\"%s-talk\",\"content\":\"We spoke of the %s\"}", name, word));
  add_name(names, arena_printf(&arena, "%s-talk", name), "unknown-talk");
}

/* Creates an object of every kind that can be named, with the word in all texts. No id of the victim is also an id of
 * the attacker, of any kind: the victim is populated first, and ends up with more memories and transactions than any of
 * these ids. */
static struct names populate(const struct caller *caller, const char *name, const char *word) {
  struct names names = {0};
  name_memories(caller, name, word, &names);
  name_others(caller, name, word, &names);
  for (int i = 0; i < 20; i++)
    run(caller, "remember", TEXTF("{\"text\":\"The %s has part number %d\",\"keep_both\":true}", word, i));
  add_name(&names, json_str(run(caller, "list", "{\"limit\":1}"), "next_cursor"), "0.1763208000000.999999");
  return names;
}

/* All rows of a team, by table. */
static struct str rows_of(struct str team) {
  struct buf b = BUF(&arena);
  for (const struct store_table *t = store_tables; t->name; t++) {
    struct sql q = SQL(&arena);
    struct rows r;
    if (t->way == TABLE_VECTORS)
      continue;
    sql_add(&q, "SELECT ");
    for (const struct table_column *c = t->columns; c->name; c++)
      sql_addf(&q, "%s%s", c > t->columns ? ", " : "", c->name);
    sql_addf(&q, " FROM %s WHERE team = ", t->name);
    sql_text(&q, team);
    sql_addf(&q, " ORDER BY %s", t->key[0]);
    db_query_sql(store_db(engine->store), &r, &err, &q);
    while (rows_next(&r))
      for (size_t i = 0; i < table_columns(t); i++)
        buf_addf(&b, "%.*s|", STR_ARG(rows_text(&r, (int)i)));
    CHECK_OK(rows_end(&r), &err);
  }
  return buf_str(&b);
}

/* ---- attacks ---- */

/* False for arguments that name no object: times, texts to store, counts. */
static bool takes_names(const struct param *p) {
  static const char *const others[] = {"TIME",  "TEXT", "N",   "W",      "LINE", "JSON",
                                       "VALUE", "TYPE", "SEQ", "TOKENS", "PID",  NULL};
  if (p->choices || (p->flags & PARAM_PATH) || p->form == PARAM_BOOL || p->form == PARAM_NUMBER)
    return false;
  for (const char *const *o = others; *o; o++)
    if (p->value && strcmp(p->value, *o) == 0)
      return false;
  return true;
}

static bool is_number(struct str s) {
  int64_t n;
  return str_int64(s, &n);
}

static void put(yyjson_mut_doc *doc, yyjson_mut_val *args, const struct param *p, struct str value) {
  int64_t n = 1;
  switch (p->form) {
  case PARAM_INT:
    str_int64(value, &n);
    json_put_int(doc, args, p->name, n);
    return;
  case PARAM_LIST:
    json_add_str(doc, json_put_arr(doc, args, p->name), value);
    return;
  case PARAM_BOOL:
    json_put_bool(doc, args, p->name, true);
    return;
  case PARAM_NUMBER:
    json_put_num(doc, args, p->name, 0.5);
    return;
  case PARAM_TEXT:
    json_put(doc, args, p->name, value);
  }
}

/* Runs the operation with one argument that names an object, and its required arguments. */
static struct str strike(const struct op *op, const struct param *with, struct str name, const char *salt,
                         enum status *ret) {
  yyjson_mut_doc *doc = json_new(&arena);
  yyjson_mut_val *args = yyjson_mut_obj(doc);
  for (const struct param *p = op->params; p->name; p++)
    if (p == with)
      put(doc, args, p, name);
    else if ((p->flags & PARAM_REQUIRED) || strcmp(p->name, "reason") == 0 || strcmp(p->name, "text") == 0)
      put(doc, args, p,
          p->choices                              ? str_from(p->choices[0])
          : p->value && !strcmp(p->value, "TEXT") ? arena_printf(&arena, "Something else %s", salt)
                                                  : STR("something"));
  return try_args(&attacker, op, parsed(json_write(&arena, args, false)), ret);
}

static struct str masked(struct str text, struct str name) {
  struct buf b = BUF(&arena);
  for (size_t at = 0, next; at < text.n; at = next + name.n) {
    next = str_find(text, name, at);
    if (next == SIZE_MAX) {
      buf_add(&b, str_slice(text, at, text.n));
      break;
    }
    buf_add(&b, str_slice(text, at, next));
    buf_addc(&b, '#');
  }
  return buf_str(&b);
}

/* Ids of objects that the attacker creates differ between its two calls. */
static struct str without_numbers(struct str text) {
  struct buf b = BUF(&arena);
  for (size_t i = 0; i < text.n; i++)
    if (!ascii_digit(text.p[i]))
      buf_addc(&b, text.p[i]);
  return buf_str(&b);
}

static bool answered_alike(const struct op *op, const struct param *p, struct str mine, struct str nobody) {
  enum status got, want;
  struct str reply = masked(masked(strike(op, p, mine, "one salt", &got), mine), STR("one salt"));
  struct str unknown = masked(masked(strike(op, p, nobody, "another salt", &want), nobody), STR("another salt"));
  test_note("%s with %s = %.*s: %.*s / %.*s", op->name, p->name, STR_ARG(mine), STR_ARG(reply), STR_ARG(unknown));
  CHECK(str_find(reply, STR(MARK), 0) == SIZE_MAX);
  return got == want && (got == STATUS_OK || str_eq(without_numbers(reply), without_numbers(unknown)));
}

/* The first call may use up an object that the second one needs, e.g. a ready task. Then both lack it in the second
 * attempt. */
static void attack(const struct op *op, const struct param *p, struct str mine, struct str nobody) {
  CHECK(answered_alike(op, p, mine, nobody) || answered_alike(op, p, mine, nobody));
}

static bool is_attacked(const struct op *op) { return !(op->flags & (OP_OPERATOR | OP_NO_STORE)); }

TEST(objects_of_another_team_are_not_found, .seconds = 120) {
  setup();
  struct names alpha = populate(&victim, "quagga", MARK);
  populate(&attacker, "marten", "marten");
  reads_flush(engine->store); /* the reads of populate() */
  struct str before = rows_of(victim.team);
  CHECK(str_find(before, STR(MARK " hums"), 0) != SIZE_MAX);
  size_t struck = 0;
  EACH_OP(op) {
    for (const struct param *p = op->params; is_attacked(op) && p->name; p++)
      for (size_t i = 0; takes_names(p) && i < alpha.n; i++) {
        if (p->form == PARAM_INT && !is_number(alpha.mine[i]))
          continue;
        attack(op, p, alpha.mine[i], alpha.nobody[i]);
        struck++;
      }
    test_note("%s", op->name);
    CHECK(str_eq(rows_of(victim.team), before));
  }
  CHECK(struck > 500);
  engine_close(&engine);
}

/* Calls without names that ask for everything, also with the victim's session. */
TEST(lists_show_nothing_of_another_team, .seconds = 60) {
  setup();
  struct names alpha = populate(&victim, "quagga", MARK);
  populate(&attacker, "marten", "marten");
  reads_flush(engine->store); /* the reads of populate() */
  struct str before = rows_of(victim.team);
  struct caller thief = attacker;
  for (int stolen = 0; stolen < 2; stolen++) {
    thief.session = stolen ? alpha.session : STR_NONE;
    EACH_OP(op) {
      yyjson_mut_doc *doc = json_new(&arena);
      yyjson_mut_val *args = yyjson_mut_obj(doc);
      if (!is_attacked(op) || strcmp(op->name, "events") == 0)
        continue;
      for (const struct param *p = op->params; p->name; p++)
        if (p->flags & PARAM_REQUIRED)
          put(doc, args, p, p->choices ? str_from(p->choices[0]) : STR("pump valve gasket"));
      json_put_bool(doc, args, "all_projects", true);
      enum status s;
      struct str reply = try_args(&thief, op, parsed(json_write(&arena, args, false)), &s);
      test_note("%s: %.*s", op->name, STR_ARG(reply));
      CHECK(str_find(reply, STR(MARK), 0) == SIZE_MAX);
      CHECK(str_eq(rows_of(victim.team), before));
    }
  }
  engine_close(&engine);
}

TEST(searches_and_the_feed_are_limited_to_the_team) {
  static const char *const calls[][2] = {
      {"search", "{\"query\":\"zorilla pump\",\"mode\":\"keyword\",\"explain\":true}"},
      {"search", "{\"query\":\"zorilla pump\",\"mode\":\"vector\",\"all_projects\":true}"},
      {"search", "{\"query\":\"zorilla pump\",\"in\":[\"memory\",\"items\",\"sessions\",\"sources\"],\"limit\":100}"},
      {"search", "{\"query\":\"pump\",\"tags\":[\"zorilla\"]}"},
      {"list", "{\"limit\":1000,\"all_projects\":true}"},
      {"list", "{\"tags\":[\"zorilla\"]}"},
      {"events", "{\"since\":0,\"limit\":0}"},
      {"export", "{\"all_projects\":true}"},
      {"stats", "{}"},
      {"errors", "{}"},
      {"metrics", "{}"},
      {"graph read", "{\"query\":\"zorilla\"}"},
      {"vault list", "{\"prefix\":\"zorilla\"}"},
      {"file view", "{\"path\":\"/memories\"}"},
      {"transcript list", "{}"},
      {"checkpoint", "{\"action\":\"bleed the valve\"}"},
  };
  setup();
  populate(&victim, "quagga", MARK);
  populate(&attacker, "marten", "marten");
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    enum status s;
    struct str reply = try_args(&attacker, op_find(str_from(calls[i][0])), parsed(str_from(calls[i][1])), &s);
    /* The attacker's own input may be returned. */
    reply = masked(masked(reply, STR("zorilla pump")), STR("\"zorilla\""));
    test_note("%s %s: %.*s", calls[i][0], calls[i][1], STR_ARG(reply));
    CHECK_STATUS(s, STATUS_OK);
    CHECK(str_find(reply, STR(MARK), 0) == SIZE_MAX);
  }
  engine_close(&engine);
}

/* Both teams use the same idempotency key, key, skill and handle, and each gets its own. */
TEST(the_same_name_in_two_teams_is_two_objects) {
  setup();
  populate(&victim, "otter", "otter");
  populate(&attacker, "otter", "otter");
  static const char *const calls[][2] = {
      {"get", "{\"id\":\"otter-pump\"}"},
      {"skill load", "{\"name\":\"otter-skill\"}"},
      {"vault get", "{\"key\":\"otter:last\"}"},
      {"file view", "{\"path\":\"/memories/otter.md\"}"},
      {"graph read", "{\"names\":[\"otter-engine\"]}"},
      {"transcript read", "{\"session\":\"otter-talk\"}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("%s", calls[i][0]);
    run(&victim, calls[i][0], calls[i][1]);
    run(&attacker, calls[i][0], calls[i][1]);
  }
  static const char again[] = "{\"text\":\"The otter pump runs at four bar\",\"key\":\"otter-pump\","
                              "\"tags\":[\"otter\"],\"idempotency_key\":\"call-1\"}";
  yyjson_val *mine = run(&victim, "remember", again), *other = run(&attacker, "remember", again);
  CHECK(json_int(mine, "id", 0) != json_int(other, "id", 0));
  CHECK(!str_eq(json_str(mine, "uid"), json_str(other, "uid")));
  run(&attacker, "vault set", "{\"key\":\"otter:last\",\"value\":\"changed\"}");
  CHECK_STR(json_str(run(&victim, "vault get", "{\"key\":\"otter:last\"}"), "value"), "otter");
  engine_close(&engine);
}

/* A cached reply of one team is not returned to another for the same query. */
TEST(a_cached_reply_belongs_to_its_team) {
  setup();
  populate(&victim, "quagga", MARK);
  enum status s;
  const struct op *search = op_find(STR("search"));
  yyjson_val *question = parsed(STR("{\"query\":\"pump at five bar\"}"));
  for (int i = 0; i < 3; i++)
    CHECK(str_find(try_args(&victim, search, question, &s), STR(MARK), 0) != SIZE_MAX);
  for (int i = 0; i < 3; i++)
    CHECK(str_find(try_args(&attacker, search, question, &s), STR(MARK), 0) == SIZE_MAX);
  engine_close(&engine);
}

/* ---- statements as SQLite sees them ---- */

static int note_text(unsigned type UNUSED, void *arg, void *statement, void *text UNUSED) {
  struct str sql = str_from(sqlite3_sql(statement));
  if (!strs_has(arg, sql))
    strs_push(&arena, arg, arena_dup(&arena, sql));
  return 0;
}

/* Accesses by a trigger, named in the last argument, are ignored. */
static int note_table(void *arg, int action, const char *table, const char *column UNUSED, const char *db UNUSED,
                      const char *trigger) {
  bool touches = action == SQLITE_READ || action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE;
  if (touches && !trigger && table)
    strs_push(&arena, arg, arena_dup(&arena, str_from(table)));
  return SQLITE_OK;
}

/* Returns false if SQLite cannot prepare the statement: it is internal to the full-text index and uses protected
 * tables. */
static bool check_reader(sqlite3 *db, struct str sql) {
  struct strs touched = {0}, read = {0};
  sqlite3_stmt *statement = NULL;
  sqlite3_set_authorizer(db, note_table, &touched);
  int rc = sqlite3_prepare_v2(db, sql.p, -1, &statement, NULL);
  sqlite3_set_authorizer(db, NULL, NULL);
  sqlite3_finalize(statement);
  statement_tables(&arena, sql, &read);
  for (size_t i = 0; i < touched.n; i++) {
    struct str any = arena_printf(&arena, "SELECT 1 FROM %.*s", STR_ARG(touched.v[i]));
    test_note("%.*s in %.*s", STR_ARG(touched.v[i]), STR_ARG(sql));
    CHECK(!statement_fault(&arena, any, DB_SQLITE).p || strs_has(&read, touched.v[i]));
  }
  return rc == SQLITE_OK;
}

/* statement_tables() misses no table that SQLite reports for a statement. Foreign keys are off, because they add
 * tables; they are checked within a team. */
TEST(the_statement_check_sees_every_table_that_sqlite_reports, .seconds = 60, .only = TEST_ON_SQLITE) {
  struct strs all = {0};
  setup();
  sqlite3 *db = sqlite_handle(store_db(engine->store));
  CHECK_OK(db_script(store_db(engine->store), &err, "PRAGMA foreign_keys = OFF"), &err);
  sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note_text, &all);
  populate(&victim, "quagga", MARK);
  EACH_OP(op)
    for (const struct param *p = op->params; is_attacked(op) && p->name; p++) {
      enum status s;
      if (!(p->flags & PARAM_PATH) && strcmp(p->name, "follow") != 0) /* no files, no endless calls */
        strike(op, p, STR("quagga-pump"), "word", &s);
    }
  sqlite3_trace_v2(db, 0, NULL, NULL);
  size_t checked = 0;
  for (size_t i = 0; i < all.n; i++)
    checked += check_reader(db, all.v[i]);
  CHECK(checked > 100);
  engine_close(&engine);
}

/* ---- time ---- */

static int note_statement(unsigned type UNUSED, void *arg, void *statement, void *text UNUSED) {
  buf_addf(arg, "%s\n", sqlite3_sql(statement));
  return 0;
}

static struct str statements_of(const char *op, const char *args) {
  struct buf b = BUF(&arena);
  enum status s;
  sqlite3 *db = sqlite_handle(store_db(engine->store));
  sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note_statement, &b);
  try_args(&attacker, op_find(str_from(op)), parsed(str_from(args)), &s);
  sqlite3_trace_v2(db, 0, NULL, NULL);
  CHECK_STATUS(s, STATUS_NOT_FOUND);
  return buf_str(&b);
}

/* Calls that must run the same statements, and so take the same time, for another team's object and a missing one. */
static const char *const not_found[][3] = {
    {"get", "{\"id\":\"%s\"}", "999999"},
    {"history", "{\"id\":\"%s\"}", "999999"},
    {"forget", "{\"ids\":[\"%s\"],\"reason\":\"wrong\"}", "999999"},
    {"annotate", "{\"id\":\"%s\",\"note\":\"a remark\"}", "999999"},
    {"task claim", "{\"id\":\"%s\"}", "999999"},
};

/* Replaces %s by the id. */
static struct str with(const char *format, struct str id) {
  const char *at = strstr(format, "%s");
  return arena_printf(&arena, "%.*s%.*s%s", (int)(at - format), format, STR_ARG(id), at + 2);
}

TEST(objects_of_others_and_missing_ones_run_the_same_statements, .only = TEST_ON_SQLITE) {
  setup();
  struct names alpha = populate(&victim, "quagga", MARK);
  populate(&attacker, "marten", "marten");
  for (size_t i = 0; i < ARRAY_LEN(not_found); i++) {
    struct str anothers = with(not_found[i][1], alpha.mine[0]),
               nobodys = with(not_found[i][1], str_from(not_found[i][2]));
    statements_of(not_found[i][0], nobodys.p); /* warm-up: some statements run only once */
    struct str first = statements_of(not_found[i][0], anothers.p), second = statements_of(not_found[i][0], nobodys.p);
    CHECK(first.n > 0);
    CHECK_STR(first, arena_cstr(&arena, second));
  }
  engine_close(&engine);
}

static int by_value(const void *x, const void *y) { return *(const int64_t *)x < *(const int64_t *)y ? -1 : 1; }

static int64_t median_of(struct str args) {
  enum { RUNS = 201 };
  int64_t took[RUNS];
  const struct op *get = op_find(STR("get"));
  for (int i = 0; i < RUNS; i++) {
    enum status s;
    int64_t began = clock_ticks_us();
    try_args(&attacker, get, parsed(args), &s);
    took[i] = clock_ticks_us() - began;
  }
  qsort(took, RUNS, sizeof(*took), by_value);
  return took[RUNS / 2];
}

/* Generous bounds: the machine may be busy. */
TEST(objects_of_others_and_missing_ones_take_the_same_time, .seconds = 60) {
  setup();
  struct names alpha = populate(&victim, "quagga", MARK);
  populate(&attacker, "marten", "marten");
  struct str anothers = with("{\"id\":\"%s\"}", alpha.mine[0]), nobodys = with("{\"id\":\"%s\"}", STR("999999"));
  double ratio = 0;
  for (int attempt = 0; attempt < 5 && (ratio < 0.67 || ratio > 1.5); attempt++)
    ratio = (double)(median_of(anothers) + 1) / (double)(median_of(nobodys) + 1);
  test_note("ratio %.2f", ratio);
  CHECK(ratio >= 0.67 && ratio <= 1.5);
  engine_close(&engine);
}

/* ---- the operator ---- */

TEST(a_token_cannot_call_operator_commands) {
  static const char *const expected[] = {"backup",      "doctor",    "migrate",          "restore",
                                         "team delete", "team list", "transcript import"};
  setup();
  struct principal bearer = {.name = STR("token:ci"), .team = STR("beta"), .role = ROLE_ADMIN};
  struct caller caller = attacker;
  caller.principal = &bearer;
  size_t closed = 0;
  EACH_OP(op) {
    yyjson_mut_doc *doc = json_new(&arena);
    yyjson_mut_val *args = yyjson_mut_obj(doc);
    bool names_file = false, known = false;
    for (const struct param *p = op->params; p->name; p++)
      if (p->flags & (PARAM_REQUIRED | PARAM_PATH)) {
        put(doc, args, p, p->choices ? str_from(p->choices[0]) : STR("/etc/passwd"));
        names_file |= (p->flags & PARAM_PATH) != 0;
      }
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
      known |= strcmp(op->name, expected[i]) == 0;
    CHECK(known == ((op->flags & OP_OPERATOR) != 0));
    if (!known && !names_file)
      continue;
    enum status s;
    struct str reply = try_args(&caller, op, parsed(json_write(&arena, args, false)), &s);
    test_note("%s: %.*s", op->name, STR_ARG(reply));
    CHECK_STATUS(s, STATUS_DENIED);
    closed++;
  }
  CHECK(closed > ARRAY_LEN(expected));
  /* Settings can be read but not changed. */
  enum status s;
  try_args(&caller, op_find(STR("config")), parsed(STR("{\"name\":\"gate.mode\"}")), &s);
  CHECK_STATUS(s, STATUS_OK);
  try_args(&caller, op_find(STR("config")), parsed(STR("{\"name\":\"files.root\",\"value\":\"/etc\"}")), &s);
  CHECK_STATUS(s, STATUS_DENIED);
  engine_close(&engine);
}

/* op_run() checks the team itself, whichever interface set it. */
TEST(op_run_refuses_invalid_team_names) {
  static const char *const bad[] = {
      "",      "..",     "../alpha", "alpha/beta",
      "Alpha", "al pha", "alpha\n",  "alph\xc3\xa4",
      "*",     "al.pha", "'alpha'",  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
  setup();
  populate(&victim, "quagga", MARK);
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    struct caller caller = attacker;
    enum status s;
    caller.team = str_from(bad[i]);
    test_note("'%s'", bad[i]);
    try_args(&caller, op_find(STR("list")), parsed(STR("{}")), &s);
    CHECK_STATUS(s, STATUS_USAGE);
    try_args(&caller, op_find(STR("transcript append")), parsed(STR("{\"content\":\"x\"}")), &s);
    CHECK_STATUS(s, STATUS_USAGE);
  }
  engine_close(&engine);
}
