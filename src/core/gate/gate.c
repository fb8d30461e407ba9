/* gate.c: write gate: checks of kind and type, severity and other fields, headline, one idea. */
#include "core/gate/gate.h"

#include <assert.h>

#include "base/id.h"
#include "base/utf8.h"
#include "core/gate/atomic.h"
#include "core/memory/extract.h"
#include "core/memory/headline.h"
#include "core/text/text.h"

static void warn(struct arena *a, struct warnings *w, const char *code, struct str message, struct str fix) {
  list_push(a, w, (struct warning){.code = code, .message = message, .fix = fix});
}

/* ---- names ---- */

enum status gate_check_team(struct str team, struct error *err) {
  bool ok = team.n >= 1 && team.n <= TEAM_BYTES;
  for (size_t i = 0; ok && i < team.n; i++) {
    char c = team.p[i];
    ok = (c >= 'a' && c <= 'z') || ascii_digit(c) || c == '_' || c == '-';
  }
  if (ok)
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "'%.*s' is not a valid team name", STR_ARG(team));
  return error_fix(err, "use 1 to %d characters of: a-z 0-9 _ -", TEAM_BYTES);
}

enum status gate_check_key(struct str key, struct error *err) {
  int64_t number;
  if (str_empty(str_trim(key)) || key.n > KEY_BYTES || text_has_control(key)) {
    error_set(err, STATUS_REFUSED, "a key is 1 to %d bytes of plain text", KEY_BYTES);
    error_step(err, "key");
    return error_fix(err, "use a short name such as 'auth-approach'");
  }
  if (uuid_is_valid(key) || str_int64(key, &number)) {
    error_set(err, STATUS_REFUSED, "key '%.*s' looks like an id", STR_ARG(key));
    error_step(err, "key");
    return error_fix(err, "use a short name such as 'auth-approach'");
  }
  return STATUS_OK;
}

enum status gate_check_project(struct str project, struct error *err) {
  if (project.n > LABEL_BYTES || text_has_control(project) || !str_eq(project, str_trim(project))) {
    error_set(err, STATUS_USAGE, "a project name is at most %d bytes of plain text", LABEL_BYTES);
    return error_fix(err, "use the name of its folder or repository");
  }
  return STATUS_OK;
}

/* ---- step 1: kind and type ---- */

static enum status check_type(struct memory *m, struct error *err) {
  const struct mem_type *t;
  TRY(type_resolve(m->kind, m->type, &t, err));
  assert(!t->severity || t->stored_as);
  if (t->severity && !str_empty(m->severity) && !str_is(m->severity, t->severity)) {
    error_set(err, STATUS_REFUSED, "type '%s' means severity %s, not %.*s", t->name, t->severity, STR_ARG(m->severity));
    error_step(err, "severity");
    return error_fix(err, "use type '%s' with severity '%.*s'", t->stored_as, STR_ARG(m->severity));
  }
  m->kind = str_from(kind_names[t->kind]);
  m->type = str_from(t->stored_as ? t->stored_as : t->name);
  if (t->severity)
    m->severity = str_from(t->severity);
  if (t->delivery && str_empty(m->delivery))
    m->delivery = str_from(t->delivery);
  return STATUS_OK;
}

/* ---- step 2: severity and other fields that only some kinds have ---- */

static enum status refuse_field(struct error *err, const char *field, const char *kind, struct str given) {
  error_set(err, STATUS_REFUSED, "%s is only for kind %s, not for kind %.*s", field, kind, STR_ARG(given));
  error_step(err, str_is(str_from(field), "severity") ? "severity" : "fields");
  return error_fix(err, "drop %s, or use kind '%s'", field, kind);
}

static enum status check_choice(struct arena *a, const char *step, const char *field, struct str value,
                                const char *const *choices, struct error *err) {
  if (str_empty(value) || one_of(value, choices))
    return STATUS_OK;
  error_set(err, STATUS_REFUSED, "'%.*s' is not a %s", STR_ARG(value), field);
  error_step(err, step);
  struct str list = one_of_text(a, choices);
  return error_fix(err, "use one of: %.*s", STR_ARG(list));
}

