/* replace.c: superseding and shadowing. */
#include "op/write/replace.h"

#include <assert.h>

#include "op/write/restate.h"
#include "store/memories/lifecycle.h"

/* ---- choosing the old memory ---- */

static enum status refuse_retired(struct op_call *call, const struct memory *old) {
  int64_t head;
  TRY(link_head(call->engine->store, old->team, old->id, &head, call->err));
  error_set(call->err, STATUS_CONFLICT, "memory %lld is %.*s, it cannot be superseded again", (long long)old->id,
            STR_ARG(old->state));
  error_step(call->err, "supersede");
  if (head != old->id)
    return error_fix(call->err, "its current version is %lld: cairn supersede %lld --reason WHY TEXT", (long long)head,
                     (long long)head);
  return error_fix(call->err, "store the new text with 'cairn remember TEXT'");
}

static enum status refuse_foreign(struct op_call *call, const struct memory *old, struct str project) {
  error_set(call->err, STATUS_CONFLICT,
            "memory %lld belongs to project '%.*s' and can be replaced only there, not %s%.*s", (long long)old->id,
            STR_ARG(old->project), str_empty(project) ? "globally" : "in project ", STR_ARG(project));
  error_step(call->err, "supersede");
  return error_fix(call->err, "repeat the call with --project %.*s",
                   STR_ARG(arena_shell_quote(call->arena, old->project)));
}

static enum status refuse_untrusted(struct op_call *call, const struct write *w, const struct memory *old) {
  bool suspect = w->m.suspect.p;
  error_set(call->err, STATUS_CONFLICT, "memory %lld is trusted, and this text is not (%.*s): it cannot replace it",
            (long long)old->id, STR_ARG(suspect ? w->m.suspect : w->m.trust));
  error_step(call->err, "trust");
  return error_fix(call->err,
                   "store it separately with 'cairn remember TEXT'; a person can supersede the old one with it");
}

bool replace_allowed(const struct write *w, const struct memory *old) {
  return w->exact || memory_is_trusted(&w->m) || !memory_is_trusted(old);
}

bool replace_outweighs(const struct write *w, const struct memory *old) {
  return str_is(w->m.trust, "user") && !memory_is_trusted(old);
}

enum status replace_choose(struct op_call *call, struct write *w, const struct memory *old, struct str reason,
                           struct replacement *rep) {
  if (str_is(old->state, "superseded") || str_is(old->state, "forgotten"))
    return refuse_retired(call, old);
  if (!str_eq(old->project, w->m.project) && !str_empty(old->project))
    return refuse_foreign(call, old, w->m.project);
  rep->old = *old;
  rep->shadow = !str_eq(old->project, w->m.project);
  rep->reason = reason;
  return STATUS_OK;
}

/* For a memory that the caller names: by --supersedes or by key. */
static enum status choose_named(struct op_call *call, struct write *w, const struct memory *old, struct str reason,
                                struct replacement *rep) {
  return replace_allowed(w, old) ? replace_choose(call, w, old, reason, rep) : refuse_untrusted(call, w, old);
}

static enum status refuse_key(struct op_call *call, const struct memory *held) {
  error_set(call->err, STATUS_CONFLICT, "key '%.*s' is taken by memory %lld: %.*s", STR_ARG(held->key),
            (long long)held->id, STR_ARG(quote_headline(call->arena, held)));
  error_step(call->err, "key");
  return error_fix(call->err, "to replace it, say why: repeat the call with --reason 'what changed'");
}

/* Expired, but maintenance has not run yet: frees the key. */
static enum status expire_now(struct op_call *call, struct txn *txn, const struct memory *held) {
  struct memory now = *held;
  memory_retire(&now, "expired", STR("its time to live ended"), txn->source, txn->now);
  return memory_change(txn, call->arena, held, &now, "memory:expire", call->err);
}

static enum status resolve_key(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep) {
  struct memory held;
  bool found;
  TRY(memory_by_key(txn->store, txn->team, w->m.project, w->m.key, call->arena, &held, &found, call->err));
  if (!found || held.id == rep->old.id)
    return STATUS_OK;
  if (held.expires_at && held.expires_at <= txn->now)
    return expire_now(call, txn, &held);
  if (rep->old.id)
    return refuse_key(call, &held);
  TRY(memory_load_body(txn->store, call->arena, &held, call->err));
  if (str_eq(held.body, w->m.body)) {
    if (replace_outweighs(w, &held))
      return replace_choose(call, w, &held, STR("also stated by a person"), rep);
    restate_skip(call, w, &held, true);
    w->similarity = 1;
    return STATUS_OK;
  }
  if (str_empty(w->reason))
    return refuse_key(call, &held);
  return choose_named(call, w, &held, w->reason, rep);
}

