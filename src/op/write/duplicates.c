/* duplicates.c: near memories, and the gate's verdict on them. */
#include "op/write/duplicates.h"

#include <assert.h>

#include "op/write/near.h"
#include "op/write/restate.h"

static struct str list_json(struct arena *a, const struct similars *list) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *arr = yyjson_mut_arr(doc);
  for (size_t i = 0; i < list->n; i++) {
    const struct similar *o = &list->v[i];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
    json_put_int(doc, v, "id", o->id);
    json_put(doc, v, "headline", o->headline);
    if (o->untrusted)
      json_put_bool(doc, v, "untrusted", true);
    json_put_num(doc, v, "similarity", json_round(o->similarity, 4));
    if (o->conflict.what != DIFFER_NONE) {
      json_put(doc, v, "difference", str_from(differ_name(o->conflict.what)));
      json_put_opt(doc, v, "was", o->conflict.b);
      json_put_opt(doc, v, "is", o->conflict.a);
    }
  }
  return json_write(a, arr, false);
}

/* " (name: 'Jonas', there 'Marta')"; empty if no pieces can be named. */
static struct str pieces(struct arena *a, const struct difference *d) {
  if (!d->a.p)
    return STR("");
  return arena_printf(a, " (%s: '%.*s', there '%.*s')", differ_name(d->what), STR_ARG(d->a), STR_ARG(d->b));
}

static const char *untrusted_suffix(const struct similar *o) { return o->untrusted ? " (untrusted)" : ""; }

/* The best contradiction; the best match if there is none. */
static size_t most_important(const struct similars *list) {
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].conflict.what != DIFFER_NONE)
      return i;
  return 0;
}

static void warn_near(struct op_call *call, struct write *w, const struct similars *list) {
  assert(list->n > 0);
  const struct similar *o = &list->v[most_important(list)];
  struct arena *a = call->arena;
  bool differs = o->conflict.what != DIFFER_NONE;
  struct str message =
      arena_printf(a, "%s memory %lld%.*s: %.*s%s", differs ? "may contradict" : "close to", (long long)o->id,
                   STR_ARG(pieces(a, &o->conflict)), STR_ARG(o->headline), untrusted_suffix(o));
  list_push(a, &w->warnings,
            (struct warning){.code = differs ? "contradiction" : "near",
                             .message = message,
                             .fix = arena_printf(a,
                                                 "keep both; or undo this write, then cairn supersede %lld --reason "
                                                 "WHY TEXT; or cairn forget %lld --reason WHY",
                                                 (long long)o->id, (long long)o->id),
                             .memories = list_json(a, list)});
}

static enum status refuse_rule(struct op_call *call, const struct write *w, const struct similar *o) {
  if (o->conflict.what == DIFFER_NONE)
    error_set(call->err, STATUS_DUPLICATE, "close to rule %lld (similarity %.2f): %.*s%s", (long long)o->id,
              o->similarity, STR_ARG(o->headline), untrusted_suffix(o));
  else {
    struct str differs = pieces(call->arena, &o->conflict);
    error_set(call->err, STATUS_DUPLICATE, "contradicts rule %lld%.*s: %.*s%s", (long long)o->id, STR_ARG(differs),
              STR_ARG(o->headline), untrusted_suffix(o));
  }
  error_step(call->err, "duplicate");
  call->err->about = o->id;
  call->err->similarity = o->similarity;
  bool is_short = w->m.body.n <= 300 && !memchr(w->m.body.p, '\n', w->m.body.n);
  struct str text = is_short ? arena_shell_quote(call->arena, w->m.body) : STR("TEXT");
  return error_fix(
      call->err,
      "to replace it: cairn supersede %lld --reason 'what changed' %.*s; if both hold, repeat the call with "
      "--distinct-from %lld",
      (long long)o->id, STR_ARG(text), (long long)o->id);
}

