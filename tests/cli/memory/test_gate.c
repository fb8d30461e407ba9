/* test_gate.c: the write gate: what it accepts, what it refuses and at which step. A refusal leaves no trace. Includes
 * secrets, duplicates and contradictions. */
#include "support/cli.h"

/* A nonempty store, so "unchanged" is a real check. */
static void begin(void) { STORE("The kettle in the office kitchen whistles"); }

/* ---- step 1: kind and type ---- */

struct known_type {
  const char *name, *kind, *stored, *severity, *delivery, *text;
};

/* Section 1.1 of the specification, with a distinct text for each type. */
static const struct known_type known_types[] = {
    {"rule", "rule", "rule", "pattern", "on_demand", "Branches are named after their ticket"},
    {"guardrail", "rule", "rule", "blocker", "on_demand", "Never delete customer invoices"},
    {"feedback", "rule", "feedback", "pattern", "on_demand", "Answers should be shorter"},
    {"identity", "rule", "identity", "pattern", "on_demand", "You are the gardener of this repository"},
    {"core", "rule", "identity", "pattern", "on_demand", "Kindness comes before speed"},
    {"self", "rule", "identity", "pattern", "on_demand", "Your nickname is Pebble"},
    {"lesson", "rule", "lesson", "pattern", "on_demand", "Flaky sockets hide behind retries"},
    {"warning", "rule", "lesson", "pattern", "on_demand", "Windows paths break the glob library"},
    {"insight", "rule", "lesson", "pattern", "on_demand", "Most outages start on Friday evenings"},
    {"learning", "rule", "lesson", "pattern", "on_demand", "Profiling beats guessing"},
    {"procedural", "rule", "procedural", "pattern", "on_demand", "To rotate certificates run the ceremony twice"},
    {"bootstrap", "rule", "rule", "pattern", "boot", "Greet people in their own language"},
    {"fact", "fact", "fact", NULL, "on_demand", "Mount Ararat is volcanic"},
    {"context", "fact", "context", NULL, "on_demand", "A migration towards Rust is under way"},
    {"active", "fact", "context", NULL, "on_demand", "Somebody is refactoring the parser"},
    {"background", "fact", "context", NULL, "on_demand", "The company was founded by two sisters"},
    {"decision", "fact", "decision", NULL, "on_demand", "Dashboards use the colour teal"},
    {"commitment", "fact", "decision", NULL, "on_demand", "Bills are paid within a fortnight"},
    {"choice", "fact", "decision", NULL, "on_demand", "Tabs won against spaces"},
    {"reference", "fact", "reference", NULL, "on_demand", "Handbook lives at wiki/handbook"},
    {"pointer", "fact", "reference", NULL, "on_demand", "Recordings are below /srv/audio"},
    {"link", "fact", "reference", NULL, "on_demand", "Roadmap spreadsheet belongs to finance"},
    {"person", "fact", "person", NULL, "on_demand", "Ottilie prefers letters over telephone"},
    {"idea", "fact", "idea", NULL, "on_demand", "Maybe maps could be drawn with moss"},
    {"note", "fact", "note", NULL, "on_demand", "Umbrella stand moved downstairs"},
    {"incident", "incident", "incident", NULL, "on_demand", "Queue consumers starved during lunch"},
    {"episodic", "incident", "episodic", NULL, "on_demand", "Visitors toured the laboratory"},
    {"historical", "incident", "historical", NULL, "on_demand", "Mainframe retired after thirty winters"},
    {"archive", "incident", "historical", NULL, "on_demand", "Fax machine switched off"},
    {"past", "incident", "historical", NULL, "on_demand", "Old logo featured an owl"},
    {"meeting", "incident", "meeting", NULL, "on_demand", "Quarterly review ran over by an hour"},
    {"journal", "incident", "journal", NULL, "on_demand", "Rain all day, wrote documentation"},
    {"task", "task", "task", NULL, "on_demand", "Buy replacement batteries"},
};

