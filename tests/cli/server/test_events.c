/* test_events.c: the event log: every mutation with before and after, reads and searches, a resumable sequence, and a
 * feed that other processes can follow. */
#include <signal.h>

#include "support/cli.h"

/* The only event with this action. */
static yyjson_val *only(const struct json_lines *events, const char *action) {
  yyjson_val *found = NULL;
  for (size_t i = 0; i < events->n; i++)
    if (str_is(json_str(events->v[i], "action"), action)) {
      if (found)
        FAIL("two events %s", action);
      found = events->v[i];
    }
  if (!found)
    FAIL("no event %s among %zu", action, events->n);
  return found;
}

static void check_who(yyjson_val *e, const char *op, int64_t txn, int64_t id) {
  CHECK_STR(jstr(e, "op"), op);
  CHECK_INT(jint(e, "txn"), txn);
  CHECK_INT(jint(e, "id"), id);
  CHECK_STR(jstr(e, "source"), "tester");
  CHECK_STR(jstr(e, "session"), "s-1");
  CHECK_STR(jstr(e, "at"), cli_time(0));
}

static void begin(void) {
  cli_set("CAIRN_SOURCE=tester");
  cli_set("CAIRN_SESSION=s-1");
}

TEST(a_write_is_logged_with_its_content) {
  begin();
  yyjson_val *r = OK("remember", "--project", "p", "--key", "herb", "--tag", "garden", "Parsley grows in pots");
  struct json_lines events = events_since(0);
  CHECK_INT(events.n, 1);
  yyjson_val *e = only(&events, "memory:write");
  check_who(e, "remember", jint(r, "txn"), jint(r, "id"));
  CHECK_STR(jstr(e, "change"), "insert");
  CHECK_STR(jstr(e, "uid"), cstr(jstr(r, "uid")));
  CHECK_STR(jstr(e, "project"), "p");
  CHECK(!jget(e, "before"));
  CHECK_STR(jstr(e, "after.headline"), "Parsley grows in pots");
  CHECK_STR(jstr(e, "after.key"), "herb");
  CHECK_STR(jstr(e, "after.tags[0]"), "garden");
  CHECK_STR(jstr(e, "after.state"), "active");
  CHECK_INT(jint(e, "after.body_bytes"), 21);
  /* Members have the names that the specification gives them. */
  CHECK_STR(jstr(e, "detail.type"), cstr(jstr(OK("get", num(jint(r, "id"))), "type")));
  CHECK_STR(jstr(e, "detail.path"), textf("cairn://memory/%s", cstr(jstr(r, "uid"))));
  CHECK_INT(jint(e, "detail.delta"), 21);
}

TEST(superseding_is_logged) {
  begin();
  int64_t old = STORE("--type", "guardrail", "Parsley grows in pots"), seq = last_seq();
  yyjson_val *r = OK("supersede", num(old), "--reason", "repotted", "Everything moved into raised beds");
  int64_t txn = jint(r, "txn");
  struct json_lines events = events_since(seq);
  yyjson_val *e = only(&events, "memory:supersede");
  check_who(e, "supersede", txn, old);
  CHECK_STR(jstr(e, "before.state"), "active");
  CHECK_STR(jstr(e, "after.state"), "superseded");
  CHECK_STR(jstr(e, "after.state_reason"), "repotted");
  CHECK_NEAR(jnum(e, "before.weight"), 1.0, 1e-9);
  CHECK_NEAR(jnum(e, "after.weight"), 0.1, 1e-9);
  CHECK_STR(jstr(e, "before.severity"), "blocker");
  CHECK_STR(jstr(e, "after.severity"), "deprecated");
  check_who(only(&events, "memory:write"), "supersede", txn, jint(r, "id"));
  e = only(&events, "memory:link");
  check_who(e, "supersede", txn, jint(r, "id"));
  CHECK_STR(jstr(e, "after.rel"), "supersedes");
  CHECK_STR(jstr(e, "after.reason"), "repotted");
  seq = last_seq();
  r = OK("unsupersede", num(old));
  events = events_since(seq);
  e = only(&events, "memory:unsupersede");
  CHECK_STR(jstr(e, "before.state"), "superseded");
  CHECK_STR(jstr(e, "after.state"), "active");
  CHECK_STR(jstr(e, "after.severity"), "blocker");
  CHECK_STR(jstr(only(&events, "memory:unlink"), "before.rel"), "supersedes");
  CHECK_STR(jstr(only(&events, "memory:forget"), "after.state"), "forgotten");
}

/* Runs a command and returns its only event, which has the transaction and "before" or "after". */
static yyjson_val *event_of(const char *action, const char *const *args) {
  int64_t seq = last_seq();
  yyjson_val *r = cli_ok(__FILE__, __LINE__, STR_NONE, args);
  struct json_lines events = events_since(seq);
  yyjson_val *e = only(&events, action);
  CHECK_INT(jint(e, "txn"), jint(r, "txn"));
  CHECK(jget(e, "before") || jget(e, "after"));
  return e;
}

