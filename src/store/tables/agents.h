/* agents.h: the agents of a team that were declared, each with a role. */
#pragma once

#include "store/store.h"

enum { AGENT_NAME_MAX = 64 };

struct agent {
  struct str team, name;
  enum role role;
  struct str project; /* of ROLE_PROJECT, else absent */
  struct str note;
  int64_t created_at;
};
struct agents {
  struct agent *v;
  size_t n, cap;
};

/* 1 to AGENT_NAME_MAX of A-Z a-z 0-9 _ . - */
bool agent_name_ok(struct str name);
/* Valid as long as the agent is. */
struct reach agent_reach(const struct agent *agent);

/* Who a handle is bound to is found whatever it may reach; a list is the administrator's. */
NODISCARD enum status agent_find(struct store *st, struct str team, struct str name, struct arena *a,
                                 struct agent *ret_agent, bool *ret_found, struct error *err);
NODISCARD enum status agents_list(struct store *st, struct str team, struct arena *a, struct agents *ret_list,
                                  struct error *err);
/* The administrator's too; each with its event. A name that is taken is STATUS_CONFLICT. */
NODISCARD enum status agent_insert(struct txn *txn, struct arena *a, const struct agent *agent, struct error *err);
NODISCARD enum status agent_delete(struct txn *txn, struct arena *a, const struct agent *agent, struct error *err);

/* Writes down, in a transaction of its own, that an agent or the bearer of a token was refused. */
NODISCARD enum status agent_refused(struct store *st, const struct txn *who, struct str agent, struct str wanted,
                                    struct error *err);
