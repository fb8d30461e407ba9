/* test_schema.c: constraints of the schema, tested by direct SQL on a store that the program created. */
#include "store/store.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct direct *fresh(void) {
  const char *path = test_store("schema.db");
  struct store_options o = {.path = path, .now = 1000};
  struct store *st = NULL;
  struct error err;
  CHECK_OK(store_open(&o, &st, &err), &err);
  store_close(&st);
  return direct_open(path);
}

static void accepts(struct direct *db, const char *sql) {
  if (!direct_try(db, sql))
    FAIL("refused, but should be accepted: %s\n%s", direct_error(db), sql);
}

/* The statement fails with an SQLite message that contains `because`. */
static void refuses(struct direct *db, const char *sql, const char *because) {
  static const char *const words[][2] = {{"CHECK", "violates check constraint"},
                                         {"FOREIGN KEY", "violates foreign key constraint"},
                                         {"UNIQUE", "violates unique constraint"},
                                         {"NOT NULL", "violates not-null constraint"}};
  if (direct_try(db, sql))
    FAIL("accepted, but should be refused: %s", sql);
  for (size_t i = 0; i < ARRAY_LEN(words) && on_postgres(); i++)
    if (strcmp(because, words[i][0]) == 0)
      because = words[i][1];
  if (!strstr(direct_error(db), because))
    FAIL("refused with '%s', expected '%s': %s", direct_error(db), because, sql);
}

#define UID(n) "'00000000-0000-7000-8000-00000000000" #n "'"
#define FACT(n, more, values)                                                                                          \
  "INSERT INTO memory (id, uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source" more    \
  ") VALUES (" #n ", " UID(n) ", 'default', 'fact', 'fact', 'A headline', 'user', 1, 1, 1, 'test'" values ")"
#define RULE(n, more, values)                                                                                          \
  "INSERT INTO memory (id, uid, team, kind, type, severity, headline, trust, valid_from, created_at, updated_at,"      \
  " source" more ") VALUES (" #n                                                                                       \
  ", " UID(n) ", 'default', 'rule', 'rule', 'pattern', 'A headline', 'user', 1, 1, 1, 'test'" values ")"
#define TASK(n)                                                                                                        \
  "INSERT INTO memory (id, uid, team, kind, type, status, priority, headline, trust, valid_from, created_at,"          \
  " updated_at, source) VALUES (" #n                                                                                   \
  ", " UID(n) ", 'default', 'task', 'task', 'open', 'medium', 'A task', 'user', 1, 1, 1, 'test')"
#define LINK(src, rel, dst)                                                                                            \
  "INSERT INTO link (team, src, rel, dst, at) VALUES ('default', " #src ", '" rel "', " #dst ", 1)"

TEST(plain_rows_are_accepted) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, RULE(2, "", ""));
  accepts(db, TASK(3));
  direct_close(db);
}

TEST(enumerations) {
  struct direct *db = fresh();
  refuses(db, FACT(1, ", state", ", 'gone'"), "CHECK");
  refuses(db, FACT(1, ", delivery", ", 'sometimes'"), "CHECK");
  refuses(db, FACT(1, ", confidence", ", 'certain'"), "CHECK");
  refuses(db,
          "INSERT INTO memory (uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source)"
          " VALUES (" UID(1) ", 'default', 'idea', 'idea', 'h', 'user', 1, 1, 1, 't')",
          "CHECK");
  refuses(db,
          "INSERT INTO memory (uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source)"
          " VALUES (" UID(1) ", 'default', 'fact', 'fact', 'h', 'stranger', 1, 1, 1, 't')",
          "CHECK");
  direct_close(db);
}

TEST(type_belongs_to_its_kind) {
  struct direct *db = fresh();
  refuses(db,
          "INSERT INTO memory (uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source)"
          " VALUES (" UID(1) ", 'default', 'fact', 'lesson', 'h', 'user', 1, 1, 1, 't')",
          "FOREIGN KEY");
  refuses(db,
          "INSERT INTO memory (uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source)"
          " VALUES (" UID(1) ", 'default', 'fact', 'nonsense', 'h', 'user', 1, 1, 1, 't')",
          "FOREIGN KEY");
  direct_close(db);
}