static enum status check_severity(struct arena *a, struct memory *m, struct error *err) {
  static const char *const writable[] = {"blocker", "pattern", NULL};
  bool rule = str_is(m->kind, kind_names[KIND_RULE]);
  if (str_is(m->severity, "deprecated")) {
    error_set(err, STATUS_REFUSED, "severity 'deprecated' is set only by supersede");
    error_step(err, "severity");
    return error_fix(err, "supersede the rule instead: cairn supersede ID --reason WHY TEXT");
  }
  if (!rule && !str_empty(m->severity))
    return refuse_field(err, "severity", kind_names[KIND_RULE], m->kind);
  TRY(check_choice(a, "severity", "severity", m->severity, writable, err));
  m->severity = !rule ? STR_NONE : str_empty(m->severity) ? STR("pattern") : m->severity;
  return STATUS_OK;
}

static enum status check_kind_fields(struct arena *a, struct memory *m, struct error *err) {
  bool task = str_is(m->kind, kind_names[KIND_TASK]), incident = str_is(m->kind, kind_names[KIND_INCIDENT]);
  if (!task) {
    const char *field = m->priority.p ? "priority" : m->milestone.p ? "milestone" : m->due.p ? "due" : NULL;
    if (field || m->acceptance.n)
      return refuse_field(err, field ? field : "acceptance", kind_names[KIND_TASK], m->kind);
  }
  if (!incident && (m->root_cause.p || m->resolution.p))
    return refuse_field(err, m->root_cause.p ? "root_cause" : "resolution", kind_names[KIND_INCIDENT], m->kind);
  TRY(check_choice(a, "fields", "priority", m->priority, priorities, err));
  TRY(check_choice(a, "fields", "delivery", m->delivery, deliveries, err));
  TRY(check_choice(a, "fields", "confidence", m->confidence, confidences, err));
  if (task) {
    m->priority = str_empty(m->priority) ? STR("medium") : m->priority;
    m->status = str_empty(m->status) ? STR("open") : m->status;
  }
  return STATUS_OK;
}

static enum status check_skill(struct memory *m, struct error *err) {
  bool skill = m->skill_name.p != NULL;
  if (skill &&
      (str_empty(str_trim(m->skill_name)) || m->skill_name.n > SKILL_NAME_BYTES || text_has_control(m->skill_name))) {
    error_set(err, STATUS_REFUSED, "a skill name is 1 to %d bytes of plain text", SKILL_NAME_BYTES);
    error_step(err, "fields");
    return error_fix(err, "use a short name such as 'release-checklist'");
  }
  if (!skill && (m->skill_keywords.n || m->skill_projects.n || m->skill_always_on || str_is(m->delivery, "skill"))) {
    error_set(err, STATUS_REFUSED, "a skill needs a name");
    error_step(err, "fields");
    return error_fix(err, "add skill_name, for example 'release-checklist'");
  }
  if (str_empty(m->delivery))
    m->delivery = skill ? STR("skill") : STR("on_demand");
  return STATUS_OK;
}

static enum status check_lengths(const struct memory *m, struct error *err) {
  for (size_t i = 0; i < memory_field_count; i++) {
    const struct field *f = &memory_fields[i];
    if (f->form != FIELD_TEXT || ((const struct str *)field_at(m, f->offset))->n <= REMARK_BYTES)
      continue;
    error_set(err, STATUS_REFUSED, "%s is longer than %d bytes", f->name, REMARK_BYTES);
    error_step(err, "fields");
    return error_fix(err, "move long text into the body");
  }
  return STATUS_OK;
}

