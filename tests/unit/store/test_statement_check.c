/* test_statement_check.c: the check that statements are bound to a team, applied to every statement in the sources. */
#include "program/statement_check.h"

#include "fixture.h"
#include "sources.h"
#include "store/schema/tables.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena arena;

static bool is_bound(const char *sql, enum db_engine engine) {
  struct str why = statement_fault(&arena, str_from(sql), engine);
  test_note("%s: %.*s", sql, STR_ARG(why));
  return !why.p;
}

/* ---- the check ---- */

TEST(a_statement_is_bound_if_all_its_tables_are) {
  static const char *const bound[] = {
      "SELECT id FROM memory WHERE team = ?1",
      "SELECT m.id FROM memory m WHERE m.team = ?1 AND m.id = ?2",
      "SELECT m.id FROM memory AS m WHERE (m.team = ?1)",
      "SELECT m.id FROM memory m JOIN body b ON b.team = m.team AND b.memory_id = m.id WHERE m.team = ?1",
      "SELECT m.id FROM memory m, body b WHERE ?1 = m.team AND b.team = m.team",
      "SELECT 1 FROM memory m WHERE m.team = ?1 AND NOT EXISTS (SELECT 1 FROM link l WHERE l.team = m.team)",
      "SELECT team FROM memory WHERE team = ?1 UNION SELECT team FROM body WHERE team = ?1",
      "INSERT INTO body (memory_id, team, text) VALUES (?1, ?2, ?3)",
      "INSERT INTO body (memory_id, team) SELECT id, team FROM memory WHERE team = ?1",
      "UPDATE memory SET state = ?1 WHERE team = ?2 AND id = ?3",
      "DELETE FROM memory WHERE id = ?1 AND team = ?2",
      "SELECT value FROM meta WHERE name = ?1",
      "SELECT 'FROM memory' -- FROM memory",
      "PRAGMA data_version",
      "CREATE TRIGGER t AFTER DELETE ON chunk BEGIN DELETE FROM body WHERE memory_id = old.memory_id; END",
  };
  for (size_t i = 0; i < ARRAY_LEN(bound); i++)
    CHECK(is_bound(bound[i], DB_POSTGRES) && is_bound(bound[i], DB_SQLITE));
}

TEST(a_statement_is_not_bound_if_one_table_is_not) {
  static const char *const loose[] = {
      "SELECT id FROM memory",
      "SELECT team FROM memory WHERE id = ?1",
      "SELECT m.id FROM memory m WHERE m.id = ?1",
      "SELECT m.id FROM memory m JOIN body b ON b.hash = ?2 WHERE m.team = ?1",
      "SELECT m.id FROM memory m, body b WHERE m.team = ?1",
      "SELECT m.id FROM memory m WHERE m.team = m.team",
      "SELECT m.id FROM memory m JOIN body b ON b.team = m.team",
      "SELECT m.id FROM memory m WHERE m.team = ?1 OR m.id = ?2",
      "SELECT m.id FROM memory m WHERE m.id = ?2 OR m.team = ?1",
      "SELECT m.id FROM memory m WHERE NOT m.team = ?1",
      "SELECT m.id FROM memory m WHERE m.team <> ?1",
      "SELECT m.id FROM memory m WHERE m.team = ?1 || 'x'",
      "SELECT m.team = ?1 FROM memory m",
      "SELECT CASE WHEN m.team = ?1 THEN 1 END FROM memory m",
      "SELECT 1 FROM memory m WHERE m.team = ?1 AND NOT EXISTS (SELECT 1 FROM link l WHERE l.dst = ?2)",
      "SELECT team FROM memory WHERE team = ?1 UNION ALL SELECT team FROM body",
      "SELECT m.id FROM memory m WHERE m.team = ?1 UNION SELECT m.id FROM memory m",
      "INSERT INTO body (memory_id, text) VALUES (?1, ?3)",
      "INSERT INTO body (memory_id, team) SELECT id, team FROM memory",
      "UPDATE memory SET team = ?1",
      "UPDATE memory SET state = 'x', team = ?1 WHERE id = ?2",
      "DELETE FROM cairn.memory",
      "TRUNCATE meta, memory",
      "ALTER TABLE memory DISABLE TRIGGER ALL",
      "DELETE FROM meta; DELETE FROM vault",
      "SELECT 1 FROM memory WHERE team = ?1; DELETE FROM memory",
      "SELECT n FROM chunk_count",
  };
  for (size_t i = 0; i < ARRAY_LEN(loose); i++)
    CHECK(!is_bound(loose[i], DB_POSTGRES) && !is_bound(loose[i], DB_SQLITE));
}