TEST(severity_is_for_rules) {
  struct direct *db = fresh();
  refuses(db, FACT(1, ", severity", ", 'blocker'"), "CHECK");
  refuses(db,
          "INSERT INTO memory (uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source)"
          " VALUES (" UID(1) ", 'default', 'rule', 'rule', 'h', 'user', 1, 1, 1, 't')",
          "CHECK");
  accepts(db, RULE(2, "", ""));
  refuses(db, "UPDATE memory SET severity = 'urgent' WHERE id = 2", "CHECK");
  refuses(db, "UPDATE memory SET severity = 'deprecated' WHERE id = 2", "CHECK");
  accepts(db, "UPDATE memory SET severity = 'deprecated', state = 'superseded', state_reason = 'x', state_at = 2"
              " WHERE id = 2");
  direct_close(db);
}

TEST(weights_and_counters) {
  struct direct *db = fresh();
  refuses(db, FACT(1, ", weight", ", 0"), "CHECK");
  refuses(db, FACT(1, ", weight", ", 0.05"), "CHECK");
  refuses(db, FACT(1, ", weight", ", 2"), "CHECK");
  refuses(db, FACT(1, ", upvotes", ", -1"), "CHECK");
  accepts(db, FACT(1, ", weight", ", 0.1"));
  accepts(db, FACT(2, ", weight", ", 1.0"));
  direct_close(db);
}

TEST(headline_has_at_most_15_words) {
  struct direct *db = fresh();
#define HEADLINE(n, words)                                                                                             \
  "INSERT INTO memory (id, uid, team, kind, type, headline, trust, valid_from, created_at, updated_at, source)"        \
  " VALUES (" #n ", " UID(n) ", 'default', 'fact', 'fact', '" words "', 'user', 1, 1, 1, 't')"
  accepts(db, HEADLINE(1, "a b c d e f g h i j k l m n o"));
  refuses(db, HEADLINE(2, "a b c d e f g h i j k l m n o p"), "CHECK");
  refuses(db, HEADLINE(3, "   "), "CHECK");
  direct_close(db);
}

TEST(an_inactive_memory_says_why) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  refuses(db, "UPDATE memory SET state = 'forgotten' WHERE id = 1", "CHECK");
  refuses(db, "UPDATE memory SET state = 'forgotten', state_reason = 'x' WHERE id = 1", "CHECK");
  accepts(db, "UPDATE memory SET state = 'forgotten', state_reason = 'x', state_at = 5 WHERE id = 1");
  direct_close(db);
}

TEST(one_active_memory_for_a_key) {
  struct direct *db = fresh();
  accepts(db, FACT(1, ", key", ", 'auth'"));
  refuses(db, FACT(2, ", key", ", 'auth'"), "UNIQUE");
  accepts(db, FACT(3, ", key, project", ", 'auth', 'other'"));
  accepts(db, "UPDATE memory SET state = 'forgotten', state_reason = 'x', state_at = 5 WHERE id = 1");
  accepts(db, FACT(2, ", key", ", 'auth'"));
  refuses(db, "UPDATE memory SET state = 'active', state_reason = NULL, state_at = NULL WHERE id = 1", "UNIQUE");
  direct_close(db);
}

TEST(one_active_skill_for_a_name) {
  struct direct *db = fresh();
  accepts(db, RULE(1, ", skill_name, delivery", ", 'release', 'skill'"));
  refuses(db, RULE(2, ", skill_name, delivery", ", 'release', 'skill'"), "UNIQUE");
  refuses(db, RULE(3, ", delivery", ", 'skill'"), "CHECK");
  direct_close(db);
}

