/* test_lifecycle.c: how time and use affect memories, with a fake clock: fading, revival, archive, expiry, staleness,
 * and the effect of weight, ratings and use on ranking. */
#include "support/cli.h"

static yyjson_val *maintain_at(double day) {
  cli_day(day);
  return OK("maintain");
}

static void check_nothing_done(yyjson_val *r) {
  static const char *const counts[] = {"expired", "faded", "archived", "stale"};
  for (size_t i = 0; i < ARRAY_LEN(counts); i++)
    CHECK_INT(jint(r, counts[i]), 0);
  CHECK(!jget(r, "txn"));
}

/* ---- fading: retention 2^(-days / 7) falls below 0.1 after 7 * log2(10) = 23.25 days ---- */

TEST(a_fact_fades_after_23_25_days) {
  int64_t fact = STORE_AS_AGENT("--type", "fact", "Parsley grows in pots");
  int64_t context = STORE_AS_AGENT("--type", "context", "The garden is being replanted");
  check_nothing_done(maintain_at(22));
  check_nothing_done(maintain_at(23.2)); /* 2^(-23.2/7) = 0.1005 */
  CHECK_STR(memory_state(fact), "active");
  yyjson_val *r = maintain_at(24); /* 2^(-24/7) = 0.093 */
  CHECK_INT(jint(r, "faded"), 2);
  CHECK(jint(r, "txn") > 0);
  CHECK_STR(memory_state(fact), "faded");
  CHECK_STR(memory_state(context), "faded");
  yyjson_val *m = jget(OK("list", "--state", "faded"), "memories[0]");
  CHECK(m);
  CHECK(jget(m, "state_reason")); /* every state has a reason */
}

TEST(a_stored_limit_that_is_not_allowed_counts_as_the_default) {
  static const char *const values[] = {"0", "-1", "high"};
  for (size_t i = 0; i < ARRAY_LEN(values); i++) {
    int64_t fact = STORE_AS_AGENT("--type", "fact", textf("Bed %zu holds parsley", i));
    sql_do("DELETE FROM setting");
    sql_do(textf("INSERT INTO setting (team, name, value) VALUES ('default', 'fact.fade_below', '%s')", values[i]));
    check_nothing_done(maintain_at(30 * (double)i + 22));
    CHECK_INT(jint(maintain_at(30 * (double)i + 24), "faded"), 1);
    CHECK_STR(memory_state(fact), "faded");
    cli_day(30 * (double)(i + 1));
  }
}

TEST(other_facts_rules_and_tasks_do_not_fade) {
  static const char *const types[] = {"decision",  "reference", "person",   "idea",     "note",      "rule",
                                      "guardrail", "lesson",    "identity", "feedback", "procedural"};
  int64_t ids[ARRAY_LEN(types)];
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    ids[i] = STORE_AS_AGENT("--type", types[i], words(types[i], 7));
  maintain_at(60);
  maintain_at(1000);
  for (size_t i = 0; i < ARRAY_LEN(types); i++) {
    test_note("%s", types[i]);
    CHECK_STR(memory_state(ids[i]), "active");
  }
}

TEST(pinned_and_boot_memories_do_not_fade) {
  int64_t pinned = STORE_AS_AGENT("Parsley grows in pots"),
          boot = STORE_AS_AGENT("--delivery", "boot", "The cellar floods in March");
  OK("pin", num(pinned));
  check_nothing_done(maintain_at(60));
  CHECK_STR(memory_state(pinned), "active");
  CHECK_STR(memory_state(boot), "active");
}

TEST(use_delays_fading) {
  int64_t used = STORE_AS_AGENT("Parsley grows in pots"), unused = STORE_AS_AGENT("Quince jam needs an hour");
  cli_day(15);
  OK("get", num(used));
  CHECK_INT(jint(maintain_at(24), "faded"), 1);
  CHECK_STR(memory_state(used), "active");
  CHECK_STR(memory_state(unused), "faded");
  check_nothing_done(maintain_at(38)); /* 23 days after it was read */
  CHECK_INT(jint(maintain_at(39), "faded"), 1);
}

