/* embedding.c: the embedders of a team, and the search in their indexes. */
#include "op/embedding/embedding.h"

#include <assert.h>

#include "embed/vec.h"
#include "op/embedding/config.h"
#include "store/search/search_rows.h"
#include "store/vectors/indexes.h"

/* ---- the set ---- */

void embeddings_degrade(struct op_call *call, struct embeddings *set, struct str what, const struct error *why) {
  struct buf b = BUF(call->arena);
  struct str message = call_message(call, why->message);
  if (set->degraded.p && str_find(set->degraded, message, 0) != SIZE_MAX)
    return;
  if (set->degraded.p)
    buf_addf(&b, "%.*s; ", STR_ARG(set->degraded));
  buf_addf(&b, "%.*s: %.*s", STR_ARG(what), STR_ARG(message));
  if (why->fix[0])
    buf_addf(&b, " (%s)", why->fix);
  set->degraded = buf_str(&b);
}

const struct embedding *embeddings_wanted(const struct embeddings *set) {
  for (size_t i = 0; i < set->n; i++)
    if (set->v[i].building || set->settled)
      return &set->v[i];
  return NULL;
}

static struct str label(struct op_call *call, const char *what, const struct embed_config *c) {
  return arena_printf(call->arena, "%s %.*s", what, STR_ARG(c->v[0]));
}

/* Adds the embedder of the active index if the settings name another one now. */
static void add_active(struct op_call *call, struct embeddings *set, const struct vec_index *active) {
  struct embed_config config;
  struct embedding e;
  struct error why;
  enum status s = embed_config_parse(call->arena, active->config, &config, &why);
  if (s == STATUS_OK)
    s = embedding_open(call, &config, active->dims, &e, &why);
  if (s == STATUS_OK && !str_eq(e.model.model, active->model))
    s = error_set(&why, STATUS_CONFLICT, "its vectors do not match the index %.*s", STR_ARG(active->model));
  assert(set->n == 0);
  if (s == STATUS_OK)
    set->v[set->n++] = e;
  else
    embeddings_degrade(call, set, arena_printf(call->arena, "the former embedder %.*s", STR_ARG(active->model)), &why);
}

/* Dimensions and calibration of the same embedder, if an index has them; 0: unknown. */
static int recall(struct op_call *call, const struct vec_indexes *rows, struct embed_config *c) {
  struct embed_config was;
  struct error ignored;
  for (int i = 0; i < VEC_STATES; i++)
    if (rows->of[i].model.p && embed_config_parse(call->arena, rows->of[i].config, &was, &ignored) == STATUS_OK &&
        embed_config_same(&was, c)) {
      c->calibration = was.calibration;
      return rows->of[i].dims;
    }
  return 0;
}

static bool is_active(struct op_call *call, const struct vec_index *active, const struct embed_config *c) {
  struct embed_config was;
  struct error ignored;
  return active->model.p && embed_config_parse(call->arena, active->config, &was, &ignored) == STATUS_OK &&
         embed_config_same(&was, c);
}

static void gather(struct op_call *call, const struct vec_indexes *rows, struct embed_config *c,
                   struct embeddings *set) {
  const struct vec_index *active = &rows->of[VEC_ACTIVE], *building = &rows->of[VEC_BUILDING];
  struct embedding wanted;
  struct error why;
  int dims = recall(call, rows, c);
  bool works = embedding_open(call, c, dims, &wanted, &why) == STATUS_OK;
  if (!works)
    embeddings_degrade(call, set, label(call, "embedder", c), &why);
  set->settled = works ? !active->model.p || str_eq(wanted.model.model, active->model) : is_active(call, active, c);
  if (!set->settled && active->model.p)
    add_active(call, set, active);
  if (!works)
    return;
  wanted.building = !set->settled;
  assert(set->n < ARRAY_LEN(set->v));
  set->v[set->n++] = wanted;
  if (wanted.building)
    set->to_note = !building->model.p || !str_eq(building->model, wanted.model.model);
  else
    set->to_note = !active->model.p || building->model.p || !str_eq(active->config, wanted.kept);
}

