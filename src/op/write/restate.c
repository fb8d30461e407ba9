/* restate.c: a write whose text is already stored changes the fields that the caller gave. */
#include "op/write/restate.h"

#include <assert.h>

#include "base/utf8.h"
#include "op/write/near.h"
#include "store/search/candidates.h"

/* ---- the fields ---- */

enum restated {
  ANY_KIND = 1,  /* else kept only if the kind stays the same */
  IN_PLACE = 2,  /* may change in the stored memory; a change of the others makes a new version */
  NOT_GIVEN = 4, /* never an argument, but kept in a new version */
  BY_TYPE = 8,   /* replace_default_to() or replace_retire() keeps it */
};
static const struct {
  const char *name;
  const char *arg; /* NULL: the same */
  unsigned flags;
} restated[] = {
    {"type", NULL, BY_TYPE},
    {"kind", NULL, BY_TYPE},
    {"severity", NULL, BY_TYPE},
    {"headline", NULL, ANY_KIND},
    {"key", NULL, BY_TYPE},
    {"delivery", NULL, ANY_KIND | IN_PLACE},
    {"skill_name", NULL, ANY_KIND},
    {"skill_always_on", NULL, ANY_KIND},
    {"weight", NULL, ANY_KIND | IN_PLACE},
    {"confidence", NULL, ANY_KIND},
    {"verified_at", "verified", ANY_KIND},
    {"valid_from", NULL, ANY_KIND},
    {"expires_at", "ttl", ANY_KIND | IN_PLACE},
    {"priority", NULL, IN_PLACE},
    {"milestone", NULL, IN_PLACE},
    {"due", NULL, IN_PLACE},
    {"root_cause", NULL, IN_PLACE},
    {"resolution", NULL, IN_PLACE},
    {"status", NULL, NOT_GIVEN},
    {"claimed_by", NULL, NOT_GIVEN},
    {"claimed_at", NULL, NOT_GIVEN},
    {"access_count", NULL, ANY_KIND | NOT_GIVEN},
    {"last_accessed", NULL, ANY_KIND | NOT_GIVEN},
    {"upvotes", NULL, ANY_KIND | NOT_GIVEN},
    {"downvotes", NULL, ANY_KIND | NOT_GIVEN},
};

static const struct field *field_of(const char *name) {
  size_t i = 0;
  while (strcmp(memory_fields[i].name, name) != 0) {
    i++;
    assert(i < memory_field_count);
  }
  return &memory_fields[i];
}

static void copy_field(const struct field *f, struct memory *to, const struct memory *from) {
  size_t size = f->form == FIELD_TEXT ? sizeof(struct str) : f->form == FIELD_REAL ? sizeof(double) : sizeof(int64_t);
  memcpy(field_at(to, f->offset), field_at(from, f->offset), size);
}

/* Bits of `given`: rows of the table, then lists of memory_lists; GIVEN_KNOWN: the write has arguments. */
#define GIVEN_KNOWN ((uint64_t)1 << 63)
static uint64_t field_bit(size_t i) { return (uint64_t)1 << i; }
static uint64_t list_bit(size_t i) { return (uint64_t)1 << (ARRAY_LEN(restated) + i); }

static uint64_t name_bit(const char *name) {
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    if (strcmp(restated[i].name, name) == 0)
      return field_bit(i);
  return 0;
}

void restate_note_given(struct write *w, yyjson_val *args) {
  const struct mem_type *t = type_find(w->m.type);
  assert(ARRAY_LEN(restated) + memory_list_count < 63);
  w->given = GIVEN_KNOWN;
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    if (!(restated[i].flags & NOT_GIVEN) && yyjson_obj_get(args, restated[i].arg ? restated[i].arg : restated[i].name))
      w->given |= field_bit(i);
  for (size_t i = 0; i < memory_list_count; i++)
    if (list_at(&w->m, i)->n)
      w->given |= list_bit(i);
  /* A type such as guardrail implies them. */
  w->given |= (t && t->severity ? name_bit("severity") : 0) | (t && t->delivery ? name_bit("delivery") : 0);
}

/* ---- defaults ---- */

