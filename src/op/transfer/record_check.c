/* record_check.c: checks of export records, and secrets in their texts. */
#include "base/id.h"
#include "core/files/memfile.h"
#include "core/gate/gate.h"
#include "core/text/text.h"
#include "op/run/scrub.h"
#include "op/transfer/record.h"

/* ---- memories ---- */

static enum status refuse(struct error *err, const char *fix) {
  error_step(err, "fields");
  return error_fix(err, "%s", fix);
}

static enum status check_choices(struct arena *a, const struct memory *m, struct error *err) {
  const struct {
    const char *name;
    struct str value;
    const char *const *choices;
  } list[] = {{"severity", m->severity, severities},
              {"delivery", m->delivery, deliveries},
              {"trust", m->trust, trusts},
              {"state", m->state, memory_states},
              {"confidence", m->confidence, confidences},
              {"status", m->status, task_statuses},
              {"priority", m->priority, priorities}};
  for (size_t i = 0; i < ARRAY_LEN(list); i++) {
    if (!list[i].value.p || one_of(list[i].value, list[i].choices))
      continue;
    error_set(err, STATUS_REFUSED, "'%.*s' is not a %s", STR_ARG(list[i].value), list[i].name);
    struct str text = one_of_text(a, list[i].choices);
    error_step(err, "fields");
    return error_fix(err, "one of: %.*s", STR_ARG(text));
  }
  return STATUS_OK;
}

static enum status check_type(const struct memory *m, struct error *err) {
  const struct mem_type *t;
  TRY(type_resolve(m->kind, m->type, &t, err));
  if (str_is(m->type, t->name) && !t->stored_as && str_is(m->kind, kind_names[t->kind]))
    return STATUS_OK;
  error_set(err, STATUS_REFUSED, "type '%.*s' of kind '%.*s' is not a stored type", STR_ARG(m->type), STR_ARG(m->kind));
  error_step(err, "type");
  return error_fix(err, "write \"kind\":\"%s\",\"type\":\"%s\"", kind_names[t->kind],
                   t->stored_as ? t->stored_as : t->name);
}

static enum status check_numbers(const struct memory *m, struct error *err) {
  if (!(m->weight >= 0.1 && m->weight <= 1.0)) {
    error_set(err, STATUS_REFUSED, "weight %g is outside 0.1 to 1.0", m->weight);
    return refuse(err, "use a weight from 0.1 (a guess) to 1.0 (certain)");
  }
  if (m->access_count < 0 || m->upvotes < 0 || m->downvotes < 0 || m->corroborated < 0) {
    error_set(err, STATUS_REFUSED, "a count is negative or too large");
    return refuse(err, "correct access_count, upvotes, downvotes or corroborated");
  }
  return STATUS_OK;
}

/* Fields that only some kinds and states have, as the schema requires. */
static enum status check_shape(const struct memory *m, struct error *err) {
  bool rule = str_is(m->kind, kind_names[KIND_RULE]), task = str_is(m->kind, kind_names[KIND_TASK]);
  bool active = str_is(m->state, "active");
  if (rule != (m->severity.p != NULL)) {
    error_set(err, STATUS_REFUSED, rule ? "a rule needs a severity" : "only a rule has a severity");
    return refuse(err, rule ? "add \"severity\":\"pattern\" or \"blocker\"" : "remove severity");
  }
  if (active && str_is(m->severity, "deprecated")) {
    error_set(err, STATUS_REFUSED, "an active rule cannot be deprecated");
    return refuse(err, "use severity blocker or pattern, or state superseded");
  }
  if (task != (m->status.p != NULL) || task != (m->priority.p != NULL)) {
    error_set(err, STATUS_REFUSED, task ? "a task needs status and priority" : "only a task has status and priority");
    return refuse(err, task ? "add \"status\":\"open\",\"priority\":\"medium\"" : "remove status and priority");
  }
  if ((m->claimed_by.p != NULL) != (m->claimed_at != 0) || (m->claimed_by.p && !task)) {
    error_set(err, STATUS_REFUSED, "claimed_by and claimed_at belong together, on a task");
    return refuse(err, "give both, or none of them");
  }
  if (!active && (!m->state_reason.p || m->state_at == 0)) {
    error_set(err, STATUS_REFUSED, "a memory that is %.*s needs state_reason and state_at", STR_ARG(m->state));
    return refuse(err, "add both");
  }
  if (m->skill_name.p && (m->skill_name.n == 0 || m->skill_name.n > 100)) {
    error_set(err, STATUS_REFUSED, "a skill's name has 1 to 100 bytes");
    return refuse(err, "use a short name such as 'release-checklist'");
  }
  return STATUS_OK;
}

