/* transfer.h: reading a team's records in a stable order for an export, and writing the rows of an import.
 *
 * Records are visited one at a time and are valid until visit() returns, so memory use does not grow with the store.
 * Records name memories and transactions by uid; ids have no meaning outside a store. */
#pragma once

#include "store/memories/links.h"
#include "store/memories/memories.h"
#include "store/tables/events.h"

/* Scope of an export: the whole team, or one of its projects with the links inside it. */
struct transfer {
  struct store *store;
  struct str team, project;
  bool one_project;
  struct arena *scratch; /* released after each record */
  struct error *err;
};

struct tombstone {
  struct str uid, by;
  int64_t at;
};

struct txn_record {
  struct str uid, op, source, session, undoes; /* undoes: uid of the transaction that this one reversed */
  int64_t at;
};

struct event_record {
  struct str txn; /* uid, absent for reads */
  struct str action, change, op, uid, project, source, session;
  struct str before, after, detail; /* JSON without ids of this store */
  int64_t at, purged;
};

/* All reads between these two calls see the same snapshot. */
NODISCARD enum status transfer_begin(struct store *st, struct error *err);
NODISCARD enum status transfer_end(struct store *st, struct error *err);

/* Number of memories that transfer_memories() visits. */
NODISCARD enum status transfer_count(const struct transfer *t, int64_t *ret_count);

typedef enum status (*memory_visit)(void *arg, struct memory *m, const struct notes *notes);
typedef enum status (*link_visit)(void *arg, const struct link *link);
typedef enum status (*tombstone_visit)(void *arg, const struct tombstone *tombstone);
typedef enum status (*txn_visit)(void *arg, const struct txn_record *txn);
typedef enum status (*event_record_visit)(void *arg, const struct event_record *event);

/* Memories of every state with body, lists and notes, by uid; links by uids and rel; tombstones by uid; transactions
 * and events oldest first. Those of imports are omitted: they describe the arrival in this store. A visit stops the
 * iteration by returning anything but STATUS_OK. */
NODISCARD enum status transfer_memories(const struct transfer *t, memory_visit visit, void *arg);
NODISCARD enum status transfer_links(const struct transfer *t, link_visit visit, void *arg);
NODISCARD enum status transfer_tombstones(const struct transfer *t, tombstone_visit visit, void *arg);
NODISCARD enum status transfer_txns(const struct transfer *t, txn_visit visit, void *arg);
NODISCARD enum status transfer_events(const struct transfer *t, event_record_visit visit, void *arg);

/* ---- for an import; ret_id is 0 if there is none ---- */

/* ret_standing (may be NULL): true if it is neither superseded nor forgotten. */
NODISCARD enum status transfer_find(struct store *st, struct str team, struct str uid, int64_t *ret_id,
                                    bool *ret_standing, struct error *err);
NODISCARD enum status transfer_find_txn(struct store *st, struct str team, struct str uid, int64_t *ret_id,
                                        struct error *err);
NODISCARD enum status transfer_has_link(struct store *st, struct str team, int64_t src, struct str rel, int64_t dst,
                                        bool *ret_there, struct error *err);
NODISCARD enum status transfer_has_tombstones(struct store *st, struct str team, bool *ret_some, struct error *err);

/* Adds a tombstone, with an event; ret_added is false if it exists. */
NODISCARD enum status transfer_add_tombstone(struct txn *txn, const struct tombstone *tombstone, bool *ret_added,
                                             struct error *err);
/* Adds an imported transaction; `undoes` is the id of the one that it reversed, 0 for none. */
NODISCARD enum status transfer_add_txn(struct txn *txn, const struct txn_record *record, int64_t undoes,
                                       int64_t *ret_id, struct error *err);
/* Adds an imported event of transaction `of` (0 for a read). */
NODISCARD enum status transfer_add_event(struct txn *txn, struct arena *a, const struct event_record *record,
                                         int64_t of, struct error *err);

/* Fingerprint of a read, since reads have no uid. */
uint64_t transfer_read_fingerprint(const struct event_record *event);
struct read_marks {
  uint64_t *v;
  size_t n, cap;
};
/* Fingerprints of all reads in the log, sorted. */
NODISCARD enum status transfer_read_fingerprints(struct store *st, struct str team, struct arena *a,
                                                 struct read_marks *ret_marks, struct error *err);
