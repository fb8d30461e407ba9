/* test_gate.c: checks of the write gate, without a store. */
#include "core/gate/gate.h"

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
  CHECK_INT(w.n, 1);
  CHECK_STR(str_from(w.v[0].code), "headline_derived");
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
