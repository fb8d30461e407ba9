/* graph.h: entities and relations of the knowledge graph. */
#pragma once

#include "op/run/common.h"
#include "store/memories/graph.h"
#include "store/search/candidates.h"

struct node {
  struct str name, type;
  struct strs observations;
  int64_t first;           /* id of its oldest memory */
  struct ids untrusted;    /* ids of its untrusted memories */
  struct ids untrusted_at; /* indexes of untrusted observations, from 0 */
  struct str suspect;      /* of its first suspect memory */
};
struct nodes {
  struct node *v;
  size_t n, cap;
};

struct relation {
  struct str from, to, type;
  bool untrusted;
};
struct relations {
  struct relation *v;
  size_t n, cap;
};

/* Groups memories by entity, ordered by oldest memory; drops repeated observations. */
void graph_group_by_entity(struct arena *a, const struct graph_rows *rows, struct nodes *ret_nodes);
/* Splits the types of a link, which are joined by "; ". */
void graph_split_types(struct arena *a, struct str joined, struct strs *ret_types);
/* Reads one entity; *ret_found is false if there is none of this name. */
NODISCARD enum status graph_node(struct op_call *call, struct str name, struct node *ret_node, bool *ret_found);

void put_nodes(struct op_call *call, const char *name, const struct nodes *nodes);
void put_relations(struct op_call *call, const char *name, const struct relations *relations);
