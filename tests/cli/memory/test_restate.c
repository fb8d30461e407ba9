/* test_restate.c: a text that is stored already, remembered with other fields. */
#include "support/cli.h"

#define FACT "The staging database listens on port 5433"

static yyjson_val *part(yyjson_val *result, const char *name) {
  return yyjson_obj_get(yyjson_obj_get(result, "changed"), name);
}

TEST(fields_that_can_change_are_changed_in_the_memory) {
  int64_t id = STORE("--tag", "infra", FACT);
  yyjson_val *r = OK("remember", "--weight", "0.4", "--ttl", "2030-01-01", "--delivery", "pinned", FACT);
  CHECK_STR(jstr(r, "action"), "updated");
  CHECK_INT(jint(r, "id"), id);
  CHECK_NEAR(json_num(part(r, "was"), "weight", 0), 1.0, 1e-9);
  CHECK_NEAR(json_num(part(r, "is"), "weight", 0), 0.4, 1e-9);
  CHECK_STR(jstr(part(r, "is"), "delivery"), "pinned");
  yyjson_val *m = OK("get", num(id));
  CHECK_NEAR(json_num(m, "weight", 0), 0.4, 1e-9);
  CHECK_STR(jstr(m, "delivery"), "pinned");
  CHECK(str_starts(jstr(m, "expires_at"), STR("2030-01-01")));
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(m, "tags")), 1);

  OK("undo", num(jint(r, "txn")));
  m = OK("get", num(id));
  CHECK_NEAR(json_num(m, "weight", 0), 1.0, 1e-9);
  CHECK_STR(jstr(m, "delivery"), "on_demand");

  OK("task", "add", "--priority", "low", "Renew the certificate of the proxy");
  r = OK("task", "add", "--priority", "high", "Renew the certificate of the proxy");
  CHECK_STR(jstr(r, "action"), "updated");
  CHECK_STR(jstr(OK("get", num(jint(r, "id"))), "priority"), "high");
}

TEST(other_fields_make_a_new_version_that_keeps_the_rest) {
  int64_t id = STORE("--key", "staging", "--tag", "infra", "--weight", "0.5", "--ttl", "2030-01-01", FACT);
  OK("annotate", num(id), "Moved there in May.");
  OK("rate", num(id), "up");
  static const char *const fields[][3] = {
      {"--type", "decision", "type"}, {"--confidence", "low", "confidence"}, {"--tag", "ports", "tags"}};
  for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
    test_note("%s", fields[i][0]);
    yyjson_val *r = OK("remember", fields[i][0], fields[i][1], FACT);
    CHECK_STR(jstr(r, "action"), "superseded");
    CHECK_INT(jint(r, "supersedes"), id);
    CHECK_INT(yyjson_obj_size(part(r, "is")), 1);
    CHECK(yyjson_obj_get(part(r, "is"), fields[i][2]) != NULL);
    CHECK(warning(r, "duplicate") == NULL);
    id = jint(r, "id");
  }
  yyjson_val *m = OK("get", "staging");
  CHECK_INT(jint(m, "id"), id);
  CHECK_STR(jstr(m, "type"), "decision");
  CHECK_STR(jstr(m, "confidence"), "low");
  CHECK_STR(json_val_str(yyjson_arr_get(yyjson_obj_get(m, "tags"), 0)), "infra");
  CHECK_STR(json_val_str(yyjson_arr_get(yyjson_obj_get(m, "tags"), 1)), "ports");
  CHECK_NEAR(json_num(m, "weight", 0), 0.5, 1e-9);
  CHECK(str_starts(jstr(m, "expires_at"), STR("2030-01-01")));
  CHECK_INT(jint(m, "upvotes"), 1);
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(m, "annotations")), 1);
  CHECK_INT(jint(OK("list"), "total"), 1);
}

TEST(a_batch_reports_all_labels_of_the_new_version) {
  struct str lines = STR("{\"tags\":[\"a\"],\"text\":\"Seals bark\"}\n{\"tags\":[\"b\"],\"text\":\"Seals bark\"}\n");
  struct str out = CAIRN_FED(lines, "remember", "--batch", "-", "--json").out;
  CHECK(has(out, "\"changed\":{\"was\":{\"tags\":[\"a\"]},\"is\":{\"tags\":[\"a\",\"b\"]}}"));
}

