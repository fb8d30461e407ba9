/* test_duplicates.c: step 5 of the write gate: duplicates, near matches, contradictions, and which memories are
 * compared. */
#include "support/cli.h"

/* Splits off the next word of a shell command line: blanks separate words, single quotes group them. */
static bool next_word(struct arena *a, struct str *rest, struct str *ret_word) {
  struct buf b = BUF(a);
  bool quoted = false;
  *rest = str_trim(*rest);
  if (rest->n == 0 || rest->p[0] == ';')
    return false;
  for (; rest->n && (quoted || (rest->p[0] != ' ' && rest->p[0] != ';')); rest->p++, rest->n--) {
    if (rest->p[0] == '\'')
      quoted = !quoted;
    else if (rest->p[0] != '\\' || quoted)
      buf_addc(&b, rest->p[0]);
  }
  *ret_word = buf_str(&b);
  return true;
}

/* Runs the first "cairn ..." command of a fix, with its placeholders filled in. */
static yyjson_val *follow(struct str fix, const char *reason, const char *text) {
  static struct arena a;
  LIST(const char *) args = {0};
  size_t at = str_find(fix, STR("cairn "), 0);
  CHECK(at != SIZE_MAX);
  struct str rest = str_slice(fix, at + 6, fix.n), word;
  while (next_word(&a, &rest, &word))
    list_push(&a, &args, str_is(word, "WHY") ? reason : str_is(word, "TEXT") ? text : arena_cstr(&a, word));
  list_push(&a, &args, NULL);
  return cli_ok(__FILE__, __LINE__, STR_NONE, args.v);
}

static int64_t total(void) { return jint(OK("list", "--all-projects"), "total"); }

/* ---- duplicates ---- */

TEST(duplicates_are_not_stored) {
  static const char *const kinds[] = {"rule", "fact", "incident", "task"};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    test_note("%s", kinds[i]);
    const char *text = words(kinds[i], 8);
    int64_t id = STORE("--kind", kinds[i], text);
    struct str before = sql_string("SELECT group_concat(hash) FROM (SELECT hash FROM body ORDER BY memory_id) x");
    yyjson_val *r = OK("remember", "--kind", kinds[i], text);
    CHECK_STR(jstr(r, "action"), "skipped");
    CHECK_INT(jint(r, "id"), id);
    CHECK_STR(jstr(r, "uid"), cstr(jstr(OK("get", num(id)), "uid")));
    CHECK(jint(r, "txn") > 0);
    CHECK(str_eq(before, sql_string("SELECT group_concat(hash) FROM (SELECT hash FROM body ORDER BY memory_id) x")));
  }
  CHECK_INT(total(), 4);
}

TEST(case_blanks_and_punctuation_are_ignored) {
  int64_t id = STORE("The lighthouse keeper sleeps during the day");
  static const char *const same[] = {"the lighthouse keeper sleeps during the day.",
                                     "The  lighthouse keeper\nsleeps during the day",
                                     "THE LIGHTHOUSE KEEPER SLEEPS DURING THE DAY"};
  for (size_t i = 0; i < ARRAY_LEN(same); i++) {
    yyjson_val *r = OK("remember", same[i]);
    CHECK_STR(jstr(r, "action"), "skipped");
    CHECK_INT(jint(r, "id"), id);
    CHECK_INT(total(), 1);
  }
}

#define SHORT_FACT                                                                                                     \
  "The nightly backup of the customer database is encrypted with the key of the operations team, copied to the "       \
  "second data centre in Frankfurt, checked there by reading it back, and kept for ninety days before the oldest one " \
  "is removed"
#define LONG_FACT SHORT_FACT " for good"

TEST(a_more_detailed_fact_supersedes_the_shorter) {
  int64_t old = STORE("--key", "backup", SHORT_FACT);
  yyjson_val *r = OK("remember", LONG_FACT);
  CHECK_STR(jstr(r, "action"), "superseded");
  CHECK_INT(jint(r, "supersedes"), old);
  CHECK(jint(r, "id") != old);
  CHECK(jnum(r, "similarity") >= 0.92);
  /* Nothing is overwritten: both texts are stored, one of them is current. */
  yyjson_val *m = OK("get", num(old));
  CHECK_STR(jstr(m, "body"), SHORT_FACT);
  CHECK_STR(jstr(m, "state"), "superseded");
  CHECK(has(jstr(m, "state_reason"), "more detailed restatement"));
  CHECK_INT(jint(m, "head"), jint(r, "id"));
  CHECK_INT(total(), 1);
  /* It inherits the key of the shorter one. */
  CHECK_INT(jint(OK("get", "backup"), "id"), jint(r, "id"));
}

