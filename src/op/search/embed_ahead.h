/* embed_ahead.h: a question is embedded on another core while its words are searched. */
#pragma once

#include "embed/embed.h"

struct ahead;

/* Begins; *slot stays NULL where that gains nothing or cannot be done: then the question is embedded when it is needed.
 * An earlier question of the slot is given up. */
void ahead_start(struct ahead **slot, const struct embedder *e, struct str text);
/* Waits for the vector[dims] of this question. False when it is not the one of the slot, or was not embedded. */
bool ahead_take(struct ahead **slot, struct str text, int8_t *ret_vector);
/* Waits for what runs, and frees it. */
void ahead_end(struct ahead **slot);
