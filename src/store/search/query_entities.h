/* query_entities.h: entities in a query: identifiers, numbers, quoted strings, #tags, @people, names, keys and rare
 * words. The engines look them up. */
#pragma once

#include "store/search/lexical_query.h"
#include "store/store.h"

enum {
  ENTITY_MAX = 16,     /* maximum number of entities found per query */
  ENTITY_ROWS = 1000,  /* entries in more rows than this are not entities */
  ENTITY_BYTES = 4096, /* maximum query length */
};

enum entity_kind { ENTITY_TEXT, ENTITY_LABEL, ENTITY_KEY };
struct query_entity {
  enum entity_kind kind;
  const char *field; /* label only */
  struct str value;  /* texts are searched as phrases */
  struct str joined; /* text only: alternative form; empty if none */
  bool prefix;       /* text only: also match words that begin with it */
  double most;       /* too common to be an entity if in more rows than this */
};
struct query_entities {
  struct query_entity *v; /* distinct, in lookup order; lookups stop after ENTITY_MAX were found */
  size_t n, cap;
};

/* `terms` are the terms of the query, which has at most ENTITY_BYTES. */
NODISCARD enum status query_entities(const struct term_source *source, struct str query,
                                     const struct query_terms *terms, struct arena *a,
                                     struct query_entities *ret_entities, struct error *err);

/* ---- results ---- */

struct entity_row {
  int64_t chunk_id, memory_id;
  double score;
};
struct entity_rows {
  struct entity_row *v;
  size_t n, cap;
};
/* Merges rows of the same chunk, summing the scores; best first, ties by id. */
void entity_rows_merge(struct entity_rows *rows);
