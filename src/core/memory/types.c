/* types.c: table of memory types and lookups in it. */
#include "core/memory/types.h"

#include <assert.h>
#include <stdio.h>

#include "core/text/text.h"

const char *const kind_names[KIND_COUNT] = {"rule", "fact", "incident", "task"};

/* clang-format off */
static const struct mem_type types[] = {
  {.name = "rule", .kind = KIND_RULE, .page = "Rules", .boot = BOOT_RULES, .decay = DECAY_NEVER,
   .words = "rule rules policy allowed forbidden", .title = "Rules", .item = "claim"},
  {.name = "guardrail", .kind = KIND_RULE, .page = "Rules", .boot = BOOT_RULES, .decay = DECAY_NEVER,
   .stored_as = "rule", .severity = "blocker", .item = "claim"},
  {.name = "bootstrap", .kind = KIND_RULE, .page = "Rules", .boot = BOOT_RULES, .decay = DECAY_NEVER,
   .stored_as = "rule", .delivery = "boot", .item = "claim"},
  {.name = "feedback", .kind = KIND_RULE, .page = "User Preferences", .boot = BOOT_RULES, .decay = DECAY_NEVER,
   .words = "feedback correction corrected", .title = "Feedback", .item = "claim"},
  {.name = "identity", .kind = KIND_RULE, .page = "Identity",
   .aliases = {"core", "self"}, .boot = BOOT_IDENTITY, .decay = DECAY_NEVER,
   .words = "identity role", .item = "claim"},
  {.name = "lesson", .kind = KIND_RULE, .page = "Lessons",
   .aliases = {"warning", "insight", "learning"}, .boot = BOOT_LESSONS,
   .decay = DECAY_NEVER, .words = "lesson lessons learned mistake pitfall", .item = "claim"},
  {.name = "procedural", .kind = KIND_RULE, .page = "Rules", .boot = BOOT_RULES, .decay = DECAY_NEVER,
   .words = "how steps procedure workflow", .item = "claim"},

  {.name = "fact", .kind = KIND_FACT, .page = "Facts",
   .long_body = true, .decay = DECAY_FADE, .words = "fact facts", .title = "Facts",
   .item = "claim"},
  {.name = "decision", .kind = KIND_FACT, .page = "Key Decisions",
   .aliases = {"commitment", "choice"}, .boot = BOOT_DECISIONS,
   .droppable = true, .long_body = true, .decay = DECAY_SCORE, .words = "decision decisions decided decide chose why",
   .title = "Decisions", .item = "decision"},
  {.name = "context", .kind = KIND_FACT, .page = "Project Context",
   .aliases = {"active", "background"}, .boot = BOOT_CONTEXT, .droppable = true,
   .long_body = true, .decay = DECAY_FADE, .words = "context current currently", .title = "Context"},
  {.name = "reference", .kind = KIND_FACT, .page = "References",
   .aliases = {"pointer", "link"}, .long_body = true, .decay = DECAY_SCORE,
   .words = "where link url reference docs"},
  {.name = "person", .kind = KIND_FACT, .page = "People",
   .long_body = true, .decay = DECAY_SCORE, .words = "who person whose",
   .item = "entity"},
  {.name = "idea", .kind = KIND_FACT, .page = "Ideas",
   .long_body = true, .decay = DECAY_SCORE, .words = "idea ideas proposal"},
  {.name = "note", .kind = KIND_FACT, .page = "Notes",
   .long_body = true, .prose = true, .decay = DECAY_SCORE, .words = "note notes"},

  {.name = "incident", .kind = KIND_INCIDENT, .page = "Incidents", .archives = true, .decay = DECAY_SCORE,
   .words = "incident incidents outage broke crash postmortem", .title = "Incidents"},
  {.name = "episodic", .kind = KIND_INCIDENT, .page = "Session Summaries", .archives = true, .sequence = true,
   .decay = DECAY_SCORE, .words = "happened"},
  {.name = "historical", .kind = KIND_INCIDENT, .page = "Session Summaries",
   .aliases = {"archive", "past"}, .archives = true,
   .decay = DECAY_SCORE, .words = "history past"},
  {.name = "meeting", .kind = KIND_INCIDENT, .page = "Session Summaries",
   .archives = true, .sequence = true, .decay = DECAY_SCORE,
   .words = "meeting meetings call standup"},
  {.name = "journal", .kind = KIND_INCIDENT, .page = "Session Summaries",
   .archives = true, .sequence = true, .decay = DECAY_SCORE,
   .words = "journal diary"},

  {.name = "task", .kind = KIND_TASK, .page = "Tasks", .boot = BOOT_TASKS, .droppable = true, .decay = DECAY_NEVER,
   .words = "task tasks todo pending", .title = "Tasks", .item = "task"},
};
/* clang-format on */

