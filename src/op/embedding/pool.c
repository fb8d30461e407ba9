/* pool.c: the open embedders of an engine, and the cache of their vectors. */
#include <assert.h>

#include "base/alloc.h"
#include "base/id.h"
#include "core/secrets/redact.h"
#include "embed/embed.h"
#include "embed/fit.h"
#include "op/embedding/config.h"
#include "op/embedding/embedding.h"
#include "op/search/embed_ahead.h"
#include "store/vectors/embed_cache.h"

/* RETRY_US: pause after a failure; otherwise a damaged file would be read for each call, and each text of a batch would
 * wait for a server that does not answer. CACHE_BUSY_MS: how long a write to the cache waits for other processes before
 * it is skipped. */
enum { RETRY_US = 5000000, CACHE_BUSY_MS = 250 };

struct pooled {
  struct pooled *next;
  char *config;                                            /* JSON; key of the list */
  const struct embedder *e;                                /* NULL: not open */
  struct embedder *own;                                    /* e, if it must be closed */
  char name[EMBED_NAME_SIZE], query_name[EMBED_NAME_SIZE]; /* of its texts and queries in the cache */
  struct calibration fitted;                               /* n == 0: not fitted */
  struct error failure;
  int64_t retry_at; /* ticks */
  /* The last query and its vector: a search asks for it more than once. */
  char last_query[HASH_TEXT_SIZE];
  int8_t *last_vector;
  struct ahead *ahead; /* query that is being embedded on another core */
};

void pooled_free(struct pooled **list) {
  while (*list) {
    struct pooled *p = *list;
    *list = p->next;
    embed_ahead_stop(&p->ahead);
    if (p->own && p->own->close)
      p->own->close(p->own);
    mem_free(p->last_vector);
    mem_free(p->config);
    mem_free(p);
  }
}

/* ---- opening ---- */

static struct pooled *find(struct op_call *call, struct str config) {
  for (struct pooled *p = call->engine->embedders; p; p = p->next)
    if (str_is(config, p->config))
      return p;
  return NULL;
}

static struct pooled *add(struct op_call *call, struct str config) {
  struct pooled *p = mem_zalloc(sizeof(*p));
  char *copy = p ? mem_alloc(config.n + 1) : NULL;
  if (!copy) {
    mem_free(p);
    return NULL;
  }
  memcpy(copy, config.p, config.n);
  copy[config.n] = 0;
  p->config = copy;
  p->next = call->engine->embedders;
  call->engine->embedders = p;
  return p;
}

/* Ignores a stored calibration that is invalid: it is fitted again. */
static void load_calibration(struct pooled *p, const struct embed_config *c) {
  struct error ignored;
  if (p->fitted.n == 0 && c->calibration.p && calibration_parse(c->calibration, &p->fitted, &ignored) != STATUS_OK)
    p->fitted.n = 0;
}

/* The query prefix changes the vectors of queries, not those of texts. */
static void set_query_name(struct pooled *p, const struct embed_config *c) {
  char hash[HASH_TEXT_SIZE];
  hash_text(embed_config_value(c, SET_EMBEDDER_QUERY_PREFIX), hash);
  snprintf(p->query_name, sizeof(p->query_name), "%.100s?%.8s", p->name, hash);
}

enum status embedding_open(struct op_call *call, const struct embed_config *c, int dims, struct embedding *ret,
                           struct error *why) {
  struct pooled *p = find(call, c->json);
  int64_t now = clock_ticks_us();
  if (!p && !(p = add(call, c->json)))
    return error_set(why, STATUS_NOMEM, "out of memory");
  if (!p->e && p->own) { /* an earlier attempt ran out of memory */
    p->own->close(p->own);
    p->own = NULL;
  }
  if (!p->e && p->retry_at <= now) {
    if (embed_config_open(call->arena, c, dims, &p->e, &p->own, p->name, &p->failure) == STATUS_OK)
      set_query_name(p, c);
    else
      p->retry_at = now + RETRY_US;
  }
  if (!p->e) {
    *why = p->failure;
    return p->failure.code;
  }
  load_calibration(p, c);
  struct embed_config kept = *c;
  if (p->fitted.n)
    kept.calibration = calibration_text(call->arena, &p->fitted);
  *ret = (struct embedding){.e = p->e,
                            .calibration = p->fitted.n ? &p->fitted : p->e->calibration,
                            .model = {call->caller.team, str_from(p->name), p->e->dims},
                            .costly = embed_config_costly(c),
                            .fitted = p->fitted.n > 0,
                            .config = c->json,
                            .kept = embed_config_kept(call->arena, &kept),
                            .slot = p};
  return STATUS_OK;
}