/* Runs the gate on the text. A memory that the gate would change is not valid in an export. */
static enum status check_gate(struct arena *a, const struct memory *m, struct error *err) {
  struct memory draft = *m;
  struct warnings warnings = {0};
  if (str_is(draft.severity, "deprecated"))
    draft.severity = STR("pattern");
  TRY(memfile_is_path(m->key) ? gate_check_exact(a, &draft, err) : gate_check(a, false, &draft, &warnings, err));
  if (!str_eq(draft.headline, m->headline)) {
    error_set(err, STATUS_REFUSED, "the headline is missing, or has line breaks or repeated spaces");
    error_step(err, "headline");
    return error_fix(err, "write \"headline\":\"%.*s\"", STR_ARG(draft.headline));
  }
  return STATUS_OK;
}

static enum status check_memory(struct arena *a, const struct memory *m, struct error *err) {
  if (!uuid_is_valid(m->uid)) {
    error_set(err, STATUS_REFUSED, "'%.*s' is not a uid", STR_ARG(m->uid));
    return refuse(err, "a uid is a UUID in lower case, such as 0190a0a0-0000-7000-8000-000000000000");
  }
  TRY(check_choices(a, m, err));
  TRY(check_type(m, err));
  TRY(check_numbers(m, err));
  TRY(check_shape(m, err));
  return check_gate(a, m, err);
}

/* ---- links and events ---- */

/* unsupersede restores these fields, so they must be readable. */
static enum status check_prior(struct arena *a, struct str json, struct error *err) {
  struct memory ignored = {0};
  yyjson_val *prior;
  TRY(json_read(a, json, &prior, err));
  if (!yyjson_is_obj(prior))
    return error_set(err, STATUS_USAGE, "member 'prior' is not an object");
  return memory_get_fields(a, prior, &ignored, FIELD_MUTABLE, 0, err);
}

static enum status check_link(struct arena *a, const struct link *l, struct error *err) {
  static const char *const rels[] = {"supersedes",   "shadows", "contradicts", "relates",
                                     "derived_from", "cites",   "blocked_by",  NULL};
  if (!one_of(l->rel, rels)) {
    error_set(err, STATUS_REFUSED, "'%.*s' is not a kind of link", STR_ARG(l->rel));
    struct str list = one_of_text(a, rels);
    return error_fix(err, "one of: %.*s", STR_ARG(list));
  }
  if (str_eq(l->src_uid, l->dst_uid)) {
    error_set(err, STATUS_REFUSED, "a memory cannot be linked to itself");
    return error_fix(err, "remove the line");
  }
  if (l->prior.p && check_prior(a, l->prior, err) != STATUS_OK)
    return error_fix(err, "it has the fields that superseding changed: state, weight, severity");
  return STATUS_OK;
}

static enum status check_event(struct arena *a, const struct event_record *e, struct error *err) {
  static const char *const changes[] = {"insert",   "update",  "delete", "link", "unlink",
                                        "annotate", "setting", "purge",  NULL};
  if (e->change.p && !one_of(e->change, changes)) {
    error_set(err, STATUS_REFUSED, "'%.*s' is not a change", STR_ARG(e->change));
    struct str list = one_of_text(a, changes);
    return error_fix(err, "one of: %.*s", STR_ARG(list));
  }
  if (e->change.p && !e->txn.p) {
    error_set(err, STATUS_REFUSED, "an event with a change needs its transaction");
    return error_fix(err, "add \"txn\", the uid of a transaction of this file");
  }
  if (e->purged && (e->before.p || e->after.p || e->detail.p)) {
    error_set(err, STATUS_REFUSED, "a purged event still holds texts");
    return error_fix(err, "remove before, after and detail");
  }
  return STATUS_OK;
}