/* In a file an id names one row of the whole store, and foreign keys carry the team. */
TEST(in_a_file_a_join_by_id_binds) {
  static const char *const joined[] = {
      "SELECT 1 FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE m.team = ?1",
      "SELECT 1 FROM label l CROSS JOIN body b ON b.memory_id = l.memory_id WHERE l.team = ?1",
      "SELECT 1 FROM memory m JOIN link l ON l.src = m.id WHERE m.team = ?1",
  };
  for (size_t i = 0; i < ARRAY_LEN(joined); i++)
    CHECK(is_bound(joined[i], DB_SQLITE) && !is_bound(joined[i], DB_POSTGRES));
  CHECK(!is_bound("SELECT 1 FROM chunk c JOIN memory m ON m.id = c.id WHERE m.team = ?1", DB_SQLITE));
  CHECK(!is_bound("SELECT 1 FROM chunk c JOIN memory m ON m.id = c.memory_id", DB_SQLITE));
}

TEST(only_unbound_statements_may_have_the_comment) {
  CHECK(is_bound("/* all teams: doctor */ SELECT count(*) FROM memory", DB_SQLITE));
  CHECK(!is_bound("/* all teams: doctor */ SELECT count(*) FROM memory WHERE team = ?1", DB_SQLITE));
  CHECK(!is_bound("SELECT count(*) FROM memory /* all teams: doctor */", DB_SQLITE));
}

/* Tables come from the schema, so new ones are covered. */
TEST(every_table_with_a_team_is_known) {
  struct store *st = fixture_open("a.db");
  struct direct *d = direct_open(test_store("a.db"));
  struct str names = direct_string(
      d, on_postgres() ? "SELECT string_agg(c.relname, ',') FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
                         " WHERE a.attname = 'team' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
                         " AND c.relnamespace = 'cairn'::regnamespace"
                       : "SELECT group_concat(s.name) FROM sqlite_schema s JOIN pragma_table_info(s.name) c"
                         " WHERE s.type = 'table' AND c.name = 'team'");
  struct str name;
  int n = 0;
  for (; str_next(&names, ',', &name); n++)
    CHECK(!is_bound(arena_printf(&arena, "SELECT 1 FROM %.*s", STR_ARG(name)).p, DB_SQLITE));
  CHECK(n >= STORE_TABLES - 1);
  direct_close(d);
  store_close(&st);
}

/* ---- the sources ---- */

/* Statements built from values known only at run time; CAIRN_CHECK_STATEMENTS checks them there. The test fails if an
 * entry is no longer needed. */
static const struct {
  const char *function, *why;
} assembled[] = {
    {"insert_row", "the columns of a memory are a table of fields"},
    {"candidates_exact", "its tables are an argument"},
    {"prune_candidates", "two statements grow side by side"},
    {"edges", "a macro puts in the names of its tables"},
    {"postgres_graph_all", "the same"},
    {"write_rows", "the columns of a table are a list"},
};

static enum db_engine engine_of(struct str file) {
  static const char *const of_files[] = {"_sqlite.c", "/sqlite", "/vectors_c", "/vectors_search.c", "/search_rows.c"};
  for (size_t i = 0; i < ARRAY_LEN(of_files); i++)
    if (str_find(file, str_from(of_files[i]), 0) != SIZE_MAX)
      return DB_SQLITE;
  return DB_POSTGRES; /* shared files: the stricter engine */
}