/* Fills in what the caller left out. Given labels are added to the stored ones. */
static void keep_stored(struct op_call *call, struct write *w, const struct memory *old) {
  struct memory *m = &w->m;
  struct error ignored;
  const struct mem_type *t;
  replace_default_to(m, old, w->weight_given);
  bool same_kind = type_resolve(m->kind, m->type, &t, &ignored) == STATUS_OK && str_is(old->kind, kind_names[t->kind]);
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    if (!(w->given & field_bit(i)) && !(restated[i].flags & BY_TYPE) && (same_kind || (restated[i].flags & ANY_KIND)))
      copy_field(field_of(restated[i].name), m, old);
  if ((w->given & name_bit("skill_name")) && !(w->given & name_bit("delivery")) && str_is(m->delivery, "on_demand"))
    m->delivery = STR("skill"); /* as for a new skill */
  for (size_t i = 0; i < memory_list_count; i++)
    if (same_kind || list_at(m, i) != &m->acceptance) {
      struct strs all = {0};
      utf8_list_merge(call->arena, &all, list_at(old, i));
      utf8_list_merge(call->arena, &all, list_at(m, i));
      *list_at(m, i) = all;
    }
  m->corroborated = (int64_t)m->domains.n;
}

/* The gate has filled in the type and the severity if they were left out. */
static void keep_type(struct write *w, const struct memory *old) {
  struct memory *m = &w->m;
  if (w->keep_fields || !(w->given & (name_bit("type") | name_bit("kind")))) {
    m->kind = old->kind;
    m->type = old->type;
  }
  if (!(w->given & name_bit("severity")) && str_eq(m->kind, old->kind))
    m->severity = old->severity;
}

enum status restate_keep(struct op_call *call, struct write *w, const struct memory *old) {
  struct memory draft = w->m, *m = &w->m, stored = *old;
  if (!replace_allowed(w, old))
    return STATUS_OK;
  m->access_count = old->access_count;
  m->upvotes = old->upvotes;
  m->downvotes = old->downvotes;
  w->restates = true;
  if (!(w->given & GIVEN_KNOWN))
    return STATUS_OK;
  TRY(memory_load_lists(call->engine->store, call->arena, &stored, call->err));
  keep_type(w, old);
  keep_stored(call, w, &stored);
  m->headline = draft.headline; /* these describe the other text */
  m->valid_from = draft.valid_from;
  m->expires_at = draft.expires_at;
  m->verified_at = draft.verified_at;
  m->confidence = draft.confidence;
  m->last_accessed = draft.last_accessed;
  return STATUS_OK;
}

/* The stored memory with the text of the draft, by its key or its text; id 0: none. */
static enum status find_same(struct op_call *call, struct write *w, struct memory *ret_same) {
  struct store *st = call->engine->store;
  struct scope scope = call_scope(call);
  struct memory *m = &w->m;
  struct error ignored;
  const struct mem_type *t;
  char hash[HASH_TEXT_SIZE];
  struct ids ids = {0};
  bool found = false;
  *ret_same = (struct memory){0};
  if (m->key.p)
    TRY(memory_by_key(st, scope.team, m->project, m->key, call->arena, ret_same, &found, call->err));
  if (found && ret_same->expires_at && ret_same->expires_at <= call->now) { /* the write frees its key */
    *ret_same = (struct memory){0};
    return STATUS_OK;
  }
  if (!found && type_resolve(m->kind, m->type, &t, &ignored) == STATUS_OK) {
    scope.project = m->project;
    scope.all_projects = false;
    body_hash(call->arena, m->body, hash);
    TRY(candidates_exact(st, &scope, str_from(kind_names[t->kind]), str_from(hash), call->arena, &ids, call->err));
    if (ids.n)
      TRY(memory_by_id(st, scope.team, ids.v[0], call->arena, ret_same, &found, call->err));
  }
  if (!found)
    return STATUS_OK;
  TRY(memory_load_lists(st, call->arena, ret_same, call->err));
  return memory_load_body(st, call->arena, ret_same, call->err);
}

/* True if the draft is another memory although its text is the same: an incident at another time, another headline, or
 * because the caller says so. */
