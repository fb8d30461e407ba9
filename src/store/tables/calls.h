/* calls.h: rows of tool calls of all processes, with duration and outcome; kept for CALLS_KEPT_DAYS. */
#pragma once

#include "store/store.h"

enum { CALLS_KEPT = 100000, CALLS_KEPT_DAYS = 30 };

struct call_row {
  struct str event_id; /* a uuid, which makes the insert idempotent */
  struct str team, session, tool, op, project, source;
  int64_t at, duration_us;
  struct str error, message; /* absent on success */
};

/* Queues a call and copies its texts. Flushed together with the queue of reads (events.h), dropped if the store stays
 * busy for long. */
void calls_queue(struct store *st, const struct call_row *row);
/* Inserts a call in the current transaction; does nothing if it exists. */
NODISCARD enum status calls_add(struct store *st, const struct call_row *row, struct error *err);

typedef enum status (*call_visit)(void *arg, const struct call_row *row);
/* Calls of the team since a time, unordered. */
NODISCARD enum status calls_walk(struct store *st, struct str team, int64_t since, call_visit visit, void *arg,
                                 struct error *err);
/* Failed calls, newest first. */
NODISCARD enum status calls_errors(struct store *st, struct str team, int64_t limit, call_visit visit, void *arg,
                                   struct error *err);
/* Deletes calls older than CALLS_KEPT_DAYS or beyond CALLS_KEPT. */
NODISCARD enum status calls_prune(struct store *st, struct str team, int64_t now, struct error *err);
