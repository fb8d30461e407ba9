/* search_rows.h: rows that a search needs besides full text: filtered nearest chunks, features, snippets. */
#pragma once

#include "store/memories/memories.h"
#include "store/vectors/vectors.h"

/* Filter for chunks of memories that the caller may see and asked for. */
struct chunk_filter {
  const struct scope *scope;
  const struct filter *filter;
  const char *states; /* SQL list */
  bool beginnings;    /* only the first chunk of each memory */
  int64_t except;     /* memory to exclude; 0: none */
  bool features;      /* hits include the features for ranking */
  bool no_entries;    /* exclude transcript entries: their vectors also cover the preceding entry */
};
/* Builds the filter for the engine of the store. */
struct vec_filter chunk_filter_sql(struct store *st, struct arena *a, const struct chunk_filter *f);
struct near_query {
  const struct scope *scope;
  const struct filter *filter;
  const struct vec_model *model;
  const int8_t *vector;
  size_t k; /* maximum number of hits */
};
/* Nearest chunks, best first, with their features. ret_health may be NULL. */
NODISCARD enum status search_near(struct store *st, const struct near_query *q, struct arena *a,
                                  struct vec_hits *ret_hits, struct vec_health *ret_health, struct error *err);
/* Reads the features for ranking of these memories: type, weight, times, ratings, use, session, trust. Superseding sets
 * a low weight; a search that asks for superseded memories ranks them by relevance, just below current ones. */
#define FEATURE_COLUMNS                                                                                                \
  "m.type, CASE WHEN m.state = 'superseded' THEN 0.95 ELSE m.weight END, m.created_at, coalesce(m.last_accessed, 0), " \
  "m.access_count, m.upvotes, m.downvotes, "                                                                           \
  "m.valid_from,"                                                                                                      \
  " m.session, m.project, m.corpus, m.trust, m.suspect"
enum { FEATURES = 13 };
NODISCARD enum status search_features(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                      size_t n, struct error *err);
/* Reads the features from the columns starting at `column`. */
void features_read(const struct rows *r, int column, struct arena *a, struct memory *m);
/* Texts of some chunks, ret_texts[n]; "" for a deleted chunk. */
NODISCARD enum status chunk_snippets(struct store *st, struct str team, const int64_t *chunk_ids, size_t n,
                                     struct arena *a, struct str *ret_texts, struct error *err);
/* Positions of some chunks in their memories, from 0, ret_places[n]; -1 for a deleted chunk. */
NODISCARD enum status chunk_places(struct store *st, struct str team, const int64_t *chunk_ids, size_t n,
                                   struct arena *a, int64_t *ret_places, struct error *err);