TEST(small_changes_are_logged_with_before_and_after) {
  begin();
  int64_t id = STORE("Parsley grows in pots"), other = STORE("Quince jam needs an hour");
  const char *n = num(id);
  yyjson_val *e = event_of("memory:rate", ARGS("rate", n, "up"));
  CHECK(jint(e, "before.upvotes") == 0 && jint(e, "after.upvotes") == 1);
  e = event_of("memory:pin", ARGS("pin", n));
  CHECK_STR(jstr(e, "before.delivery"), "on_demand");
  CHECK_STR(jstr(e, "after.delivery"), "pinned");
  e = event_of("memory:unpin", ARGS("unpin", n));
  CHECK_STR(jstr(e, "after.delivery"), "on_demand");
  e = event_of("memory:annotate", ARGS("annotate", n, "On the balcony"));
  CHECK_STR(jstr(e, "after.annotations[0].text"), "On the balcony");
  CHECK_STR(jstr(e, "source"), "tester"); /* the source is never empty */
  e = event_of("memory:annotate", ARGS("annotate", n, "--clear"));
  CHECK_STR(jstr(e, "before.annotations[0].text"), "On the balcony");
  e = event_of("memory:link", ARGS("link", n, "relates", num(other)));
  CHECK_STR(jstr(e, "after.rel"), "relates");
  e = event_of("memory:unlink", ARGS("unlink", n, "relates", num(other)));
  CHECK_STR(jstr(e, "before.rel"), "relates");
  e = event_of("config:set", ARGS("config", "gate.mode", "strict"));
  CHECK_STR(jstr(e, "after.value"), "strict");
  e = event_of("memory:forget", ARGS("forget", n, "--reason", "eaten"));
  CHECK_STR(jstr(e, "before.state"), "active");
  CHECK_STR(jstr(e, "after.state"), "forgotten");
  CHECK_STR(jstr(e, "after.state_reason"), "eaten");
}

TEST(tasks_are_logged) {
  begin();
  int64_t a = ADD_TASK("Dig a hole"), b = ADD_TASK("Plant a tree");
  yyjson_val *e = event_of("task:claim", ARGS("task", "claim", num(a), "--by", "alice"));
  CHECK(yyjson_is_null(jget(e, "before.claimed_by")));
  CHECK_STR(jstr(e, "after.claimed_by"), "alice");
  e = event_of("task:release", ARGS("task", "claim", num(a), "--release"));
  CHECK_STR(jstr(e, "before.claimed_by"), "alice");
  e = event_of("task:status", ARGS("task", "status", num(a), "done"));
  CHECK_STR(jstr(e, "before.status"), "open");
  CHECK_STR(jstr(e, "after.status"), "done");
  e = event_of("memory:link", ARGS("task", "block", num(b), num(a)));
  CHECK_STR(jstr(e, "after.rel"), "blocked_by");
  e = event_of("memory:unlink", ARGS("task", "unblock", num(b), num(a)));
  CHECK_STR(jstr(e, "before.rel"), "blocked_by");
}

TEST(removals_are_logged) {
  begin();
  int64_t gone = STORE("--tag", "garden", "Parsley grows in pots"), purged = STORE("Quince jam needs an hour");
  OK("annotate", num(gone), "On the balcony");
  OK("pin", num(purged)); /* protects it from prune */
  cli_day(100);
  int64_t seq = last_seq();
  yyjson_val *r = OK("prune", "--apply");
  struct json_lines events = events_since(seq);
  yyjson_val *e = only(&events, "memory:prune");
  CHECK_INT(jint(e, "txn"), jint(r, "txn"));
  CHECK_STR(jstr(e, "change"), "delete"); /* the whole record, enough to restore it */
  CHECK_STR(jstr(e, "before.body"), "Parsley grows in pots");
  CHECK_STR(jstr(e, "before.tags[0]"), "garden");
  CHECK_STR(jstr(e, "before.annotations[0].text"), "On the balcony");
  OK("purge", num(purged), "--confirm");
  events = events_since(0);
  e = only(&events, "memory:purge");
  CHECK_INT(jint(e, "id"), purged);
  CHECK(!jget(e, "before") && !jget(e, "after"));
  for (size_t i = 0; i < events.n; i++) /* its other events stay, without their text */
    if (json_int(events.v[i], "id", 0) == purged)
      CHECK(!jget(events.v[i], "before") && !jget(events.v[i], "after") && !jget(events.v[i], "detail"));
}