enum status embeddings_of(struct op_call *call, struct embeddings *ret_set) {
  struct embeddings set = {0};
  struct embed_config config;
  struct vec_indexes rows;
  struct store *st = call->engine->store;
  struct error why;
  enum status s = embed_config_read(st, call->caller.team, call->arena, &config, &why);
  if (s != STATUS_OK && s != STATUS_USAGE) {
    *call->err = why;
    return s;
  }
  if (s == STATUS_USAGE) { /* invalid environment variable: search without vectors */
    embeddings_degrade(call, &set, STR("embedder"), &why);
  } else if (embed_config_off(&config)) {
    set.off = true;
  } else {
    TRY(vec_indexes_of(st, call->caller.team, call->arena, &rows, call->err));
    gather(call, &rows, &config, &set);
  }
  *ret_set = set;
  return STATUS_OK;
}

void embeddings_calibrate(struct op_call *call, struct embeddings *set) {
  const struct embedding *wanted = embeddings_wanted(set);
  struct error ignored; /* embedding the texts fails for the same reason, and reports it */
  int64_t last;
  if (!wanted || !wanted->costly || wanted->fitted)
    return;
  /* An empty store has nothing to compare. */
  if (chunk_last_id(call->engine->store, call->caller.team, &last, &ignored) != STATUS_OK || last == 0)
    return;
  if (embedding_calibrate(call, &set->v[wanted - set->v], &ignored) == STATUS_OK)
    set->to_note = true;
}

/* Reads the indexes again under the lock: another process may have changed them. */
enum status embeddings_note(struct op_call *call, struct txn *txn, const struct embeddings *set) {
  const struct embedding *e = embeddings_wanted(set);
  struct vec_indexes rows;
  if (!set->to_note || !e)
    return STATUS_OK;
  assert(db_in_transaction(store_db(txn->store)));
  TRY(vec_indexes_of(txn->store, txn->team, call->arena, &rows, call->err));
  const struct vec_index *active = &rows.of[VEC_ACTIVE];
  struct vec_index index = {.model = e->model.model, .dims = e->model.dims, .config = e->kept};
  if (active->model.p && !str_eq(active->model, index.model))
    return vec_index_set(txn, &index, VEC_BUILDING, call->err);
  TRY(vec_index_set(txn, &index, VEC_ACTIVE, call->err));
  /* The settings were changed back before the other index was complete. */
  if (set->settled)
    return vec_index_forget(txn, VEC_BUILDING, call->err);
  return STATUS_OK;
}

enum status embeddings_note_now(struct op_call *call, const struct embeddings *set) {
  struct db *db = store_db(call->engine->store);
  struct txn txn = call_author(call);
  if (!set->to_note || db_read_only(db))
    return STATUS_OK;
  TRY(db_begin(db, call->caller.team, false, call->err));
  TRY(embeddings_note(call, &txn, set));
  return db_commit(db, call->err);
}

/* ---- searching ---- */

/* Damaged parts of an index are skipped and reported. */
static void report_damage(struct op_call *call, struct embeddings *set, struct str model,
                          const struct vec_health *health) {
  struct error why;
  if (health->blocks + health->vectors == 0)
    return;
  error_set(&why, STATUS_CORRUPT, "a damaged part was skipped");
  error_fix(&why, "run 'cairn doctor --repair'");
  embeddings_degrade(call, set, arena_printf(call->arena, "vector index %.*s", STR_ARG(model)), &why);
}

static struct near_hit near_of(const struct embedding *e, const struct vec_hit *h) {
  return (struct near_hit){h->chunk_id, h->memory_id, h->cosine, calibrate(e->calibration, h->cosine), h->features};
}

/* Skips chunks that have a vector in the index of `before`. */
static enum status near_in(struct op_call *call, struct embeddings *set, const struct embedding *e,
                           const struct embedding *before, const struct near_query *q, struct near_hits *ret) {
  struct vec_hits hits = {0};
  struct vec_health health = {0};
  TRY(search_near(call->engine->store, q, call->arena, &hits, &health, call->err));
  report_damage(call, set, e->model.model, &health);
  for (size_t i = 0; i < hits.n; i++) {
    bool is_known = false;
    if (before)
      TRY(vec_has(call->engine->store, call->caller.team, before->model.model, hits.v[i].chunk_id, &is_known,
                  call->err));
    if (!is_known)
      list_push(call->arena, ret, near_of(e, &hits.v[i]));
  }
  return STATUS_OK;
}