TEST(a_key_with_the_same_text_takes_another_type) {
  STORE("--key", "staging", FACT);
  yyjson_val *r = OK("remember", "--key", "staging", "--type", "lesson", FACT);
  CHECK_STR(jstr(r, "action"), "superseded");
  CHECK_STR(jstr(part(r, "was"), "type"), "fact");
  CHECK_STR(jstr(part(r, "is"), "type"), "lesson");
  CHECK_STR(jstr(OK("get", "staging"), "type"), "lesson");
}

TEST(another_key_makes_a_new_version_that_keeps_the_rest) {
  int64_t old = STORE("--key", "db.main", "--type", "decision", "--tag", "infra", FACT);
  OK("annotate", num(old), "checked in May");
  yyjson_val *r = OK("remember", "--key", "db.primary", FACT);
  CHECK_INT(jint(r, "supersedes"), old);
  CHECK_STR(jstr(r, "changed.was.key"), "db.main");
  CHECK_STR(jstr(r, "changed.is.key"), "db.primary");
  CHECK_STR(jstr(OK("get", num(old)), "state_reason"), "same text, changed: key");
  yyjson_val *m = OK("get", "db.primary");
  CHECK_INT(jint(m, "id"), jint(r, "id"));
  CHECK_STR(jstr(m, "type"), "decision");
  CHECK_STR(jstr(m, "tags[0]"), "infra");
  CHECK_STR(jstr(m, "annotations[0].text"), "checked in May");
}

TEST(a_severity_makes_a_new_version_of_a_rule) {
  int64_t id = STORE("--type", "rule", "--headline", "Never force-push to main", "It destroyed a day of work.");
  yyjson_val *r = OK("remember", "--type", "guardrail", "It destroyed a day of work.");
  CHECK_INT(jint(r, "supersedes"), id);
  yyjson_val *m = OK("get", num(jint(r, "id")));
  CHECK_STR(jstr(m, "severity"), "blocker");
  CHECK_STR(jstr(m, "headline"), "Never force-push to main");
}

