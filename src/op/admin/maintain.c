/* maintain.c: the operation maintain: expires, fades and archives memories, marks tasks stale, archives transcripts,
 * embeds pending chunks, and cleans up.
 *
 * Idempotent: each step looks only at active memories, so a second run finds nothing, and no step changes a memory that
 * was retired for another reason. */
#include <assert.h>

#include "core/rank/rank.h"
#include "op/admin/judge.h"
#include "op/admin/upkeep.h"
#include "op/embedding/reembed.h"
#include "op/handlers.h"
#include "store/memories/lifecycle.h"
#include "store/search/lexical.h"
#include "store/tables/calls.h"
#include "store/tables/settings.h"
#include "store/vectors/vectors.h"
#include "transcript/file/transcript.h"

/* Time limits for automatic maintenance: a user may be waiting for the prompt. */
enum { STEP_ROWS = 500, JUDGE_AUTO_US = 1000000, EMBED_AUTO_US = 3000000 };

struct step {
  enum lifecycle_step step;
  const char *name, *state, *reason, *action; /* state NULL: set the task's status to "stale" */
};

static const struct step steps[] = {
    {LIFE_EXPIRE, "expired", "expired", "its time to live ended", "memory:expire"},
    {LIFE_FADE, "faded", "faded", "not used for long", "memory:fade"},
    {LIFE_ARCHIVE, "archived", "archived", "not used for long", "memory:archive"},
    {LIFE_STALE, "stale", NULL, NULL, "task:stale"},
};

static enum status number(struct op_call *call, enum setting_id id, double *ret) {
  return setting_number(call->engine->store, call->caller.team, id, call->arena, ret, call->err);
}

/* Days until retention falls below the limit, in steps of 1/64 of the half-life. */
static double fade_days(double half_life, double below) {
  assert(below > 0);
  double days = 0;
  while (retention(days, half_life) >= below)
    days += half_life / 64;
  return days;
}

static enum status cutoff(struct op_call *call, enum lifecycle_step step, int64_t *ret_before) {
  double days = 0, below;
  if (step == LIFE_FADE) {
    TRY(number(call, SET_FACT_HALF_LIFE, &days));
    TRY(number(call, SET_FACT_FADE_BELOW, &below));
    days = fade_days(days, below);
  } else if (step == LIFE_ARCHIVE) {
    TRY(number(call, SET_ARCHIVE_DAYS, &days));
  } else if (step == LIFE_STALE) {
    TRY(number(call, SET_STALE_DAYS, &days));
  }
  *ret_before = call->now - (int64_t)(days * (double)MS_PER_DAY);
  return STATUS_OK;
}

static enum status is_step_off(struct op_call *call, enum lifecycle_step step, bool *ret_off) {
  struct setting_value v = {.value = STR("on")};
  if (step == LIFE_FADE)
    TRY(setting_get(call->engine->store, call->caller.team, SET_FACT_FADE, call->arena, &v, call->err));
  *ret_off = str_is(v.value, "off");
  return STATUS_OK;
}

static struct memory retired(const struct memory *m, const struct step *step, const struct txn *txn) {
  struct memory now = *m;
  if (!step->state) {
    now.status = STR("stale");
    return now;
  }
  memory_retire(&now, step->state, str_from(step->reason), STR("maintain"), txn->now);
  return now;
}

