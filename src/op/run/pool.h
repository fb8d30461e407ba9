/* pool.h: the engines of a server: several handles on one store, so that calls run side by side.
 *
 * Nothing is opened before it is needed: a server answers its first questions without a store. Of a store on a server
 * every engine is one connection: one that has rested is asked whether it still works before it is given out, one that
 * has rested for long is closed, and a server that does not answer is not asked again for a second. */
#pragma once

#include "op/run/engine.h"

struct pool;

/* `size` engines at most; the options' path is copied. */
NODISCARD enum status pool_new(const struct engine_options *options, size_t size, struct pool **ret_pool,
                               struct error *err);
/* Waits for a free engine, and opens one when there are fewer than `size`. The one used last is given first: it has the
 * most in memory. */
NODISCARD enum status pool_take(struct pool *pool, struct engine **ret_engine, struct error *err);
/* The same, but STATUS_BUSY instead of waiting. */
NODISCARD enum status pool_try(struct pool *pool, struct engine **ret_engine, struct error *err);
/* How many engines are open, and how many of them are taken. */
void pool_count(struct pool *pool, size_t *ret_opened, size_t *ret_busy);
void pool_give(struct pool *pool, struct engine *engine);
/* What went wrong when the store was last reached for, within the last second; STATUS_OK: nothing. */
NODISCARD enum status pool_failing(struct pool *pool, struct error *err);
/* Closes connections to a server that nobody has used for POOL_IDLE_S; giving and taking do it by the way, this is for
 * a server on which nothing happens. Engines on a file stay: what they have in memory is worth keeping. */
enum { POOL_IDLE_S = 300 };
void pool_trim(struct pool *pool);
/* The store as it was given: not for messages, an address may hold a password. */
const char *pool_path(const struct pool *pool);
/* The agent that its engines are bound to; "": none. */
const char *pool_agent(const struct pool *pool);
size_t pool_size(const struct pool *pool);
/* All engines must have been given back. */
void pool_close(struct pool **pool);
