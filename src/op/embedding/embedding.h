/* embedding.h: what stands between operations and embedders: which embedder a team has, its vectors through the cache,
 * and what is done when it is down.
 *
 * A team has one index that is complete (active) and, after its settings changed, one that is being built; until the
 * flip both are written and both are searched. Embedders are opened when the first text comes, not before, and kept by
 * the engine. An embedder that fails costs its vectors, never a read and never a memory.
 *
 * How a search uses it:
 *   struct embeddings set;
 *   s = embeddings_of(call, &set);                 (opens what must be opened; set.degraded says what is missing)
 *   s = embeddings_near(call, &set, &scope, &filter, text, k, &hits);
 *   json_put_opt(doc, result, "degraded", set.degraded);
 * or, for each set.v[i]: embed_query(), then search_near() with set.v[i].model. */
#pragma once

#include "op/run/common.h"
#include "store/vectors/vectors.h"

struct embedding {
  const struct embedder *e;
  const struct calibration *calibration; /* what its cosines mean; not always e's own */
  struct vec_model model; /* where its vectors are; the name says more than e->model where settings change vectors */
  bool building;          /* not complete yet */
  bool costly;            /* goes over the network: texts and queries are cached */
  bool fitted;            /* the calibration is not a guess, nor the embedder's own */
  struct str config;      /* JSON of the settings that opened it; no secrets */
  struct str kept;        /* the same with what was fitted: for the store */
  bool failed;            /* it did not answer in this call: it is not asked again */
  struct pooled *slot;    /* where the engine keeps it */
};

struct embeddings {
  struct embedding v[2]; /* the active one first, then the one being built, as far as they work */
  size_t n;
  bool off;            /* no vectors by choice: embedder = none */
  bool to_note;        /* the store does not know yet what this set says: embeddings_note() */
  bool settled;        /* the active index is the one that the settings ask for */
  struct str degraded; /* absent, or what does not work, why, and what to do: for the reply */
};

/* Which embedders to use now. Fails when the store does, never because of an embedder. */
NODISCARD enum status embeddings_of(struct op_call *call, struct embeddings *ret_set);

/* One vector of model.dims for a question; *why is set on failure, call->err is left alone. The same question twice in
 * a row costs nothing. Lives in the call's arena. */
NODISCARD enum status embed_query(struct op_call *call, const struct embedding *e, struct str text,
                                  const int8_t **ret_vector, struct error *why);
/* Begins with that, when the embedder computes for long, and another core is there for it. */
void embed_query_ahead(const struct embedding *e, struct str text);
/* ret_vectors[n * dims]. Not inside a transaction: it may take seconds, and writes to the cache. Scratch comes from
 * the arena. */
NODISCARD enum status embed_texts(struct op_call *call, struct arena *a, const struct embedding *e,
                                  const struct str *texts, size_t n, int8_t *ret_vectors, struct error *why);

/* Before an index is built: finds out what the cosines of a server's model mean, unless that is known, by embedding
 * some 480 short texts; what it found is in the set, and the store is to be told. Not inside a transaction. A server
 * that fails leaves the careful guess, and is asked again the next time. */
void embeddings_calibrate(struct op_call *call, struct embeddings *set);
/* That for one embedder. */
NODISCARD enum status embedding_calibrate(struct op_call *call, struct embedding *e, struct error *why);

/* One that failed is left in peace for some seconds; from now on it is tried again. */
void embedding_try_again(const struct embedding *e);

struct near_hit {
  int64_t chunk_id, memory_id;
  double cosine;                 /* raw, of the index that judged it */
  double similarity;             /* calibrated: comparable between the two */
  const struct memory *features; /* as of search_features(); NULL: not looked at */
};
struct near_hits {
  struct near_hit *v;
  size_t n, cap;
};

/* The nearest chunks in all indexes of the set, best first, each chunk once: a chunk is judged by the active index, and
 * by the other one only while it has no vector there. An embedder that fails is left out and noted in set->degraded;
 * when none works there are no hits, and ret_used (may be NULL) says 0. */
NODISCARD enum status embeddings_near(struct op_call *call, struct embeddings *set, const struct scope *scope,
                                      const struct filter *f, struct str text, size_t k, struct near_hits *ret_hits,
                                      size_t *ret_used);

/* Before a question is searched by words: asks the embedders of the set that are on the network, which may take seconds
 * and writes to the cache, so that it happens outside the snapshot of the search; and sets the built-in one to work on
 * another core, where one is free. */
void embeddings_ask(struct op_call *call, struct embeddings *set, struct str text);

/* The similarities of some chunks to the text, ret_near[n]: by the active index, or by the other one where a chunk has
 * no vector there; 0 where it has none at all. */
NODISCARD enum status embeddings_compare(struct op_call *call, struct embeddings *set, struct str text,
                                         const int64_t *chunk_ids, size_t n, struct near_hit *ret_near);

/* Inside the transaction of a write: notes in the store what the set says, once: the first index of a team, or that a
 * new one is being built. */
NODISCARD enum status embeddings_note(struct op_call *call, struct txn *txn, const struct embeddings *set);
/* The same in a transaction of its own: before a long work, so that writers and other processes know of it. */
NODISCARD enum status embeddings_note_now(struct op_call *call, const struct embeddings *set);

/* Adds what failed, why, and what to do to set->degraded; `what` is an index or a setting. */
void embeddings_degrade(struct op_call *call, struct embeddings *set, struct str what, const struct error *why);
/* The one that the settings ask for; NULL when it does not work. */
const struct embedding *embeddings_wanted(const struct embeddings *set);

/* An embedder by the settings of an index, opened or found open; `dims` as for embed_config_open(). */
struct embed_config;
NODISCARD enum status embedding_open(struct op_call *call, const struct embed_config *config, int dims,
                                     struct embedding *ret_embedding, struct error *why);

/* The embedders that the engine has opened, newest first. */
void pooled_free(struct pooled **list);
