/* test_schema_postgres.c: PostgreSQL-only parts of the schema: row-level isolation of teams, and sums kept by triggers.
 *
 * Tables are listed from the catalog: one added without row-level security, or without a row here, fails. */
#include "base/buf.h"
#include "store/store.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

#define UID "'00000000-0000-7000-8000-00000000000"
#define HASH "'0000000000000000000000000000000000000000000000000000000000000000'"
#define ROW(n, corpus)                                                                                                 \
  "INSERT INTO memory (id, uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source, "       \
  "corpus)"                                                                                                            \
  " VALUES (" #n ", " UID #n "', '@', 'fact', 'fact', 'A headline', 'user', 1, 1, 1, 'test', '" corpus "')"
#define FACT(n) ROW(n, "memory")
#define DOCUMENT(n) ROW(n, "items")

/* One row of each table; @ is the team. Tables written by triggers are only tested for isolation. */
static const struct {
  const char *table, *sql;
  bool by_trigger;
} rows[] = {
    {"txn", "INSERT INTO txn (id, uid, team, at, op, source) VALUES (1, 'u', '@', 1, 'o', 's')", false},
    {"memory", FACT(1), false},
    {"memory", FACT(2), false},
    {"memory", DOCUMENT(3), false},
    {"document_group",
     "INSERT INTO document_group (team, corpus, project, path, hash, size, changed_at)"
     " VALUES ('@', 'items', '', 'a.md', '', 1, 1)",
     false},
    {"document",
     "INSERT INTO document (memory_id, team, corpus, project, path, ref, line, confidence, hash)"
     " VALUES (3, '@', 'items', '', 'a.md', 'r', 1, 0.5, " HASH ")",
     false},
    {"source_root", "INSERT INTO source_root (team, project, path, added_at) VALUES ('@', '', '/srv', 1)", false},
    {"body", "INSERT INTO body (memory_id, team, text, hash) VALUES (1, '@', 'text', " HASH ")", false},
    {"label", "INSERT INTO label (team, memory_id, field, pos, value) VALUES ('@', 1, 'tags', 0, 'x')", false},
    {"annotation", "INSERT INTO annotation (team, memory_id, at, by, text) VALUES ('@', 1, 1, 'me', 'x')", false},
    {"link", "INSERT INTO link (team, src, rel, dst, at) VALUES ('@', 1, 'relates', 2, 1)", false},
    {"chunk",
     "INSERT INTO chunk (id, team, memory_id, seq, hash, headline, body, extra) VALUES (1, '@', 1, 0, '', '', '', '')",
     false},
    {"chunk_count", "INSERT INTO chunk_count (team, n) VALUES ('@', 1)", true},
    {"vec", "INSERT INTO vec (team, model, chunk_id, dims, v) VALUES ('@', 'm', 1, 3, '[1,2,3]')", false},
    {"vec_count", "INSERT INTO vec_count (team, model, n) VALUES ('@', 'm', 1)", true},
    {"vec_index",
     "INSERT INTO vec_index (team, model, dims, state, config, started_at) VALUES ('@', 'm', 3, 'active', '{}', 1)",
     false},
    {"embed_cache",
     "INSERT INTO embed_cache (team, hash, model, dims, vector, used_at) VALUES ('@', " HASH ", 'm', 1, '\\x01', 1)",
     false},
    {"event",
     "INSERT INTO event (team, txn, at, action, op, project, source) VALUES ('@', 1, 1, 'memory:read', 'get', '', 's')",
     false},
    {"idempotency", "INSERT INTO idempotency (team, key, at, result) VALUES ('@', 'k', 1, '{}')", false},
    {"tombstone", "INSERT INTO tombstone (team, uid, at, by) VALUES ('@', 'u', 1, 'me')", false},
    {"setting", "INSERT INTO setting (team, name, value) VALUES ('@', 'n', 'v')", false},
    {"session", "INSERT INTO session (team, handle, source, booted_at, heartbeat_at) VALUES ('@', 's-0', 'me', 1, 1)",
     false},
    {"handoff", "INSERT INTO handoff (team, source, text, created_at) VALUES ('@', 'me', 'x', 1)", false},
    {"action_item",
     "INSERT INTO action_item (team, text, kind, source, created_at) VALUES ('@', 'do', 'task', 'me', 1)", false},
    {"scratch", "INSERT INTO scratch (team, session, key, value, updated_at) VALUES ('@', 's-0', 'k', 'v', 1)", false},
    {"checkpoint",
     "INSERT INTO checkpoint (team, project, source, action_hash, at) VALUES ('@', '', 'me', " HASH ", 1)", false},
    {"tool_call",
     "INSERT INTO tool_call (event_id, team, tool, op, project, source, at, duration_us)"
     " VALUES (" UID "9', '@', 't', 'o', '', 'me', 1, 1)",
     false},
    {"vault",
     "INSERT INTO vault (team, key, value, created_at, updated_at, updated_by) VALUES ('@', 'k', 'v', 1, 1, 'me')",
     false},
    {"agent", "INSERT INTO agent (team, name, role, created_at) VALUES ('@', 'a', 'skill', 1)", false},
    {"vault_key",
     "INSERT INTO vault_key (team, id, way, proof, created_at) VALUES ('@', '0123456789abcdef', 'key', '\\x00', 1)",
     false},
    {"vault_grant",
     "INSERT INTO vault_grant (team, key, grantee, created_at, created_by) VALUES ('@', 'k', 'a', 1, 'me')", false},
    {"token",
     "INSERT INTO token (team, id, name, hash, role, access, created_at, created_by)"
     " VALUES ('@', 'abcdefghijkl', 'n', decode(repeat('00', 32), 'hex'), 'admin', 'read', 1, 'me')",
     false},
    {"team_removal", "INSERT INTO team_removal (team, at, by, counts) VALUES ('@', 1, 'me', '{}')", false},
};