static bool is_assembled(struct str function, bool *used) {
  for (size_t i = 0; i < ARRAY_LEN(assembled); i++)
    if (str_is(function, assembled[i].function))
      return used[i] = true;
  return false;
}

static size_t breaches(struct sources *s, bool *used, bool print) {
  struct source_statements list = {0};
  size_t n = 0;
  sources_statements(s, &list);
  for (size_t i = 0; i < list.n; i++) {
    const struct source_statement *x = &list.v[i];
    struct str why = statement_fault(&arena, x->sql, engine_of(x->file));
    if (!why.p || is_assembled(x->function, used))
      continue;
    if (print)
      fprintf(stderr, "%.*s: %.*s(): %.*s\n  %.*s\n", STR_ARG(x->file), STR_ARG(x->function), STR_ARG(why),
              STR_ARG(x->sql));
    n++;
  }
  return n;
}

TEST(no_statement_of_the_sources_lacks_its_team) {
  bool used[ARRAY_LEN(assembled)] = {0};
  struct sources *s = sources_read(&arena, CAIRN_SOURCE_DIR "/src");
  struct source_statements list = {0};
  CHECK_INT(breaches(s, used, true), 0);
  for (size_t i = 0; i < ARRAY_LEN(used); i++)
    if (!used[i])
      FAIL("%s needs no exception any more", assembled[i].function);
  sources_statements(s, &list);
  CHECK(list.n > 300); /* otherwise the extraction is broken */
}

/* Returns whether the check reports a function with this source. */
static bool is_found(const char *function) {
  bool used[ARRAY_LEN(assembled)] = {0};
  struct sources *s = sources_read(&arena, CAIRN_SOURCE_DIR "/include");
  sources_add(s, "src/store/more.h",
              "void sql_text(struct sql *q, struct str value) { bind(q); }\n"
              "void visible(struct sql *q) {\n  sql_add(q, \"m.team = \");\n  sql_text(q, t);\n}\n"
              "#define FROM_VAULT \"SELECT 1 FROM vault\"\n");
  sources_add(s, "src/store/new.c", function);
  test_note("%s", function);
  return breaches(s, used, false) > 0;
}

TEST(a_statement_without_a_team_in_the_sources_is_found) {
  CHECK(is_found("void f(void) {\n  db_query(db, &r, err, \"SELECT 1 FROM memory\", NULL);\n}\n"));
  CHECK(is_found(
      "void f(void) {\n  sql_add(&q, \"SELECT 1 \"\n    \"FROM memory m\");\n  sql_add(&q, \" WHERE m.id = \");\n"
      "  sql_int(&q, id);\n}\n"));
  CHECK(is_found("void f(void) { db_script(db, err, \"DELETE FROM vault\"); }\n"));
  CHECK(is_found("void f(void) {\n  run(FROM_VAULT \" WHERE key = ?1\");\n}\n"));
  CHECK(is_found("static void add(struct sql *q) {\n  sql_add(q, \" FROM memory m\");\n}\n"
                 "void f(void) {\n  sql_add(&q, \"SELECT 1\");\n  add(&q);\n}\n"));
  CHECK(is_found("void f(void) {\n  a(\"SELECT 1 FROM memory WHERE team = ?1\");\n  b(\"DELETE FROM memory\");\n}\n"));
  CHECK(!is_found(
      "void f(void) {\n  db_query(db, &r, err, \"SELECT 1 FROM memory WHERE team = ?1\", \"s\", team);\n}\n"));
  CHECK(!is_found("void f(void) {\n  run(FROM_VAULT \" WHERE team = ?1\");\n}\n"));
  CHECK(!is_found("void f(void) {\n  sql_add(&q, \"SELECT 1 FROM memory m WHERE \");\n  visible(&q);\n}\n"));
  CHECK(!is_found("void f(void) {\n  run(\"/* all teams: doctor */ \"\n      \"SELECT 1 FROM memory\");\n}\n"));
}