TEST(every_type_and_alias_can_be_written_and_filtered, .seconds = 40, .slow = true) {
  int64_t ids[ARRAY_LEN(known_types)];
  for (size_t i = 0; i < ARRAY_LEN(known_types); i++) {
    const struct known_type *t = &known_types[i];
    test_note("type %s", t->name);
    yyjson_val *r = OK("remember", "--type", t->name, t->text);
    CHECK_STR(jstr(r, "action"), "stored");
    CHECK_STR(jstr(r, "kind"), t->kind);
    CHECK_STR(jstr(r, "type"), t->stored);
    CHECK_STR(json_str(r, "severity"), t->severity);
    ids[i] = jint(r, "id");
  }
  for (size_t i = 0; i < ARRAY_LEN(known_types); i++) {
    const struct known_type *t = &known_types[i];
    test_note("filter %s", t->name);
    yyjson_val *m = OK("get", num(ids[i]));
    CHECK_STR(jstr(m, "kind"), t->kind);
    CHECK_STR(jstr(m, "type"), t->stored);
    CHECK_STR(jstr(m, "delivery"), t->delivery);
    yyjson_val *listed = OK("list", "--type", t->name, "--limit", "100");
    CHECK(jpos(listed, "memories", ids[i]) >= 0);
    for (size_t k = 0; k < jlen(listed, "memories"); k++)
      CHECK_STR(jstr(listed, textf("memories[%zu].type", k)), t->stored);
    CHECK(jpos(OK("search", t->text, "--type", t->name), "results", ids[i]) >= 0);
    CHECK(jpos(OK("list", "--kind", t->kind, "--limit", "100"), "memories", ids[i]) >= 0);
  }
  /* An alias filters by the fields it sets. */
  CHECK_INT(jint(OK("list", "--type", "guardrail"), "total"), 1);
  CHECK_INT(jint(OK("list", "--type", "bootstrap"), "total"), 1);
  CHECK_HEALTHY();
}

TEST(kind_and_type_must_be_known_and_agree) {
  begin();
  REFUSED_AT("type", "refused", "remember", "--type", "gossip", "Something");
  yyjson_val *e = REFUSED_AT("type", "refused", "remember", "--kind", "rule", "--type", "decision", "We use teal");
  CHECK(has(jstr(e, "message"), "fact"));
  CHECK(has(jstr(e, "fix"), "decision"));
  /* The suggested fix succeeds: omit the kind. */
  STORE("--type", "decision", "We use teal");
  REFUSED_AT("type", "refused", "list", "--type", "gossip");
  REFUSED_AT("type", "refused", "search", "--type", "gossip", "x");
}

TEST(kind_without_type_gives_the_plain_type) {
  static const char *const kinds[] = {"rule", "fact", "incident", "task"};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    yyjson_val *r = OK("remember", "--kind", kinds[i], words(kinds[i], 5));
    CHECK_STR(jstr(r, "kind"), kinds[i]);
    CHECK_STR(jstr(r, "type"), kinds[i]);
  }
  CHECK_STR(jstr(OK("remember", "Neither kind nor type was said"), "kind"), "fact");
}

/* ---- step 2: severity, and fields of one kind ---- */

TEST(severity_belongs_to_rules) {
  begin();
  REFUSED_AT("severity", "refused", "remember", "--kind", "fact", "--severity", "blocker", "Water is wet");
  REFUSED_AT("severity", "refused", "remember", "--type", "guardrail", "--severity", "pattern", "Water is wet");
  REFUSED_AT("severity", "refused", "remember", "--kind", "rule", "--severity", "deprecated", "Old ways");
  REFUSED_AT("severity", "refused", "remember", "--kind", "rule", "--severity", "urgent", "New ways");
  CHECK_STR(jstr(OK("remember", "--kind", "rule", "--severity", "blocker", "Lock the door"), "severity"), "blocker");
  CHECK_STR(jstr(OK("remember", "--kind", "rule", "Feed the cat on Sundays"), "severity"), "pattern");
}