TEST(a_faded_memory_is_labelled_and_ranks_last) {
  int64_t faded = STORE_AS_AGENT("Parsley grows in pots on the balcony");
  maintain_at(24);
  int64_t active = STORE_AS_AGENT("Somebody stole parsley from the shop");
  yyjson_val *r = OK("search", "parsley grows in pots on the balcony", "--limit", "5");
  CHECK_INT(jpos(r, "results", active), 0);
  CHECK_INT(jpos(r, "results", faded), 1);
  CHECK_STR(jstr(r, "results[0].state"), "active");
  CHECK_STR(jstr(r, "results[1].state"), "faded");
  r = OK("search", "parsley grows in pots on the balcony", "--limit", "1");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_INT(jint(r, "results[0].id"), active);
  CHECK_INT(jint(r, "faded"), 1); /* the better match */
  CHECK_STR(jstr(r, "fetch"), "cairn list --state faded");
  CHECK(!jget(OK("search", "shop", "--mode", "keyword", "--limit", "1"), "faded"));
  CHECK_INT(jpos(OK("list"), "memories", faded), -1);
  CHECK_STR(memory_state(faded), "faded"); /* only get revives */
}

TEST(get_revives_a_faded_memory) {
  int64_t id = STORE_AS_AGENT("Parsley grows in pots");
  maintain_at(24);
  yyjson_val *m = OK("get", num(id));
  CHECK_STR(jstr(m, "state"), "active");
  CHECK(!jget(m, "banner"));
  CHECK_STR(memory_state(id), "active");
  CHECK_INT(jpos(OK("list"), "memories", id), 0);
  check_nothing_done(maintain_at(47)); /* its clock restarts */
  CHECK_INT(jint(maintain_at(48), "faded"), 1);
}

TEST(get_revives_nothing_else) {
  int64_t forgotten = STORE_AS_AGENT("Parsley grows in pots"), superseded = STORE_AS_AGENT("Quince jam needs an hour");
  int64_t expired = STORE_AS_AGENT("--ttl", "1d", "Rosemary is cheap today"),
          archived = STORE_AS_AGENT("--kind", "incident", "A pot fell");
  OK("forget", num(forgotten), "--reason", "no");
  OK("supersede", num(superseded), "--reason", "why", "--type", "decision", "Jam is bought now");
  maintain_at(100);
  const int64_t ids[] = {forgotten, superseded, expired, archived};
  static const char *const states[] = {"forgotten", "superseded", "expired", "archived"};
  for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
    yyjson_val *m = OK("get", num(ids[i]));
    CHECK_STR(jstr(m, "state"), states[i]);
    CHECK(has(jstr(m, "banner"), states[i]));
    CHECK_STR(memory_state(ids[i]), states[i]);
  }
}

TEST(a_faded_memory_whose_key_was_taken_is_still_shown) {
  int64_t old = STORE_AS_AGENT("--key", "herb", "Parsley grows in pots");
  maintain_at(24);
  int64_t now = STORE_AS_AGENT("--key", "herb", "Only thyme is left");
  yyjson_val *m = OK("get", num(old)); /* get still succeeds */
  CHECK_STR(jstr(m, "body"), "Parsley grows in pots");
  CHECK_STR(jstr(m, "state"), "faded");
  CHECK_INT(jint(OK("get", "herb"), "id"), now);
  CHECK_HEALTHY();
}

/* ---- archive ---- */

TEST(an_incident_is_archived_after_90_days_without_access) {
  static const char *const types[] = {"incident", "episodic", "historical", "meeting", "journal"};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    STORE_AS_AGENT("--type", types[i], words(types[i], 7));
  cli_day(30);
  OK("get", "1");
  check_nothing_done(maintain_at(89));
  CHECK_INT(jint(maintain_at(91), "archived"), 4);
  CHECK_STR(memory_state(1), "active");
  CHECK_INT(jint(maintain_at(121), "archived"), 1);
  /* Found by search, not shown at boot. */
  yyjson_val *r = OK("search", words("meeting", 7));
  CHECK_INT(jpos(r, "results", 4), 0);
  CHECK_STR(jstr(r, "results[0].state"), "archived");
  CHECK(!has(jstr(OK("boot"), "text"), "meeting1"));
  CHECK_INT(jint(OK("list"), "total"), 0);
}

/* ---- expiry ---- */

