/* seal_key.h: key that signs state which clients send back: cursors, pending confirmations.
 *
 * The key is random and kept in the store, so every server of the store accepts what another one has signed, also after
 * a restart. A copy made by `cairn migrate` gets its own key. */
#pragma once

#include "store/store.h"

enum { STATE_KEY_SIZE = 32 };

/* Creates the key if there is none. If several processes create one at once, all get the first. */
NODISCARD enum status state_key_load(struct store *st, uint8_t ret_key[STATE_KEY_SIZE], struct error *err);