/* ---- defaults from the old memory ---- */

void replace_default_to(struct memory *m, const struct memory *old, bool weight_given) {
  m->kind = m->kind.p || m->type.p ? m->kind : old->kind;
  m->type = m->type.p || !str_eq(m->kind, old->kind) ? m->type : old->type;
  const struct mem_type *t = type_find(m->type);
  if (t && t->kind == KIND_RULE && !m->severity.p && !t->severity && !str_is(old->severity, "deprecated"))
    m->severity = old->severity;
  if (t && t->kind == KIND_TASK && str_is(old->kind, kind_names[KIND_TASK])) {
    m->priority = m->priority.p ? m->priority : old->priority;
    m->milestone = m->milestone.p ? m->milestone : old->milestone;
    m->due = m->due.p ? m->due : old->due;
  }
  if (t && t->kind == KIND_INCIDENT && str_is(old->kind, kind_names[KIND_INCIDENT])) {
    m->root_cause = m->root_cause.p ? m->root_cause : old->root_cause;
    m->resolution = m->resolution.p ? m->resolution : old->resolution;
  }
  if (!weight_given)
    m->weight = old->weight;
}

enum status replace_defaults(struct op_call *call, struct write *w) {
  struct scope scope = call_scope(call);
  struct memory old;
  bool found = false;
  if (w->supersedes.p) {
    TRY(memory_find(call->engine->store, &scope, w->supersedes, call->arena, &old, call->err));
    found = true;
  } else if (w->m.key.p && !str_empty(w->reason)) {
    TRY(memory_by_key(call->engine->store, scope.team, w->m.project, w->m.key, call->arena, &old, &found, call->err));
  }
  if (found && !str_is(old.state, "superseded"))
    replace_default_to(&w->m, &old, w->weight_given);
  return STATUS_OK;
}

enum status replace_resolve(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep) {
  struct scope scope = call_scope(call);
  if (w->supersedes.p) {
    struct str reason = str_empty(str_trim(w->reason)) && w->soft ? STR("minor correction") : str_trim(w->reason);
    if (str_empty(reason)) {
      error_set(call->err, STATUS_REFUSED, "superseding needs a reason");
      error_step(call->err, "supersede");
      return error_fix(call->err, "repeat the call with --reason 'what was wrong or has changed'");
    }
    struct memory old;
    TRY(memory_find(txn->store, &scope, w->supersedes, call->arena, &old, call->err));
    TRY(choose_named(call, w, &old, reason, rep));
  }
  return w->m.key.p ? resolve_key(call, txn, w, rep) : STATUS_OK;
}

/* ---- inheritance ---- */

static void warn_not_inherited(struct op_call *call, struct write *w, const char *what, struct str value,
                               const char *option) {
  list_push(call->arena, &w->warnings,
            (struct warning){.code = "not_inherited",
                             .message = arena_printf(call->arena, "the old memory's %s '%.*s' was not inherited", what,
                                                     STR_ARG(value)),
                             .fix = arena_printf(call->arena, "supersede with %s to keep it", option)});
}

static bool is_delivered_unasked(struct str delivery) { return str_is(delivery, "boot") || str_is(delivery, "pinned"); }

/* An agent's rewrite of an untrusted memory stays untrusted; a person's does not. */
static void inherit_distrust(struct memory *m, const struct memory *old) {
  if (str_is(m->trust, "user") || memory_is_trusted(old))
    return;
  if (!str_is(old->trust, "user") && !str_is(old->trust, "agent"))
    m->trust = old->trust;
  if (!m->suspect.p)
    m->suspect = old->suspect;
}

static void inherit(struct op_call *call, struct write *w, const struct memory *old) {
  struct memory *m = &w->m;
  inherit_distrust(m, old);
  if (is_delivered_unasked(old->delivery) && !is_delivered_unasked(m->delivery)) {
    w->got_pin = w->inherit_pin;
    if (w->inherit_pin)
      m->delivery = old->delivery;
    else
      warn_not_inherited(call, w, "delivery", old->delivery, "--inherit-pin");
  }
  if (old->skill_name.p && !m->skill_name.p) {
    w->got_skill = w->inherit_skill;
    if (w->inherit_skill) {
      m->skill_name = old->skill_name;
      m->skill_always_on = old->skill_always_on;
      m->skill_keywords = old->skill_keywords;
      m->skill_projects = old->skill_projects;
      m->delivery = is_delivered_unasked(m->delivery) ? m->delivery : STR("skill");
    } else {
      warn_not_inherited(call, w, "skill", old->skill_name, "--inherit-skill");
    }
  }
  if (old->key.p && !m->key.p) {
    w->got_key = w->inherit_key;
    if (w->inherit_key)
      m->key = old->key;
    else
      warn_not_inherited(call, w, "key", old->key, "--inherit-key");
  }
  if (m->tags.n == 0)
    m->tags = old->tags;
  if (m->entity.n == 0) { /* a corrected observation is about the same entity */
    m->entity = old->entity;
    m->entity_type = old->entity_type;
  }
}