TEST(an_undo_is_logged) {
  begin();
  int64_t id = STORE("Parsley grows in pots");
  yyjson_val *r = OK("rate", num(id), "up");
  yyjson_val *e = event_of("memory:undo", ARGS("undo", num(jint(r, "txn"))));
  CHECK(jint(e, "before.upvotes") == 1 && jint(e, "after.upvotes") == 0);
}

TEST(a_refused_write_is_not_logged) {
  STORE("Parsley grows in pots");
  int64_t seq = last_seq();
  REFUSED("refused", "remember", "--weight", "7", "Something else");
  CHECK_INT(events_since(seq).n, 0);
}

/* ---- reads ---- */

TEST(reads_and_searches_are_flushed_at_exit) {
  begin();
  int64_t id = STORE("Parsley grows in pots"), seq = last_seq();
  OK("get", num(id));
  OK("search", "parsley");
  struct json_lines events = events_since(seq);
  CHECK_INT(events.n, 2);
  yyjson_val *e = only(&events, "memory:read");
  CHECK_INT(jint(e, "id"), id);
  CHECK_STR(jstr(e, "op"), "get");
  CHECK_STR(jstr(e, "source"), "tester");
  CHECK_STR(jstr(e, "detail.path"), textf("cairn://memory/%s", cstr(jstr(e, "uid"))));
  CHECK_INT(jint(e, "detail.size"), 21);
  CHECK(jstr(e, "detail.type").n > 0);
  CHECK(!jget(e, "txn"));
  e = only(&events, "memory:search");
  CHECK_STR(jstr(e, "detail.query"), "parsley");
  CHECK_INT(jint(e, "detail.results[0]"), id);
}

TEST(results_with_several_memories_are_one_read) {
  int64_t id = STORE("--type", "guardrail", "Parsley grows in pots");
  static const struct {
    const char *op, *path, *ids; /* `results` count as used */
  } reads[] = {{"list", "cairn://list/", "detail.ids[0]"},
               {"boot", "cairn://boot/", "detail.results[0]"},
               {"history", "cairn://history/", "detail.ids[0]"},
               {"page", "cairn://page/", NULL}};
  for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
    test_note("%s", reads[i].op);
    int64_t seq = last_seq();
    OK(reads[i].op, strcmp(reads[i].op, "history") == 0 ? num(id) : "--quiet");
    struct json_lines events = events_since(seq);
    CHECK_INT(events.n, 1);
    yyjson_val *e = only(&events, "memory:read");
    CHECK_STR(jstr(e, "op"), reads[i].op);
    CHECK(str_starts(jstr(e, "detail.path"), str_from(reads[i].path)));
    CHECK(jint(e, "detail.size") > 0);
    if (reads[i].ids)
      CHECK_INT(jint(e, reads[i].ids), id);
  }
}

TEST(every_read_of_stored_texts_is_recorded) {
  int64_t id = STORE("Parsley grows in pots");
  OK("annotate", num(id), "only in summer");
  OK("task", "add", "Repot the parsley");
  OK("vault", "set", "pot", "blue");
  OK("session", "handoff", "The pots are half empty");
  static const struct {
    const char *words[3], *path;
  } reads[] = {
      {{"task", "list"}, "cairn://task-list/"},
      {{"task", "ready"}, "cairn://task-ready/"},
      {{"action", "list"}, "cairn://action-list/"},
      {{"skill", "list"}, "cairn://skill-list/"},
      {{"repeats"}, "cairn://repeats/"},
      {{"graph", "read"}, "cairn://graph-read/"},
      {{"vault", "get", "pot"}, "cairn://vault-get/"},
      {{"session", "handoff"}, "cairn://handoff/"},
      {{"annotate", "1"}, "cairn://memory/"},
  };
  for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
    test_note("%s %s", reads[i].words[0], reads[i].words[1] ? reads[i].words[1] : "");
    int64_t seq = last_seq();
    OK(reads[i].words[0], reads[i].words[1] ? reads[i].words[1] : "--quiet",
       reads[i].words[2] ? reads[i].words[2] : "--quiet");
    struct json_lines events = events_since(seq);
    CHECK_INT(events.n, 1);
    CHECK(str_starts(jstr(only(&events, "memory:read"), "detail.path"), str_from(reads[i].path)));
  }
}

TEST(a_read_is_recorded_without_a_transaction) {
  int64_t id = STORE("Parsley grows in pots"), txns = sql_number("SELECT count(*) FROM txn");
  OK("get", num(id));
  OK("search", "parsley");
  CHECK_INT(sql_number("SELECT count(*) FROM txn"), txns);
}

/* ---- the feed ---- */

