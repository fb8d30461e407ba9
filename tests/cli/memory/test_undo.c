/* test_undo.c: undo: every command that changes something, undo of undo, and what cannot be undone. */
#include "support/cli.h"

/* The visible state: each memory with its fields, labels, notes and links, and the settings. Excludes the log and the
 * row ids of labels, notes and links. */
static struct str visible_state(void) {
  static const char sql[] =
      "SELECT group_concat(line, '\n') FROM ("
      "SELECT m.id || '|' || m.uid || '|' || m.project || '|' || m.type || '|' || coalesce(m.severity, '') || '|' ||"
      " coalesce(m.key, '') || '|' || m.headline || '|' || m.delivery || '|' || m.weight || '|' || m.state || '|' ||"
      " coalesce(m.state_reason, '') || '|' || m.upvotes || '/' || m.downvotes || '|' ||"
      " coalesce(m.status || m.priority, '') || '|' || coalesce(m.claimed_by || m.claimed_at, '') || '|' || b.text"
      " AS line FROM memory m JOIN body b ON b.memory_id = m.id WHERE m.state <> 'forgotten'"
      " UNION ALL SELECT 'label ' || l.memory_id || ' ' || l.field || ' ' || l.value FROM label l"
      " JOIN memory m ON m.id = l.memory_id WHERE m.state <> 'forgotten'"
      " UNION ALL SELECT 'note ' || memory_id || ' ' || by || ' ' || text FROM annotation"
      " UNION ALL SELECT 'link ' || src || ' ' || rel || ' ' || dst || ' ' || coalesce(reason, '') FROM link"
      " UNION ALL SELECT 'setting ' || name || ' ' || value FROM setting ORDER BY line) x";
  return sql_string(sql);
}

/* Runs a command, undoes it, and undoes the undo. Checks that the same states come back. */
static void there_and_back(const char *file, int line, const char *const *args) {
  struct str before = visible_state();
  int64_t txn = jint(cli_ok(file, line, STR_NONE, args), "txn");
  struct str after = visible_state();
  if (str_eq(before, after))
    test_fail(file, line, "it changes nothing");
  yyjson_val *r = cli_ok(file, line, STR_NONE, ARGS("undo", num(txn)));
  test_check_int(file, line, "undone", jint(r, "undone"), txn);
  check_same(file, line, before, visible_state());
  int64_t undo = jint(r, "txn");
  if (undo <= txn)
    test_fail(file, line, "an undo is a transaction of its own");
  /* A second undo is refused. The fix names the undo to be undone. */
  yyjson_val *e = cli_refused(file, line, "conflict", STR_NONE, ARGS("undo", num(txn)));
  if (!has(jstr(e, "fix"), textf("cairn undo %s", num(undo))))
    test_fail(file, line, "the fix is %.*s", STR_ARG(jstr(e, "fix")));
  cli_ok(file, line, STR_NONE, ARGS("undo", num(undo)));
  check_same(file, line, after, visible_state());
  cli_healthy(file, line);
}
#define THERE_AND_BACK(...) there_and_back(__FILE__, __LINE__, ARGS(__VA_ARGS__))

TEST(remember) {
  STORE("Parsley grows in pots");
  THERE_AND_BACK("remember", "--key", "jam", "--tag", "food", "--kind", "rule", "Quince jam needs an hour");
  THERE_AND_BACK("remember", "--key", "jam", "--kind", "rule", "--reason", "better", "Jam is bought now");
  /* A contradiction creates a link. */
  STORE("The limit of uploads is 5 megabytes");
  THERE_AND_BACK("remember", "The limit of uploads is 50 megabytes");
}

TEST(remember_that_superseded) {
  STORE("The nightly backup of the customer database is copied to the second data centre");
  THERE_AND_BACK("remember",
                 "The nightly backup of the customer database is copied to the second data centre every night");
}

TEST(a_batch_is_undone_by_its_transaction) {
  STORE("Parsley grows in pots");
  struct str before = visible_state();
  struct run r = CAIRN_FED(STR("{\"text\":\"Quince jam needs an hour\"}\n{\"text\":\"Rosemary likes the sun\"}\n"),
                           "remember", "--batch", "-", "--json");
  struct json_lines l = lines_of(r.out);
  CHECK_INT(l.n, 2);
  CHECK_INT(jint(l.v[0], "txn"), jint(l.v[1], "txn"));
  OK("undo", num(jint(l.v[0], "txn")));
  check_same(__FILE__, __LINE__, before, visible_state());
}

TEST(capture) {
  STORE("Parsley grows in pots");
  struct str before = visible_state();
  yyjson_val *r =
      OK_FED(STR("The boat is painted green now.\n\nNever sail after dark without lights.\n"), "capture", "-");
  OK("undo", num(jint(r, "txn")));
  check_same(__FILE__, __LINE__, before, visible_state());
}

TEST(supersede) {
  int64_t id = STORE("--type", "guardrail", "--key", "herb", "--weight", "0.7", "Parsley grows in pots");
  OK("pin", num(id));
  THERE_AND_BACK("supersede", num(id), "--inherit-key", "--inherit-pin", "--reason", "repotted", "Raised beds now");
}

