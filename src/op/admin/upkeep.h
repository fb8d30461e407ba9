/* upkeep.h: what a server does for its store by itself, while nobody calls: a step of it. When the steps come is the
 * server's affair. */
#pragma once

#include "op/op.h"
#include "op/run/pool.h"

/* Maintenance, when it is due. Failures harm nobody: whoever asks for the same gets to see them. */
void upkeep_maintain(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks);
/* Embeds a portion of what waits. True when there is more, and another portion would get further: an embedder that is
 * down does not. */
bool upkeep_embed(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks);
/* Brings the MEMORY.md of a project into step. False when that failed, and should be tried again later. */
bool upkeep_sync(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, struct str project);
/* Reads what has changed in a source of a project. False when that failed. */
bool upkeep_source(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, struct str project,
                   struct str folder);
/* The folder of a team's files, for those who watch them. */
NODISCARD enum status upkeep_root(struct pool *pool, struct str team, struct arena *a, struct str *ret_root,
                                  struct error *err);