static bool is_distinct(struct op_call *call, const struct write *w, const struct memory *same) {
  struct memory draft = w->m;
  draft.kind = same->kind;
  if (draft.key.p && str_eq(draft.key, same->key))
    return false;
  return near_is_distinct(w, same) || (w->keep_both && draft.key.p) ||
         (duplicate_recurs(call->arena, &draft, call->now, same) || duplicate_headline_adds(call->arena, &draft, same));
}

enum status restate_defaults(struct op_call *call, struct write *w) {
  struct memory same;
  if (!(w->given & ~GIVEN_KNOWN) || w->keep_fields || w->exact || w->supersedes.p || w->m.body.n > BODY_BYTES)
    return STATUS_OK;
  TRY(find_same(call, w, &same));
  char stored[HASH_TEXT_SIZE], draft[HASH_TEXT_SIZE];
  body_hash(call->arena, same.body, stored);
  body_hash(call->arena, w->m.body, draft);
  if (same.id && strcmp(stored, draft) == 0 && !replace_outweighs(w, &same) && !is_distinct(call, w, &same))
    keep_stored(call, w, &same);
  return STATUS_OK;
}

/* ---- the verdict ---- */

void restate_skip(struct op_call *call, struct write *w, const struct memory *m, bool same_text) {
  struct memory *met = arena_new(call->arena, struct memory);
  assert(m->id && m->uid.n);
  *met = *m;
  w->met = met;
  w->same_text = same_text;
  w->action = WRITE_SKIPPED;
  w->id = m->id;
  w->uid = m->uid;
  w->headline = m->headline;
}

bool restate_renames(const struct write *w, const struct memory *m) {
  return (w->given & name_bit("key")) && !w->keep_fields && !str_eq(w->m.key, m->key) && replace_allowed(w, m);
}

static uint64_t changed_fields(struct arena *a, const struct write *w) {
  uint64_t changed = 0;
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    if ((w->given & field_bit(i)) && !memory_field_equal(field_of(restated[i].name), &w->m, w->met))
      changed |= field_bit(i);
  for (size_t i = 0; i < memory_list_count; i++) {
    struct strs all = {0};
    utf8_list_merge(a, &all, list_at(w->met, i));
    size_t stored = all.n;
    utf8_list_merge(a, &all, list_at(&w->m, i));
    if ((w->given & list_bit(i)) && all.n > stored)
      changed |= list_bit(i);
  }
  return changed;
}

static uint64_t in_place_fields(void) {
  uint64_t bits = 0;
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    bits |= restated[i].flags & IN_PLACE ? field_bit(i) : 0;
  return bits;
}

static void put_changed(struct op_call *call, struct write *w, uint64_t changed) {
  yyjson_mut_doc *doc = call->doc;
  yyjson_mut_val *was, *is;
  w->changed = yyjson_mut_obj(doc);
  was = json_put_obj(doc, w->changed, "was");
  is = json_put_obj(doc, w->changed, "is");
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    if (changed & field_bit(i)) {
      memory_put_field(doc, was, field_of(restated[i].name), w->met);
      memory_put_field(doc, is, field_of(restated[i].name), &w->m);
    }
  for (size_t i = 0; i < memory_list_count; i++)
    if (changed & list_bit(i)) {
      json_put_strs(doc, was, memory_lists[i].name, list_at(w->met, i));
      json_put_strs(doc, is, memory_lists[i].name, list_at(&w->m, i));
    }
}

/* "type, tags" */
static struct str names_of(struct arena *a, uint64_t changed) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < ARRAY_LEN(restated) + memory_list_count; i++)
    if (changed & field_bit(i))
      buf_addf(&b, "%s%s", b.n ? ", " : "",
               i < ARRAY_LEN(restated) ? restated[i].name : memory_lists[i - ARRAY_LEN(restated)].name);
  return buf_str(&b);
}

/* Fields that make a text an instruction, show it unasked, or end it. An agent only labels a person's memory otherwise.
 */
static uint64_t protected_fields(const struct memory *old) {
  return name_bit("kind") | name_bit("severity") | name_bit("headline") | name_bit("delivery") |
         name_bit("skill_name") | name_bit("skill_always_on") | name_bit("expires_at") |
         (str_is(old->kind, kind_names[KIND_RULE]) ? name_bit("type") : 0);
}

