/* graph.h: the knowledge graph that lies in the memories: observations about entities, and relations between these.
 *
 * A memory is part of it when its list `entity` names what it is about. A relation is a link "relates" between memories
 * of two entities, whose reason holds its types. */
#pragma once

#include "store/memories/memories.h"

/* What was forgotten, superseded or has expired is no longer said; what faded by disuse still is. */
#define STATES_GRAPH "'active', 'archived', 'faded'"

struct graph_row {
  int64_t id;
  struct str name, type, body;
  struct str suspect; /* as in struct memory */
  bool untrusted;
};
struct graph_rows {
  struct graph_row *v;
  size_t n, cap;
};
/* The memories of one entity, in the order in which they were stored. */
NODISCARD enum status graph_entities(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                     struct graph_rows *ret_rows, struct error *err);
/* Names of entities whose name, type or observations hold this text, without ASCII case; may repeat itself. */
NODISCARD enum status graph_matches(struct store *st, const struct scope *scope, struct str text, struct arena *a,
                                    struct graph_rows *ret_rows, struct error *err);

struct graph_edge {
  int64_t src, dst, at;
  struct str from, to, types; /* "one; another" */
  bool untrusted;             /* one of the two memories is */
};
struct graph_edges {
  struct graph_edge *v;
  size_t n, cap;
};
/* The links that begin or end at an entity. Memories that were corrected or forgotten still carry relations of their
 * entity. */
NODISCARD enum status graph_relations(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                      struct graph_edges *ret_edges, struct error *err);
/* The whole graph: entities in the order in which they were stored, links oldest first. */
NODISCARD enum status graph_all(struct store *st, const struct scope *scope, struct arena *a,
                                struct graph_rows *ret_rows, struct graph_edges *ret_edges, struct error *err);
