/* test_types.c: the table of types matches the specification. */
#include "core/memory/types.h"
#include "support/harness.h"

static void resolves(const char *name, const char *kind, const char *stored) {
  const struct mem_type *t = type_find(str_from(name));
  CHECK(t != NULL);
  CHECK_STR(str_from(kind_names[t->kind]), kind);
  CHECK_STR(str_from(t->stored_as ? t->stored_as : t->name), stored);
}

TEST(every_type_and_alias_of_the_specification) {
  static const struct {
    const char *name, *kind, *stored;
  } all[] = {
      {"rule", "rule", "rule"},
      {"guardrail", "rule", "rule"},
      {"feedback", "rule", "feedback"},
      {"identity", "rule", "identity"},
      {"core", "rule", "identity"},
      {"self", "rule", "identity"},
      {"lesson", "rule", "lesson"},
      {"warning", "rule", "lesson"},
      {"insight", "rule", "lesson"},
      {"learning", "rule", "lesson"},
      {"procedural", "rule", "procedural"},
      {"bootstrap", "rule", "rule"},
      {"fact", "fact", "fact"},
      {"context", "fact", "context"},
      {"active", "fact", "context"},
      {"background", "fact", "context"},
      {"decision", "fact", "decision"},
      {"commitment", "fact", "decision"},
      {"choice", "fact", "decision"},
      {"reference", "fact", "reference"},
      {"pointer", "fact", "reference"},
      {"link", "fact", "reference"},
      {"person", "fact", "person"},
      {"idea", "fact", "idea"},
      {"note", "fact", "note"},
      {"incident", "incident", "incident"},
      {"episodic", "incident", "episodic"},
      {"historical", "incident", "historical"},
      {"archive", "incident", "historical"},
      {"past", "incident", "historical"},
      {"meeting", "incident", "meeting"},
      {"journal", "incident", "journal"},
      {"task", "task", "task"},
  };
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    resolves(all[i].name, all[i].kind, all[i].stored);
}

TEST(alias_types_set_their_fields) {
  CHECK_STR(str_from(type_find(STR("guardrail"))->severity), "blocker");
  CHECK_STR(str_from(type_find(STR("bootstrap"))->delivery), "boot");
  CHECK(type_find(STR("GuardRail")) == type_find(STR("guardrail")));
  CHECK(type_find(STR("nonsense")) == NULL);
}

TEST(only_facts_and_contexts_fade) {
  for (size_t i = 0; i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    bool fades = t->decay == DECAY_FADE;
    bool should = str_is(str_from(t->name), "fact") || str_is(str_from(t->name), "context");
    CHECK(fades == should);
    if (t->kind == KIND_RULE)
      CHECK_INT(t->decay, DECAY_NEVER);
    CHECK(t->archives == (t->kind == KIND_INCIDENT));
  }
}

TEST(a_kind_without_a_type_means_its_default_type) {
  struct error err;
  const struct mem_type *t;
  CHECK_OK(type_resolve(STR("incident"), STR(""), &t, &err), &err);
  CHECK_STR(str_from(t->name), "incident");
  CHECK_OK(type_resolve(STR(""), STR(""), &t, &err), &err);
  CHECK_STR(str_from(t->name), "fact");
  CHECK_OK(type_resolve(STR(""), STR("lesson"), &t, &err), &err);
  CHECK_INT(t->kind, KIND_RULE);
}

TEST(wrong_names_are_refused_with_help) {
  struct error err;
  const struct mem_type *t = NULL;
  CHECK_STATUS(type_resolve(STR("thing"), STR(""), &t, &err), STATUS_REFUSED);
  CHECK(strstr(err.fix, "incident") != NULL);
  CHECK_STATUS(type_resolve(STR(""), STR("thing"), &t, &err), STATUS_REFUSED);
  CHECK(strstr(err.fix, "decision") != NULL);
  CHECK_STR(str_from(err.step), "type");
  CHECK_STATUS(type_resolve(STR("fact"), STR("lesson"), &t, &err), STATUS_REFUSED);
  CHECK(t == NULL);
}
