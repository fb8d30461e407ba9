/* events.h: append-only event log: changes with before and after, batched reads, and the feed. */
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

/* Adds an event; team, source, session, op and time come from the transaction. */
NODISCARD enum status event_add(struct txn *txn, const struct event *e, struct error *err);

/* Events that changed nothing, and how many of them the log keeps. */
enum event_class { EVENTS_READS, EVENTS_REFUSALS };
struct event_keep {
  enum event_class class;
  int64_t since; /* older ones are deleted */
  int64_t most;  /* of the team; the oldest beyond are deleted */
};
/* Deletes in short transactions. Not inside a transaction. */
NODISCARD enum status events_prune(struct store *st, struct str team, const struct event_keep *keep,
                                   int64_t *ret_deleted, struct error *err);

struct event_query {
  struct str team;
  int64_t since;     /* sequence number of the last event seen */
  int64_t limit;     /* 0: all */
  struct str action; /* absent: any */
  bool newest_first;
};
/* Visits events after `since`, oldest first unless newest_first is set. Stops when visit returns anything but
 * STATUS_OK. */
typedef enum status (*event_visit)(void *arg, const struct event *e);
NODISCARD enum status events_walk(struct store *st, const struct event_query *q, event_visit visit, void *arg,
                                  struct error *err);
/* The last `limit` events of the team, newest first. */
NODISCARD enum status events_newest(struct store *st, struct str team, int64_t limit, event_visit visit, void *arg,
                                    struct error *err);
/* Events of a transaction; newest first if `backwards`. */
NODISCARD enum status events_of_txn(struct store *st, struct str team, int64_t txn, bool backwards, event_visit visit,
                                    void *arg, struct error *err);
NODISCARD enum status events_last_seq(struct store *st, struct str team, int64_t *ret_seq, int64_t *ret_count,
                                      struct error *err);
/* A seq after which every event is new to this team; 0 if the log is empty. It may be the end of the whole log, so
 * never show it: it would reveal the activity of other teams. */
NODISCARD enum status events_end(struct store *st, struct str team, int64_t *ret_seq, struct error *err);
/* The last seq of the team up to `seq` whose event is not newer than `at`; 0 if there is none. With INT64_MAX for
 * both: the team's last event. */
NODISCARD enum status events_position(struct store *st, struct str team, int64_t seq, int64_t at, int64_t *ret_seq,
                                      struct error *err);
/* Changes when a restore replaces the log, after which seq continues from the restored log. "" if the store has none.
 */
enum { EVENTS_EPOCH_SIZE = 40 };
NODISCARD enum status events_epoch(struct store *st, char ret_epoch[EVENTS_EPOCH_SIZE], struct error *err);

/* Queues a read or search and copies its texts. It counts as an access to memory_id, if that is not 0, and otherwise to
 * the memories in the list `results` of `detail`. Without an action, there is no event. Written in batches, by
 * reads_flush(), and when the store is closed. */
void reads_queue(struct store *st, const struct txn *who, struct str action, int64_t memory_id, struct str uid,
                 struct str detail);
/* Writes both queues (reads, and calls of calls.h) without syncing to disk. Never fails: if the store stays busy, the
 * rows remain queued. */
void reads_flush(struct store *st);
/* The same without waiting for the lock; false if rows remain queued. */
bool reads_flush_now(struct store *st);
