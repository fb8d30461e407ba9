/* graph.h: entities and relations as operations hand them around. */
#pragma once

#include "op/run/common.h"
#include "store/memories/graph.h"
#include "store/search/candidates.h"

struct node {
  struct str name, type;
  struct strs observations;
  int64_t first;                 /* its oldest memory */
  struct ids untrusted, doubted; /* memories that nobody vouches for, and the places of their observations, from 0 */
  struct str suspect;            /* why, of the first of them that is */
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

/* Memories by entity, in the order of their oldest ones; an observation that is there twice is said once. */
void graph_group(struct arena *a, const struct graph_rows *rows, struct nodes *ret_nodes);
/* The types of a link, one by one. */
void graph_types(struct arena *a, struct str joined, struct strs *ret_types);
/* One entity; ret_found is false when there is none of this name. */
NODISCARD enum status graph_node(struct op_call *call, struct str name, struct node *ret_node, bool *ret_found);

void put_nodes(struct op_call *call, const char *name, const struct nodes *nodes);
void put_relations(struct op_call *call, const char *name, const struct relations *relations);
