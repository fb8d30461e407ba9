/* bulk.h: storing many memories in one transaction: the same rows and events as memory_insert(), at a lower price.
 *
 * Every statement that can fail half-way makes the full-text index write out what it has gathered, and index segments
 * of one row each cost more to merge than all the rest. So the rows that are searched are held back and stored in
 * groups; until bulk_flush() a memory is complete but for them. */
#ifndef CAIRN_STORE_BULK_H
#define CAIRN_STORE_BULK_H

#include "store/memories.h"

struct bulk;

/* Lives in the arena. */
struct bulk *bulk_new(struct txn *txn, struct arena *a);
/* Sets m->id. The memory's texts are copied as far as they are needed later; `scratch` is free after the call. */
NODISCARD enum status bulk_insert(struct bulk *b, struct arena *scratch, struct memory *m, struct error *err);
NODISCARD enum status bulk_flush(struct bulk *b, struct error *err);

#endif