TEST(fixed_fields_never_change) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, "INSERT INTO body (memory_id, team, text, hash) VALUES (1, 'default', 'the text',"
              " '0000000000000000000000000000000000000000000000000000000000000000')");
  refuses(db, "UPDATE body SET text = 'another text'", "never changed in place");
  refuses(db, "UPDATE memory SET headline = 'Another'", "never changed in place");
  refuses(db, "UPDATE memory SET kind = 'rule', severity = 'pattern', type = 'rule'", "never changed in place");
  refuses(db, "UPDATE memory SET created_at = 7", "never changed in place");
  refuses(db, "UPDATE memory SET team = 'other'", "never changed in place");
  refuses(db, "UPDATE memory SET key = 'k'", "never changed in place");
  refuses(db, "UPDATE memory SET uid = " UID(2), "never changed in place");
  accepts(db, "UPDATE memory SET upvotes = 1");
  direct_close(db);
}

TEST(bodies_hold_text) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
#define HASH "'0000000000000000000000000000000000000000000000000000000000000000'"
  refuses(db, "INSERT INTO body (memory_id, team, text, hash) VALUES (1, 'default', '  ', " HASH ")", "CHECK");
  if (on_postgres()) /* has no such character */
    refuses(db, "INSERT INTO body (memory_id, team, text, hash) VALUES (1, 'default', 'a' || chr(0), " HASH ")", "");
  else
    refuses(db, "INSERT INTO body (memory_id, team, text, hash) VALUES (1, 'default', 'a' || char(0), " HASH ")",
            "CHECK");
  if (!on_postgres()) /* SQLite accepts any bytes as text */
    refuses(db, "INSERT INTO body (memory_id, team, text, hash) VALUES (1, 'default', x'00', " HASH ")", "");
  refuses(db, "INSERT INTO body (memory_id, team, text, hash) VALUES (9, 'default', 'text', " HASH ")", "FOREIGN KEY");
  direct_close(db);
}

TEST(superseding_has_no_cycle_and_one_successor) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, FACT(2, "", ""));
  accepts(db, FACT(3, "", ""));
  refuses(db, LINK(1, "supersedes", 1), "cycle");
  refuses(db, LINK(1, "relates", 1), "CHECK");
  accepts(db, LINK(2, "supersedes", 1));
  accepts(db, LINK(3, "supersedes", 2));
  refuses(db, LINK(1, "supersedes", 3), "cycle");
  refuses(db, LINK(3, "supersedes", 1), "UNIQUE");
  refuses(db, "UPDATE link SET dst = 3", "never changed");
  refuses(db, LINK(1, "improves", 3), "CHECK");
  direct_close(db);
}

TEST(nothing_revives_a_superseded_memory) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, FACT(2, "", ""));
  accepts(db, LINK(2, "supersedes", 1));
  accepts(db, "UPDATE memory SET state = 'superseded', state_reason = 'x', state_at = 5 WHERE id = 1");
  refuses(db, "UPDATE memory SET state = 'active', state_reason = NULL, state_at = NULL WHERE id = 1", "superseded");
  refuses(db, "UPDATE memory SET state = 'faded' WHERE id = 1", "superseded");
  accepts(db, "UPDATE memory SET state = 'forgotten' WHERE id = 1");
  refuses(db, "UPDATE memory SET state = 'active', state_reason = NULL, state_at = NULL WHERE id = 1", "superseded");
  accepts(db, "DELETE FROM link");
  accepts(db, "UPDATE memory SET state = 'active', state_reason = NULL, state_at = NULL WHERE id = 1");
  direct_close(db);
}

TEST(tasks_block_tasks_without_cycles) {
  struct direct *db = fresh();
  accepts(db, TASK(1));
  accepts(db, TASK(2));
  accepts(db, TASK(3));
  accepts(db, FACT(4, "", ""));
  accepts(db, LINK(1, "blocked_by", 2));
  accepts(db, LINK(2, "blocked_by", 3));
  refuses(db, LINK(3, "blocked_by", 1), "cycle");
  refuses(db, LINK(4, "blocked_by", 1), "only a task");
  refuses(db, LINK(1, "blocked_by", 4), "only a task");
  refuses(db, FACT(5, ", status", ", 'open'"), "CHECK");
  refuses(db, FACT(5, ", milestone", ", 'm'"), "CHECK");
  refuses(db, "UPDATE memory SET claimed_by = 'me' WHERE id = 1", "CHECK");
  direct_close(db);
}

