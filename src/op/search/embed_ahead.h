/* embed_ahead.h: embeds a query on another core during the keyword search. */
#pragma once

#include "embed/embed.h"

struct ahead;

/* Starts the thread. *slot stays NULL if there is only one core, the embedder is not built in, or the thread cannot be
 * started; embed_ahead_take() is false then. Waits for an earlier query of the slot and drops it. */
void embed_ahead_start(struct ahead **slot, const struct embedder *e, struct str text);
/* Waits for the vector[dims] of this query. False if the slot has another query, or embedding failed. */
bool embed_ahead_take(struct ahead **slot, struct str text, int8_t *ret_vector);
/* Waits for the thread and frees the slot. */
void embed_ahead_stop(struct ahead **slot);