/* Works in batches, each with its own memory. `ids`, if not NULL, gets the ids of the changed memories. */
static enum status run_step(struct op_call *call, struct txn *txn, const struct step *step, yyjson_mut_val *ids,
                            int64_t *ret_count) {
  int64_t count = 0;
  struct due_query which = {
      .team = txn->team, .step = step->step, .limit = STEP_ROWS, .asked = yyjson_obj_get(call->args, "only")};
  struct arena *a = arena_child(call->arena);
  bool more = true, off = false;
  TRY(is_step_off(call, step->step, &off));
  if (off) {
    *ret_count = 0;
    return STATUS_OK;
  }
  TRY(cutoff(call, step->step, &which.before));
  while (more) {
    struct memories due = {0};
    TRY(lifecycle_due(txn->store, &which, a, &due, call->err));
    for (size_t i = 0; i < due.n; i++) {
      struct memory now = retired(&due.v[i], step, txn);
      TRY(memory_change(txn, a, &due.v[i], &now, step->action, call->err));
      if (ids)
        yyjson_mut_arr_add_sint(call->doc, ids, due.v[i].id);
      count++;
    }
    more = due.n == STEP_ROWS;
    arena_release(a);
    progress(call, step->name, count, 0);
  }
  *ret_count = count;
  return STATUS_OK;
}

/* ---- the operation ---- */

const char *maintained_name(struct op_call *call) {
  struct str team = call->caller.team;
  return str_is(team, "default") ? "maintained_at" : arena_printf(call->arena, "maintained_at:%.*s", STR_ARG(team)).p;
}

/* Compares the time of the last run, from the store, with the interval. */
static enum status is_due(struct op_call *call, bool *ret_due) {
  struct str at;
  int64_t last = 0;
  double hours = json_num(call->args, "hours", 0);
  TRY(store_meta(call->engine->store, maintained_name(call), call->arena, &at, call->err));
  if (hours <= 0)
    TRY(number(call, SET_MAINTAIN_HOURS, &hours));
  *ret_due = !at.p || !time_parse(at, &last) || call->now - last >= (int64_t)(hours * (double)MS_PER_HOUR);
  return STATUS_OK;
}

/* Without the argument `only`, all steps are. */
static bool is_step_wanted(struct op_call *call, const struct step *step) {
  struct strs only = {0};
  json_strs(call->arena, call->args, "only", &only);
  return only.n == 0 || strs_has(&only, str_from(step->name));
}

static enum status run_all(struct op_call *call) {
  struct txn txn;
  char time[TIME_TEXT_SIZE];
  int64_t changed = 0, counts[ARRAY_LEN(steps)] = {0};
  bool due = true;
  TRY(call_begin(call, &txn));
  /* Checked again under the lock: only one of several processes runs it. */
  if (json_bool(call->args, "if_due", false))
    TRY(is_due(call, &due));
  if (!due) {
    store_rollback(txn.store);
    json_put_bool(call->doc, call->result, "skipped", true);
    return STATUS_OK;
  }
  yyjson_mut_val *named = json_bool(call->args, "named", false) ? json_put_obj(call->doc, call->result, "ids") : NULL;
  for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
    if (!is_step_wanted(call, &steps[i]))
      continue;
    TRY(run_step(call, &txn, &steps[i], named ? json_put_arr(call->doc, named, steps[i].name) : NULL, &counts[i]));
    changed += counts[i];
  }
  if (!changed) { /* no transaction in the log: there is nothing to undo */
    store_rollback(txn.store);
    TRY(db_begin(store_db(txn.store), call->caller.team, true, call->err));
  }
  if (!yyjson_obj_get(call->args, "only"))
    TRY(store_set_meta(txn.store, maintained_name(call), time_format(call->now, time), call->err));
  for (size_t i = 0; i < ARRAY_LEN(steps); i++)
    if (is_step_wanted(call, &steps[i]))
      json_put_int(call->doc, call->result, steps[i].name, counts[i]);
  return changed ? call_commit(call, &txn) : txn_commit(&txn, call->err);
}

/* Embeds pending chunks; a failing embedder is reported as `degraded`, not as an error. */
static enum status embed_pending(struct op_call *call, int64_t until, int64_t *ret_dropped) {
  struct reembed_report r;
  TRY(reembed_run(call, until, &r));
  TRY(reembed_tidy(call, ret_dropped));
  json_put_int(call->doc, call->result, "embedded", r.pass.embedded);
  if (r.flipped)
    json_put(call->doc, call->result, "now_active", r.model);
  if (*ret_dropped)
    json_put_int(call->doc, call->result, "dropped_vectors", *ret_dropped);
  if (r.pass.why.code != STATUS_OK)
    json_put(call->doc, call->result, "degraded", call_message(call, r.pass.why.message));
  else
    json_put_opt(call->doc, call->result, "degraded", r.note);
  return STATUS_OK;
}