TEST(a_shorter_restatement_is_skipped) {
  int64_t id = STORE(LONG_FACT);
  yyjson_val *r = OK("remember", SHORT_FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_INT(jint(r, "id"), id);
  CHECK_INT(total(), 1);
}

TEST(a_more_detailed_rule_does_not_supersede) {
  int64_t id = STORE("--kind", "rule", SHORT_FACT);
  yyjson_val *r = OK("remember", "--kind", "rule", LONG_FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_INT(jint(r, "id"), id);
  CHECK_STR(memory_state(id), "active");
}

/* ---- headlines ---- */

#define ONE_BODY "Two approvals are required, one of them by a member of the team that is concerned."
#define DEPLOYS "Deploys of the web shop to the public cluster"
#define INVOICES "Invoices of vendors from outside the European Union"

TEST(another_headline_over_the_same_text_is_not_a_duplicate) {
  int64_t id = STORE("--kind", "rule", "--headline", DEPLOYS, ONE_BODY);
  yyjson_val *e = REFUSED_AT("duplicate", "duplicate", "remember", "--kind", "rule", "--headline", INVOICES, ONE_BODY);
  CHECK(has(jstr(e, "fix"), textf("--distinct-from %s", num(id))));
  STORE("--kind", "rule", "--headline", INVOICES, "--distinct-from", num(id), ONE_BODY);
  int64_t fact = STORE("--headline", DEPLOYS, ONE_BODY);
  CHECK(STORE("--headline", INVOICES, ONE_BODY) != fact);
  CHECK_STR(memory_state(fact), "active");
  CHECK_INT(total(), 4);
}

TEST(the_same_words_in_a_headline_are_a_new_version) {
  int64_t id = STORE("--kind", "rule", "--headline", "Deploys to staging", ONE_BODY);
  static const char *const same[] = {"Deploy to staging", "deploys to Staging", "Staging deploys"};
  for (size_t i = 0; i < ARRAY_LEN(same); i++) {
    yyjson_val *r = OK("remember", "--kind", "rule", "--headline", same[i], ONE_BODY);
    CHECK_STR(jstr(r, "action"), "superseded");
    CHECK_INT(jint(r, "supersedes"), id);
    CHECK_STR(jstr(r, "changed.is.headline"), same[i]);
    id = jint(r, "id");
    CHECK_STR(jstr(OK("remember", "--kind", "rule", "--headline", same[i], ONE_BODY), "action"), "skipped");
  }
  CHECK_INT(total(), 1);
}

/* ---- incidents ---- */

TEST(an_incident_at_another_time_is_not_a_duplicate) {
  int64_t id = STORE("--kind", "incident", "Disk full on db1");
  CHECK_STR(jstr(OK("remember", "--kind", "incident", "Disk full on db1"), "action"), "skipped"); /* reported twice */
  int64_t again = STORE("--kind", "incident", "Disk full on db1 again");
  CHECK_INT(jint(OK("remember", "--kind", "incident", "Disk full on db1 again"), "id"), again);
  int64_t earlier = STORE("--kind", "incident", "--valid-from", "2020-01-05", "Disk full on db1");
  cli_day(1);
  yyjson_val *r = OK("remember", "--kind", "incident", "Disk full on db1");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(!jget(OK("get", num(jint(r, "id"))), "links")); /* it contradicts none of them */
  CHECK(again != id && earlier != id && jint(r, "id") != id);
  CHECK_STR(memory_state(id), "active");
  CHECK_INT(total(), 4);
}

TEST(an_incident_with_another_headline_is_not_a_duplicate) {
  static const char *const types[] = {"incident", "episodic", "meeting", "journal"};
  static const char *const headlines[] = {"Disk full on db1", "Disk full on db1 again", "Disk full"};
  for (size_t i = 0; i < ARRAY_LEN(types); i++) {
    const char *body = textf("Writes failed for %s.", types[i]);
    int64_t ids[ARRAY_LEN(headlines)];
    for (size_t k = 0; k < ARRAY_LEN(headlines); k++) {
      test_note("%s: %s", types[i], headlines[k]);
      ids[k] = STORE("--type", types[i], "--headline", headlines[k], body);
      yyjson_val *r = OK("remember", "--type", types[i], "--headline", headlines[k], body); /* reported twice */
      CHECK_STR(jstr(r, "action"), "skipped");
      CHECK_INT(jint(r, "id"), ids[k]);
    }
    CHECK(ids[0] != ids[1] && ids[1] != ids[2]);
    for (size_t k = 0; k < ARRAY_LEN(headlines); k++)
      CHECK_STR(memory_state(ids[k]), "active");
    CHECK_STR(jstr(OK("remember", "--type", types[i], body), "action"), "skipped");
  }
  CHECK_INT(total(), (int64_t)(ARRAY_LEN(types) * ARRAY_LEN(headlines)));
}

/* ---- near matches ---- */

#define RULE "Never deploy the payment service on a Friday"
#define NEAR_RULE "Never deploy the payment service or the billing jobs on a Friday evening"

TEST(a_near_rule_is_refused_with_a_call_that_works) {
  int64_t id = STORE("--kind", "rule", RULE);
  yyjson_val *e = REFUSED_AT("duplicate", "duplicate", "remember", "--kind", "rule", NEAR_RULE);
  CHECK(has(jstr(e, "message"), num(id)));
  CHECK(has(jstr(e, "message"), RULE));
  CHECK(has(jstr(e, "fix"), textf("cairn supersede %s ", num(id))));
  yyjson_val *r = follow(jstr(e, "fix"), "covers the jobs too", NEAR_RULE);
  CHECK_INT(jint(r, "old_id"), id);
  CHECK_STR(memory_state(id), "superseded");
  CHECK_STR(jstr(OK("get", num(jint(r, "id"))), "body"), NEAR_RULE);
  CHECK_STR(jstr(r, "kind"), "rule");
}

TEST(a_near_rule_can_be_declared_distinct) {
  int64_t id = STORE("--kind", "rule", RULE);
  yyjson_val *e = REFUSED("duplicate", "remember", "--kind", "rule", NEAR_RULE);
  CHECK(has(jstr(e, "fix"), textf("--distinct-from %s", num(id))));
  int64_t other = STORE("--kind", "rule", "--distinct-from", num(id), NEAR_RULE);
  CHECK_STR(memory_state(id), "active");
  CHECK_STR(memory_state(other), "active");
  /* A uid works too. */
  OK("forget", num(other), "--reason", "again");
  STORE("--kind", "rule", "--distinct-from", cstr(jstr(OK("get", num(id)), "uid")), NEAR_RULE);
}

TEST(a_near_fact_is_stored_with_a_warning) {
  int64_t id = STORE("The mail server of the office is in the basement next to the boiler");
  yyjson_val *r = OK("remember", "The mail server of the office stands in the basement beside the old boiler room");
  CHECK_STR(jstr(r, "action"), "stored");
  yyjson_val *w = warning(r, "near");
  CHECK(w && !warning(r, "contradiction"));
  CHECK(!jget(w, "memories[0].difference"));
  CHECK_INT(jint(w, "memories[0].id"), id);
  CHECK_STR(jstr(w, "memories[0].headline"), "The mail server of the office is in the basement next to the boiler");
  double similarity = jnum(w, "memories[0].similarity");
  CHECK(similarity >= 0.75 && similarity < 0.92);
  /* The fix offers three choices: keep both, supersede, or forget. */
  CHECK(has(jstr(w, "fix"), "keep both"));
  CHECK(has(jstr(w, "fix"), textf("cairn supersede %s ", num(id))));
  CHECK(has(jstr(w, "fix"), textf("cairn forget %s ", num(id))));
  CHECK_STR(memory_state(id), "active");
  CHECK_INT(total(), 2);
}

TEST(near_incidents_and_tasks_are_stored_with_a_warning) {
  static const char *const kinds[] = {"incident", "task"};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    STORE("--kind", kinds[i], "The mail server of the office is in the basement next to the boiler");
    yyjson_val *r = OK("remember", "--kind", kinds[i],
                       "The mail server of the office stands in the basement beside the old boiler room");
    CHECK_STR(jstr(r, "action"), "stored");
    CHECK(warning(r, "near"));
  }
}

TEST(an_unrelated_fact_gives_no_warning) {
  STORE("The mail server of the office is in the basement next to the boiler");
  yyjson_val *r = OK("remember", "Giraffes sleep standing up for about two hours");
  CHECK(!warning(r, "contradiction") && !warning(r, "near"));
}

/* ---- contradictions ---- */

TEST(a_changed_detail_is_an_update_and_never_a_duplicate) {
  static const struct {
    const char *what, *was, *is;
  } pairs[] = {
      {"number", "The limit of uploads is 5 megabytes", "The limit of uploads is 50 megabytes"},
      {"date", "The freeze starts on 2026-05-03 for all teams", "The freeze starts on 2026-06-03 for all teams"},
      {"version", "The api gateway runs version 1.2.3 here", "The api gateway runs version 1.3.0 here"},
      {"name", "Reviews of the billing module are done by Alice", "Reviews of the billing module are done by Robert"},
      {"negation", "The frontend team uses yarn for packages", "The frontend team does not use yarn for packages"},
      {"antonym", "The cache of the login page is enabled in tests",
       "The cache of the login page is disabled in tests"},
  };
  for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
    test_note("%s", pairs[i].what);
    int64_t id = STORE(pairs[i].was);
    yyjson_val *r = OK("remember", pairs[i].is);
    CHECK_STR(jstr(r, "action"), "stored");
    yyjson_val *w = warning(r, "contradiction");
    CHECK(w);
    CHECK_INT(jint(w, "memories[0].id"), id);
    CHECK_STR(jstr(w, "memories[0].difference"), pairs[i].what);
    CHECK_STR(memory_state(id), "active");
    yyjson_val *links = OK("get", num(jint(r, "id")));
    CHECK_STR(jstr(links, "links[0].rel"), "contradicts");
    CHECK_INT(jint(links, "links[0].id"), id);
    CHECK_STR(jstr(links, "links[0].direction"), "out");
  }
}

