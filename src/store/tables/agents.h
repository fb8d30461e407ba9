/* agents.h: rows of a team's declared agents and their roles. */
#pragma once

#include "store/store.h"

enum { AGENT_NAME_MAX = 64 };

struct agent {
  struct str team, name;
  enum role role;
  struct str project; /* absent unless ROLE_PROJECT */
  struct str note;
  int64_t created_at;
};
struct agents {
  struct agent *v;
  size_t n, cap;
};

/* 1 to AGENT_NAME_MAX of A-Z a-z 0-9 _ . - */
bool agent_name_is_valid(struct str name);
/* Points into *agent. */
struct reach agent_reach(const struct agent *agent);

/* agent_find() needs no access rights, since it identifies the caller. All others need administrator rights. */
NODISCARD enum status agent_find(struct store *st, struct str team, struct str name, struct arena *a,
                                 struct agent *ret_agent, bool *ret_found, struct error *err);
NODISCARD enum status agents_list(struct store *st, struct str team, struct arena *a, struct agents *ret_list,
                                  struct error *err);
/* Both write an event. A taken name is STATUS_CONFLICT. */
NODISCARD enum status agent_insert(struct txn *txn, struct arena *a, const struct agent *agent, struct error *err);
NODISCARD enum status agent_delete(struct txn *txn, struct arena *a, const struct agent *agent, struct error *err);

/* Logs, in its own transaction, that an agent or token was denied access. */
NODISCARD enum status agent_log_refusal(struct store *st, const struct txn *who, struct str agent, struct str wanted,
                                        struct error *err);