TEST(a_shadow) {
  int64_t id = STORE("Parsley grows in pots");
  THERE_AND_BACK("supersede", num(id), "--project", "a", "--reason", "repotted", "Everything is in raised beds");
  CHECK_INT(jpos(OK("list", "--project", "a"), "memories", id), -1);
}

TEST(unsupersede) {
  int64_t id = STORE("--kind", "rule", "--key", "herb", "Parsley grows in pots");
  OK("supersede", num(id), "--inherit-key", "--reason", "repotted", "Raised beds now");
  THERE_AND_BACK("unsupersede", num(id));
}

TEST(small_changes) {
  int64_t id = STORE("Parsley grows in pots"), other = STORE("Quince jam needs an hour");
  const char *n = num(id);
  THERE_AND_BACK("annotate", n, "On the balcony");
  THERE_AND_BACK("annotate", n, "--clear");
  THERE_AND_BACK("rate", n, "up");
  THERE_AND_BACK("rate", n, "down");
  THERE_AND_BACK("pin", n);
  THERE_AND_BACK("unpin", n);
  THERE_AND_BACK("link", n, "relates", num(other));
  THERE_AND_BACK("unlink", n, "relates", num(other));
  THERE_AND_BACK("config", "gate.mode", "strict");
  THERE_AND_BACK("config", "gate.mode", "assist");
  THERE_AND_BACK("config", "gate.mode", "--unset");
  THERE_AND_BACK("forget", n, num(other), "--reason", "eaten");
}

TEST(promote) {
  int64_t id = STORE("Parsley grows in pots");
  sql_do("UPDATE memory SET trust = 'import'");
  yyjson_val *r = OK("promote", num(id));
  CHECK_STR(jstr(r, "trust"), "user");
  OK("undo", num(jint(r, "txn")));
  CHECK_STR(sql_string("SELECT trust FROM memory"), "import");
}

TEST(tasks) {
  int64_t a = ADD_TASK("Dig a hole"), b = ADD_TASK("Plant a tree");
  THERE_AND_BACK("task", "add", "--priority", "high", "--blocked-by", num(a), "Water everything");
  THERE_AND_BACK("task", "claim", num(a), "--by", "alice");
  THERE_AND_BACK("task", "claim", num(a), "--release");
  THERE_AND_BACK("task", "status", num(a), "done");
  THERE_AND_BACK("task", "block", num(b), num(a));
  THERE_AND_BACK("task", "unblock", num(b), num(a));
}

TEST(maintenance) {
  STORE_AS_AGENT("Parsley grows in pots");
  STORE("--ttl", "1d", "Rosemary is cheap today");
  STORE_AS_AGENT("--kind", "incident", "A pot fell from the balcony");
  ADD_TASK("Sharpen the kitchen knives");
  OK("maintain"); /* runs the suspect check, which cannot be undone */
  cli_day(100);
  THERE_AND_BACK("maintain");
}

TEST(prune) {
  STORE("--key", "herb", "--tag", "garden", "Parsley grows in pots");
  int64_t other = STORE("--type", "decision", "Quince jam needs an hour");
  OK("annotate", "1", "On the balcony");
  OK("link", num(other), "relates", "1");
  OK("pin", num(other));
  cli_day(100);
  struct str before = visible_state();
  yyjson_val *r = OK("prune", "--apply");
  CHECK_INT(jlen(r, "pruned"), 1);
  r = OK("undo", num(jint(r, "txn")));
  check_same(__FILE__, __LINE__, before, visible_state());
  OK("undo", num(jint(r, "txn"))); /* hidden again */
  CHECK_INT(jpos(OK("list"), "memories", 1), -1);
  CHECK_HEALTHY();
}

TEST(a_revival_can_be_undone) {
  int64_t id = STORE_AS_AGENT("Parsley grows in pots");
  cli_day(30);
  OK("maintain");
  int64_t seq = last_seq();
  OK("get", num(id));
  struct json_lines events = events_since(seq);
  int64_t txn = 0;
  for (size_t i = 0; i < events.n; i++)
    txn = json_int(events.v[i], "txn", txn);
  CHECK(txn > 0);
  OK("undo", num(txn));
  CHECK_STR(memory_state(id), "faded");
}

/* ---- what cannot be undone ---- */

TEST(a_transaction_that_does_not_exist) {
  STORE("Parsley grows in pots");
  REFUSED("not_found", "undo", "99");
  REFUSED("not_found", "undo", "0");
  REFUSED("not_found", "undo", "-1");
  REFUSED("usage", "undo", "first");
}

TEST(a_later_change_is_a_conflict) {
  int64_t id = STORE("Parsley grows in pots");
  int64_t rated = jint(OK("rate", num(id), "up"), "txn");
  OK("rate", num(id), "up");
  yyjson_val *e = REFUSED("conflict", "undo", num(rated));
  CHECK(has(jstr(e, "message"), num(id)));
  int64_t stored = sql_number("SELECT min(id) FROM txn");
  OK("supersede", num(id), "--reason", "repotted", "Raised beds now");
  REFUSED("conflict", "undo", num(stored));
}