TEST(fields_of_another_kind_are_refused) {
  begin();
  REFUSED_AT("fields", "refused", "remember", "--priority", "high", "A fact has no priority");
  REFUSED_AT("fields", "refused", "remember", "--milestone", "1.0", "A fact has no milestone");
  REFUSED_AT("fields", "refused", "remember", "--due", "2026-05-01", "A fact is not due");
  REFUSED_AT("fields", "refused", "remember", "--accept", "it works", "A fact is not accepted");
  REFUSED_AT("fields", "refused", "remember", "--root-cause", "wear", "A fact has no cause");
  REFUSED_AT("fields", "refused", "remember", "--kind", "task", "--resolution", "glue", "Mend the chair");
  REFUSED_AT("fields", "refused", "remember", "--delivery", "skill", "A skill without a name");
  REFUSED_AT("fields", "refused", "remember", "--skill-keyword", "deploy", "Keywords without a name");
}

TEST(weight_and_times) {
  static const char *const bad_weights[] = {"0", "2", "0.05", "-1", "1.001"};
  static const char *const bad_ttls[] = {"soon", "7", "d", "-3d", "0h", "7 parsecs", "2026-02-01", "2026-13-01"};
  begin();
  for (size_t i = 0; i < ARRAY_LEN(bad_weights); i++)
    REFUSED_AT("fields", "refused", "remember", textf("--weight=%s", bad_weights[i]), "A heavy thing");
  for (size_t i = 0; i < ARRAY_LEN(bad_ttls); i++)
    REFUSED_AT("fields", "refused", "remember", textf("--ttl=%s", bad_ttls[i]), "A fleeting thing");
  REFUSED_AT("fields", "refused", "remember", "--valid-from", "once upon a time", "A fairy tale");
  static const struct {
    const char *ttl;
    double days;
  } good[] = {{"24h", 1}, {"7d", 7}, {"30d", 30}, {"720h", 30}, {"2026-03-11T12:00:00Z", 10}};
  for (size_t i = 0; i < ARRAY_LEN(good); i++) {
    int64_t id = STORE("--ttl", good[i].ttl, words(textf("ttl%zu", i), 6));
    CHECK_STR(jstr(OK("get", num(id)), "expires_at"), cli_time(good[i].days));
  }
  CHECK_NEAR(jnum(OK("get", num(STORE("--weight", "0.1", "Light as a feather"))), "weight"), 0.1, 1e-9);
  CHECK_NEAR(jnum(OK("get", num(STORE("--weight", "1.0", "Heavy as an anvil"))), "weight"), 1.0, 1e-9);
}

/* ---- step 3: headline ---- */

TEST(headline_of_15_words_is_accepted_and_of_16_refused) {
  begin();
  yyjson_val *e = REFUSED_AT("headline", "refused", "remember", "--headline", words("h", 16), "Sixteen are too many");
  CHECK(has(jstr(e, "message"), "16"));
  CHECK(has(jstr(e, "message"), "15"));
  CHECK(has(jstr(e, "fix"), "--headline"));
  int64_t id = STORE("--headline", words("h", 15), "Fifteen are allowed");
  CHECK_STR(jstr(OK("get", num(id)), "headline"), words("h", 15));
  /* Words are counted, not blanks. */
  id = STORE("--headline", " a  b c d e f g h i j k l m n   o ", "Blanks do not count");
  CHECK_STR(jstr(OK("get", num(id)), "headline"), "a b c d e f g h i j k l m n o");
}

