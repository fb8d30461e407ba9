/* checkpoint.c: the checkpoint operation: guardrails and relevant memories before a risky action.
 *
 * It never blocks: errors are reported in `degraded`, and the call succeeds. */
#include <math.h>

#include "base/id.h"
#include "core/text/text.h"
#include "op/handlers.h"
#include "op/search/retrieve.h"
#include "op/session/session.h"
#include "store/memories/memories.h"

#define RELATED 0.3 /* least match of a blocker that is shown because of the action */

enum { COOLDOWN_MS = 300000, GUARDRAIL_CHARACTERS = 500, SNIPPET_CHARACTERS = 300, RELEVANT = 5 };

struct checkpoint {
  struct op_call *call;
  struct scope scope;
  struct query query; /* for the action */
  struct memory_ids shown;
  struct str degraded;
};

static void degrade(struct checkpoint *c, const char *what) {
  c->degraded = arena_printf(c->call->arena, "%.*s%s%s: %.*s", STR_ARG(c->degraded), c->degraded.p ? "; " : "", what,
                             STR_ARG(call_message(c->call, c->call->err->message)));
}

/* Skills of other projects are left out. */
static enum status put_guardrail(struct checkpoint *c, yyjson_mut_val *arr, struct memory *m) {
  struct op_call *call = c->call;
  if (m->skill_name.p)
    TRY(memory_load_lists(call->engine->store, call->arena, m, call->err));
  if (m->skill_name.p && !skill_is_for(m, &c->scope, false))
    return STATUS_OK;
  TRY(memory_load_body(call->engine->store, call->arena, m, call->err));
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put_int(call->doc, v, "id", m->id);
  json_put(call->doc, v, "headline", m->headline);
  json_put(call->doc, v, "text", first_characters(m->body, GUARDRAIL_CHARACTERS));
  json_put_opt(call->doc, v, "author", memory_author(m));
  list_push(call->arena, &c->shown, m->id);
  return STATUS_OK;
}

static bool is_always_shown(const struct memory *m) {
  return str_is(m->delivery, "pinned") || str_is(m->delivery, "boot") || m->skill_always_on;
}

/* Blockers that are pinned or delivered at boot, those of persons or of agents. */
static enum status put_pinned(struct checkpoint *c, bool by_person, yyjson_mut_val *arr) {
  struct op_call *call = c->call;
  struct filter f = {.severity = STR("blocker"), .trusted = true};
  struct memories rules = {0};
  TRY(memory_list(call->engine->store, &c->scope, &f, call->arena, &rules, call->err));
  for (size_t i = 0; i < rules.n; i++)
    if (is_always_shown(&rules.v[i]) && memory_is_by_person(&rules.v[i]) == by_person)
      TRY(put_guardrail(c, arr, &rules.v[i]));
  return STATUS_OK;
}

/* Other blockers that are about the action: the best of persons, or of agents. */
static enum status put_related(struct checkpoint *c, bool by_person, yyjson_mut_val *arr) {
  struct query q = c->query;
  struct hits hits = {0};
  q.filter.severity = STR("blocker");
  q.filter.by_person = by_person;
  TRY(retrieve(&q, STATES_SEARCHED, RELEVANT, &hits));
  for (size_t i = 0; i < hits.n; i++)
    if (!is_always_shown(&hits.v[i].m) && memory_is_by_person(&hits.v[i].m) == by_person && hits.v[i].fusion >= RELATED)
      TRY(put_guardrail(c, arr, &hits.v[i].m));
  return STATUS_OK;
}

/* A person's first, so that agents cannot displace them. */
static enum status put_guardrails(struct checkpoint *c, bool prepared, yyjson_mut_val *arr) {
  for (int pass = 0; pass < 2; pass++) {
    TRY(put_pinned(c, pass == 0, arr));
    if (prepared)
      TRY(put_related(c, pass == 0, arr));
  }
  return STATUS_OK;
}

static bool is_shown(const struct checkpoint *c, int64_t id) {
  for (size_t i = 0; i < c->shown.n; i++)
    if (c->shown.v[i] == id)
      return true;
  return false;
}