TEST(the_sequence_grows_and_can_be_resumed) {
  for (int i = 0; i < 5; i++)
    STORE(words(textf("event%d", i), 5));
  OK("get", "1");
  OK("rate", "2", "up");
  struct json_lines all = events_since(0);
  CHECK_INT(all.n, 7);
  for (size_t i = 1; i < all.n; i++)
    CHECK(jint(all.v[i], "seq") > jint(all.v[i - 1], "seq"));
  /* Reading in pages gives the same events. */
  int64_t since = 0;
  size_t seen = 0;
  for (;;) {
    struct run r = CAIRN("events", "--json", "--since", num(since), "--limit", "3");
    struct json_lines part = lines_of(r.out);
    if (part.n == 0)
      break;
    CHECK(part.n <= 3);
    for (size_t i = 0; i < part.n; i++)
      CHECK_INT(jint(part.v[i], "seq"), jint(all.v[seen++], "seq"));
    since = jint(part.v[part.n - 1], "seq");
  }
  CHECK_INT(seen, all.n);
  CHECK_INT(lines_of(CAIRN("events", "--json", "--action", "memory:rate").out).n, 1);
  CHECK_INT(last_seq(), jint(all.v[all.n - 1], "seq"));
  /* Without a start, the newest ones, oldest first. */
  struct json_lines newest = lines_of(CAIRN("events", "--json", "--limit", "2").out);
  CHECK_INT(newest.n, 2);
  CHECK_INT(jint(newest.v[0], "seq"), jint(all.v[all.n - 2], "seq"));
  CHECK_INT(jint(newest.v[1], "seq"), jint(all.v[all.n - 1], "seq"));
}

TEST(a_rolled_back_change_leaves_no_event) {
  STORE("Parsley grows in pots");
  REFUSED("not_found", "forget", "1", "99", "--reason", "x");
  struct json_lines all = events_since(0);
  CHECK_INT(all.n, 1);
}

TEST(the_log_cannot_be_changed) {
  STORE("Parsley grows in pots");
  struct str before = snapshot();
  const char *tries[] = {"DELETE FROM event", "UPDATE event SET source = 'me'", "UPDATE event SET after = '{}'",
                         "DELETE FROM txn", "UPDATE txn SET source = 'me'"};
  for (size_t i = 0; i < ARRAY_LEN(tries); i++)
    CHECK(!sql_try(tries[i]));
  CHECK_UNCHANGED(before);
}

TEST(follow_sees_changes_of_other_processes) {
  STORE("Parsley grows in pots");
  struct proc *p =
      proc_start(.argv = ARGS(CAIRN_BIN, "events", "--follow", "--json", "--since", "1"), .env = cli_env());
  struct str line;
  int64_t id = STORE("Quince jam needs an hour");
  CHECK(proc_line(p, 5000, &line));
  yyjson_val *e = lines_of(line).v[0];
  CHECK_STR(jstr(e, "action"), "memory:write");
  CHECK_INT(jint(e, "id"), id);
  CHECK_INT(jint(e, "seq"), 2);
  OK("forget", num(id), "--reason", "eaten");
  CHECK(proc_line(p, 5000, &line));
  CHECK_STR(jstr(lines_of(line).v[0], "action"), "memory:forget");
  proc_kill(p, SIGINT);
  struct run r = proc_wait(p);
  CHECK(!r.timed_out);
  CHECK_INT(r.signal, 0); /* it exited without a signal */
  CHECK(r.exit_code == 0 || r.exit_code == 130);
  CHECK_STR(r.err, "");
  CHECK_INT(lines_of(r.out).n, 2); /* complete lines only */
  CHECK_HEALTHY();
}

TEST(follow_begins_with_existing_events) {
  STORE("Parsley grows in pots");
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "events", "--follow", "--json"), .env = cli_env());
  struct str line;
  CHECK(proc_line(p, 5000, &line));
  CHECK_INT(jint(lines_of(line).v[0], "seq"), 1);
  proc_kill(p, SIGTERM);
  struct run r = proc_wait(p);
  CHECK(!r.timed_out && r.signal == 0);
}

/* ---- teams ---- */

TEST(a_team_sees_no_events_of_another) {
  int64_t id = STORE("--key", "herb", "Parsley grows in pots");
  const char *uid = cstr(sql_string("SELECT uid FROM memory"));
  cli_set("CAIRN_TEAM=other");
  CHECK_INT(events_since(0).n, 0);
  CHECK_INT(jint(OK("list", "--all-projects"), "total"), 0);
  CHECK_INT(jlen(OK("search", "parsley", "--all-projects"), "results"), 0);
  REFUSED("not_found", "get", num(id));
  REFUSED("not_found", "get", uid);
  REFUSED("not_found", "get", "herb");
  REFUSED("not_found", "forget", num(id), "--reason", "x");
  REFUSED("not_found", "purge", num(id), "--confirm");
  REFUSED("not_found", "undo", "1");
  REFUSED("usage", "list", "--team", "default"); /* no argument selects another team */
  CHECK_INT(jint(OK("stats"), "memories"), 0);
  STORE("--key", "herb", "Parsley grows in pots"); /* keys and duplicates are per team */
}
