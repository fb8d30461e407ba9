/* events.h: the append-only event log: every change with before and after, reads in batches, and the feed. */
#pragma once

#include "store/store.h"

struct event {
  int64_t seq, txn, at, memory_id;
  const char *change; /* insert, update, delete, link, unlink, annotate, setting, purge; NULL for reads */
  struct str action;  /* memory:write, memory:read, ... */
  struct str op, uid, project, source, session;
  struct str before, after, detail; /* JSON, or absent */
  bool purged;
};

/* Adds an event to a transaction; team, source, session, op and time are the transaction's. */
NODISCARD enum status event_add(struct txn *txn, const struct event *e, struct error *err);

/* Walks the feed: events of the team after `since`, oldest first; visit may stop it by another status. */
typedef enum status (*event_visit)(void *arg, const struct event *e);
NODISCARD enum status events_walk(struct store *st, struct str team, int64_t since, int64_t limit, struct str action,
                                  event_visit visit, void *arg, struct error *err);
/* The last ones of the team, newest first. */
NODISCARD enum status events_newest(struct store *st, struct str team, int64_t limit, event_visit visit, void *arg,
                                    struct error *err);
/* The events of a transaction; newest first when `backwards`. */
NODISCARD enum status events_of_txn(struct store *st, struct str team, int64_t txn, bool backwards, event_visit visit,
                                    void *arg, struct error *err);
NODISCARD enum status events_last_seq(struct store *st, struct str team, int64_t *ret_seq, int64_t *ret_count,
                                      struct error *err);
/* A number behind which everything is new to this team: the last one of its log, or of the whole log; 0: it is empty.
 * Not to be shown: how far the whole log has come is nobody's business but the store's. */
NODISCARD enum status events_end(struct store *st, struct str team, int64_t *ret_seq, struct error *err);
/* The last number up to `seq` whose event is not newer than `at`: `seq` itself, when its event was written then;
 * 0: there is none. With the highest numbers for both, the last event of the team. */
NODISCARD enum status events_place(struct store *st, struct str team, int64_t seq, int64_t at, int64_t *ret_seq,
                                   struct error *err);
/* Changes when a restore has replaced the log, whose numbers then begin again where that log ended; "" when the store
 * has none. */
enum { EVENTS_EPOCH_SIZE = 40 };
NODISCARD enum status events_epoch(struct store *st, char ret_epoch[EVENTS_EPOCH_SIZE], struct error *err);

/* Queues a read or a search: nothing is written now. With memory_id > 0 it also counts as an access. Written in one
 * batch when many have gathered, at reads_flush(), and when the store is closed. The text is copied. */
void reads_note(struct store *st, const struct txn *who, struct str action, int64_t memory_id, struct str uid,
                struct str detail);
/* Writes what is queued (and calls.h with it), without waiting for the disk. Reads never fail for it: a busy store
 * drops the batch. */
void reads_flush(struct store *st);
/* The same, when nobody holds the lock; false: what is queued stays. */
bool reads_flush_now(struct store *st);