TEST(headline_needs_a_letter) {
  begin();
  REFUSED_AT("headline", "refused", "remember", "--headline", "12345", "Numbers alone say nothing");
  REFUSED_AT("headline", "refused", "remember", "--headline", "!?", "Nor do marks");
  REFUSED_AT("headline", "refused", "remember", "--headline", "\xf0\x9f\x8e\x89", "Nor does a picture");
  REFUSED_AT("headline", "refused", "remember", "12345 67890");
  /* Letters of any script count. */
  STORE("--headline", "\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82", "A greeting in Russian");
  STORE("--headline", "\xe6\x9d\xb1\xe4\xba\xac", "A city in Japan");
}

TEST(assist_mode_derives_the_headline) {
  yyjson_val *r = OK("remember", "The tower clock is slow. Nobody has wound it since May.");
  CHECK_STR(jstr(r, "headline"), "The tower clock is slow");
  CHECK_INT(yyjson_arr_size(jget(r, "warnings")), 0);
  OK("remember", words("long", 40));
  CHECK_STR(jstr(OK("remember", "--headline", "Given", "A headline was given here"), "headline"), "Given");
  /* At most 15 words, even if truncated. */
  int64_t blanks = sql_number("SELECT max(length(headline) - length(replace(headline, ' ', ''))) FROM memory");
  CHECK(blanks <= 14);
}

TEST(strict_mode_refuses_a_missing_headline_and_long_facts) {
  begin();
  OK("config", "gate.mode", "strict");
  yyjson_val *e = REFUSED_AT("headline", "refused", "remember", "The tower clock is slow. Nobody winds it.");
  CHECK(has(jstr(e, "fix"), "--headline 'The tower clock is slow'"));
  STORE("--headline", "The tower clock is slow", "The tower clock is slow. Nobody winds it.");
  e = REFUSED_AT("atomic", "refused", "remember", "--headline", "Long", words("w", 401));
  CHECK(has(jstr(e, "message"), "401"));
  STORE("--headline", "Long enough", words("w", 400));
  /* The environment variable overrides the store's setting. */
  cli_set("CAIRN_GATE_MODE=assist");
  CHECK_STR(jstr(OK("remember", "A headline is derived again"), "headline"), "A headline is derived again");
}

/* ---- step 4: one idea ---- */

TEST(tools_without_a_headline_write_in_strict_mode) {
  OK("config", "gate.mode", "strict");
  cli_call_tool("mememory", "remember", "{\"content\":\"The harbour has three cranes\"}");
  cli_call_tool("openbrain", "remember", "{\"content\":\"A mill grinds rye\",\"source\":\"x\"}");
  cli_call_tool("openhive", "memory_save",
                "{\"key\":\"plan\",\"content\":\"We plant an orchard\",\"type\":\"context\"}");
  CHECK_INT(jint(OK("list"), "count"), 3);
}

TEST(rules_incidents_and_tasks_are_limited_to_400_words) {
  static const char *const kinds[] = {"rule", "incident", "task"};
  begin();
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    const char *head = textf("A long %s", kinds[i]);
    yyjson_val *e =
        REFUSED_AT("atomic", "refused", "remember", "--kind", kinds[i], "--headline", head, words(kinds[i], 401));
    CHECK(has(jstr(e, "message"), "401"));
    CHECK(has(jstr(e, "message"), "400"));
    STORE("--kind", kinds[i], "--headline", head, words(kinds[i], 400));
  }
}

TEST(a_longer_fact_is_stored_in_chunks_with_a_warning) {
  begin();
  yyjson_val *r = OK("remember", "--headline", "Long", textf("%s\n\n%s zanzibar", words("a", 300), words("b", 300)));
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(warning(r, "long_text"));
  int64_t id = jint(r, "id");
  CHECK(sql_number(textf("SELECT count(*) FROM chunk WHERE memory_id = %lld", (long long)id)) > 1);
  CHECK_INT(jint(OK("search", "zanzibar"), "results[0].id"), id);
  CHECK(warning(OK("remember", "--headline", "A word too many", words("d", 401)), "long_text"));
  CHECK(!warning(OK("remember", "--headline", "Short", words("c", 400)), "long_text"));
  CHECK_HEALTHY();
}

