/* judge.c: checks stored memories again after the rules for suspect text have changed. */
#include "op/admin/judge.h"

#include "core/trust/suspect.h"
#include "store/memories/judged.h"

enum { BATCH = 500 };

/* A suspect memory. */
struct finding {
  int64_t id;
  struct str why;
};
struct findings {
  struct finding *v;
  size_t n, cap;
};

struct judging {
  struct op_call *call;
  struct arena *a; /* released after each batch */
  struct judged reached;
  int64_t judged, suspect;
  yyjson_mut_val *txns;
};

static enum status judge_one(struct judging *j, struct memory *m, struct findings *found) {
  struct op_call *call = j->call;
  TRY(memory_load_body(call->engine->store, j->a, m, call->err));
  TRY(memory_load_lists(call->engine->store, j->a, m, call->err));
  struct str why = suspect_memory(j->a, m);
  if (why.p)
    list_push(j->a, found, (struct finding){m->id, why});
  return STATUS_OK;
}

/* Reads the memory again under the lock: it may have been promoted or removed since. */
static enum status label_suspect(struct judging *j, struct txn *txn, const struct finding *f) {
  struct op_call *call = j->call;
  struct memory was, now;
  bool found, cleared = false;
  TRY(memory_by_id(txn->store, txn->team, f->id, j->a, &was, &found, call->err));
  if (found)
    TRY(judged_is_cleared(txn->store, &was, &cleared, call->err));
  if (!found || cleared || was.suspect.p)
    return STATUS_OK;
  now = was;
  now.suspect = f->why;
  TRY(memory_change(txn, j->a, &was, &now, "memory:suspect", call->err));
  j->suspect++;
  return STATUS_OK;
}

/* Without changes of memories, there is no transaction in the log. */
static enum status save_progress(struct judging *j) {
  struct op_call *call = j->call;
  struct store *st = call->engine->store;
  TRY(db_begin(store_db(st), call->caller.team, true, call->err));
  TRY(judged_set(st, call->caller.team, j->a, &j->reached, call->err));
  return db_commit(store_db(st), call->err);
}

static enum status store_findings(struct judging *j, const struct findings *found) {
  struct op_call *call = j->call;
  struct txn txn;
  int64_t before = j->suspect;
  if (found->n == 0)
    return save_progress(j);
  TRY(call_begin(call, &txn));
  for (size_t i = 0; i < found->n; i++)
    TRY(label_suspect(j, &txn, &found->v[i]));
  if (j->suspect == before) {
    store_rollback(txn.store);
    return save_progress(j);
  }
  TRY(judged_set(txn.store, txn.team, j->a, &j->reached, call->err));
  yyjson_mut_arr_add_sint(call->doc, j->txns, txn.id);
  return txn_commit(&txn, call->err);
}

static enum status judge_batch(struct judging *j) {
  struct op_call *call = j->call;
  struct memories list = {0};
  struct findings found = {0};
  TRY(judged_candidates(call->engine->store, call->caller.team, j->reached.last, BATCH, j->a, &list, call->err));
  for (size_t i = 0; i < list.n; i++)
    TRY(judge_one(j, &list.v[i], &found));
  j->judged += (int64_t)list.n;
  j->reached.done = list.n < BATCH;
  if (list.n)
    j->reached.last = list.v[list.n - 1].id;
  enum status s = store_findings(j, &found);
  progress(call, "judge", j->judged, 0);
  return s;
}

static enum status load_progress(struct op_call *call, struct judged *ret_judged) {
  struct judged j;
  TRY(judged_get(call->engine->store, call->caller.team, call->arena, &j, call->err));
  if (j.version < SUSPECT_VERSION)
    j = (struct judged){.version = SUSPECT_VERSION};
  j.done |= j.version > SUSPECT_VERSION; /* a newer version of the program has checked them */
  *ret_judged = j;
  return STATUS_OK;
}

enum status judge_again(struct op_call *call, int64_t until) {
  struct judging j = {.call = call, .a = arena_child(call->arena), .txns = yyjson_mut_arr(call->doc)};
  TRY(load_progress(call, &j.reached));
  if (j.reached.done)
    return STATUS_OK;
  do {
    TRY(judge_batch(&j));
    arena_release(j.a);
  } while (!j.reached.done && !cancelled(call) && (!until || clock_ticks_us() < until));
  if (!j.judged)
    return STATUS_OK;
  json_put_int(call->doc, call->result, "judged", j.judged);
  json_put_int(call->doc, call->result, "suspect", j.suspect);
  if (j.suspect)
    yyjson_mut_obj_add_val(call->doc, call->result, "suspect_txns", j.txns);
  return STATUS_OK;
}

enum status judge_left(struct op_call *call, int64_t *ret_count) {
  struct judged j;
  TRY(load_progress(call, &j));
  if (!j.done)
    return judged_count_left(call->engine->store, call->caller.team, j.last, ret_count, call->err);
  *ret_count = 0;
  return STATUS_OK;
}