TEST(expired_memories_are_hidden_before_maintenance) {
  int64_t id = STORE("--ttl", "7d", "--type", "decision", "Rosemary is cheap this week");
  cli_day(6.9);
  CHECK_INT(jpos(OK("list"), "memories", id), 0);
  CHECK_INT(jpos(OK("search", "rosemary"), "results", id), 0);
  cli_day(7);
  CHECK_INT(jpos(OK("list"), "memories", id), -1);
  CHECK_INT(jlen(OK("search", "rosemary"), "results"), 0);
  CHECK(!has(jstr(OK("boot"), "text"), "Rosemary"));
  CHECK_STR(jstr(OK("get", num(id)), "state"), "expired");
  yyjson_val *r = OK("maintain");
  CHECK_INT(jint(r, "expired"), 1);
  CHECK_STR(memory_state(id), "expired");
  CHECK_STR(jstr(OK("get", num(id)), "state"), "expired");
}

TEST(a_rule_with_a_ttl_expires) {
  int64_t id = STORE("--kind", "rule", "--ttl", "24h", "Nobody deploys today");
  CHECK_INT(jint(maintain_at(2), "expired"), 1);
  CHECK_STR(memory_state(id), "expired");
}

TEST(expired_memories_do_not_shorten_a_page) {
  for (int i = 0; i < 6; i++) {
    STORE("--ttl", "1h", "--type", "note", words(textf("short%d", i), 5));
    STORE("--type", "note", words(textf("long%d", i), 5));
  }
  cli_day(1);
  yyjson_val *r = OK("list", "--limit", "5");
  CHECK_INT(jlen(r, "memories"), 5);
  CHECK_INT(jint(r, "total"), 6);
  CHECK_INT(jlen(OK("search", "long01 long11 long21 long31 long41 long51 long1 long2", "--limit", "5"), "results"), 5);
}

/* ---- staleness ---- */

TEST(an_untouched_task_of_an_agent_goes_stale) {
  int64_t left = ADD_TASK_AS_AGENT("Sharpen the kitchen knives"), touched = ADD_TASK_AS_AGENT("Oil the garden gate");
  int64_t claimed = ADD_TASK_AS_AGENT("Repair the roof"), done = ADD_TASK_AS_AGENT("Sweep the yard");
  OK("task", "claim", num(claimed));
  OK("task", "status", num(done), "done");
  cli_day(60);
  OK("task", "status", num(touched), "open");
  OK("annotate", num(touched), "bought oil");
  OK("pin", num(touched));
  yyjson_val *r = maintain_at(91);
  CHECK_INT(jint(r, "stale"), 1);
  CHECK_STR(sql_string("SELECT group_concat(status, ' ') FROM (SELECT status FROM memory ORDER BY id) x"),
            "stale open open done");
  CHECK_STR(memory_state(left), "active");
  CHECK_INT(jpos(OK("task", "list"), "tasks", left), -1);
  CHECK_INT(jpos(OK("task", "list", "--status", "stale"), "tasks", left), 0);
  OK("task", "status", num(left), "open"); /* a stale task can be reopened */
  CHECK(jpos(OK("task", "ready"), "tasks", left) >= 0);
  check_nothing_done(OK("maintain"));
}

TEST(a_persons_task_stays_open) {
  int64_t own = ADD_TASK("Sharpen the kitchen knives"), shared = ADD_TASK_AS_AGENT("Oil the garden gate");
  OK("remember", "--kind", "task", "Oil the garden gate"); /* a person says the same */
  check_nothing_done(maintain_at(1000));
  yyjson_val *r = OK("task", "list");
  CHECK(jpos(r, "tasks", own) >= 0);
  CHECK(jpos(r, "tasks", shared) >= 0);
  CHECK_INT(jint(OK("maintain", "--only", "stale"), "stale"), 1); /* only the agent's, when asked for by name */
  CHECK(jpos(OK("task", "list"), "tasks", own) >= 0);
}

/* ---- maintenance ---- */

TEST(stale_tasks_are_counted_where_they_are_missing) {
  ADD_TASK_AS_AGENT("Repaint the boat");
  ADD_TASK_AS_AGENT("--milestone", "may", "Mend the sail");
  CHECK(!jget(OK("task", "list"), "stale"));
  maintain_at(100);
  CHECK_INT(jint(OK("task", "list"), "stale"), 2);
  CHECK_INT(jint(OK("task", "list", "--milestone", "may"), "stale"), 1);
  CHECK(!jget(OK("task", "list", "--status", "stale"), "stale"));
  CHECK(has(CAIRN("task", "list").out, "no tasks\n2 stale: cairn task list --status stale\n"));
}