/* Text of exactly n bytes that does not end with a blank. */
static struct str text_of_bytes(size_t n) {
  static struct arena a;
  struct buf b = BUF(&a);
  while (b.n < n)
    buf_addf(&b, "word%zu ", b.n);
  b.p[n - 1] = 'x';
  return (struct str){b.p, n};
}

TEST(a_fact_is_limited_to_a_million_bytes, .slow = true) {
  begin();
  REFUSED_AT_FED("atomic", "too_large", text_of_bytes(1000001), "remember", "--headline", "Too large", "-");
  yyjson_val *r = OK_FED(text_of_bytes(1000000), "remember", "--headline", "Just right", "-");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_INT(jstr(OK("get", num(jint(r, "id"))), "body").n, 1000000);
  CHECK_HEALTHY();
}

TEST(stacked_markers) {
  begin();
  REFUSED_AT("atomic", "refused", "remember",
             "The gate is open.\nUpdate: the gate is shut.\nUpdate: it is open again.");
  REFUSED_AT("atomic", "refused", "remember", "--kind", "rule", "--headline", "A wall",
             "GUARDRAIL (2026-01-02): knock first.\nGUARDRAIL (2026-01-09): knock twice.");
  REFUSED_AT("atomic", "refused", "remember", "--headline", "Mixed",
             "- GUARDRAIL 2026-01-02 knock first\n- Update: knock twice");
  STORE("The bridge was closed.\nUpdate: it is open again.");
  STORE("An update of the map is planned, and another update later, without any colon");
}

TEST(statements_merged_within_a_line) {
  static const char *const texts[] = {
      "GUARDRAIL (2026-03-31): knock first. GUARDRAIL (2026-04-02): knock twice.",
      "The bridge is closed. Update: it is open again.",
      "We deploy with Ansible. Also the API is in Go. Also Bob is on holiday",
  };
  begin();
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    yyjson_val *r = OK("remember", "--headline", textf("Merged %zu", i), texts[i]);
    CHECK_STR(jstr(r, "action"), "stored");
    CHECK(warning(r, "several_ideas"));
  }
  OK("config", "gate.mode", "strict");
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    REFUSED_AT("atomic", "refused", "remember", "--project", "other", "--headline", textf("Merged %zu", i), texts[i]);
}

TEST(empty_text_is_refused) {
  begin();
  REFUSED_AT("atomic", "refused", "remember", "--headline", "Nothing behind it", "");
  REFUSED_AT("atomic", "refused", "remember", "--headline", "Nothing behind it", " \n\t ");
  REFUSED_AT("atomic", "refused", "remember", "");
}

/* ---- suggestions and metadata ---- */

TEST(a_text_that_reads_like_another_type_keeps_the_given_type) {
  yyjson_val *r = OK("remember", "--kind", "fact", "We decided to use Postgres because it is boring.");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_STR(jstr(r, "type"), "fact");
  yyjson_val *w = warning(r, "type_suggestion");
  CHECK(w && has(jstr(w, "message"), "decision"));
  r = OK("remember", "--type", "decision", "We decided to use Redis because it is quick.");
  CHECK(!warning(r, "type_suggestion"));
}