/* Both lists are sorted by cosine, and so by similarity, which is monotonic in the cosine. */
static void merge(struct arena *a, const struct near_hits *x, const struct near_hits *y, size_t k,
                  struct near_hits *ret) {
  size_t i = 0, j = 0;
  while (ret->n < k && (i < x->n || j < y->n)) {
    bool first = j == y->n || (i < x->n && x->v[i].similarity >= y->v[j].similarity);
    list_push(a, ret, first ? x->v[i] : y->v[j]);
    i += first;
    j += !first;
  }
}

/* False if the embedder fails, which is recorded in the set. */
static bool ask(struct op_call *call, struct embeddings *set, size_t i, struct str text, const int8_t **ret_vector) {
  struct error why;
  if (set->v[i].failed)
    return false;
  if (embed_query(call, &set->v[i], text, ret_vector, &why) == STATUS_OK)
    return true;
  embeddings_degrade(call, set, arena_printf(call->arena, "embedder %.*s", STR_ARG(set->v[i].model.model)), &why);
  set->v[i].failed = true;
  return false;
}

void embeddings_ask(struct op_call *call, struct embeddings *set, struct str text) {
  const int8_t *vector;
  for (size_t i = 0; i < set->n; i++)
    if (set->v[i].costly)
      (void)ask(call, set, i, text, &vector);
    else if (!call->engine->cores_busy)
      embed_query_ahead(&set->v[i], text);
}

enum status embeddings_near(struct op_call *call, struct embeddings *set, const struct chunk_query *q,
                            struct near_hits *ret_hits, size_t *ret_used) {
  struct near_hits lists[ARRAY_LEN(set->v)] = {0};
  const struct embedding *before = NULL;
  size_t used = 0;
  assert(set->n <= ARRAY_LEN(lists));
  for (size_t i = 0; i < set->n; i++) {
    struct near_query near = {.scope = q->scope, .filter = q->filter, .model = &set->v[i].model, .k = q->limit};
    if (!ask(call, set, i, q->text, &near.vector))
      continue;
    used++;
    TRY(near_in(call, set, &set->v[i], before, &near, &lists[i]));
    before = &set->v[i];
  }
  merge(call->arena, &lists[0], &lists[1], q->limit, ret_hits);
  if (ret_used)
    *ret_used = used;
  return STATUS_OK;
}

static enum status compare_in(struct op_call *call, const struct embedding *e, const int8_t *query,
                              const int64_t *chunk_ids, size_t n, struct near_hit *near) {
  size_t dims = (size_t)e->model.dims;
  int8_t *vectors = arena_array(call->arena, int8_t, arena_mul(call->arena, n + 1, dims));
  bool *found = arena_array(call->arena, bool, n + 1);
  TRY(vec_fetch(call->engine->store, &e->model, chunk_ids, n, vectors, found, call->err));
  for (size_t i = 0; i < n; i++) {
    if (!found[i] || near[i].chunk_id)
      continue;
    double cosine = vec_cosine(query, vectors + i * dims, e->model.dims);
    near[i] = near_of(e, &(struct vec_hit){.chunk_id = chunk_ids[i], .cosine = cosine});
  }
  return STATUS_OK;
}

enum status embeddings_compare(struct op_call *call, struct embeddings *set, struct str text, const int64_t *chunk_ids,
                               size_t n, struct near_hit *ret_near) {
  memset(ret_near, 0, n * sizeof(*ret_near));
  for (size_t i = 0; n > 0 && i < set->n; i++) {
    const int8_t *vector;
    if (ask(call, set, i, text, &vector))
      TRY(compare_in(call, &set->v[i], vector, chunk_ids, n, ret_near));
  }
  return STATUS_OK;
}