bool kind_parse(struct str name, enum kind *ret_kind) {
  for (int i = 0; i < KIND_COUNT; i++)
    if (str_ieq(name, str_from(kind_names[i]))) {
      *ret_kind = (enum kind)i;
      return true;
    }
  return false;
}

size_t types_count(void) { return ARRAY_LEN(types); }

const struct mem_type *types_at(size_t i) {
  assert(i < ARRAY_LEN(types));
  return &types[i];
}

static bool has_name(const struct mem_type *t, struct str name) {
  if (str_ieq(name, str_from(t->name)))
    return true;
  for (const char *const *alias = t->aliases; *alias; alias++)
    if (str_ieq(name, str_from(*alias)))
      return true;
  return false;
}

const struct mem_type *type_find(struct str name) {
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (has_name(&types[i], name))
      return &types[i];
  return NULL;
}

const struct mem_type *type_of_kind(enum kind kind) {
  /* The first type of a kind in the table is its default. */
  size_t i = 0;
  assert(kind < KIND_COUNT);
  while (types[i].kind != kind)
    i++;
  return &types[i];
}

const char *type_title(const struct mem_type *t) { return t->title ? t->title : type_of_kind(t->kind)->title; }

const struct mem_type *type_of_prose(void) {
  size_t i = 0;
  while (!types[i].prose)
    i++;
  return &types[i];
}

const struct mem_type *type_of_sequence(void) {
  size_t i = 0;
  while (!types[i].sequence)
    i++;
  return &types[i];
}

struct str type_sequence_sql_list(struct arena *a) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (types[i].sequence)
      buf_addf(&b, "%s'%s'", b.n ? ", " : "", types[i].name);
  return buf_str(&b);
}

size_t type_index(const struct mem_type *t) {
  assert(t >= types && t < types + ARRAY_LEN(types));
  return (size_t)(t - types);
}

static bool has_word(const struct mem_type *t, struct str word) {
  struct str rest = str_from(t->words ? t->words : ""), own;
  while (str_next(&rest, ' ', &own))
    if (str_eq(word, own))
      return true;
  return false;
}

const double *type_query_factors(struct arena *a, struct str folded_query) {
  static const double preference = 1.1;
  double *factors = arena_array(a, double, ARRAY_LEN(types));
  struct str word;
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    factors[i] = 1;
  for (size_t pos = 0; text_next_word(folded_query, &pos, &word);)
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
      if (has_word(&types[i], word))
        factors[i] = preference;
  return factors;
}

const struct mem_type *type_of_section(enum boot_section section) {
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (types[i].boot == section)
      return &types[i];
  return NULL;
}

static enum status unknown_type(struct str type, struct error *err) {
  error_set(err, STATUS_REFUSED, "unknown type '%.*s'", STR_ARG(type));
  error_step(err, "type");
  char list[400];
  size_t n = 0;
  for (size_t i = 0; i < ARRAY_LEN(types) && n < sizeof(list); i++)
    n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", types[i].name);
  return error_fix(err, "use one of: %s", list);
}

enum status type_resolve(struct str kind, struct str type, const struct mem_type **ret_type, struct error *err) {
  enum kind k = KIND_FACT;
  if (!str_empty(kind) && !kind_parse(kind, &k)) {
    error_set(err, STATUS_REFUSED, "unknown kind '%.*s'", STR_ARG(kind));
    error_step(err, "type");
    return error_fix(err, "use one of: rule, fact, incident, task");
  }
  if (str_empty(type)) {
    *ret_type = type_of_kind(k);
    return STATUS_OK;
  }
  const struct mem_type *t = type_find(type);
  if (!t)
    return unknown_type(type, err);
  if (!str_empty(kind) && t->kind != k) {
    error_set(err, STATUS_REFUSED, "type '%s' is of kind %s, not %s", t->name, kind_names[t->kind], kind_names[k]);
    error_step(err, "type");
    return error_fix(err, "drop the kind: type '%s' implies kind '%s'", t->name, kind_names[t->kind]);
  }
  *ret_type = t;
  return STATUS_OK;
}