TEST(metadata_is_given_or_extracted) {
  int64_t id = STORE("--tag", "given", "--person", "Maria",
                     "Ask @jonas about the #release of Cairn Server."
                     " We need to update the changelog.");
  yyjson_val *m = OK("get", num(id));
  CHECK(jhas_str(m, "tags", "given") && jhas_str(m, "tags", "release"));
  CHECK(jhas_str(m, "people", "Maria") && jhas_str(m, "people", "jonas"));
  CHECK(jlen(m, "topics") > 0);
  CHECK_INT(jlen(m, "action_items"), 1);
  CHECK(has(jstr(m, "action_items[0]"), "update the changelog"));
  STORE("Unrelated words about gardening");
  CHECK_INT(jint(OK("list", "--tag", "release"), "total"), 1);
  CHECK_INT(jint(OK("list", "--tag", "release", "--tag", "given"), "total"), 1);
  CHECK_INT(jint(OK("list", "--tag", "release", "--tag", "other"), "total"), 0);
  CHECK_INT(jint(OK("list", "--person", "Maria"), "total"), 1);
  CHECK_INT(jlen(OK("search", "changelog", "--tag", "given"), "results"), 1);
  CHECK_INT(jlen(OK("search", "changelog", "--person", "nobody"), "results"), 0);
  /* "must" in a rule is not an action item. */
  id = STORE("--kind", "rule", "You must wear a helmet");
  CHECK(!jget(OK("get", num(id)), "action_items"));
}

/* ---- names ---- */

TEST(keys) {
  begin();
  const char *longer = textf("k%0200d", 0);
  REFUSED_AT("key", "refused", "remember", "--key", "12", "A key that looks like an id");
  REFUSED_AT("key", "refused", "remember", "--key", "01a1df3b-c8c8-799d-a893-3813ffa7c4d4",
             "One that looks like a uid");
  REFUSED_AT("key", "refused", "remember", "--key", longer, "A key of 201 bytes");
  REFUSED_AT("key", "refused", "remember", "--key", "two\nlines", "A key of two lines");
  REFUSED_AT("key", "refused", "remember", "--key", " ", "A key of nothing");
  int64_t id = STORE("--key", textf("k%0199d", 0), "A key of 200 bytes");
  CHECK_INT(jint(OK("get", textf("k%0199d", 0)), "id"), id);
}

TEST(replacing_an_active_key_needs_a_reason) {
  int64_t id = STORE("--key", "auth", "--headline", "Sessions use cookies", "Sessions are kept in signed cookies.");
  yyjson_val *e = REFUSED_AT("key", "conflict", "remember", "--key", "auth", "Tokens replaced the cookies entirely");
  CHECK(has(jstr(e, "message"), "Sessions use cookies")); /* shows the current entry */
  CHECK(has(jstr(e, "message"), num(id)));
  CHECK(has(jstr(e, "fix"), "--reason"));
  yyjson_val *r =
      OK("remember", "--key", "auth", "--reason", "cookies were too large", "Tokens replaced the cookies entirely");
  CHECK_STR(jstr(r, "action"), "superseded");
  CHECK_INT(jint(r, "supersedes"), id);
  CHECK_INT(jint(OK("get", "auth"), "id"), jint(r, "id"));
  CHECK_STR(memory_state(id), "superseded");
  /* Storing the same text under its key again changes nothing. */
  CHECK_STR(jstr(OK("remember", "--key", "auth", "Tokens replaced the cookies entirely"), "action"), "skipped");
}

TEST(a_key_is_unique_within_its_project) {
  int64_t global = STORE("--key", "port", "Outside it is 5432");
  int64_t a = STORE("--project", "a", "--key", "port", "Alpha listens on six thousand");
  int64_t b = STORE("--project", "b", "--key", "port", "Beta uses a unix socket instead");
  CHECK_INT(jint(OK("get", "port"), "id"), global);
  CHECK_INT(jint(OK("get", "port", "--project", "a"), "id"), a);
  CHECK_INT(jint(OK("get", "port", "--project", "b"), "id"), b);
  CHECK_INT(jint(OK("get", "port", "--project", "c"), "id"), global);
  OK("forget", num(a), "--reason", "gone");
  CHECK_INT(jint(OK("get", "port", "--project", "a"), "id"), global);
  STORE("--project", "a", "--key", "port", "Gamma took over the name");
}