/* Tables of words and ids only, which full-text search could not use with row-level security. */
#define OPEN_TABLES "'chunk_text', 'term_count'"
#define OF_TEAMS                                                                                                       \
  " FROM pg_class c WHERE c.relnamespace = 'cairn'::regnamespace AND c.relkind IN ('r', 'p') AND EXISTS (SELECT 1"     \
  " FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'team')"                                              \
  " AND regexp_replace(c.relname, '_p[0-9]$', '') NOT IN (" OPEN_TABLES ")"

static struct arena memory;

static const char *for_team(const char *sql, const char *team) {
  struct buf b = BUF(&memory);
  for (const char *p = sql; *p; p++)
    if (*p == '@')
      buf_adds(&b, team);
    else
      buf_addc(&b, *p);
  return arena_cstr(&memory, buf_str(&b));
}

static void fill(struct direct *db, const char *team) {
  for (size_t i = 0; i < ARRAY_LEN(rows); i++)
    if (!rows[i].by_trigger)
      direct_do(db, for_team(rows[i].sql, team));
}

static struct direct *fresh(void) {
  const char *path = test_store("walls.db");
  struct store_options o = {.path = path, .now = 1000};
  struct store *st = NULL;
  struct error err;
  CHECK_OK(store_open(&o, &st, &err), &err);
  store_close(&st);
  arena_init(&memory);
  return direct_open(path);
}

static int64_t count_in(struct direct *db, const char *table, const char *where) {
  return direct_number(db, arena_printf(&memory, "SELECT count(*) FROM %s WHERE %s", table, where).p);
}

/* Name of the i-th table with teams; NULL after the last. */
static const char *table_at(struct direct *db, int64_t i, bool partitions) {
  struct str name = direct_string(db, arena_printf(&memory,
                                                   "SELECT coalesce((SELECT c.relname" OF_TEAMS
                                                   " AND c.relispartition = %s ORDER BY 1 OFFSET %lld LIMIT 1), '')",
                                                   partitions ? "true" : "false", (long long)i)
                                          .p);
  return name.n ? arena_cstr(&memory, name) : NULL;
}

TEST(every_table_with_teams_has_row_level_security, .only = TEST_ON_POSTGRES) {
  struct direct *db = fresh();
  CHECK_INT(direct_number(db, "SELECT count(*)" OF_TEAMS " AND NOT (c.relrowsecurity AND c.relforcerowsecurity)"), 0);
  CHECK_INT(direct_number(db,
                          "SELECT count(*)" OF_TEAMS " AND NOT c.relispartition AND (SELECT count(*) FROM pg_policy p"
                          " WHERE p.polrelid = c.oid AND p.polcmd = '*') <> 1"),
            0);
  CHECK_INT(direct_number(db, "SELECT count(*)" OF_TEAMS " AND c.relkind = 'p'"), 9);
  /* row-level security applies to the role of the tests */
  CHECK_INT(
      direct_number(db, "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"),
      0);
  direct_close(db);
}

TEST(rows_of_another_team_are_not_seen, .only = TEST_ON_POSTGRES) {
  struct direct *db = fresh();
  const char *table;
  fill(db, "a");
  fill(db, "b");
  for (int64_t i = 0; (table = table_at(db, i, false)); i++) {
    direct_do(db, "SET cairn.team = '*'");
    if (count_in(db, table, "team = 'a'") == 0 || count_in(db, table, "team = 'b'") == 0)
      FAIL("the test has no row of table %s", table);
    direct_do(db, "SET cairn.team = 'a'");
    if (count_in(db, table, "true") != count_in(db, table, "team = 'a'"))
      FAIL("rows of another team are seen in table %s", table);
    direct_do(db, "RESET cairn.team");
    if (count_in(db, table, "true") != 0)
      FAIL("rows of table %s are seen without a team", table);
  }
  direct_do(db, "SET cairn.team = 'a'");
  for (int64_t i = 0; (table = table_at(db, i, true)); i++)
    if (count_in(db, table, "true") != 0)
      FAIL("rows of partition %s are seen past its table", table);
  direct_close(db);
}

