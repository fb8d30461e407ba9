/* upkeep.h: steps of a server's background work; the server decides when to run them. */
#pragma once

#include "op/op.h"
#include "op/run/pool.h"

/* Runs maintenance if it is due. Errors are ignored: 'cairn maintain' shows them. */
void upkeep_maintain(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks);
/* Name of the time of the team's last maintenance in the store's metadata. */
const char *maintained_name(struct op_call *call);
/* Embeds a batch of pending chunks. True if there are more and the embedder works. */
bool upkeep_embed(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks);
/* Syncs the MEMORY.md of a project. False if that failed and should be retried. */
bool upkeep_sync(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, struct str project);
/* Refreshes a source of a project. False on failure. */
bool upkeep_source(struct pool *pool, const struct caller *caller, const struct op_hooks *hooks, struct str project,
                   struct str folder);
/* Directory of a team's files, to watch for changes. */
NODISCARD enum status upkeep_root(struct pool *pool, struct str team, struct arena *a, struct str *ret_root,
                                  struct error *err);
