/* calls.h: calls of tools, with how long they took and how they ended: of every process that uses the store, kept for a
 * while. */
#pragma once

#include "store/store.h"

enum { CALLS_KEPT = 100000, CALLS_KEPT_DAYS = 30 };

struct call_row {
  struct str event_id; /* a uuid: the same call is stored once */
  struct str team, session, tool, op, project, source;
  int64_t at, duration_us;
  struct str error, message; /* absent: it succeeded */
};

/* Queues it: nothing is written now. Written together with the queue of reads (events.h), or dropped when the store is
 * busy for long. The texts are copied. */
void calls_note(struct store *st, const struct call_row *row);
/* At once, in the present transaction; one that is stored already stays as it is. */
NODISCARD enum status calls_add(struct store *st, const struct call_row *row, struct error *err);

typedef enum status (*call_visit)(void *arg, const struct call_row *row);
/* Those of the team since a time, in no order. */
NODISCARD enum status calls_walk(struct store *st, struct str team, int64_t since, call_visit visit, void *arg,
                                 struct error *err);
/* The last ones that failed, newest first. */
NODISCARD enum status calls_errors(struct store *st, struct str team, int64_t limit, call_visit visit, void *arg,
                                   struct error *err);
/* Drops what is too old, or too much. */
NODISCARD enum status calls_prune(struct store *st, struct str team, int64_t now, struct error *err);
