/* lifecycle.h: queries for maintenance: memories due to expire, fade, be archived or go stale; candidates for pruning;
 * chunks without vectors. */
#pragma once

#include "store/memories/memories.h"

struct vec_model; /* vectors.h */

/* Only memories that an agent stored with Cairn's own tools fade, are archived or go stale by themselves. Their
 * memory:write event has this member. Those of people, imports, other systems' tools and earlier releases do not have
 * it, nor do corrections of memories without it. */
#define EVENT_AGES "\"ages\":true"
/* In the event of a duplicate that a person or another system's tool wrote: the memory that was kept does not age. */
#define EVENT_LASTS "\"lasts\":true"

/* True if the memory may fade, be archived or go stale by itself. */
NODISCARD enum status lifecycle_ages(struct store *st, const struct memory *m, struct arena *a, bool *ret_ages,
                                     struct error *err);
/* True if a person or another system's tool has stated the stored text, too. */
NODISCARD enum status lifecycle_stated(struct store *st, const struct memory *m, struct arena *a, bool *ret_stated,
                                       struct error *err);

enum lifecycle_step { LIFE_EXPIRE, LIFE_FADE, LIFE_ARCHIVE, LIFE_STALE };
struct due_query {
  struct str team;
  enum lifecycle_step step;
  int64_t before; /* current time for LIFE_EXPIRE, time of last use for the others */
  int64_t limit;
  bool asked; /* the step was asked for by name: all memories of agents age */
};
/* Memories due for a step. Only active ones, so a step never overwrites another state. */
NODISCARD enum status lifecycle_due(struct store *st, const struct due_query *due, struct arena *a,
                                    struct memories *ret_list, struct error *err);

struct prune_query {
  const struct scope *scope;
  int64_t before, max_access; /* unchanged and unused since `before`, used at most max_access times */
  int64_t limit;
};
/* Prunable memories: not rules, only delivered on demand. ret_total counts all, ret_list has at most `limit`. */
NODISCARD enum status prune_candidates(struct store *st, const struct prune_query *p, struct arena *a,
                                       struct memories *ret_list, int64_t *ret_total, struct error *err);

/* Up to `limit` chunks with ids greater than `after` that have no vector of this model, with the text to embed. */
NODISCARD enum status chunks_pending(struct store *st, const struct vec_model *model, int64_t after, int64_t limit,
                                     struct arena *a, struct chunk_rows *ret_rows, struct error *err);
