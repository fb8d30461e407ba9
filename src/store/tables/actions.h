/* actions.h: action items as rows: what somebody must answer to before more is written.
 *
 * One condition says what is pending in a project: not answered, of the project or global, and of no memory that has
 * been retired since. Lists, counts and the gate all use it. */
#pragma once

#include "store/tables/events.h"

/* Extracted items are taken from memories of the last days, and only while fewer than so many are pending. */
enum { ACTION_DAYS = 7, ACTION_CAP = 10, ACTION_CHARACTERS = 2000 };

struct action_item {
  int64_t id, memory_id;
  struct str project, text, kind, status, reason, source, decided_by;
  int64_t created_at, decided_at;
};
struct action_items {
  struct action_item *v;
  size_t n, cap;
};

/* Turns the action items of recent memories into pending rows: trusted, active, neither rules nor tasks nor pinned,
 * visible in the scope; the newest first, each text once. */
NODISCARD enum status actions_collect(struct txn *txn, const struct scope *scope, struct arena *a, int64_t *ret_added,
                                      struct error *err);
/* Adds one; when its text is there already, ret_added is false and the item is that one. */
NODISCARD enum status action_add(struct txn *txn, struct arena *a, struct action_item *item, bool *ret_added,
                                 struct error *err);
/* Answers a pending item, with its event. */
NODISCARD enum status action_decide(struct txn *txn, struct arena *a, const struct action_item *item,
                                    struct str decision, struct str reason, struct error *err);

NODISCARD enum status action_find(struct store *st, struct str team, int64_t id, struct arena *a,
                                  struct action_item *ret_item, bool *ret_found, struct error *err);
/* The item with exactly this text, of the project or global; memory_id 0: of any memory. */
NODISCARD enum status action_find_text(struct store *st, struct str team, struct str project, struct str text,
                                       int64_t memory_id, struct arena *a, struct action_item *ret_item,
                                       bool *ret_found, struct error *err);
/* Newest first; `upto` > 0: none newer than this one. */
NODISCARD enum status actions_pending(struct store *st, struct str team, struct str project, int64_t upto,
                                      int64_t limit, struct arena *a, struct action_items *ret_list, int64_t *ret_total,
                                      struct error *err);
/* All of the project and global, answered or not, newest first. */
NODISCARD enum status actions_all(struct store *st, struct str team, struct str project, int64_t limit, struct arena *a,
                                  struct action_items *ret_list, struct error *err);
/* The number of the newest item of the team; 0: there is none. */
NODISCARD enum status actions_newest(struct store *st, struct str team, int64_t *ret_id, struct error *err);