/* A correction must not store what another memory says already. */
static enum status refuse_copy(struct op_call *call, const struct similar *o, const struct memory *old) {
  error_set(call->err, STATUS_DUPLICATE, "memory %lld says the same (similarity %.2f): %.*s%s", (long long)o->id,
            o->similarity, STR_ARG(o->headline), untrusted_suffix(o));
  error_step(call->err, "duplicate");
  call->err->about = o->id;
  call->err->similarity = o->similarity;
  return error_fix(call->err,
                   "retire the old one: cairn forget %lld --reason WHY; if both hold, repeat the call with "
                   "--distinct-from %lld",
                   (long long)old->id, (long long)o->id);
}

void duplicates_warn(struct op_call *call, struct write *w) {
  const struct memory *m = w->met;
  bool trusted = memory_is_trusted(m);
  if (w->m.key.p && str_eq(w->m.key, m->key)) /* the caller named it */
    return;
  list_push(call->arena, &w->warnings,
            (struct warning){.code = "duplicate",
                             .message = arena_printf(call->arena, "memory %lld says the same: %.*s%s", (long long)m->id,
                                                     STR_ARG(m->headline), trusted ? "" : " (untrusted)"),
                             .fix = trusted ? STR_NONE
                                            : arena_printf(call->arena,
                                                           "it is untrusted, so only searches show it; after reading "
                                                           "it, a person can trust it: cairn promote %lld",
                                                           (long long)m->id)});
}

/* The more detailed text supersedes the shorter one and inherits its pin, skill and key. */
static enum status supersede_shorter(struct op_call *call, struct write *w, const struct similar *o,
                                     const struct memory *m, struct replacement *rep) {
  w->similarity = o->similarity;
  w->inherit_pin = w->inherit_skill = w->inherit_key = true;
  TRY(restate_keep(call, w, m));
  return replace_choose(call, w, m, STR("more detailed restatement"), rep);
}

enum status duplicates_decide(struct op_call *call, struct write *w, struct replacement *rep) {
  struct near near = {0};
  TRY(near_find(call, w, rep->old.id, &near));
  if (near.list.n == 0)
    return STATUS_OK;
  size_t at;
  enum verdict verdict = duplicate_judge(&w->m, &near.list, &at);
  assert(at < near.list.n && near.memories.n == near.list.n);
  const struct similar *o = &near.list.v[at];
  const struct memory *m = &near.memories.v[at];
  if (rep->old.id && verdict == VERDICT_SKIP && !w->keep_both && !w->soft && memory_is_trusted(m))
    return refuse_copy(call, o, &rep->old);
  if (rep->old.id || (w->keep_both && verdict != VERDICT_SKIP)) /* a correction only gets a warning */
    verdict = VERDICT_STORE;
  if (verdict == VERDICT_REFUSE && !memory_is_trusted(m)) /* an untrusted rule blocks no write */
    verdict = VERDICT_STORE;
  if (verdict == VERDICT_SUPERSEDE && o->exact && restate_renames(w, m))
    verdict = VERDICT_SKIP;
  switch (verdict) {
  case VERDICT_REFUSE:
    return refuse_rule(call, w, o);
  case VERDICT_SUPERSEDE:
    return supersede_shorter(call, w, o, m, rep);
  case VERDICT_SKIP:
    restate_skip(call, w, m, o->exact);
    w->similarity = o->similarity;
    break;
  case VERDICT_STORE:
    warn_near(call, w, &near.list);
    w->near = near.list;
    break;
  }
  return STATUS_OK;
}

enum status duplicates_link(struct op_call *call, struct txn *txn, struct write *w) {
  assert(w->near.n == 0 || w->id);
  for (size_t i = 0; i < w->near.n; i++) {
    struct link link = {.src = w->id, .rel = STR("contradicts"), .dst = w->near.v[i].id};
    if (w->near.v[i].conflict.what != DIFFER_NONE)
      TRY(link_add(txn, call->arena, &link, call->err));
  }
  return STATUS_OK;
}
