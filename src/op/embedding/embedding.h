/* embedding.h: the embedders of a team: computes vectors, through a cache, and searches its vector indexes.
 *
 * A team has one complete index (active) and, after its settings changed, one that is being built; until the switch
 * both are written and searched. Embedders are opened on first use and kept by the engine. If an embedder fails, its
 * vectors are missing, but reads and writes of memories still work.
 *
 * How a search uses it:
 *   struct embeddings set;
 *   s = embeddings_of(call, &set);                 (opens the embedders; set.degraded says what is missing)
 *   s = embeddings_near(call, &set, &query, &hits, NULL);
 *   json_put_opt(doc, result, "degraded", set.degraded);
 * or, for each set.v[i]: embed_query(), then search_near() with set.v[i].model. */
#pragma once

#include "op/run/common.h"
#include "store/search/lexical.h"
#include "store/vectors/vectors.h"

struct embedding {
  const struct embedder *e;
  const struct calibration *calibration; /* maps its cosines to similarities; may differ from e's own */
  struct vec_model model;                /* its index; the name differs from e->model if settings change the vectors */
  bool building;                         /* the index is not complete yet */
  bool costly;                           /* on the network: texts and queries are cached */
  bool fitted;                           /* the calibration was fitted to this model */
  struct str config;                     /* JSON of the settings that opened it; no secrets */
  struct str kept;                       /* config with the fitted calibration, for the store */
  bool failed;                           /* failed in this call: not asked again */
  struct pooled *slot;                   /* entry in the engine's list */
};

struct embeddings {
  struct embedding v[2]; /* the working ones: active first, then building */
  size_t n;
  bool off;            /* embedder = none */
  bool to_note;        /* the store must be updated with embeddings_note() */
  bool settled;        /* the active index matches the settings */
  struct str degraded; /* failures, their reasons and fixes, for the result; absent: none */
};

/* The embedders to use now. Fails only if the store does, never because of an embedder. */
NODISCARD enum status embeddings_of(struct op_call *call, struct embeddings *ret_set);

/* Vector of a query, with model.dims elements, in the call's arena. Sets *why on failure, not call->err. Remembers the
 * last query, so repeating it is free. */
NODISCARD enum status embed_query(struct op_call *call, const struct embedding *e, struct str text,
                                  const int8_t **ret_vector, struct error *why);
/* Starts to compute it on another core, if the embedder is slow and local. */
void embed_query_ahead(const struct embedding *e, struct str text);
/* ret_vectors[n * dims]. Not inside a transaction: it may take seconds, and writes to the cache. `a` is for scratch
 * memory. */
NODISCARD enum status embed_texts(struct op_call *call, struct arena *a, const struct embedding *e,
                                  const struct str *texts, size_t n, int8_t *ret_vectors, struct error *why);

/* Call before building an index, outside of a transaction: fits a calibration for a server's model that has none, by
 * embedding some 480 short texts, and sets to_note. If the server fails, the conservative default stays, and it is
 * tried again the next time. */
void embeddings_calibrate(struct op_call *call, struct embeddings *set);
/* The same for one embedder. */
NODISCARD enum status embedding_calibrate(struct op_call *call, struct embedding *e, struct error *why);

/* Ends the pause of some seconds after a failure. */
void embedding_try_again(const struct embedding *e);

struct near_hit {
  int64_t chunk_id, memory_id;
  double cosine;                 /* raw */
  double similarity;             /* calibrated: comparable between indexes */
  const struct memory *features; /* from search_features(); NULL: not loaded */
};
struct near_hits {
  struct near_hit *v;
  size_t n, cap;
};

/* The nearest chunks in all indexes of the set, best first, without duplicates: a chunk counts with its vector in the
 * active index, or in the other one if it has none there. An embedder that fails is skipped and reported in
 * set->degraded. ret_used (may be NULL) is the number of embedders that worked. */
NODISCARD enum status embeddings_near(struct op_call *call, struct embeddings *set, const struct chunk_query *q,
                                      struct near_hits *ret_hits, size_t *ret_used);

/* Call before the snapshot of a search: asks the embedders on the network, which may take seconds and writes to the
 * cache; starts the built-in one on another core if one is free. */
void embeddings_ask(struct op_call *call, struct embeddings *set, struct str text);

/* Similarities of the chunks to the text, ret_near[n]: from the active index, or from the other one if a chunk has no
 * vector there; 0 if it has none. */
NODISCARD enum status embeddings_compare(struct op_call *call, struct embeddings *set, struct str text,
                                         const int64_t *chunk_ids, size_t n, struct near_hit *ret_near);

/* Inside the transaction of a write: records the first index of a team, or that a new one is being built, if the store
 * does not have it yet. */
NODISCARD enum status embeddings_note(struct op_call *call, struct txn *txn, const struct embeddings *set);
/* The same in its own transaction: before long work, so writers and other processes know of it. */
NODISCARD enum status embeddings_note_now(struct op_call *call, const struct embeddings *set);

/* Adds what failed, why, and the fix to set->degraded; `what` is an index or a setting. */
void embeddings_degrade(struct op_call *call, struct embeddings *set, struct str what, const struct error *why);
/* The embedder that the settings name; NULL if it does not work. */
const struct embedding *embeddings_wanted(const struct embeddings *set);

/* Opens an embedder, or finds it open; `dims` as for embed_config_open(). */
struct embed_config;
NODISCARD enum status embedding_open(struct op_call *call, const struct embed_config *config, int dims,
                                     struct embedding *ret_embedding, struct error *why);

/* Closes the embedders of an engine. */
void pooled_free(struct pooled **list);