TEST(shadows_go_from_a_project_to_a_global_memory) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, FACT(2, ", project", ", 'p'"));
  accepts(db, LINK(2, "shadows", 1));
  refuses(db, LINK(1, "shadows", 2), "only a memory of a project");
  direct_close(db);
}

TEST(links_stay_within_a_team) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, "INSERT INTO memory (id, uid, team, kind, type, headline, trust, valid_from, created_at, updated_at,"
              " source) VALUES (2, " UID(2) ", 'other', 'fact', 'fact', 'h', 'user', 1, 1, 1, 't')");
  refuses(db, LINK(1, "relates", 2), "FOREIGN KEY");
  refuses(db, "INSERT INTO label (team, memory_id, field, pos, value) VALUES ('default', 2, 'tags', 0, 'x')",
          "FOREIGN KEY");
  refuses(db,
          "INSERT INTO memory (id, uid, team, kind, type, headline, trust, valid_from, created_at, updated_at,"
          " source) VALUES (3, " UID(3) ", 'Not A Slug', 'fact', 'fact', 'h', 'user', 1, 1, 1, 't')",
          "CHECK");
  direct_close(db);
}

TEST(the_log_is_append_only) {
  struct direct *db = fresh();
  accepts(db, "INSERT INTO txn (id, uid, team, at, op, source) VALUES (1, 'u', 'default', 1, 'remember', 't')");
  accepts(db, "INSERT INTO event (team, txn, at, action, change, op, memory_id, project, source, after)"
              " VALUES ('default', 1, 1, 'memory:write', 'insert', 'remember', 1, '', 't', '{}')");
  refuses(db, "DELETE FROM event", "append-only");
  refuses(db, "UPDATE event SET after = '{\"x\":1}'", "append-only");
  refuses(db, "UPDATE event SET after = NULL, purged = 1, source = 'me'", "append-only");
  accepts(db, "UPDATE event SET before = NULL, after = NULL, detail = NULL, purged = 1");
  refuses(db, "DELETE FROM txn", "append-only");
  refuses(db, "UPDATE txn SET op = 'x'", "append-only");
  refuses(db,
          "INSERT INTO event (team, at, action, change, op, project, source)"
          " VALUES ('default', 1, 'memory:write', 'insert', 'remember', '', 't')",
          "CHECK");
  direct_close(db);
}

TEST(a_tombstone_keeps_its_memory_out) {
  struct direct *db = fresh();
  accepts(db, "INSERT INTO tombstone (team, uid, at, by) VALUES ('default', " UID(1) ", 1, 't')");
  refuses(db, FACT(1, "", ""), "purged");
  accepts(db, FACT(2, "", ""));
  direct_close(db);
}

TEST(a_transaction_is_undone_once) {
  struct direct *db = fresh();
  accepts(db, "INSERT INTO txn (id, uid, team, at, op, source) VALUES (1, 'a', 'default', 1, 'remember', 't')");
  accepts(db, "INSERT INTO txn (id, uid, team, at, op, source, undoes) VALUES (2, 'b', 'default', 1, 'undo', 't', 1)");
  refuses(db, "INSERT INTO txn (id, uid, team, at, op, source, undoes) VALUES (3, 'c', 'default', 1, 'undo', 't', 1)",
          "UNIQUE");
  direct_close(db);
}

/* SQLite's triggers keep the full-text index in step with its table. */
TEST(full_text_follows_chunks, .only = TEST_ON_SQLITE) {
  struct direct *db = fresh();
  accepts(db, FACT(1, "", ""));
  accepts(db, "INSERT INTO chunk (id, team, memory_id, seq, hash, headline, body, extra)"
              " VALUES (1, 'default', 1, 0, 'h', 'zebra', 'giraffe', 'okapi')");
  accepts(db, "UPDATE chunk SET extra = 'tapir' WHERE id = 1");
  accepts(db, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)");
  accepts(db, "DELETE FROM memory WHERE id = 1");
  accepts(db, "INSERT INTO chunk_fts (chunk_fts, rank) VALUES ('integrity-check', 1)");
  CHECK_INT(direct_number(db, "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH 'zebra OR tapir'"), 0);
  direct_close(db);
}