/* The count of notes is the same as after the transaction, but the notes differ. */
TEST(a_note_that_replaced_another_is_a_conflict) {
  int64_t id = STORE("Parsley grows in pots");
  int64_t txn = jint(OK("annotate", num(id), "On the balcony"), "txn");
  OK("annotate", num(id), "--clear");
  OK("annotate", num(id), "--source", "bob", "In the kitchen");
  yyjson_val *e = REFUSED("conflict", "undo", num(txn));
  CHECK(has(jstr(e, "message"), "notes"));
  CHECK_STR(sql_string("SELECT text FROM annotation"), "In the kitchen");
  /* The same text by another author or at another time is a different note. */
  OK("annotate", num(id), "--clear");
  OK("annotate", num(id), "--source", "bob", "On the balcony");
  REFUSED("conflict", "undo", num(txn));
  CHECK_INT(sql_number("SELECT count(*) FROM annotation"), 1);
}

TEST(an_undo_is_all_or_nothing) {
  int64_t a = STORE("Parsley grows in pots"), b = STORE("Quince jam needs an hour");
  int64_t txn = jint(OK("forget", num(a), num(b), "--reason", "eaten"), "txn");
  sql_do("UPDATE memory SET state = 'active', state_reason = NULL, state_at = NULL WHERE id = 1");
  OK("forget", num(a), "--reason", "again"); /* the reason differs now */
  REFUSED("conflict", "undo", num(txn));
  CHECK_STR(memory_state(b), "forgotten");
}

TEST(a_read_in_between_is_not_a_conflict) {
  int64_t id = STORE("Parsley grows in pots");
  int64_t txn = jint(OK("rate", num(id), "up"), "txn");
  OK("get", num(id));
  OK("get", num(id));
  OK("undo", num(txn));
  CHECK_INT(sql_number("SELECT upvotes FROM memory"), 0);
  CHECK_INT(sql_number("SELECT access_count FROM memory"), 2);
}

TEST(a_purge_cannot_be_undone) {
  int64_t id = STORE("Parsley grows in pots");
  int64_t rated = jint(OK("rate", num(id), "up"), "txn");
  int64_t purged = jint(OK("purge", num(id), "--confirm"), "txn");
  REFUSED("conflict", "undo", num(purged));
  REFUSED("conflict", "undo", num(rated));
  REFUSED("conflict", "undo", "1");
  CHECK_HEALTHY();
}

TEST(an_agent_does_not_undo_what_a_person_has_stated_since) {
  int64_t id = STORE_AS_AGENT("Parsley grows in pots");
  OK("remember", "--weight", "0.9", "Parsley grows in pots");
  cli_set("CAIRN_AGENT=bot");
  REFUSED("conflict", "undo", "1");
  cli_set("CAIRN_AGENT");
  CHECK_STR(jstr(OK("get", num(id)), "state"), "active");
  OK("undo", "1");
  CHECK_STR(jstr(OK("get", num(id)), "state"), "forgotten");
}

TEST(undo_when_the_key_was_taken_by_another) {
  int64_t id = STORE("--key", "herb", "Parsley grows in pots");
  int64_t txn = jint(OK("forget", num(id), "--reason", "eaten"), "txn");
  STORE("--key", "herb", "Only thyme is left");
  yyjson_val *e = REFUSED("conflict", "undo", num(txn));
  CHECK(has(jstr(e, "message"), "herb"));
}

TEST(a_skipped_write_has_nothing_to_undo) {
  STORE("Parsley grows in pots");
  struct str before = visible_state();
  yyjson_val *r = OK("remember", "Parsley grows in pots");
  CHECK_STR(jstr(r, "action"), "skipped");
  r = OK("undo", num(jint(r, "txn")));
  CHECK_INT(jint(r, "changes"), 0);
  check_same(__FILE__, __LINE__, before, visible_state());
}

/* Undoing an import with chains retires every memory of them. */
TEST(an_import_with_a_chain_is_undone) {
  int64_t id = STORE("--key", "port", "The proxy listens on port 8443");
  OK("supersede", num(id), "The proxy listens on port 9443", "--reason", "moved", "--inherit-key");
  const char *file = path_join(NULL, "all.jsonl"), *other = test_store("other.db");
  OK("export", file);
  struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", other, "import", file, "--json"));
  CHECK_INT(r.exit_code, 0);
  CHECK(str_find(r.out, STR("\"imported\":2"), 0) != SIZE_MAX);
  r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", other, "undo", "1", "--json"));
  CHECK_INT(r.exit_code, 0);
  r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", other, "list", "--all-projects", "--json"));
  CHECK(str_find(r.out, STR("\"total\":0"), 0) != SIZE_MAX);
  r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", other, "list", "--all-projects", "--state", "forgotten", "--json"));
  CHECK(str_find(r.out, STR("\"total\":2"), 0) != SIZE_MAX);
  r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", other, "doctor", "--json"));
  CHECK_INT(r.exit_code, 0);
}