/* ---- cache ---- */

struct wanted {
  char hash[HASH_TEXT_SIZE];
  enum embed_cached cached;
};

/* Errors of the cache are ignored: the vector is computed. Returns the number of missing vectors. */
static size_t look_up(struct op_call *call, const struct vec_model *model, const struct str *texts, size_t n,
                      struct wanted *wanted, int8_t *vectors) {
  size_t missing = 0;
  struct error ignored;
  for (size_t i = 0; i < n; i++) {
    struct wanted *w = &wanted[i];
    hash_text(texts[i], w->hash);
    if (embed_cache_get(call->engine->store, model, w->hash, call->now, vectors + i * (size_t)model->dims, &w->cached,
                        &ignored) != STATUS_OK)
      w->cached = CACHE_MISS;
    missing += w->cached == CACHE_MISS;
  }
  return missing;
}

/* Commits without waiting for the disk: vectors lost in a crash are computed again. */
static void store_vectors(struct op_call *call, const struct vec_model *model, const struct wanted *wanted, size_t n,
                          const int8_t *vectors) {
  struct db *db = store_db(call->engine->store);
  struct error ignored;
  size_t news = 0;
  for (size_t i = 0; i < n; i++)
    news += wanted[i].cached != CACHE_HIT;
  if (news == 0 || db_read_only(db) || db_in_transaction(db))
    return;
  int busy = db_set_busy(db, CACHE_BUSY_MS);
  enum status s = db_begin(db, call->caller.team, true, &ignored);
  for (size_t i = 0; s == STATUS_OK && i < n; i++)
    if (wanted[i].cached != CACHE_HIT)
      s = embed_cache_put(call->engine->store, model, wanted[i].hash, vectors + i * (size_t)model->dims, call->now,
                          &ignored);
  if (s == STATUS_OK)
    s = db_commit(db, &ignored);
  if (s != STATUS_OK)
    db_rollback(db);
  db_set_busy(db, busy);
}

/* An embedder behind the cache. */
struct cached {
  struct op_call *call;
  const struct embedding *e;
};

static enum status embed_through_cache(const struct cached *c, struct arena *a, enum embed_use use,
                                       const struct str *texts, size_t n, int8_t *vectors, struct error *why) {
  const struct embedding *e = c->e;
  size_t dims = (size_t)e->model.dims;
  struct vec_model model = e->model;
  if (use == EMBED_QUERY)
    model.model = str_from(e->slot->query_name);
  struct wanted *wanted = arena_array(a, struct wanted, n + 1);
  size_t missing = look_up(c->call, &model, texts, n, wanted, vectors), k = 0;
  if (missing > 0 && e->slot->retry_at > clock_ticks_us()) {
    *why = e->slot->failure;
    return e->slot->failure.code;
  }
  if (missing > 0) {
    struct str *rest = arena_array(a, struct str, missing);
    int8_t *fresh = arena_array(a, int8_t, arena_mul(a, missing, dims));
    for (size_t i = 0; i < n; i++)
      if (wanted[i].cached == CACHE_MISS)
        rest[k++] = texts[i];
    enum status s = e->e->embed(e->e, a, use, rest, missing, fresh, why);
    if (s != STATUS_OK) {
      e->slot->failure = *why;
      e->slot->retry_at = clock_ticks_us() + RETRY_US;
      return s;
    }
    k = 0;
    for (size_t i = 0; i < n; i++)
      if (wanted[i].cached == CACHE_MISS)
        memcpy(vectors + i * dims, fresh + k++ * dims, dims);
  }
  assert(k == missing);
  store_vectors(c->call, &model, wanted, n, vectors);
  return STATUS_OK;
}

