/* actions.h: rows of action items: items that must be decided before the gate accepts more writes.
 *
 * An item is pending in a project if it is undecided, belongs to the project or is global, and its memory (if any) is
 * still active. Lists, counts and the gate use the same condition.
 *
 * Items are added by a caller, or extracted: sentences of a memory that sound like work. A sentence such as "The API
 * must return JSON" only sounds like it, so extracted items count only for callers whose profile says so. */
#pragma once

#include "store/tables/events.h"

/* Items are extracted from memories of the last ACTION_DAYS, while fewer than ACTION_CAP are pending. */
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

/* Sentences of recent memories that could be action items, newest first, at most ACTION_CAP. The memories must be
 * visible in the scope, trusted, active and not rules, tasks or pinned; by_agents: and not written by a person,
 * else: and not settled as an action item. */
NODISCARD enum status actions_extracted(struct store *st, const struct scope *scope, bool by_agents, struct arena *a,
                                        struct action_items *ret_list, struct error *err);
/* Adds sentences of agents' memories as pending items, each text once. */
NODISCARD enum status actions_collect(struct txn *txn, const struct scope *scope, struct arena *a, int64_t *ret_added,
                                      struct error *err);
/* Adds an item. If the text exists already, ret_added is false and *item is the existing one. */
NODISCARD enum status action_add(struct txn *txn, struct arena *a, struct action_item *item, bool *ret_added,
                                 struct error *err);
/* Makes a pending extracted item one that a caller has added: it no longer belongs to its memory. */
NODISCARD enum status action_adopt(struct txn *txn, struct action_item *item, struct error *err);
/* Decides a pending item, with its event. */
NODISCARD enum status action_decide(struct txn *txn, struct arena *a, const struct action_item *item,
                                    struct str decision, struct str reason, struct error *err);

NODISCARD enum status action_find(struct store *st, struct str team, int64_t id, struct arena *a,
                                  struct action_item *ret_item, bool *ret_found, struct error *err);
/* The item with exactly the text of `like`, of its project or global, and of its memory (0: any). all_projects: else of
 * another project. A pending item comes before decided ones. */
NODISCARD enum status action_find_text(struct store *st, struct str team, const struct action_item *like,
                                       bool all_projects, struct arena *a, struct action_item *ret_item,
                                       bool *ret_found, struct error *err);
struct pending_query {
  struct str team, project;
  int64_t upto; /* highest id; 0: no maximum */
  int64_t limit;
  bool extracted;    /* also extracted items */
  bool no_global;    /* no global items */
  bool all_projects; /* of every project */
};
/* Pending items, newest first; ret_total (may be NULL) counts all. */
NODISCARD enum status actions_pending(struct store *st, const struct pending_query *q, struct arena *a,
                                      struct action_items *ret_list, int64_t *ret_total, struct error *err);
/* The same items and decided ones, newest first; only team, project, limit and all_projects of the query count. */
NODISCARD enum status actions_all(struct store *st, const struct pending_query *q, struct arena *a,
                                  struct action_items *ret_list, struct error *err);
/* Id of the team's newest item; 0 if there is none. */
NODISCARD enum status actions_newest(struct store *st, struct str team, int64_t *ret_id, struct error *err);
