/* secret_pool.h: thread-safe pool of reusable pieces of locked memory.
 *
 * A server reads every message into locked memory, because it cannot know in advance which one contains a secret.
 * Calling mem_secret() for each message would cost more than handling it. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

/* Size of an arena block with its header. */
enum { SECRET_PIECE = 16 * 1024 + 64 };

struct secret_pool;
/* NULL if out of memory. Locked memory is allocated when the first piece is taken. */
NODISCARD struct secret_pool *secret_pool_new(void);
/* All pieces must have been freed. */
void secret_pool_free(struct secret_pool **pool);

/* SECRET_PIECE bytes, aligned for any type; NULL if the pool is exhausted (then use mem_secret()). */
void *secret_pool_take(struct secret_pool *pool);
/* Wipes the first `used` bytes, which must cover all that was written. */
void secret_pool_give(struct secret_pool *pool, void *piece, size_t used);
