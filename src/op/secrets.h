/* secrets.h: the values of a team's secrets, for whoever must keep them out of what is written and shown.
 *
 * They are decrypted once for each state of the vault and kept in locked memory that no core dump holds. */
#ifndef CAIRN_OP_SECRETS_H
#define CAIRN_OP_SECRETS_H

#include "op/engine.h"

/* The values as they are now; none when the team has no secrets, or when no key is at hand. Valid until the engine's
 * next call, with its lock held. Never fails a call: what cannot be decrypted is not known, and doctor says so. */
const struct strs *secrets_known(struct engine *engine, struct str team);

#endif