TEST(a_key_is_free_after_expiry) {
  int64_t old = STORE("--key", "lunch", "--ttl", "1h", "Soup today");
  cli_day(1);
  int64_t now = STORE("--key", "lunch", "Pancakes and blueberries");
  CHECK_INT(jint(OK("get", "lunch"), "id"), now);
  CHECK_STR(memory_state(old), "expired");
  CHECK_HEALTHY();
}

TEST(a_skill_name_is_unique) {
  int64_t id = STORE("--skill-name", "release", "--skill-keyword", "ship", "--kind", "rule", "Steps to ship a release");
  yyjson_val *e = REFUSED("conflict", "remember", "--skill-name", "release", "Another text about gardening");
  CHECK(has(jstr(e, "message"), num(id)));
  CHECK_STR(jstr(OK("get", num(id)), "delivery"), "skill");
  CHECK_INT(jint(OK("skill", "load", "release"), "id"), id);
  CHECK_STR(jstr(OK("skill", "list"), "skills[0].name"), "release");
}

/* ---- idempotency, batch, capture ---- */

TEST(a_repeated_idempotency_key_returns_the_first_result) {
  struct run first = CAIRN("remember", "--json", "--idempotency-key", "call-1", "The first text");
  CHECK_INT(first.exit_code, 0);
  struct str after = snapshot();
  struct run again = CAIRN("remember", "--json", "--idempotency-key", "call-1", "The first text");
  CHECK(str_eq(first.out, again.out));
  CHECK_UNCHANGED(after);
  REFUSED_AT("fields", "refused", "remember", "--idempotency-key", "call-1", "Quite another text under the same key");
  CHECK_INT(jint(OK("list"), "total"), 1);
  STORE("--idempotency-key", "call-2", "Gardens need water in July");
}

TEST(an_idempotency_key_of_a_correction_and_of_a_task) {
  int64_t id = STORE("Ferries leave at noon");
  struct run first = CAIRN("supersede", num(id), "--reason", "new plan", "Ferries leave at dusk", "--json",
                           "--idempotency-key", "fix-1");
  CHECK_INT(first.exit_code, 0);
  struct run again = CAIRN("supersede", num(id), "--reason", "new plan", "Ferries leave at dusk", "--json",
                           "--idempotency-key", "fix-1");
  CHECK_INT(again.exit_code, 0);
  CHECK(str_eq(first.out, again.out));
  first = CAIRN("task", "add", "Paint the fence", "--json", "--idempotency-key", "task-1");
  again = CAIRN("task", "add", "Paint the fence", "--json", "--idempotency-key", "task-1");
  CHECK(first.exit_code == 0 && str_eq(first.out, again.out));
  CHECK_INT(jint(OK("list", "--kind", "task"), "total"), 1);
}

TEST(a_batch_stores_good_lines_and_reports_bad_ones) {
  struct str batch = STR("{\"text\":\"Sheep graze behind the church\",\"tags\":[\"farm\"]}\n"
                         "{\"text\":\"Something\",\"kind\":\"rumour\"}\n"
                         "\n"
                         "not json\n"
                         "{\"text\":\"Ink freezes in the attic\",\"project\":\"house\",\"type\":\"note\"}\n"
                         "{\"text\":\"Sheep graze behind the church\"}\n"
                         "{\"text\":\"Trains are late\",\"colour\":\"red\"}\n");
  struct run r = CAIRN_FED(batch, "remember", "--batch", "-", "--json");
  CHECK(r.exit_code > 0);
  struct json_lines l = lines_of(r.out);
  CHECK_INT(l.n, 6); /* one per nonempty line */
  CHECK_STR(jstr(l.v[0], "action"), "stored");
  CHECK(jget(l.v[1], "error.message") && jget(l.v[2], "error.message"));
  CHECK_INT(jint(l.v[1], "line"), 2);
  CHECK_INT(jint(l.v[2], "line"), 4);
  CHECK_STR(jstr(l.v[3], "action"), "stored");
  CHECK_STR(jstr(l.v[3], "project"), "house");
  CHECK_STR(jstr(l.v[4], "action"), "skipped");
  CHECK_INT(jint(l.v[4], "id"), jint(l.v[0], "id"));
  CHECK(has(jstr(l.v[5], "error.message"), "colour"));
  CHECK_INT(jint(OK("list", "--all-projects"), "total"), 2);
}