TEST(a_contradicting_rule_is_refused) {
  int64_t id = STORE("--kind", "rule", "Requests time out after 30 seconds in every service");
  yyjson_val *e = REFUSED_AT("duplicate", "duplicate", "remember", "--kind", "rule",
                             "Requests time out after 60 seconds in every service");
  CHECK(has(jstr(e, "message"), "30") && has(jstr(e, "message"), "60"));
  follow(jstr(e, "fix"), "slow partners", "Requests time out after 60 seconds in every service");
  CHECK_STR(memory_state(id), "superseded");
}

/* ---- which memories are compared ---- */

#define FACT "The harbour office closes its shutters when the siren sounds"

TEST(other_kinds_are_not_compared) {
  STORE("--kind", "fact", FACT);
  STORE("--kind", "incident", FACT);
  STORE("--kind", "rule", FACT);
  STORE("--kind", "task", FACT);
  CHECK_INT(total(), 4);
}

TEST(other_projects_are_not_compared) {
  int64_t a = STORE("--project", "a", FACT);
  yyjson_val *r = OK("remember", "--project", "b", FACT);
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(!warning(r, "contradiction") && !warning(r, "duplicate") && !warning(r, "near"));
  r = OK("remember", FACT); /* global writes are not compared with projects */
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_INT(total(), 3);
  /* A longer text in one project never supersedes a memory of another. */
  r = OK("remember", "--project", "b", FACT " twice a day");
  CHECK(jint(r, "id") != a);
  CHECK_STR(memory_state(a), "active");
}