static enum status check_values(struct memory *m, struct error *err) {
  if (m->weight == 0)
    m->weight = 1.0;
  if (!(m->weight >= 0.1 && m->weight <= 1.0)) {
    error_set(err, STATUS_REFUSED, "weight %g is outside 0.1 to 1.0", m->weight);
    error_step(err, "fields");
    return error_fix(err, "use a weight from 0.1 (a guess) to 1.0 (certain)");
  }
  if (m->key.p)
    TRY(gate_check_key(m->key, err));
  for (size_t i = 0; i < memory_list_count; i++)
    for (size_t k = 0; k < list_at(m, i)->n; k++) {
      struct str v = list_at(m, i)->v[k];
      if (str_empty(str_trim(v)) || v.n > 4 * LABEL_BYTES) {
        error_set(err, STATUS_REFUSED, "an entry of %s is empty or over %d bytes", memory_lists[i].name,
                  4 * LABEL_BYTES);
        error_step(err, "fields");
        return error_fix(err, "use short entries");
      }
    }
  TRY(check_lengths(m, err));
  return gate_check_project(m->project, err);
}

/* ---- step 3: headline ---- */

static enum status headline_too_long(struct arena *a, size_t words, struct str headline, struct error *err) {
  error_set(err, STATUS_REFUSED, "the headline has %zu words; at most %d are allowed", words, HEADLINE_WORDS);
  error_step(err, "headline");
  struct str shorter = headline_derive(a, headline);
  return error_fix(err, "repeat the call with a shorter one, for example --headline %.*s",
                   STR_ARG(arena_shell_quote(a, shorter)));
}

static enum status check_headline(struct arena *a, bool strict, struct memory *m, struct error *err) {
  if (str_empty(str_trim(m->headline))) {
    struct str derived = headline_derive(a, m->body);
    if (strict || !text_has_letter(derived)) {
      error_set(err, STATUS_REFUSED, "the headline is missing");
      error_step(err, "headline");
      return error_fix(
          err, "repeat the call with --headline %.*s",
          STR_ARG(arena_shell_quote(a, text_has_letter(derived) ? derived : STR("a summary of at most 15 words"))));
    }
    m->headline = derived;
  }
  m->headline = text_collapse(a, m->headline);
  size_t words = text_count_words(m->headline);
  if (words > HEADLINE_WORDS || m->headline.n > HEADLINE_LIMIT_BYTES)
    return headline_too_long(a, words, m->headline, err);
  if (!text_has_letter(m->headline)) {
    error_set(err, STATUS_REFUSED, "the headline '%.*s' contains no letter", STR_ARG(m->headline));
    error_step(err, "headline");
    return error_fix(err, "summarize the text in a few words");
  }
  return STATUS_OK;
}

/* ---- step 4: one idea ---- */

static enum status too_long(size_t words, const struct memory *m, struct error *err) {
  error_set(err, STATUS_REFUSED, "the text has %zu words; %.*ss hold at most %d", words, STR_ARG(m->kind), BODY_WORDS);
  error_step(err, "atomic");
  return error_fix(err, "store one idea per memory: split the text by hand or with 'cairn capture'");
}

static enum status check_size(const struct memory *m, struct error *err) {
  if (m->body.n <= BODY_BYTES)
    return STATUS_OK;
  error_set(err, STATUS_TOO_LARGE, "the text has %zu bytes; at most %d are allowed", m->body.n, BODY_BYTES);
  error_step(err, "atomic");
  return error_fix(err, "split it, or index the file as a source instead of remembering it");
}

static const char updates_fix[] = "store only the current state; use 'cairn supersede ID --reason WHY TEXT' for each "
                                  "later change";

static enum status refuse_updates(size_t count, struct error *err) {
  error_set(err, STATUS_REFUSED, "the text stacks %zu dated updates into one memory", count);
  error_step(err, "atomic");
  return error_fix(err, "%s", updates_fix);
}

enum status gate_check_updates(struct arena *a, const struct memory *m, struct error *err) {
  size_t count = atomic_count_markers(a, m->body);
  return count >= 2 ? refuse_updates(count, err) : STATUS_OK;
}