TEST(a_skipped_write_reports_the_stored_fields) {
  int64_t id = STORE("--type", "decision", FACT);
  yyjson_val *r = OK("remember", FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_STR(jstr(r, "type"), "decision");
  CHECK(yyjson_obj_get(r, "changed") == NULL);
  r = OK("remember", "--type", "decision", FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  r = OK("remember", "--keep-fields", "--type", "context", FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_STR(jstr(r, "type"), "decision");
  CHECK(warning(r, "not_changed") != NULL);
  CHECK_STR(jstr(OK("get", num(id)), "type"), "decision");
}

TEST(a_project_does_not_change_a_global_memory) {
  int64_t id = STORE("--scope", "global", FACT);
  yyjson_val *r = OK("remember", "--project", "shop", "--weight", "0.2", FACT);
  CHECK_STR(jstr(r, "mode"), "shadow");
  CHECK_NEAR(json_num(OK("get", num(id)), "weight", 0), 1.0, 1e-9);
  CHECK_STR(jstr(OK("get", num(id)), "state"), "active");
  CHECK_NEAR(json_num(OK("get", num(jint(r, "id"))), "weight", 0), 0.2, 1e-9);
}

TEST(untrusted_text_changes_no_field_of_a_trusted_memory) {
  int64_t id = STORE(FACT);
  yyjson_val *r = OK("remember", "--origin", "tool", "--delivery", "pinned", "--weight", "0.1", FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK(warning(r, "not_changed") != NULL);
  CHECK_STR(jstr(OK("get", num(id)), "delivery"), "on_demand");
  CHECK_NEAR(json_num(OK("get", num(id)), "weight", 0), 1.0, 1e-9);
}

#define SHORT_FACT                                                                                                     \
  "The nightly backup of the customer database is encrypted with the key of the operations team, copied to the "       \
  "second data centre in Frankfurt, checked there by reading it back, and kept for ninety days before the oldest one " \
  "is removed"

TEST(a_more_detailed_text_keeps_the_fields_of_the_shorter) {
  int64_t id = STORE("--type", "decision", "--weight", "0.5", "--ttl", "2030-01-01", "--tag", "infra", SHORT_FACT);
  yyjson_val *r = OK("remember", "--tag", "backup", SHORT_FACT " for good");
  CHECK_INT(jint(r, "supersedes"), id);
  CHECK_STR(jstr(r, "type"), "decision");
  yyjson_val *m = OK("get", num(jint(r, "id")));
  CHECK_NEAR(json_num(m, "weight", 0), 0.5, 1e-9);
  CHECK(jhas_str(m, "tags", "infra") && jhas_str(m, "tags", "backup"));
  CHECK(jget(m, "expires_at") == NULL); /* the end was that of the other text */
}

TEST(a_more_detailed_text_keeps_notes_and_ratings) {
  int64_t id = STORE(SHORT_FACT);
  OK("annotate", num(id), "ask Ann first");
  OK("rate", num(id), "up");
  yyjson_val *r = OK("remember", SHORT_FACT " for good");
  CHECK_INT(jint(r, "supersedes"), id);
  yyjson_val *m = OK("get", num(jint(r, "id")));
  CHECK_STR(jstr(m, "annotations[0].text"), "ask Ann first");
  CHECK_INT(jint(m, "upvotes"), 1);
  /* so do the texts of a capture, which have no arguments of their own */
  r = OK("capture", SHORT_FACT " for good, and the key is renewed");
  m = OK("get", num(jint(r, "memories[0].id")));
  CHECK_STR(jstr(r, "memories[0].action"), "superseded");
  CHECK_STR(jstr(m, "annotations[0].text"), "ask Ann first");
  CHECK_INT(jint(m, "upvotes"), 1);
}

TEST(a_person_takes_no_field_from_an_untrusted_memory) {
  OK("remember", "--origin", "tool", "--delivery", "pinned", "--tag", "odd", FACT);
  yyjson_val *r = OK("remember", "--tag", "infra", FACT);
  CHECK_STR(jstr(r, "action"), "stored");
  yyjson_val *m = OK("get", num(jint(r, "id")));
  CHECK_STR(jstr(m, "delivery"), "on_demand");
  CHECK_INT(yyjson_arr_size(yyjson_obj_get(m, "tags")), 1);
}

TEST(an_agent_that_labels_a_persons_memory_leaves_it_theirs) {
  STORE(FACT);
  STORE("--type", "rule", "Deploys happen on Monday.");
  OK("agent", "add", "bot", "--role", "admin");
  cli_set("CAIRN_AGENT=bot");
  yyjson_val *labelled = OK("remember", "--tag", "infra", FACT);
  yyjson_val *raised = OK("remember", "--type", "guardrail", "Deploys happen on Monday.");
  cli_set("CAIRN_AGENT");
  CHECK_STR(jstr(labelled, "action"), "superseded");
  CHECK_STR(jstr(OK("get", num(jint(labelled, "id"))), "trust"), "user");
  CHECK_STR(jstr(raised, "action"), "skipped");
  CHECK(has(jstr(warning(raised, "not_changed"), "message"), "a person wrote it"));
}

TEST(an_agent_does_not_demote_or_end_a_persons_memory) {
  static const char *const fields[] = {"--type=lesson", "--severity=pattern", "--delivery=on_demand", "--ttl=1h"};
  int64_t id = STORE("--type", "guardrail", "--delivery", "pinned", "Never deploy on a Friday.");
  OK("agent", "add", "bot", "--role", "admin");
  cli_set("CAIRN_AGENT=bot");
  for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
    test_note("%s", fields[i]);
    yyjson_val *r = OK("remember", "--type", "rule", fields[i], "Never deploy on a Friday.");
    CHECK_STR(jstr(r, "action"), "skipped");
    CHECK(has(jstr(warning(r, "not_changed"), "fix"), "cairn supersede"));
  }
  cli_set("CAIRN_AGENT");
  yyjson_val *m = OK("get", num(id));
  CHECK_STR(jstr(m, "severity"), "blocker");
  CHECK_STR(jstr(m, "delivery"), "pinned");
  CHECK_STR(jstr(m, "trust"), "user");
  CHECK(jget(m, "expires_at") == NULL);
}

/* Maintenance has not run, so the first memory still has the key. */
TEST(nothing_is_kept_of_a_memory_that_has_expired) {
  STORE("--key", "rotation", "--ttl", "1h", "--weight", "0.3", FACT);
  cli_day(1);
  yyjson_val *r = OK("remember", "--key", "rotation", FACT);
  CHECK_STR(jstr(r, "action"), "stored");
  yyjson_val *m = OK("get", "rotation");
  CHECK_INT(jint(m, "id"), jint(r, "id"));
  CHECK_STR(jstr(m, "state"), "active");
  CHECK_NEAR(json_num(m, "weight", 0), 1.0, 1e-9);
}

/* The second line meets the first under the lock, when the gate has filled in its type and severity. */
TEST(a_batch_keeps_the_type_and_severity_of_its_first_line) {
  CAIRN_FED(STR("{\"text\":\"Release tags are signed.\",\"type\":\"rule\",\"severity\":\"blocker\"}\n"
                "{\"text\":\"Release tags are signed.\",\"type\":\"rule\",\"tags\":[\"t\"]}\n"
                "{\"text\":\"" FACT "\",\"type\":\"decision\"}\n"
                "{\"text\":\"" FACT "\",\"tags\":[\"t\"]}\n"),
            "remember", "--batch", "-");
  yyjson_val *rule = OK("get", "2"), *fact = OK("get", "4");
  CHECK_STR(jstr(rule, "severity"), "blocker");
  CHECK_STR(jstr(rule, "tags[0]"), "t");
  CHECK_STR(jstr(fact, "type"), "decision");
  CHECK_STR(jstr(fact, "tags[0]"), "t");
}

TEST(a_separate_memory_of_the_same_text_takes_no_field) {
  int64_t id = STORE("--key", "a", "--ttl", "3d", "--tag", "temp", "--weight", "0.2", "--skill-name", "port", FACT);
  yyjson_val *r = OK("remember", "--key", "b", "--keep-both", FACT);
  yyjson_val *m = OK("get", "b");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_NEAR(json_num(m, "weight", 0), 1.0, 1e-9);
  CHECK(jget(m, "expires_at") == NULL && jget(m, "skill_name") == NULL);
  r = OK("remember", "--tag", "other", "--distinct-from", num(id), "--distinct-from", "b", FACT);
  CHECK_STR(jstr(r, "action"), "stored");
}

TEST(a_new_version_keeps_links) {
  int64_t first = STORE(FACT), other = STORE("The release is in May."), third = STORE("Logs are kept for a week.");
  OK("link", num(first), "relates", num(other));
  OK("link", num(third), "derived_from", num(first));
  int64_t now = jint(OK("remember", "--tag", "infra", FACT), "id");
  yyjson_val *m = OK("get", num(now));
  CHECK(now != first && jpos(m, "links", other) >= 0 && jpos(m, "links", third) >= 0 && jpos(m, "links", first) >= 0);
}

TEST(links_of_a_text_that_is_stored_are_not_dropped_silently) {
  int64_t first = STORE(FACT), other = STORE("The release is in May.");
  yyjson_val *r = OK("remember", "--link", num(other), FACT);
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_STR(jstr(warning(r, "not_changed"), "fix"), textf("cairn link %s relates %s", num(first), num(other)));
  OK("link", num(first), "relates", num(other));
  CHECK(!warning(OK("remember", "--link", num(other), FACT), "not_changed"));
  int64_t task = ADD_TASK("Renew the certificate"), before = ADD_TASK("Buy a domain");
  r = OK("task", "add", "--blocked-by", num(before), "Renew the certificate");
  CHECK_STR(jstr(warning(r, "not_changed"), "fix"), textf("cairn task block %s %s", num(task), num(before)));
}

TEST(a_project_does_not_take_a_global_skill) {
  int64_t id = STORE("--scope", "global", "--type", "rule", "--skill-name", "deploy", "Deploy with make release.");
  yyjson_val *r = OK("remember", "--project", "shop", "--type", "rule", "--tag", "ops", "Deploy with make release.");
  CHECK_STR(jstr(r, "action"), "skipped");
  CHECK_STR(jstr(warning(r, "not_changed"), "fix"),
            textf("cairn supersede %s --reason WHY --project '' --inherit-skill TEXT, with the new values", num(id)));
}
