/* memory.c: table of the fields of a memory, and JSON conversion driven by it. */
#include "core/memory/memory.h"

#include <assert.h>

#include "base/os/clock.h"

#define F(name, form, flags) {#name, form, flags, offsetof(struct memory, name)}

const struct field memory_fields[] = {
    F(id, FIELD_INT, FIELD_LOCAL),
    F(uid, FIELD_TEXT, 0),
    F(team, FIELD_TEXT, FIELD_LOCAL),
    F(project, FIELD_TEXT, 0),
    F(kind, FIELD_TEXT, 0),
    F(type, FIELD_TEXT, 0),
    F(severity, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(key, FIELD_TEXT, FIELD_NULL),
    F(headline, FIELD_TEXT, 0),
    F(delivery, FIELD_TEXT, FIELD_MUTABLE),
    F(skill_name, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(skill_always_on, FIELD_BOOL, FIELD_MUTABLE),
    F(weight, FIELD_REAL, FIELD_MUTABLE),
    F(confidence, FIELD_TEXT, FIELD_NULL),
    F(corroborated, FIELD_INT, FIELD_NULL),
    F(verified_at, FIELD_TIME, FIELD_NULL),
    F(trust, FIELD_TEXT, FIELD_MUTABLE),
    F(suspect, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(auto_captured, FIELD_BOOL, 0),
    F(state, FIELD_TEXT, FIELD_MUTABLE),
    F(state_reason, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(state_by, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(state_at, FIELD_TIME, FIELD_NULL | FIELD_MUTABLE),
    F(valid_from, FIELD_TIME, 0),
    F(created_at, FIELD_TIME, 0),
    F(updated_at, FIELD_TIME, FIELD_MUTABLE),
    F(expires_at, FIELD_TIME, FIELD_NULL | FIELD_MUTABLE),
    F(access_count, FIELD_INT, FIELD_MUTABLE),
    F(last_accessed, FIELD_TIME, FIELD_NULL | FIELD_MUTABLE),
    F(upvotes, FIELD_INT, FIELD_MUTABLE),
    F(downvotes, FIELD_INT, FIELD_MUTABLE),
    F(status, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(priority, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(milestone, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(due, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(claimed_by, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(claimed_at, FIELD_TIME, FIELD_NULL | FIELD_MUTABLE),
    F(root_cause, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(resolution, FIELD_TEXT, FIELD_NULL | FIELD_MUTABLE),
    F(source, FIELD_TEXT, 0),
    F(session, FIELD_TEXT, FIELD_NULL),
    F(corpus, FIELD_TEXT, FIELD_LOCAL | FIELD_COLUMN),
};
const size_t memory_field_count = ARRAY_LEN(memory_fields);

#define L(name) {#name, offsetof(struct memory, name)}
const struct list_field memory_lists[] = {
    L(tags),       L(people),         L(topics),         L(action_items), L(domains),
    L(acceptance), L(skill_keywords), L(skill_projects), L(entity),       L(entity_type),
};
const size_t memory_list_count = ARRAY_LEN(memory_lists);

const char *const severities[] = {"blocker", "pattern", "deprecated", NULL};
const char *const deliveries[] = {"boot", "pinned", "skill", "on_demand", NULL};
const char *const trusts[] = {"user", "agent", "tool", "import", "extraction", NULL};
const char *const memory_states[] = {"active", "superseded", "forgotten", "expired", "archived", "faded", NULL};
const char *const confidences[] = {"high", "medium", "low", NULL};
const char *const task_statuses[] = {"open", "blocked", "done", "stale", NULL};
const char *const priorities[] = {"high", "medium", "low", NULL};

bool one_of(struct str value, const char *const *list) {
  for (; *list; list++)
    if (str_is(value, *list))
      return true;
  return false;
}

struct str one_of_text(struct arena *a, const char *const *list) {
  struct buf b = BUF(a);
  for (size_t i = 0; list[i]; i++)
    buf_addf(&b, "%s%s", i ? ", " : "", list[i]);
  return buf_str(&b);
}

bool memory_is_entry(const struct memory *m) {
  const struct mem_type *t = type_find(m->type);
  return t && t->sequence && !str_empty(m->session);
}

bool memory_is_document(const struct memory *m) { return !str_empty(m->corpus) && !str_is(m->corpus, "memory"); }

bool memory_is_trusted(const struct memory *m) {
  return str_is(m->trust, "user") || (str_is(m->trust, "agent") && !m->suspect.p);
}

bool memory_is_by_person(const struct memory *m) { return str_is(m->trust, "user"); }

struct str memory_author(const struct memory *m) {
  if (memory_is_by_person(m))
    return STR_NONE;
  return str_empty(m->source) ? STR("an agent") : m->source;
}

bool memory_field_equal(const struct field *f, const struct memory *x, const struct memory *y) {
  assert(f >= memory_fields && f < memory_fields + memory_field_count);
  const void *a = field_at(x, f->offset), *b = field_at(y, f->offset);
  switch (f->form) {
  case FIELD_TEXT:
    return str_eq(*(const struct str *)a, *(const struct str *)b) &&
           !((const struct str *)a)->p == !((const struct str *)b)->p;
  case FIELD_REAL:
    return *(const double *)a == *(const double *)b;
  default:
    return *(const int64_t *)a == *(const int64_t *)b;
  }
}

void memory_retire(struct memory *m, const char *state, struct str reason, struct str by, int64_t at) {
  assert(one_of(str_from(state), memory_states) && strcmp(state, "active") != 0);
  m->state = str_from(state);
  m->state_reason = reason;
  m->state_by = by;
  m->state_at = at;
}

void memory_activate(struct memory *m) {
  m->state = STR("active");
  m->state_reason = m->state_by = STR_NONE;
  m->state_at = 0;
}

static bool is_selected(const struct field *f, unsigned all, unsigned none) {
  return (f->flags & all) == all && !(f->flags & (none | FIELD_COLUMN));
}

void memory_put_field(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct field *f, const struct memory *m) {
  assert(f >= memory_fields && f < memory_fields + memory_field_count);
  const void *at = field_at(m, f->offset);
  int64_t n = f->form == FIELD_TEXT || f->form == FIELD_REAL ? 0 : *(const int64_t *)at;
  bool absent = (f->flags & FIELD_NULL) && n == 0;
  char time[TIME_TEXT_SIZE];
  switch (f->form) {
  case FIELD_TEXT:
    if (f->flags & FIELD_NULL)
      json_put_opt(doc, obj, f->name, *(const struct str *)at);
    else
      json_put(doc, obj, f->name, *(const struct str *)at);
    break;
  case FIELD_REAL:
    json_put_num(doc, obj, f->name, *(const double *)at);
    break;
  case FIELD_BOOL:
    if (n)
      json_put_bool(doc, obj, f->name, true);
    break;
  case FIELD_INT:
    if (!absent)
      json_put_int(doc, obj, f->name, n);
    break;
  case FIELD_TIME:
    if (!absent)
      json_put(doc, obj, f->name, time_format(n, time));
    break;
  }
}

void memory_put_fields(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct memory *m, unsigned all, unsigned none) {
  for (size_t i = 0; i < memory_field_count; i++)
    if (is_selected(&memory_fields[i], all, none))
      memory_put_field(doc, obj, &memory_fields[i], m);
}

void memory_put_lists(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct memory *m) {
  for (size_t i = 0; i < memory_list_count; i++)
    if (list_at(m, i)->n)
      json_put_strs(doc, obj, memory_lists[i].name, list_at(m, i));
}

static bool get_field(struct arena *a, yyjson_val *v, const struct field *f, void *at) {
  if (yyjson_is_null(v)) {
    if (f->form == FIELD_TEXT)
      *(struct str *)at = STR_NONE;
    else
      *(int64_t *)at = 0;
    return f->form == FIELD_BOOL || (f->flags & FIELD_NULL);
  }
  switch (f->form) {
  case FIELD_TEXT:
    if (!yyjson_is_str(v))
      return false;
    *(struct str *)at = arena_dup(a, json_val_str(v));
    return true;
  case FIELD_REAL:
    if (!yyjson_is_num(v))
      return false;
    *(double *)at = yyjson_get_num(v);
    return true;
  case FIELD_BOOL:
    if (!yyjson_is_bool(v))
      return false;
    *(int64_t *)at = yyjson_get_bool(v);
    return true;
  case FIELD_INT:
    if (!yyjson_is_int(v))
      return false;
    *(int64_t *)at = yyjson_get_sint(v);
    return true;
  case FIELD_TIME:
    return yyjson_is_str(v) && time_parse(json_val_str(v), at);
  }
  return false;
}

enum status memory_get_fields(struct arena *a, yyjson_val *obj, struct memory *m, unsigned all, unsigned none,
                              struct error *err) {
  for (size_t i = 0; i < memory_field_count; i++) {
    const struct field *f = &memory_fields[i];
    yyjson_val *v = is_selected(f, all, none) ? yyjson_obj_get(obj, f->name) : NULL;
    if (v && !get_field(a, v, f, field_at(m, f->offset)))
      return error_set(err, STATUS_USAGE, "member '%s' has the wrong type or format", f->name);
  }
  return STATUS_OK;
}

void memory_get_lists(struct arena *a, yyjson_val *obj, struct memory *m) {
  for (size_t i = 0; i < memory_list_count; i++)
    json_strs(a, obj, memory_lists[i].name, list_at(m, i));
}

struct str label_plain(struct str label, char sign) {
  label = str_trim(label);
  if (sign && label.n > 1 && label.p[0] == sign)
    label = str_trim(str_slice(label, 1, label.n));
  return label;
}