/* Stacked lines are refused. Statements merged within a line are refused only in strict mode, because they are found by
 * their wording. */
static enum status check_stacking(struct arena *a, bool strict, const struct memory *m, struct warnings *w,
                                  struct error *err) {
  static const char topics_fix[] = "store one idea per memory: split the text by hand or with 'cairn capture TEXT'";
  size_t lines = atomic_count_lines(m->body);
  if (lines >= 2)
    return refuse_updates(lines, err);
  enum stacking found = atomic_check(a, m->body, str_is(m->kind, kind_names[KIND_INCIDENT]));
  if (found == STACKED_NONE)
    return STATUS_OK;
  bool updates = found == STACKED_UPDATES;
  const char *what = updates ? "the text stacks updates into one memory" : "the text joins unrelated statements";
  const char *fix = updates ? updates_fix : topics_fix;
  if (!strict) {
    warn(a, w, "several_ideas", str_from(what), str_from(fix));
    return STATUS_OK;
  }
  error_set(err, STATUS_REFUSED, "%s", what);
  error_step(err, "atomic");
  return error_fix(err, "%s", fix);
}

static enum status check_atomic(struct arena *a, bool strict, struct memory *m, struct warnings *w, struct error *err) {
  if (str_empty(str_trim(m->body))) {
    error_set(err, STATUS_REFUSED, "the text is empty");
    error_step(err, "atomic");
    return error_fix(err, "say what is to be remembered");
  }
  TRY(check_size(m, err));
  TRY(check_stacking(a, strict, m, w, err));
  size_t words = text_count_words(m->body);
  if (words <= BODY_WORDS)
    return STATUS_OK;
  const struct mem_type *t = type_find(m->type);
  if (strict || !t || !t->long_body)
    return too_long(words, m, err);
  warn(a, w, "long_text", arena_printf(a, "long text: %zu words are stored in one memory, in chunks", words),
       STR("search is more precise with smaller memories"));
  return STATUS_OK;
}

/* Adds a warning if the text reads like another type. */
static void suggest_type(struct arena *a, const struct memory *m, struct warnings *w) {
  const char *hint = extract_type_hint(m->body);
  const struct mem_type *t = hint ? type_find(str_from(hint)) : NULL;
  if (!t || str_is(m->type, t->stored_as ? t->stored_as : t->name))
    return;
  /* Suggest only over the default type of a kind: a caller who said "note" meant it. */
  const struct mem_type *given = type_find(m->type);
  if (given && given != type_of_kind(given->kind))
    return;
  warn(a, w, "type_suggestion",
       arena_printf(a, "this reads like type %s; it was stored as %.*s", t->name, STR_ARG(m->type)),
       arena_printf(a, "use --type %s next time if that fits", t->name));
}

static enum status check_fields(struct arena *a, struct memory *m, struct error *err) {
  TRY(check_type(m, err));
  TRY(check_severity(a, m, err));
  TRY(check_kind_fields(a, m, err));
  TRY(check_skill(m, err));
  assert(one_of(m->delivery, deliveries));
  assert(str_is(m->kind, kind_names[KIND_RULE]) == !str_empty(m->severity));
  return check_values(m, err);
}

enum status gate_check_exact(struct arena *a, struct memory *m, struct error *err) {
  TRY(check_fields(a, m, err));
  TRY(check_headline(a, true, m, err));
  return check_size(m, err);
}

enum status gate_check(struct arena *a, bool strict, struct memory *m, struct warnings *w, struct error *err) {
  TRY(check_fields(a, m, err));
  /* Report empty text as such, not as a missing headline. */
  if (str_empty(str_trim(m->body)))
    return check_atomic(a, strict, m, w, err);
  TRY(check_headline(a, strict, m, err));
  TRY(check_atomic(a, strict, m, w, err));
  suggest_type(a, m, w);
  return STATUS_OK;
}
