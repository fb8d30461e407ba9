/* search_rows.h: the rows that a search needs besides full text: nearest chunks under the caller's filters, snippets.
 */
#pragma once

#include "store/memories/memories.h"
#include "store/vectors/vectors.h"

/* The chunks of the memories that a caller may see and asks for. */
struct chunk_filter {
  const struct scope *scope;
  const struct filter *filter;
  const char *states; /* SQL list */
  bool beginnings;    /* the first chunk of a memory alone */
  int64_t except;     /* a memory that does not count; 0: none */
  bool features;      /* the hits come with what ranking needs */
  bool no_entries;    /* nothing of a transcript: such vectors are also about the entry before */
};
/* For the engine of the store. */
struct vec_filter chunk_filter_sql(struct store *st, struct arena *a, const struct chunk_filter *f);
/* ret_health may be NULL. */
NODISCARD enum status search_near(struct store *st, const struct scope *scope, const struct filter *f,
                                  const struct vec_model *model, const int8_t *vector, size_t k, struct arena *a,
                                  struct vec_hits *ret_hits, struct vec_health *ret_health, struct error *err);
/* Fills in what ranking needs of the memories with these ids: type, weight, times, ratings, use, session, trust. */
#define FEATURE_COLUMNS                                                                                                \
  "m.type, m.weight, m.created_at, coalesce(m.last_accessed, 0), m.access_count, m.upvotes, m.downvotes, "             \
  "m.valid_from,"                                                                                                      \
  " m.session, m.project, m.corpus, m.trust, m.suspect"
enum { FEATURES = 13 };
NODISCARD enum status search_features(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                      size_t n, struct error *err);
/* From a row that has these columns from `column` on. */
void features_read(const struct rows *r, int column, struct arena *a, struct memory *m);
/* The texts of some chunks, ret_texts[n]; "" for one that is gone. */
NODISCARD enum status chunk_snippets(struct store *st, struct str team, const int64_t *chunk_ids, size_t n,
                                     struct arena *a, struct str *ret_texts, struct error *err);
/* The places of some chunks in their memories, from 0 on, ret_places[n]; -1 for one that is gone. */
NODISCARD enum status chunk_places(struct store *st, struct str team, const int64_t *chunk_ids, size_t n,
                                   struct arena *a, int64_t *ret_places, struct error *err);
