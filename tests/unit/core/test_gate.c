/* test_gate.c: checks of the write gate, without a store. */
#include "core/gate/gate.h"

#include "base/json.h"
#include "base/os/fs.h"
#include "support/harness.h"

static struct arena arena;

static struct memory draft(const char *body) {
  return (struct memory){.body = str_from(body), .project = STR(""), .weight = 1.0};
}

static enum status check(struct memory *m, bool strict, struct warnings *w, struct error *err) {
  arena_init(&arena);
  return gate_check(&arena, strict, m, w, err);
}

static struct str words(size_t n) {
  struct buf b = BUF(&arena);
  for (size_t i = 0; i < n; i++)
    buf_addf(&b, "%sword%zu", i ? " " : "", i);
  return buf_str(&b);
}

static void refused(struct memory m, bool strict, const char *step) {
  struct warnings w = {0};
  struct error err = {0};
  enum status s = gate_check(&arena, strict, &m, &w, &err);
  CHECK(s == STATUS_REFUSED || s == STATUS_TOO_LARGE);
  CHECK_STR(str_from(err.step), step);
  CHECK(err.message[0] != 0);
  CHECK(err.fix[0] != 0);
}

TEST(a_plain_text_passes_with_a_derived_headline) {
  struct warnings w = {0};
  struct error err;
  struct memory m = draft("The build takes nine minutes. Most of it is linking.");
  CHECK_OK(check(&m, false, &w, &err), &err);
  CHECK_STR(m.kind, "fact");
  CHECK_STR(m.type, "fact");
  CHECK_STR(m.headline, "The build takes nine minutes");
  CHECK_STR(m.delivery, "on_demand");
  CHECK(m.severity.p == NULL);
  CHECK_INT(w.n, 0);
}

TEST(strict_wants_a_headline) {
  arena_init(&arena);
  refused(draft("The build takes nine minutes."), true, "headline");
}

TEST(headline_words_are_counted) {
  arena_init(&arena);
  struct warnings w = {0};
  struct error err;
  struct memory m = draft("body");
  m.headline = words(15);
  CHECK_OK(gate_check(&arena, true, &m, &w, &err), &err);
  m = draft("body");
  m.headline = words(16);
  refused(m, false, "headline");
  m.headline = STR("123 456");
  refused(m, false, "headline");
}

TEST(rules_incidents_and_tasks_hold_400_words) {
  arena_init(&arena);
  static const char *const kinds[] = {"rule", "incident", "task"};
  for (size_t i = 0; i < 3; i++) {
    struct warnings w = {0};
    struct error err;
    struct memory m = draft(words(400).p);
    m.kind = str_from(kinds[i]);
    m.headline = STR("A headline");
    CHECK_OK(gate_check(&arena, false, &m, &w, &err), &err);
    m = draft(words(401).p);
    m.kind = str_from(kinds[i]);
    m.headline = STR("A headline");
    refused(m, false, "atomic");
  }
}

TEST(a_long_fact_is_allowed_only_in_assist_mode) {
  arena_init(&arena);
  struct warnings w = {0};
  struct error err;
  struct memory m = draft(words(401).p);
  m.headline = STR("A headline");
  refused(m, true, "atomic");
  CHECK_OK(gate_check(&arena, false, &m, &w, &err), &err);
  CHECK_INT(w.n, 1);
  CHECK_STR(str_from(w.v[0].code), "long_text");
}

TEST(stacked_updates_are_refused) {
  arena_init(&arena);
  struct memory m = draft("Deploy by hand.\nUpdate: deploy by script.\nUpdate (2026-03-01): deploy by CI.");
  m.headline = STR("Deploys");
  refused(m, false, "atomic");
  m.body = STR("GUARDRAIL 2026-01-02: no force push\nGUARDRAIL 2026-02-03: really none");
  refused(m, false, "atomic");
  struct warnings w = {0};
  struct error err;
  m = draft("Update: deploys go through CI now. An update: of the docs follows.");
  m.headline = STR("Deploys");
  CHECK_OK(gate_check(&arena, false, &m, &w, &err), &err);
}