/* Why the given fields are not applied; NULL: they are. */
static const char *why_not_applied(const struct write *w, uint64_t changed) {
  const struct memory *met = w->met;
  if (!w->same_text)
    return "its text is similar, not the same";
  if (w->keep_fields)
    return "keep_fields was set";
  if (!replace_allowed(w, met))
    return "it is trusted, and this text is not";
  if (str_is(met->trust, "user") && !str_is(w->m.trust, "user") && (changed & protected_fields(met)))
    return "a person wrote it";
  return met->skill_name.p && !str_eq(met->project, w->m.project) ? "it is a skill of all projects" : NULL;
}

static void warn_not_applied(struct op_call *call, struct write *w, uint64_t changed, const char *why) {
  struct arena *a = call->arena;
  struct str names = names_of(a, changed);
  long long id = w->id;
  bool elsewhere = !str_eq(w->met->project, w->m.project) && w->met->skill_name.p;
  struct str fix = arena_printf(a, "cairn supersede %lld --reason WHY%s TEXT, with the new values", id,
                                elsewhere ? " --project '' --inherit-skill" : "");
  if (!replace_allowed(w, w->met))
    fix = arena_printf(a, "a person can change it: %.*s", STR_ARG(fix));
  list_push(
      a, &w->warnings,
      (struct warning){.code = "not_changed",
                       .message = arena_printf(a, "%.*s of memory %lld stays as stored: %s", STR_ARG(names), id, why),
                       .fix = fix});
}

static enum status change_in_place(struct op_call *call, struct txn *txn, struct write *w, uint64_t changed) {
  struct memory now = *w->met;
  for (size_t i = 0; i < ARRAY_LEN(restated); i++)
    if (changed & field_bit(i))
      copy_field(field_of(restated[i].name), &now, &w->m);
  now.updated_at = txn->now;
  put_changed(call, w, changed);
  w->action = WRITE_UPDATED;
  return memory_change(txn, call->arena, w->met, &now, "memory:update", call->err);
}

/* A person's text stays the person's if an agent labels it, so that it does not fade. */
static bool stays_trusted(const struct write *w) {
  const struct memory *old = w->met;
  return str_is(old->trust, "user") && memory_is_trusted(&w->m) && str_eq(old->kind, w->m.kind) &&
         str_eq(old->project, w->m.project) && str_eq(old->body, w->m.body);
}

static enum status make_version(struct op_call *call, struct write *w, uint64_t changed, struct replacement *rep) {
  struct str reason = str_trim(w->reason), names = names_of(call->arena, changed);
  keep_type(w, w->met);
  keep_stored(call, w, w->met);
  put_changed(call, w, changed); /* labels include those that were kept */
  if (stays_trusted(w))
    w->m.trust = w->met->trust;
  w->action = WRITE_STORED;
  w->restates = true;
  w->id = 0;
  w->inherit_pin = w->inherit_skill = w->inherit_key = true;
  if (str_empty(reason))
    reason = arena_printf(call->arena, "same text, changed: %.*s", STR_ARG(names));
  return replace_choose(call, w, w->met, reason, rep);
}

enum status restate_apply(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep) {
  assert(w->action == WRITE_SKIPPED && w->met);
  if (!(w->given & ~GIVEN_KNOWN))
    return STATUS_OK;
  struct memory *met = arena_new(call->arena, struct memory);
  *met = *w->met;
  TRY(memory_load_lists(txn->store, call->arena, met, call->err));
  w->met = met;
  uint64_t changed = changed_fields(call->arena, w);
  if (!changed)
    return STATUS_OK;
  const char *why = why_not_applied(w, changed);
  if (why) {
    warn_not_applied(call, w, changed, why);
    return STATUS_OK;
  }
  if (str_eq(met->project, w->m.project) && !(changed & ~in_place_fields()))
    return change_in_place(call, txn, w, changed);
  return make_version(call, w, changed, rep);
}

enum status restate_keep_notes(struct op_call *call, struct txn *txn, const struct write *w, const struct memory *old) {
  struct notes notes = {0}, none = {0};
  struct memory m = w->m;
  if (!w->restates || !w->old_id || w->shadow)
    return STATUS_OK;
  TRY(notes_load(txn->store, call->arena, old, &notes, call->err));
  return notes.n ? notes_set(txn, call->arena, &m, &none, &notes, call->err) : STATUS_OK;
}