static enum status put_relevant(struct checkpoint *c, yyjson_mut_val *arr) {
  struct op_call *call = c->call;
  struct query q = c->query;
  struct hits hits = {0};
  size_t shown = 0;
  double last = 0;
  int64_t faded;
  q.limit += (int64_t)c->shown.n;
  TRY(retrieve(&q, STATES_SEARCHED, q.limit, &hits));
  for (size_t i = 0; i < hits.n && shown < RELEVANT; i++) {
    const struct hit *h = &hits.v[i];
    bool guardrail = is_shown(c, h->m.id);
    if (guardrail && !call->caller.foreign) /* other systems list them twice */
      continue;
    if (!guardrail)
      list_push(call->arena, &c->shown, h->m.id);
    shown++;
    last = h->score;
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put_int(call->doc, v, "id", h->m.id);
    json_put(call->doc, v, "headline", h->m.headline);
    json_put(call->doc, v, "kind", h->m.kind);
    json_put(call->doc, v, "type", h->m.type);
    json_put_opt(call->doc, v, "severity", h->m.severity);
    json_put(call->doc, v, "snippet", first_characters(h->snippet, SNIPPET_CHARACTERS));
    json_put_num(call->doc, v, "score", json_round(h->score, 4));
  }
  if (q.set.degraded.p)
    c->degraded = q.set.degraded;
  TRY(retrieve_faded(&q, RELEVANT, fmax(RELEVANT_SCORE, shown < RELEVANT ? 0 : last), &faded));
  put_faded(call, faded);
  return STATUS_OK;
}

static enum status note_checkpoint(struct op_call *call, struct str hash) {
  struct txn who = call_author(call), txn;
  TRY(sessions_begin(call->engine->store, &who, &txn, call->err));
  TRY(checkpoint_set(&txn, hash, call->err));
  return txn_commit(&txn, call->err);
}

/* Milliseconds until the same source may ask about the same action again; if that is 0, records this call. */
static enum status check_cooldown(struct checkpoint *c, struct str action, int64_t *ret_left_ms) {
  struct op_call *call = c->call;
  struct store *st = call->engine->store;
  struct txn who = call_author(call);
  char hash[HASH_TEXT_SIZE];
  int64_t last;
  hash_text(text_normal(call->arena, action), hash);
  *ret_left_ms = 0;
  TRY(checkpoint_last(st, who.team, who.project, who.source, str_from(hash), &last, call->err));
  if (last && call->now >= last && call->now - last < COOLDOWN_MS) {
    *ret_left_ms = COOLDOWN_MS - (call->now - last);
    return STATUS_OK;
  }
  if (!store_can_write(st, who.project))
    return STATUS_OK;
  enum status s = note_checkpoint(call, str_from(hash));
  if (s != STATUS_OK)
    store_rollback(st);
  return s;
}

enum status op_checkpoint(struct op_call *call) {
  struct str action = str_trim(json_str(call->args, "action")), context = str_trim(json_str(call->args, "context"));
  struct checkpoint c = {.call = call, .scope = call_scope(call)};
  int64_t left = 0;
  if (str_empty(action)) {
    error_set(call->err, STATUS_USAGE, "checkpoint: the action is empty");
    return error_fix(call->err, "cairn checkpoint 'force-push to main'");
  }
  if (check_cooldown(&c, action, &left) != STATUS_OK)
    degrade(&c, "the checkpoint was not recorded");
  json_put(call->doc, call->result, "action", action);
  json_put_bool(call->doc, call->result, "skipped", left > 0);
  json_put_int(call->doc, call->result, "cooldown_s", (left > 0 ? left : COOLDOWN_MS) / 1000);
  if (left > 0) {
    json_put_arr(call->doc, call->result, "guardrails");
    json_put_arr(call->doc, call->result, "relevant");
    return STATUS_OK;
  }
  struct str text =
      str_empty(context) ? action : arena_printf(call->arena, "%.*s\n%.*s", STR_ARG(action), STR_ARG(context));
  c.query =
      (struct query){.call = call, .text = text, .scope = c.scope, .limit = RELEVANT, .filter = {.trusted = true}};
  c.query.fusion.words = c.query.fusion.means = true;
  yyjson_mut_val *guardrails = json_put_arr(call->doc, call->result, "guardrails");
  yyjson_mut_val *relevant = json_put_arr(call->doc, call->result, "relevant");
  bool prepared = retrieve_prepare(&c.query) == STATUS_OK;
  if (put_guardrails(&c, prepared, guardrails) != STATUS_OK)
    degrade(&c, "not all guardrails could be read");
  if (!prepared || put_relevant(&c, relevant) != STATUS_OK)
    degrade(&c, "not all relevant memories were found");
  json_put_opt(call->doc, call->result, "degraded", c.degraded);
  note_result_read(call, "checkpoint",
                   arena_printf(call->arena, "cairn://checkpoint/%.*s", STR_ARG(call->caller.project)), &c.shown, true);
  return STATUS_OK;
}