/* Warned about in assist mode, refused in strict mode. */
static void check_several_ideas(const char *body) {
  test_note("%s", body);
  struct warnings w = {0};
  struct error err;
  struct memory m = draft(body);
  m.headline = STR("A headline");
  CHECK_OK(gate_check(&arena, false, &m, &w, &err), &err);
  CHECK_INT(w.n, 1);
  CHECK_STR(str_from(w.v[0].code), "several_ideas");
  CHECK(w.v[0].fix.n > 0);
  m = draft(body);
  m.headline = STR("A headline");
  refused(m, true, "atomic");
}

TEST(updates_stacked_within_a_line) {
  arena_init(&arena);
  check_several_ideas("GUARDRAIL (2026-03-31): never push to main. GUARDRAIL (2026-04-02): push only to main.");
  check_several_ideas("Deploys are done by hand. Update: deploys are done by CI.");
  check_several_ideas("The limit is 5 requests. UPDATE (2 April 2026): the limit is 6 requests.");
  check_several_ideas("GUARDRAIL 31.03.2026: ask first. GUARDRAIL 02.04.2026: do not ask.");
  check_several_ideas("[31 March 2026] builds use yarn. [2 April 2026] builds use pnpm.");
  check_several_ideas("4/2/2026 - builds use yarn; 4/9/2026 - builds use pnpm");
  check_several_ideas("The office is in Bern. Edit: it moved to Basel. Correction: it is in Zug.");
  check_several_ideas("RULE March 3, 2026 ask first; RULE March 9, 2026 do not ask");
  check_several_ideas("GUARDRAIL (31.03.26): never push to main. GUARDRAIL (02.04.26): push only to main.");
  check_several_ideas("GUARDRAIL (20260331): never push to main. GUARDRAIL (20260402): push only to main.");
  check_several_ideas("Guardrail 2026-03: never push to main. Guardrail 2026-04: push only to main.");
  check_several_ideas("Update 1: deploys are done by script. Update 2: deploys are done by CI.");
  check_several_ideas("Deploys are done by hand. Update #2: deploys are done by CI.");
  check_several_ideas("Deploys are done by hand. Latest update: deploys are done by CI.");
  check_several_ideas("The database listens on port 5433 (update: moved to port 5434).");
  check_several_ideas("The database listens on port 5433 [Update: moved to port 5434].");
  check_several_ideas("The database listens on port 5433, Update: moved to port 5434.");
}

TEST(unrelated_statements_in_one_text) {
  arena_init(&arena);
  check_several_ideas("We deploy with Ansible. Also the API is in Go. Also Bob is on holiday");
  check_several_ideas("The database is Postgres. Additionally, lunch is at noon. Furthermore, Eve likes tea.");
  check_several_ideas("The API is written in Go. By the way, Bob is on holiday.");
  check_several_ideas("We deploy with Ansible; also the API is in Go; also Bob is on holiday");
  check_several_ideas("We deploy with Ansible, also the API is in Go, also Bob is on holiday");
  check_several_ideas("- We deploy with Ansible - Also the API is in Go - Also Bob is on holiday");
}

static size_t count_several_ideas(struct str body) {
  struct warnings w = {0};
  struct error err;
  struct memory m = {.body = body, .headline = STR("A headline"), .project = STR(""), .weight = 1.0};
  return gate_check(&arena, true, &m, &w, &err) != STATUS_OK && str_is(str_from(err.step), "atomic");
}

TEST(ordinary_texts_hold_one_idea) {
  arena_init(&arena);
  static const char *const fine[] = {
      "The release is planned for 2026-03-31: the freeze starts a week before.",
      "2026-03-31: the freeze starts.",
      "Update: deploys go through CI now.",
      "Deploys use Ansible. Also deploys need an approval. Also they are announced in the channel.",
      "The service was updated on 2026-03-31 and again on 2026-04-02.",
      "Run the migrations before the deploy. Also check that the backup of the database is done.",
      "Latest update: deploys go through CI now.",
      "Update 2: deploys go through CI now.",
      "The importer reads 50 rows. Updated 5 - 10 of them per second; update 10:30 at the latest.",
      "The client runs on Linux, also on macOS, also on Windows.",
      "Coffee comes with milk, plus sugar, plus a biscuit.",
      "The form has three buttons: create, update (all fields), delete.",
      "Deploys use Ansible; also deploys need an approval; also they are announced.",
  };
  for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
    test_note("%s", fine[i]);
    CHECK_INT(count_several_ideas(str_from(fine[i])), 0);
  }
  struct memory m = draft("2026-03-31: the disk was full. 2026-04-01: the disk was replaced.");
  struct warnings w = {0};
  struct error err;
  m.kind = STR("incident"); /* its course */
  m.headline = STR("A headline");
  CHECK_OK(gate_check(&arena, true, &m, &w, &err), &err);
}

