/* graph.h: knowledge graph stored in memories: observations about entities, and relations between entities.
 *
 * A memory belongs to the graph if its list `entity` names its subject. A relation is a "relates" link between
 * memories of two entities; the link's reason holds the relation types. */
#pragma once

#include "store/memories/memories.h"

/* Observations in these states are shown. Fading only means disuse, so faded ones count. */
#define STATES_GRAPH "'active', 'archived', 'faded'"
/* Relations are followed through memories in any state. */
#define STATES_ANY "'active', 'superseded', 'forgotten', 'expired', 'archived', 'faded'"

enum { GRAPH_PATTERN_MAX = 10000 }; /* longest LIKE pattern of SQLite, in bytes; longer texts match nothing */

struct graph_row {
  int64_t id;
  struct str name, type, body;
  struct str suspect; /* see struct memory */
  bool untrusted;
};
struct graph_rows {
  struct graph_row *v;
  size_t n, cap;
};
/* Memories of one entity, oldest first. */
NODISCARD enum status graph_entities(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                     struct graph_rows *ret_rows, struct error *err);
/* Names of entities whose name, type or observations contain the text, ignoring ASCII case; may contain duplicates. */
NODISCARD enum status graph_matches(struct store *st, const struct scope *scope, struct str text, struct arena *a,
                                    struct graph_rows *ret_rows, struct error *err);

struct graph_edge {
  int64_t src, dst, at;
  struct str from, to, types; /* "one; another" */
  bool untrusted;             /* at least one of the two memories is untrusted */
};
struct graph_edges {
  struct graph_edge *v;
  size_t n, cap;
};
/* A row of src, dst, at, from, to, types, untrusted. */
static inline struct graph_edge graph_edge_row(const struct rows *r, struct arena *a) {
  return (struct graph_edge){.src = rows_int(r, 0),
                             .dst = rows_int(r, 1),
                             .at = rows_int(r, 2),
                             .from = rows_dup(r, 3, a),
                             .to = rows_dup(r, 4, a),
                             .types = rows_dup(r, 5, a),
                             .untrusted = rows_int(r, 6) != 0};
}
/* Relations from or to an entity. Superseded and forgotten memories still carry relations of their entity. */
NODISCARD enum status graph_relations(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                      struct graph_edges *ret_edges, struct error *err);
/* The whole graph: entities and links, oldest first. */
NODISCARD enum status graph_all(struct store *st, const struct scope *scope, struct arena *a,
                                struct graph_rows *ret_rows, struct graph_edges *ret_edges, struct error *err);