void embedding_try_again(const struct embedding *e) { e->slot->retry_at = 0; }

enum status embed_texts(struct op_call *call, struct arena *a, const struct embedding *e, const struct str *texts,
                        size_t n, int8_t *ret_vectors, struct error *why) {
  assert(!db_in_transaction(store_db(call->engine->store)));
  if (e->costly)
    return embed_through_cache(&(struct cached){call, e}, a, EMBED_TEXT, texts, n, ret_vectors, why);
  return e->e->embed(e->e, a, EMBED_TEXT, texts, n, ret_vectors, why);
}

/* ---- calibration ---- */

/* Through the cache, so that calibrating a model again is free. */
static enum status embed_cached(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts,
                                size_t n, int8_t *ret_vectors, struct error *err) {
  const struct cached *c = e->state;
  (void)use; /* always EMBED_TEXT: calibration compares texts */
  return embed_texts(c->call, a, c->e, texts, n, ret_vectors, err);
}

enum status embedding_calibrate(struct op_call *call, struct embedding *e, struct error *why) {
  struct pooled *p = e->slot;
  struct embed_config config;
  struct calibration fitted;
  struct cached state = {call, e};
  struct embedder cached = {.model = e->e->model, .dims = e->e->dims, .embed = embed_cached, .state = &state};
  struct arena *scratch = arena_child(call->arena);
  TRY(calibration_fit(&cached, scratch, &fitted, why));
  arena_release(scratch);
  TRY(embed_config_parse(call->arena, e->config, &config, why));
  p->fitted = fitted;
  config.calibration = calibration_text(call->arena, &fitted);
  e->calibration = &p->fitted;
  e->kept = embed_config_kept(call->arena, &config);
  return STATUS_OK;
}

/* ---- queries ---- */

/* For text that is sent to a server or stored in the cache. */
static struct str redacted(struct op_call *call, struct str text) {
  return redact_all(call->arena, text, call->secrets);
}

static bool is_last_query(const struct pooled *p, const char *hash) {
  return p->last_vector && memcmp(p->last_query, hash, sizeof(p->last_query)) == 0;
}

void embed_query_ahead(const struct embedding *e, struct str text) {
  char hash[HASH_TEXT_SIZE];
  hash_text(text, hash);
  if (!e->costly && !is_last_query(e->slot, hash))
    embed_ahead_start(&e->slot->ahead, e->e, text);
}

static enum status compute_query(struct op_call *call, const struct embedding *e, struct str text, int8_t *ret_vector,
                                 struct error *why) {
  if (e->costly) {
    text = redacted(call, text);
    return embed_through_cache(&(struct cached){call, e}, call->arena, EMBED_QUERY, &text, 1, ret_vector, why);
  }
  if (embed_ahead_take(&e->slot->ahead, text, ret_vector))
    return STATUS_OK;
  return e->e->embed(e->e, call->arena, EMBED_QUERY, &text, 1, ret_vector, why);
}

enum status embed_query(struct op_call *call, const struct embedding *e, struct str text, const int8_t **ret_vector,
                        struct error *why) {
  assert(e->model.dims > 0 && e->model.dims == e->e->dims);
  struct pooled *p = e->slot;
  size_t dims = (size_t)e->model.dims;
  char hash[HASH_TEXT_SIZE];
  int8_t *vector = arena_array(call->arena, int8_t, dims);
  hash_text(text, hash);
  *ret_vector = vector;
  if (is_last_query(p, hash)) {
    memcpy(vector, p->last_vector, dims);
    return STATUS_OK;
  }
  TRY(compute_query(call, e, text, vector, why));
  if (!p->last_vector)
    p->last_vector = mem_alloc(dims);
  if (p->last_vector) {
    memcpy(p->last_vector, vector, dims);
    memcpy(p->last_query, hash, sizeof(hash));
  }
  return STATUS_OK;
}