TEST(boot_counts_what_faded_and_what_is_stale) {
  STORE_AS_AGENT("--type", "context", "The garden is being replanted");
  STORE_AS_AGENT("--type", "fact", "Quince jam needs an hour"); /* never a line of a boot without a task */
  ADD_TASK_AS_AGENT("Repaint the boat");
  CHECK_INT(jlen(OK("boot"), "dropped"), 0);
  maintain_at(200);
  yyjson_val *r = OK("boot");
  CHECK_STR(jstr(r, "dropped[0].section"), "context");
  CHECK_STR(jstr(r, "dropped[0].state"), "faded");
  CHECK_INT(jint(r, "dropped[0].count"), 1);
  CHECK_STR(jstr(r, "dropped[0].fetch"), "cairn list --type context --state faded");
  CHECK_STR(jstr(r, "dropped[1].section"), "tasks");
  CHECK(has(jstr(r, "text"), "\n- 1 stale: cairn task list --status stale\n"));
  CHECK_STR(jstr(OK("boot", "--format", "blocks"), "dropped[0].state"), "faded");
}

TEST(maintenance_is_idempotent) {
  STORE_AS_AGENT("Parsley grows in pots");
  STORE_AS_AGENT("--kind", "incident", "A pot fell from the balcony");
  STORE_AS_AGENT("--ttl", "1d", "Rosemary is cheap today");
  ADD_TASK_AS_AGENT("Sharpen the kitchen knives");
  yyjson_val *r = maintain_at(100);
  CHECK_INT(jint(r, "faded"), 1);
  CHECK_INT(jint(r, "archived"), 1);
  CHECK_INT(jint(r, "expired"), 1);
  CHECK_INT(jint(r, "stale"), 1);
  struct str before = snapshot();
  int64_t txns = sql_number("SELECT count(*) FROM txn");
  r = OK("maintain");
  check_nothing_done(r);
  CHECK_INT(jint(r, "embedded"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM txn"), txns);
  CHECK_UNCHANGED(before); /* the clock does not move, so even the time of the last run is unchanged */
}

TEST(maintenance_never_changes_other_states) {
  int64_t superseded = STORE("--ttl", "2d", "Quince jam needs an hour");
  int64_t forgotten = STORE("--ttl", "2d", "Parsley grows in pots");
  OK("supersede", num(superseded), "--type", "decision", "--reason", "why", "Jam is bought now");
  OK("forget", num(forgotten), "--reason", "no");
  static const char states[] = "SELECT group_concat(s) FROM (SELECT state || state_reason || state_at AS s FROM memory"
                               " WHERE id <= 2 ORDER BY id) x";
  struct str before = sql_string(states);
  for (int day = 1; day <= 400; day += 133)
    maintain_at(day);
  CHECK_STR(sql_string(states), cstr(before));
}

TEST(maintenance_logs_its_changes) {
  int64_t id = STORE_AS_AGENT("Parsley grows in pots");
  int64_t seq = last_seq();
  yyjson_val *r = maintain_at(24);
  struct json_lines events = events_since(seq);
  CHECK_INT(events.n, 1);
  CHECK_INT(jint(events.v[0], "id"), id);
  CHECK_STR(jstr(events.v[0], "action"), "memory:fade");
  CHECK_INT(jint(events.v[0], "txn"), jint(r, "txn"));
  CHECK_STR(jstr(events.v[0], "before.state"), "active");
  CHECK_STR(jstr(events.v[0], "after.state"), "faded");
}

TEST(maintenance_embeds_deferred_memories) {
  int64_t id = STORE("--defer-embedding", "Parsley grows in pots");
  CHECK_INT(jint(OK("stats"), "embedded.done"), 0);
  CHECK_INT(jpos(OK("search", "parsley"), "results", id), 0); /* full-text search finds it meanwhile */
  CHECK_INT(jint(OK("maintain"), "embedded"), 1);
  CHECK_INT(jint(OK("stats"), "embedded.done"), 1);
  CHECK_STR(jstr(OK("search", "parsley"), "results[0].source"), "hybrid");
  CHECK_INT(jint(OK("maintain"), "embedded"), 0);
}

TEST(writes_run_maintenance_once_a_day) {
  cli_set("CAIRN_NO_MAINTAIN");
  int64_t id = STORE_AS_AGENT("Parsley grows in pots");
  cli_day(30);
  STORE("Quince jam needs an hour"); /* any write triggers it */
  CHECK_STR(memory_state(id), "faded");
  CHECK_STR(jstr(OK("stats"), "maintained_at"), cli_time(30));
  int64_t next = STORE("--ttl", "1h", "Rosemary is cheap today");
  cli_day(30.9);
  STORE("Thyme was planted today");
  CHECK_STR(memory_state(next), "active"); /* not due yet */
  cli_day(31.1);
  STORE("Basil went to seed");
  CHECK_STR(memory_state(next), "expired");
  CHECK(jbool(OK("maintain", "--if-due"), "skipped"));
}

/* ---- ranking ---- */

/* Two memories that match a query equally; the lower id wins a tie. */
static void store_pair(int64_t *ret_first, int64_t *ret_second) {
  *ret_first = STORE_AS_AGENT("--type", "note", "Pears ripen in the western orchard");
  *ret_second =
      STORE_AS_AGENT("--type", "note", "--distinct-from", num(*ret_first), "Pears ripen in the eastern orchard");
}

static void check_order(const char *query, int64_t first, int64_t second) {
  yyjson_val *r = OK("search", query, "--mode", "keyword");
  int a = jpos(r, "results", first), b = jpos(r, "results", second);
  if (a < 0 || b < 0 || a > b)
    FAIL("%lld is at %d, %lld at %d", (long long)first, a, (long long)second, b);
  CHECK(jnum(r, textf("results[%d].score", a)) >= jnum(r, textf("results[%d].score", b)));
}

TEST(ratings_change_the_order) {
  int64_t a, b;
  store_pair(&a, &b);
  check_order("pears orchard", a, b);
  for (int i = 0; i < 3; i++)
    OK("rate", num(b), "up");
  check_order("pears orchard", b, a);
  for (int i = 0; i < 6; i++)
    OK("rate", num(b), "down");
  check_order("pears orchard", a, b);
}

TEST(use_changes_the_order) {
  int64_t a, b;
  store_pair(&a, &b);
  for (int i = 0; i < 8; i++)
    OK("get", num(b));
  check_order("pears orchard", b, a);
  CHECK_INT(jint(OK("get", num(b)), "access_count"), 8);
}

TEST(weight_changes_the_order) {
  int64_t a = STORE("--type", "note", "--weight", "0.3", "Pears ripen in the western orchard");
  int64_t b =
      STORE("--type", "note", "--weight", "0.9", "--distinct-from", num(a), "Pears ripen in the eastern orchard");
  check_order("pears orchard", b, a);
}

TEST(age_changes_the_order_except_for_rules) {
  int64_t a = STORE("--type", "note", "Pears ripen in the western orchard");
  int64_t rule = STORE("--kind", "rule", "Plums are picked in the northern orchard");
  cli_day(60);
  int64_t b = STORE("--type", "note", "--distinct-from", num(a), "Pears ripen in the eastern orchard");
  int64_t other = STORE("--kind", "rule", "--distinct-from", num(rule), "Plums are picked in the southern orchard");
  yyjson_val *r = OK("search", "plums orchard", "--explain", "--kind", "rule");
  CHECK(jpos(r, "results", rule) >= 0 && jpos(r, "results", other) >= 0);
  for (int i = 0; i < 2; i++)
    CHECK_NEAR(jnum(r, textf("results[%d].parts.decay", i)), 1.0, 1e-9);
  r = OK("search", "pears orchard", "--explain", "--type", "note"); /* two half-lives of 30 days: a quarter is left */
  CHECK(jpos(r, "results", b) < jpos(r, "results", a));
  CHECK_NEAR(jnum(r, textf("results[%d].parts.decay", jpos(r, "results", a))), 0.25, 1e-6);
  CHECK_NEAR(jnum(r, textf("results[%d].parts.decay", jpos(r, "results", b))), 1.0, 1e-6);
}

TEST(an_unread_new_memory_is_not_old) {
  int64_t a = STORE("--type", "note", "Pears ripen in the western orchard");
  cli_day(50);
  OK("get", num(a));
  cli_day(90);
  int64_t b = STORE("--type", "note", "--distinct-from", num(a), "Pears ripen in the eastern orchard");
  check_order("pears orchard", b, a);
}

/* ---- use ---- */

TEST(a_search_hit_is_a_use) {
  int64_t shown = STORE_AS_AGENT("Parsley grows in pots"), other = STORE_AS_AGENT("Quince jam needs an hour");
  cli_day(15);
  OK("search", "parsley", "--mode", "keyword");
  OK("search", "parsley", "--mode", "keyword");
  CHECK_INT(sql_number("SELECT access_count FROM memory WHERE id = 1"), 0); /* not a read */
  CHECK_STR(sql_string("SELECT last_accessed - created_at FROM memory WHERE id = 1"), "1296000000");
  CHECK_INT(sql_number("SELECT access_count FROM memory WHERE id = 2"), 0);
  CHECK_INT(jint(maintain_at(30), "faded"), 1);
  CHECK_STR(memory_state(shown), "active");
  CHECK_STR(memory_state(other), "faded");
  CHECK_INT(jint(maintain_at(39), "faded"), 1);
}

TEST(a_delivery_at_boot_is_a_use) {
  int64_t shown = STORE_AS_AGENT("--type", "context", "The garden is being replanted");
  int64_t other = STORE_AS_AGENT("--type", "fact", "Quince jam needs an hour");
  cli_day(15);
  CHECK(has(jstr(OK("boot", "--only", "text"), "text"), "replanted"));
  CHECK_INT(jint(maintain_at(30), "faded"), 1);
  CHECK_STR(memory_state(shown), "active");
  CHECK_STR(memory_state(other), "faded");
  OK("boot", "--format", "blocks");
  check_nothing_done(maintain_at(50));
}

TEST(a_memory_that_a_checkpoint_shows_is_used) {
  int64_t shown = STORE_AS_AGENT("Force pushes to main were blocked by the server in May");
  cli_day(15);
  CHECK_INT(jint(OK("checkpoint", "force-push to main"), "relevant[0].id"), shown);
  check_nothing_done(maintain_at(30));
  CHECK_STR(memory_state(shown), "active");
  CHECK(has(CAIRN("events").out, "memory:read               checkpoint"));
}

/* ---- memories that do not age ---- */

TEST(what_a_person_wrote_stays) {
  static const char *const types[] = {"fact", "context", "incident", "historical"};
  int64_t ids[ARRAY_LEN(types)];
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    ids[i] = STORE("--type", types[i], words(types[i], 7));
  check_nothing_done(maintain_at(1000));
  CHECK_INT(jint(OK("maintain", "--only", "faded"), "faded"), 0); /* not even if asked for */
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    CHECK_STR(memory_state(ids[i]), "active");
}

static void store_with_all_tools(void) {
  cli_call_tool("mememory", "remember", "{\"content\":\"The harbour has three cranes\",\"type\":\"fact\"}");
  cli_call_tool("openhive", "memory_save",
                "{\"key\":\"plan\",\"content\":\"We are planning the orchard\",\"type\":\"context\"}");
  cli_call_tool("openbrain", "remember",
                "{\"content\":\"A mill grinds rye\",\"type_override\":\"fact\",\"source\":\"x\"}");
  cli_call_tool("openbrain2", "remember_fact_v2",
                "{\"headline\":\"Wells\",\"body\":\"Wells run dry\",\"source\":\"x\"}");
  cli_call_tool("graph", "create_entities",
                "{\"entities\":[{\"name\":\"Ada\",\"entityType\":\"cat\",\"observations\":[\"sleeps\"]}]}");
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE type IN ('fact', 'context') AND trust = 'agent'"), 5);
}

TEST(what_other_systems_tools_stored_stays) {
  store_with_all_tools();
  int64_t own = STORE_AS_AGENT("Parsley grows in pots");
  CHECK(!has(cli_call_tool("mememory", "stats", "{}"), "faded"));
  CHECK_INT(jint(maintain_at(400), "faded"), 1);
  CHECK_STR(memory_state(own), "faded");
  struct str stats = cli_call_tool("mememory", "stats", "{}");
  CHECK(has(stats, "\"total\":5") && has(stats, "\"faded\":1"));
}

TEST(an_import_does_not_fade) {
  store_with_all_tools();
  STORE_AS_AGENT("Parsley grows in pots");
  struct str file = CAIRN("export").out;
  cli_set(textf("CAIRN_DB=%s", test_store_new("copy.db")));
  CHECK_INT(jint(OK_FED(file, "import", "-"), "imported"), 6);
  check_nothing_done(maintain_at(400));
}

TEST(a_pruned_memory_that_comes_back_ages_as_before) {
  cli_call_tool("mememory", "remember", "{\"content\":\"The harbour has three cranes\",\"type\":\"fact\"}");
  STORE_AS_AGENT("Parsley grows in pots");
  cli_day(100);
  yyjson_val *r = OK("prune", "--min-access", "9", "--apply");
  CHECK_INT(jlen(r, "pruned"), 2);
  OK("undo", num(jint(r, "txn")));
  CHECK_INT(jint(maintain_at(100), "faded"), 1);
  CHECK_STR(sql_string("SELECT headline FROM memory WHERE state = 'faded'"), "Parsley grows in pots");
}

TEST(an_agents_correction_of_a_lasting_memory_stays) {
  int64_t person = STORE("The office wifi is called Heron"), own = STORE_AS_AGENT("Parsley grows in pots");
  cli_call_tool("openhive", "memory_save",
                "{\"key\":\"plan\",\"content\":\"We are planning the orchard\",\"type\":\"context\"}");
  cli_set("CAIRN_AGENT=bot");
  yyjson_val *wifi = OK("supersede", num(person), "--reason", "renamed", "The office wifi is called Egret");
  OK("supersede", num(jint(wifi, "id")), "--reason", "renamed", "The office wifi is called Swan");
  OK("supersede", "plan", "--reason", "done", "We are planting the orchard");
  OK("supersede", num(own), "--reason", "moved", "Parsley grows in the bed");
  cli_set("CAIRN_AGENT");
  CHECK_INT(jint(maintain_at(400), "faded"), 1);
  CHECK_STR(sql_string("SELECT headline FROM memory WHERE state = 'faded'"), "Parsley grows in the bed");
}

TEST(a_duplicate_of_an_agents_memory_makes_it_stay) {
  int64_t said = STORE_AS_AGENT("Parsley grows in pots"), labelled = STORE_AS_AGENT("Quince jam needs an hour"),
          saved = STORE_AS_AGENT("The harbour has three cranes"), alone = STORE_AS_AGENT("Wells run dry");
  CHECK_STR(jstr(OK("remember", "Parsley grows in pots"), "action"), "skipped");
  CHECK_STR(jstr(OK("remember", "--weight", "0.5", "Quince jam needs an hour"), "action"), "updated");
  cli_call_tool("mememory", "remember", "{\"content\":\"The harbour has three cranes\",\"type\":\"fact\"}");
  cli_set("CAIRN_AGENT=bot");
  CHECK_STR(jstr(OK("remember", "Wells run dry"), "action"), "skipped");
  cli_set("CAIRN_AGENT");
  CHECK_INT(jint(maintain_at(400), "faded"), 1);
  CHECK_STR(memory_state(said), "active");
  CHECK_STR(memory_state(labelled), "active");
  CHECK_STR(memory_state(saved), "active");
  CHECK_STR(memory_state(alone), "faded");
}

TEST(fading_can_be_switched_off) {
  int64_t id = STORE_AS_AGENT("Parsley grows in pots");
  OK("config", "fact.fade", "off");
  check_nothing_done(maintain_at(100));
  CHECK_INT(jint(OK("maintain", "--only", "faded"), "faded"), 0);
  OK("config", "fact.fade", "on");
  CHECK_INT(jint(OK("maintain"), "faded"), 1);
  CHECK_STR(memory_state(id), "faded");
}

TEST(a_list_counts_faded_archived_and_expired_memories) {
  int64_t marked = STORE("--ttl", "99d", "The greengrocer is on holiday"),
          due = STORE("--ttl", "101d", "Figs are cheap");
  STORE_AS_AGENT("Parsley grows in pots");
  STORE_AS_AGENT("--kind", "incident", "A pot fell from the balcony");
  STORE("Quince jam needs an hour");
  yyjson_val *r = OK("list");
  CHECK(!jget(r, "faded") && !jget(r, "archived") && !jget(r, "expired"));
  maintain_at(100);
  cli_day(102);
  r = OK("list");
  CHECK_INT(jint(r, "total"), 1);
  CHECK_INT(jint(r, "faded"), 1);
  CHECK_INT(jint(r, "archived"), 1);
  CHECK_INT(jint(r, "expired"), 2);
  CHECK(has(CAIRN("list").out, "\n1 faded: cairn list --state faded\n1 archived: cairn list --state archived\n"
                               "2 expired: cairn list --state expired\n"));
  r = OK("list", "--as-of", cli_time(1)); /* they were active then */
  CHECK(!jget(r, "faded") && !jget(r, "archived") && !jget(r, "expired"));
  r = OK("list", "--state", "expired");
  CHECK_INT(jint(r, "total"), 2);
  for (int i = 0; i < 2; i++)
    CHECK_STR(jstr(r, textf("memories[%d].state", jpos(r, "memories", i ? due : marked))), "expired");
  CHECK(!jget(OK("list", "--kind", "task"), "faded"));
  CHECK_INT(jint(OK("stats"), "by_state.faded"), 1);
}

/* Their formats have no room for the counts, which follow the answer. */
TEST(lists_of_other_systems_count_what_they_leave_out, .seconds = 60) {
  static const struct {
    const char *profile, *tool, *args;
  } lists[] = {{"openhive", "memory_list", "{}"},
               {"mememory", "list", "{}"},
               {"openbrain", "list_recent", "{}"},
               {"openbrain2", "list_recent_v2", "{}"}};
  STORE_AS_AGENT("--project", "web", "--type", "context", "Parsley grows in pots");
  STORE_AS_AGENT("--project", "web", "--kind", "incident", "A pot fell from the balcony");
  STORE_AS_AGENT("--project", "web", "--kind", "incident", "A bucket fell from the balcony");
  STORE("--project", "web", "--ttl", "1d", "The greengrocer is on holiday");
  STORE("--project", "web", "Quince jam needs an hour");
  cli_set("CAIRN_PROJECT=web");
  for (int later = 0; later < 2; later++) {
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
      struct str out = cli_call_tool(lists[i].profile, lists[i].tool, lists[i].args);
      test_note("%s: %.*s", lists[i].profile, STR_ARG(out));
      yyjson_val *r = jget(lines_of(out).v[0], "result");
      CHECK_INT(jlen(r, "content"), 1 + later);
      CHECK((jget(r, "_meta.cairn/left_out") != NULL) == later);
      if (!later)
        continue;
      CHECK_STR(jstr(r, "content[1].text"),
                "Left out because of their state: 1 faded, 2 archived, 1 expired. A person can "
                "list them with 'cairn list --state STATE'.");
      CHECK_INT(jint(r, "_meta.cairn/left_out.archived"), 2);
      CHECK(!has(jstr(r, "content[0].text"), "archived"));
    }
    maintain_at(100);
  }
  /* The counts have the filters of the list. */
  struct str out = cli_call_tool("mememory", "list", "{\"project\":\"garden\"}");
  CHECK_INT(jlen(lines_of(out).v[0], "result.content"), 1);
  out = cli_call_tool("openhive", "memory_list", "{\"type\":\"context\"}");
  CHECK(has(out, "Left out because of their state: 1 faded. A person"));
}

TEST(the_boot_of_brain_v2_counts_what_it_leaves_out) {
  STORE_AS_AGENT("--project", "web", "--type", "context", "Parsley grows in pots");
  ADD_TASK_AS_AGENT("--project", "web", "Sharpen the kitchen knives");
  const char *args = "{\"project\":\"web\",\"source\":\"claude\"}";
  struct str out = cli_call_tool("openbrain2", "boot_session_v2", args);
  CHECK(!has(out, "retired_omitted"));
  maintain_at(100);
  out = cli_call_tool("openbrain2", "boot_session_v2", args);
  yyjson_val *r = jget(lines_of(out).v[0], "result.structuredContent");
  CHECK_INT(jlen(r, "retired_omitted"), 2);
  CHECK_STR(jstr(r, "retired_omitted[0].section"), "context");
  CHECK_STR(jstr(r, "retired_omitted[0].state"), "faded");
  CHECK_INT(jint(r, "retired_omitted[0].count"), 1);
  CHECK_STR(jstr(r, "retired_omitted[1].section"), "tasks");
  CHECK_STR(jstr(r, "retired_omitted[1].state"), "stale");
}