TEST(capture_splits_by_rule) {
  struct str text = STR("We decided to paint the boat green.\n\n"
                        "Never sail after dark without lights.\n\n"
                        "ok thanks\n\n"
                        "TODO: buy two new ropes for the anchor.\n");
  yyjson_val *r = OK_FED(text, "capture", "-");
  CHECK_INT(jint(r, "stored"), 3);
  CHECK_INT(jint(r, "dropped"), 1);
  CHECK_INT(jlen(r, "memories"), 3);
  CHECK_INT(jint(OK("list", "--kind", "rule"), "total"), 1);
  CHECK_INT(jint(OK("list", "--kind", "task"), "total"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM memory WHERE auto_captured = 1"), 3);
  CHECK_INT(sql_number("SELECT count(DISTINCT txn) FROM event WHERE change = 'insert'"), 1);
  CHECK_STR(jstr(r, "dropped_texts[0]"), "ok thanks");
  REFUSED_FED("refused", STR("ok\n\nyes"), "capture", "-");
}

TEST(capture_lists_what_it_dropped) {
  struct str text = STR("- [ ] Renew the certificate of the mail server\n- Bob is out\n");
  struct str out = CAIRN_FED(text, "capture", "-").out;
  CHECK(has(out, "dropped, too short: Bob is out\n") && has(out, "stored 1, dropped 1\n"));
  CHECK(!has(CAIRN("get", "1").out, "Bob"));
}

TEST(a_tag_is_stored_once) {
  STORE("The boat is green", "--tag", "boat", "--tag", " boat ", "--tag", "Boat", "--tag", "#boat");
  CHECK_INT(jlen(OK("get", "1"), "tags"), 1);
  CHECK_STR(jstr(OK("get", "1"), "tags[0]"), "boat");
  STORE("Coffee at nine", "--tag", "café", "--tag", "CAFÉ", "--tag", " café ", "--tag", "#Café");
  CHECK_INT(jlen(OK("get", "2"), "tags"), 1);
  CHECK_STR(jstr(OK("get", "2"), "tags[0]"), "café");
  STORE("Tea at four", "--tag", "#tea");
  static const char *const given[] = {"tea", "#tea", " tea "};
  for (size_t i = 0; i < ARRAY_LEN(given); i++)
    CHECK_INT(jint(OK("list", "--tag", given[i]), "total"), 1);
  CHECK_STR(jstr(OK("remember", "Tea at four", "--tag", "#TEA"), "action"), "skipped");
}

TEST(labels_are_found_with_and_without_their_sign) {
  STORE("The mill grinds rye", "--tag", "#mill", "--person", "@maria", "--person", "Maria");
  cli_call_tool("mememory", "remember", "{\"content\":\"The mill has four wings\",\"tags\":\"#mill\"}");
  CHECK_STR(jstr(OK("get", "1"), "tags[0]"), "mill");
  CHECK_STR(jstr(OK("get", "1"), "people[0]"), "maria");
  CHECK_INT(jlen(OK("get", "1"), "people"), 1);
  CHECK_STR(jstr(OK("get", "2"), "tags[0]"), "#mill");
  static const char *const given[] = {"mill", "#mill", " #mill "};
  for (size_t i = 0; i < ARRAY_LEN(given); i++) {
    CHECK_INT(jint(OK("list", "--all-projects", "--tag", given[i]), "total"), 2);
    CHECK_INT(jlen(OK("search", "mill", "--all-projects", "--tag", given[i]), "results"), 2);
  }
  CHECK_INT(jint(OK("list", "--person", "@Maria"), "total"), 1);
}
