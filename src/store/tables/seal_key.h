/* seal_key.h: the key with which doors seal what clients carry back to them: cursors, the state of a question.
 *
 * It is random, belongs to the store and never leaves it, so that every server of the store opens what another one has
 * sealed, also after a restart. A copy that `cairn migrate` makes gets one of its own. */
#pragma once

#include "store/store.h"

enum { DOOR_KEY_SIZE = 32 };

/* Made when there is none yet; of several that make one at once, the first wins for all. */
NODISCARD enum status door_key_load(struct store *st, uint8_t ret_key[DOOR_KEY_SIZE], struct error *err);
