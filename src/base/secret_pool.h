/* secret_pool.h: pieces of memory as mem_secret() gives it, used again and again.
 *
 * A server does not know which message brings a secret before it has read it, so that every message is read into such
 * memory; to ask the system for it each time would cost more than to answer. Pieces may be taken and given by any
 * thread. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

/* A block of an arena, and its head. */
enum { SECRET_PIECE = 16 * 1024 + 64 };

struct secret_pool;
/* NULL when there is no memory. It holds none for secrets before the first piece is taken. */
NODISCARD struct secret_pool *secret_pool_new(void);
/* All pieces have been given back. */
void secret_pool_free(struct secret_pool **pool);

/* SECRET_PIECE bytes, aligned for any type; NULL when as much as a pool may hold is in use: mem_secret() is slower. */
void *secret_pool_take(struct secret_pool *pool);
/* Wipes the first `used` bytes: no others were written to. */
void secret_pool_give(struct secret_pool *pool, void *piece, size_t used);