/* At most one false alarm in a hundred texts. */
TEST(ordinary_texts_are_rarely_refused_as_several_ideas) {
  arena_init(&arena);
  struct str text, rest, line;
  struct error err;
  size_t n = 0, alarms = 0;
  CHECK_OK(fs_read(&arena, CAIRN_SOURCE_DIR "/tests/data/poison/ordinary.txt", 1 << 20, &text, &err), &err);
  for (rest = text; str_line(&rest, &line); n++)
    alarms += !str_empty(line) && count_several_ideas(line);
  CHECK_OK(fs_read(&arena, CAIRN_SOURCE_DIR "/tests/data/eval/house/corpus.jsonl", 1 << 20, &text, &err), &err);
  for (rest = text; str_line(&rest, &line); n++) {
    yyjson_val *doc;
    CHECK_OK(json_read(&arena, line, &doc, &err), &err);
    alarms += count_several_ideas(json_str(doc, "text"));
  }
  printf("  several ideas: %zu of %zu ordinary texts\n", alarms, n);
  CHECK(n > 400);
  CHECK(alarms * 100 <= n);
}

TEST(severity_is_for_rules_and_never_deprecated) {
  arena_init(&arena);
  struct memory m = draft("text");
  m.headline = STR("Headline");
  m.severity = STR("blocker");
  refused(m, false, "severity");
  m.kind = STR("rule");
  m.severity = STR("deprecated");
  refused(m, false, "severity");
  m.severity = STR("urgent");
  refused(m, false, "severity");
  struct warnings w = {0};
  struct error err;
  m.severity = STR_NONE;
  CHECK_OK(gate_check(&arena, false, &m, &w, &err), &err);
  CHECK_STR(m.severity, "pattern");
}

TEST(guardrail_means_a_blocking_rule) {
  arena_init(&arena);
  struct warnings w = {0};
  struct error err;
  struct memory m = draft("text");
  m.headline = STR("Headline");
  m.type = STR("guardrail");
  CHECK_OK(gate_check(&arena, false, &m, &w, &err), &err);
  CHECK_STR(m.type, "rule");
  CHECK_STR(m.severity, "blocker");
  m = draft("text");
  m.headline = STR("Headline");
  m.type = STR("guardrail");
  m.severity = STR("pattern");
  refused(m, false, "severity");
}

TEST(fields_of_other_kinds_are_refused) {
  arena_init(&arena);
  struct memory m = draft("text");
  m.headline = STR("Headline");
  m.priority = STR("high");
  refused(m, false, "fields");
  m.priority = STR_NONE;
  m.root_cause = STR("cause");
  refused(m, false, "fields");
  m.root_cause = STR_NONE;
  m.delivery = STR("skill");
  refused(m, false, "fields");
  m.delivery = STR_NONE;
  m.weight = 2;
  refused(m, false, "fields");
  m.weight = 0.05;
  refused(m, false, "fields");
}

TEST(an_unknown_value_is_refused_with_all_allowed_ones) {
  struct warnings w = {0};
  struct error err;
  struct memory m = draft("text");
  m.headline = STR("Headline");
  m.delivery = STR("mail");
  CHECK_STATUS(check(&m, false, &w, &err), STATUS_REFUSED);
  CHECK_STR(str_from(err.fix), "use one of: boot, pinned, skill, on_demand");
}

TEST(keys_that_look_like_ids_are_refused) {
  struct error err;
  CHECK_OK(gate_check_key(STR("auth-approach"), &err), &err);
  CHECK_OK(gate_check_key(STR("learn:kafka:1a2b3c"), &err), &err);
  CHECK_STATUS(gate_check_key(STR("42"), &err), STATUS_REFUSED);
  CHECK_STATUS(gate_check_key(STR("01920000-0000-7000-8000-000000000000"), &err), STATUS_REFUSED);
  CHECK_STATUS(gate_check_key(STR("  "), &err), STATUS_REFUSED);
  CHECK_STATUS(gate_check_key(STR("a\nb"), &err), STATUS_REFUSED);
}