enum status record_check(struct arena *a, const struct record *r, struct error *err) {
  switch (r->kind) {
  case RECORD_MEMORY:
    return check_memory(a, &r->m, err);
  case RECORD_LINK:
    return check_link(a, &r->link, err);
  case RECORD_EVENT:
    return check_event(a, &r->event, err);
  default:
    return STATUS_OK;
  }
}

/* ---- secrets ---- */

struct scrub {
  const struct redactor *what;
  struct arena *a;
  bool redact;
  int64_t found;
  enum status status;
  struct error *err;
};

static void scrub_one(struct scrub *sc, struct str *text, const char *name) {
  if (sc->status == STATUS_OK)
    sc->status = scrub_text(sc->what, sc->a, sc->redact, text, name, &sc->found, sc->err);
}

static void scrub_memory(struct scrub *sc, struct record *r) {
  struct memory *m = &r->m;
  const struct {
    struct str *text;
    const char *name;
  } texts[] = {{&m->headline, "the headline"},
               {&m->body, "the body"},
               {&m->key, "the key"},
               {&m->state_reason, "state_reason"},
               {&m->root_cause, "the root cause"},
               {&m->resolution, "the resolution"},
               {&m->milestone, "the milestone"},
               {&m->due, "due"},
               {&m->skill_name, "the skill's name"}};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    scrub_one(sc, texts[i].text, texts[i].name);
  for (size_t i = 0; i < memory_list_count; i++)
    for (size_t k = 0; k < list_at(m, i)->n; k++)
      scrub_one(sc, &list_at(m, i)->v[k], memory_lists[i].name);
  for (size_t i = 0; i < r->notes.n; i++)
    scrub_one(sc, &r->notes.v[i].text, "an annotation");
}

/* Searches each string, not the JSON text: an escape could hide the start of a secret. */
static yyjson_mut_val *scrub_value(struct scrub *sc, yyjson_mut_doc *doc, yyjson_val *v) {
  size_t i, n;
  yyjson_val *key, *e;
  if (yyjson_is_str(v)) {
    struct str text = json_val_str(v);
    scrub_one(sc, &text, "the event");
    return yyjson_mut_strncpy(doc, text.p, text.n);
  }
  if (yyjson_is_arr(v)) {
    yyjson_mut_val *arr = yyjson_mut_arr(doc);
    yyjson_arr_foreach(v, i, n, e) {
      yyjson_mut_arr_add_val(arr, scrub_value(sc, doc, e));
    }
    return arr;
  }
  if (yyjson_is_obj(v)) {
    yyjson_mut_val *obj = yyjson_mut_obj(doc);
    yyjson_obj_foreach(v, i, n, key, e) {
      yyjson_mut_obj_add(obj, yyjson_val_mut_copy(doc, key), scrub_value(sc, doc, e));
    }
    return obj;
  }
  return yyjson_val_mut_copy(doc, v);
}

static void scrub_json(struct scrub *sc, struct str *json) {
  yyjson_val *root;
  if (!json->p || sc->status != STATUS_OK)
    return;
  sc->status = json_read(sc->a, *json, &root, sc->err);
  if (sc->status != STATUS_OK)
    return;
  int64_t before = sc->found;
  yyjson_mut_doc *doc = json_new(sc->a);
  yyjson_mut_val *clean = scrub_value(sc, doc, root);
  if (sc->found > before)
    *json = json_write(sc->a, clean, false);
}

enum status record_scrub(struct arena *a, struct record *r, const struct redactor *what, bool redact, int64_t *count,
                         struct error *err) {
  struct scrub sc = {.what = what, .a = a, .redact = redact, .err = err};
  switch (r->kind) {
  case RECORD_MEMORY:
    scrub_memory(&sc, r);
    break;
  case RECORD_LINK:
    scrub_one(&sc, &r->link.reason, "the reason");
    break;
  case RECORD_EVENT:
    scrub_json(&sc, &r->event.before);
    scrub_json(&sc, &r->event.after);
    scrub_json(&sc, &r->event.detail);
    break;
  default:
    break;
  }
  *count += sc.found;
  return sc.status;
}