TEST(global_memories_are_compared_in_every_project) {
  int64_t id = STORE(FACT);
  yyjson_val *r = OK("remember", "--project", "a", FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_INT(jint(r, "id"), id);
}

TEST(a_more_detailed_project_fact_keeps_the_global_one) {
  int64_t id = STORE(SHORT_FACT);
  yyjson_val *r = OK("remember", "--project", "a", LONG_FACT);
  CHECK_STR(jstr(r, "action"), "superseded");
  CHECK_STR(memory_state(id), "active");
  CHECK_INT(jpos(OK("list", "--project", "a"), "memories", id), -1);
  CHECK_INT(jpos(OK("list", "--project", "b"), "memories", id), 0);
}

TEST(retired_memories_are_not_compared) {
  int64_t id = STORE(FACT);
  yyjson_val *r = OK("supersede", num(id), "--reason", "rebuilt", "Giraffes sleep standing up for about two hours");
  int64_t again = STORE(FACT); /* the superseded one is not compared */
  CHECK(again != id && again != jint(r, "id"));
  OK("forget", num(again), "--reason", "test");
  STORE(FACT);
}

TEST(expired_memories_are_not_compared) {
  STORE("--ttl", "1h", FACT);
  cli_day(1);
  STORE(FACT);
}

TEST(the_superseded_memory_is_not_compared) {
  int64_t id = STORE("The mail server of the office is in the basement next to the boiler");
  yyjson_val *r = OK("supersede", num(id), "--reason", "moved",
                     "The mail server of the office is in the basement next to the furnace");
  CHECK(!warning(r, "contradiction") && !warning(r, "duplicate") && !warning(r, "near"));
  CHECK_STR(jstr(r, "action"), "superseded");
  int64_t rule = STORE("--kind", "rule", RULE);
  r = OK("supersede", num(rule), "--reason", "wider", NEAR_RULE);
  CHECK(!warning(r, "contradiction") && !warning(r, "near"));
}

TEST(done_tasks_are_not_compared) {
  int64_t id = ADD_TASK("Water the plants in the corridor");
  CHECK_STR(jstr(OK("task", "add", "Water the plants in the corridor"), "action"), "skipped");
  OK("task", "status", num(id), "done");
  ADD_TASK("Water the plants in the corridor");
}

TEST(deferred_memories_are_compared_by_their_text) {
  int64_t id = STORE("--defer-embedding", FACT);
  yyjson_val *r = OK("remember", "--defer-embedding", FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_INT(jint(r, "id"), id);
}