static enum status prune_calls(struct op_call *call) {
  struct store *st = call->engine->store;
  TRY(db_begin(store_db(st), call->caller.team, true, call->err));
  TRY(calls_prune(st, call->caller.team, call->now, call->err));
  TRY(idempotency_prune(st, call->caller.team, call->now, call->err));
  return db_commit(store_db(st), call->err);
}

/* Reads and refusals leave the log; what changed something stays. */
static enum status prune_events(struct op_call *call) {
  static const struct {
    enum event_class class;
    enum setting_id days, most;
  } classes[] = {{EVENTS_READS, SET_READS_DAYS, SET_READS_MAX}, {EVENTS_REFUSALS, SET_REFUSALS_DAYS, SET_REFUSALS_MAX}};
  int64_t total = 0;
  for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
    double days, most;
    int64_t deleted = 0;
    TRY(number(call, classes[i].days, &days));
    TRY(number(call, classes[i].most, &most));
    struct event_keep keep = {
        .class = classes[i].class, .since = call->now - (int64_t)(days * (double)MS_PER_DAY), .most = (int64_t)most};
    TRY(events_prune(call->engine->store, call->caller.team, &keep, &deleted, call->err));
    total += deleted;
  }
  if (total)
    json_put_int(call->doc, call->result, "events_deleted", total);
  return STATUS_OK;
}

/* Archives old sessions of all agents; a failure is reported in the result, not as an error. */
static enum status archive_transcripts(struct op_call *call) {
  struct transcripts_list folders = {0};
  struct error err;
  double days = 0;
  int64_t count = 0;
  TRY(number(call, SET_SESSION_RETENTION_DAYS, &days));
  enum status s = transcripts_all(call->engine->store, call->caller.team, call->now, call->arena, &folders, &err);
  for (size_t i = 0; s == STATUS_OK && i < folders.n; i++) {
    struct strs sessions = {0};
    s = transcript_archive_old(&folders.v[i], call->now - (int64_t)(days * (double)MS_PER_DAY), false, call->arena,
                               &sessions, &err);
    count += (int64_t)sessions.n;
  }
  if (count)
    json_put_int(call->doc, call->result, "transcripts", count);
  if (s != STATUS_OK && s != STATUS_USAGE)
    json_put(call->doc, call->result, "transcripts_failed", call_message(call, err.message));
  return STATUS_OK;
}

enum status op_maintain(struct op_call *call) {
  int64_t began = clock_ticks_us(), dropped = 0;
  bool due = true, is_automatic = json_bool(call->args, "if_due", false);
  reads_flush(call->engine->store);
  if (is_automatic)
    TRY(is_due(call, &due));
  if (!due) {
    json_put_bool(call->doc, call->result, "skipped", true);
    json_put(call->doc, call->result, "reason", STR("the last run was less than a day ago"));
    return STATUS_OK;
  }
  TRY(run_all(call));
  TRY(prune_calls(call));
  TRY(prune_events(call));
  bool all = !yyjson_mut_obj_get(call->result, "skipped") && !yyjson_obj_get(call->args, "only");
  if (all) {
    TRY(archive_transcripts(call));
    TRY(judge_again(call, is_automatic ? clock_ticks_us() + JUDGE_AUTO_US : 0));
    TRY(embed_pending(call, is_automatic ? began + EMBED_AUTO_US : 0, &dropped));
  }
  TRY(db_checkpoint(store_db(call->engine->store), false, NULL, call->err));
  json_put_int(call->doc, call->result, "duration_ms", (clock_ticks_us() - began) / 1000);
  return STATUS_OK;
}