TEST(rows_of_another_team_are_not_written, .only = TEST_ON_POSTGRES) {
  struct direct *db = fresh();
  const char *table;
  fill(db, "b");
  direct_do(db, "SET cairn.team = 'a'");
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    if (direct_try(db, for_team(rows[i].sql, "c")))
      FAIL("a row of another team was written to table %s", rows[i].table);
    if (!strstr(direct_error(db), "row-level security"))
      FAIL("table %s: %s", rows[i].table, direct_error(db));
  }
  for (int64_t i = 0; (table = table_at(db, i, false)); i++) {
    direct_do(db, "SET cairn.team = '*'");
    int64_t before = count_in(db, table, "team = 'b'");
    direct_do(db, "SET cairn.team = 'a'");
    direct_do(db, arena_printf(&memory, "UPDATE %s SET team = 'a' WHERE team = 'b'", table).p);
    direct_do(db, arena_printf(&memory, "DELETE FROM %s", table).p);
    direct_do(db, "SET cairn.team = '*'");
    CHECK_INT(count_in(db, table, "team = 'b'"), before);
  }
  direct_close(db);
}

/* ---- sums ---- */

static void check_terms(struct direct *db, const char *expected) {
  CHECK_STR(direct_string(db, "SELECT coalesce(string_agg(term || ' ' || n, ', ' ORDER BY team, term), '')"
                              " FROM term_count"),
            expected);
}

#define CHUNK(n)                                                                                                       \
  "INSERT INTO chunk (id, team, memory_id, seq, hash, headline, body, extra) VALUES (" #n ", 'a', 1, " #n              \
  ", '', '', '', '');"

TEST(words_and_vectors_are_counted, .only = TEST_ON_POSTGRES) {
  struct direct *db = fresh();
  direct_do(db, for_team(FACT(1), "a"));
  direct_do(db, CHUNK(1) CHUNK(2) CHUNK(3));
  direct_do(db, "INSERT INTO chunk_text (team, chunk_id, memory_id, words, tokens) VALUES"
                " ('a', 1, 1, 3, 'x:1 y:2,3'), ('a', 2, 1, 1, 'y:1'), ('a', 3, 1, 2, 'Z:1 y:2')");
  check_terms(db, "Z 1, x 1, y 3");
  CHECK_STR(direct_string(db, "SELECT n || ' ' || words FROM chunk_count WHERE team = 'a'"), "3 6");
  direct_do(db, "UPDATE chunk_text SET words = 2, tokens = 'x:1 w:2' WHERE team = 'a' AND chunk_id < 3");
  check_terms(db, "Z 1, w 2, x 2, y 1");
  CHECK_STR(direct_string(db, "SELECT n || ' ' || words FROM chunk_count WHERE team = 'a'"), "3 6");
  direct_do(db, "INSERT INTO vec (team, model, chunk_id, dims, v) SELECT 'a', 'm', id, 2, '[1,2]' FROM chunk");
  CHECK_INT(direct_number(db, "SELECT n FROM vec_count WHERE team = 'a' AND model = 'm'"), 3);
  direct_do(db, "DELETE FROM chunk WHERE team = 'a' AND id <> 2");
  check_terms(db, "w 1, x 1");
  CHECK_STR(direct_string(db, "SELECT n || ' ' || words FROM chunk_count WHERE team = 'a'"), "1 2");
  CHECK_INT(direct_number(db, "SELECT n FROM vec_count WHERE team = 'a' AND model = 'm'"), 1);
  direct_do(db, "DELETE FROM memory WHERE team = 'a' AND id = 1");
  check_terms(db, "");
  CHECK_INT(direct_number(db, "SELECT count(*) FROM vec_count"), 0);
  CHECK_STR(direct_string(db, "SELECT n || ' ' || words FROM chunk_count WHERE team = 'a'"), "0 0");
  direct_close(db);
}

TEST(vectors_have_their_declared_size, .only = TEST_ON_POSTGRES) {
  struct direct *db = fresh();
  fill(db, "a");
  CHECK(!direct_try(db, "INSERT INTO vec (team, model, chunk_id, dims, v) VALUES ('a', 'n', 1, 4, '[1,2,3]')"));
  CHECK(strstr(direct_error(db), "violates check constraint") != NULL);
  CHECK(!direct_try(db, "INSERT INTO vec (team, model, chunk_id, dims, v) VALUES ('a', 'n', 7, 3, '[1,2,3]')"));
  CHECK(strstr(direct_error(db), "violates foreign key constraint") != NULL);
  direct_close(db);
}

/* Values of key columns must fit into the index: PostgreSQL allows 2,700 bytes. */
TEST(long_texts_fit, .only = TEST_ON_POSTGRES) {
  struct direct *db = fresh();
  direct_do(db, for_team(FACT(1), "a"));
  direct_do(db, "INSERT INTO action_item (team, text, kind, source, created_at) SELECT 'a', string_agg("
                "chr((19968 + i * 37 % 20000)::int), ''), 'task', 'me', 1 FROM generate_series(1, 2000) i");
  CHECK(!direct_try(db,
                    "INSERT INTO action_item (team, text, kind, source, created_at) SELECT team, text, kind, source,"
                    " 2 FROM action_item"));
  CHECK(strstr(direct_error(db), "violates unique constraint") != NULL);
  direct_close(db);
}