/* What a person or another system's tool stored must not fade because an agent corrected it. */
static enum status inherit_age(struct op_call *call, struct txn *txn, struct memory *m, const struct memory *old) {
  bool ages;
  if (txn->foreign || str_is(m->trust, "user")) /* does not age anyway */
    return STATUS_OK;
  TRY(lifecycle_ages(txn->store, old, call->arena, &ages, call->err));
  m->lasts = !ages;
  return STATUS_OK;
}

/* The fields that superseding changes, so unsupersede can restore them. */
static struct str prior_json(struct arena *a, const struct memory *old) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "state", old->state);
  json_put_opt(doc, obj, "state_reason", old->state_reason);
  json_put_num(doc, obj, "weight", old->weight);
  json_put_opt(doc, obj, "severity", old->severity);
  return json_write(a, obj, false);
}

enum status replace_retire(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep) {
  struct memory *old = &rep->old, now;
  assert(old->id && rep->reason.n);
  TRY(memory_load_lists(txn->store, call->arena, old, call->err));
  TRY(links_of(txn->store, txn->team, old->id, call->arena, &rep->links, call->err));
  inherit(call, w, old);
  TRY(inherit_age(call, txn, &w->m, old));
  w->old_id = old->id;
  w->shadow = rep->shadow;
  if (rep->shadow)
    return STATUS_OK; /* other projects still need it as it is */
  now = *old;
  memory_retire(&now, "superseded", rep->reason, txn->source, txn->now);
  now.weight = 0.1;
  if (old->severity.p)
    now.severity = STR("deprecated");
  return memory_change(txn, call->arena, old, &now, "memory:supersede", call->err);
}

/* Tasks that the old one blocked are now blocked by the new one, which is blocked by the old one's blockers. Shadow
 * links move at both ends. An incident keeps its rules, and the same text with other fields keeps all links. */
static enum status move_links(struct op_call *call, struct txn *txn, const struct write *w,
                              const struct replacement *rep) {
  for (size_t i = 0; i < rep->links.n; i++) {
    const struct link *l = &rep->links.v[i];
    bool task = str_is(l->rel, "blocked_by") && str_is(w->m.kind, kind_names[KIND_TASK]);
    bool cause = str_is(l->rel, "relates") && l->src == rep->old.id && str_is(w->m.kind, kind_names[KIND_INCIDENT]) &&
                 str_is(rep->old.kind, kind_names[KIND_INCIDENT]);
    bool kept = w->changed && !str_is(l->rel, "supersedes");
    if (!task && !cause && !kept && !str_is(l->rel, "shadows"))
      continue;
    struct link moved = {.rel = l->rel,
                         .reason = l->reason,
                         .src = l->src == rep->old.id ? w->id : l->src,
                         .dst = l->dst == rep->old.id ? w->id : l->dst};
    TRY(link_add(txn, call->arena, &moved, call->err));
  }
  return STATUS_OK;
}

enum status replace_link(struct op_call *call, struct txn *txn, struct write *w, const struct replacement *rep) {
  assert(w->id && rep->old.id && w->id != rep->old.id);
  struct link link = {.src = w->id,
                      .rel = rep->shadow ? STR("shadows") : STR("supersedes"),
                      .dst = rep->old.id,
                      .reason = rep->reason,
                      .prior = rep->shadow ? STR_NONE : prior_json(call->arena, &rep->old)};
  TRY(link_add(txn, call->arena, &link, call->err));
  if (!rep->shadow)
    return move_links(call, txn, w, rep);
  return STATUS_OK;
}

enum status replace_restore(struct op_call *call, struct txn *txn, const struct memory *old, const struct link *l) {
  struct memory now = *old;
  yyjson_val *prior = NULL;
  if (l->prior.p)
    TRY(json_read(call->arena, l->prior, &prior, call->err));
  memory_activate(&now);
  now.weight = json_num(prior, "weight", 1.0);
  struct str severity = json_str(prior, "severity");
  if (old->severity.p)
    now.severity = severity.p ? severity : STR("pattern");
  return memory_change(txn, call->arena, old, &now, "memory:unsupersede", call->err);
}
