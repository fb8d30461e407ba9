/* pool.h: the engines of a server: several handles on one store, so calls run concurrently.
 *
 * Engines are opened on first use, so a server starts without touching the store. If the store is on a PostgreSQL
 * server, each engine is a connection: it is checked before use after 5 s of idleness and closed after POOL_IDLE_S;
 * after a failure to connect, calls fail for one second without trying again. */
#pragma once

#include "op/op.h"
#include "op/run/fair.h"

struct pool;

/* The options' path is copied. */
NODISCARD enum status pool_new(const struct engine_options *options, struct fair_places places, struct pool **ret_pool,
                               struct error *err);
/* Waits for a free engine, or opens one if there are fewer than `places`. Prefers the most recently used one: its
 * caches are warm. */
NODISCARD enum status pool_acquire(struct pool *pool, struct engine **ret_engine, struct error *err);
/* Like pool_acquire(), for a call of `caller`: one caller or team leaves engines to the others (fair.h). */
NODISCARD enum status pool_acquire_for(struct pool *pool, const struct caller *caller, struct engine **ret_engine,
                                       struct error *err);
/* Like pool_acquire(), but STATUS_BUSY instead of waiting. */
NODISCARD enum status pool_try_acquire(struct pool *pool, struct engine **ret_engine, struct error *err);
/* Number of open engines, and of those in use. */
void pool_count(struct pool *pool, size_t *ret_opened, size_t *ret_busy);
void pool_release(struct pool *pool, struct engine *engine);
/* Error of the last attempt to connect if it was within the last second, otherwise STATUS_OK. */
NODISCARD enum status pool_recent_failure(struct pool *pool, struct error *err);
/* Closes connections to a server that were idle for POOL_IDLE_S. pool_acquire() does it too; this is for an idle
 * server. Engines on a file stay open to keep their caches. */
enum { POOL_IDLE_S = 300 };
void pool_trim(struct pool *pool);
/* Records a call of an interface that may run several operations. `err` is NULL if it succeeded. With `stored` also in
 * the table of calls, if the store is open. */
void pool_note(struct pool *pool, const struct caller *caller, struct str op, int64_t began_us, const struct error *err,
               bool stored);
/* Counts a request that was refused before an operation ran, and logs it unless `who` is refused too often. */
void pool_note_refusal(struct pool *pool, const struct caller *caller, struct str who, struct str op, int64_t began_us,
                       const struct error *err);
/* Path or URL of the store. Not for messages: a URL may hold a password. */
const char *pool_path(const struct pool *pool);
/* The agent that its engines are bound to; "": none. */
const char *pool_agent(const struct pool *pool);
size_t pool_size(const struct pool *pool);
/* All engines must have been released. */
void pool_close(struct pool **pool);
