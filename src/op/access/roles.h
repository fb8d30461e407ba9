/* roles.h: which operations a caller may call; binds the store to what the caller can reach.
 *
 * A process is bound to an agent when its engines are opened (engine_options.agent); a token is verified by the
 * interface (caller.principal). The caller is never an argument of a call. Without either it is the local user, who is
 * the administrator. store/reach.h decides what operations see and change; this file decides which of them a role can
 * call at all. Operations are closed to a role unless their row opens them. */
#pragma once

#include "op/access/authenticate.h"
#include "op/op.h"
#include "store/tables/agents.h"

bool role_may(enum role role, const struct op *op);

/* Also checks read-only tokens; NULL is the local user. For lists of the available operations. */
bool principal_may(const struct principal *who, const struct op *op);

/* For op_run(), before anything else: the store is out of reach until the caller is known. */
void roles_deny_all(const struct op_call *call);
/* Call when the arguments are checked, before the operation runs: identifies the caller, refuses operations that its
 * role may not call and projects that are not its own, and binds the store. */
NODISCARD enum status roles_enter(struct op_call *call);
/* Call after the operation, even if it failed: records refused access, and unbinds the store. */
void roles_leave(struct op_call *call);

/* Limits how many refusals of each caller are recorded. NULL on out of memory. */
struct refusal_limit *refusal_limit_new(void);
/* True if another refusal of this caller is to be recorded; always without a limit. */
bool refusal_limit_take(struct refusal_limit *limit, struct str team, struct str name);
/* True if a refusal of this call is to be recorded. If not, the call is only counted. */
bool roles_record_refusal(struct op_call *call);
void refusal_limit_free(struct refusal_limit **limit);

/* Binding between calls: an engine that is bound to an agent reaches nothing, so code that does not identify the
 * caller gets nothing. */
void roles_reset(struct engine *engine);

/* ---- the operator: the person who runs Cairn on the store's machine; never a token of any role ---- */

/* Refuses operations with OP_OPERATOR and arguments that name files of the machine (PARAM_PATH) to a principal: both
 * reach beyond its team. Checks that the team is a slug, whatever interface set it. */
NODISCARD enum status operator_enter(const struct op_call *call);
/* Refuses a principal, for a part of an operation that only the operator may use. */
NODISCARD enum status operator_only(const struct op_call *call);
/* Refuses everyone but a person: agents at any interface, and processes that are bound to one. */
NODISCARD enum status operator_person(const struct op_call *call);

/* ---- without an operation ---- */

/* Checks the caller as if it called `op`; for what interfaces show without an operation (event streams, metrics). */
NODISCARD enum status roles_check(struct engine *engine, const struct caller *caller, const char *op,
                                  struct error *err);
/* The principal of the caller: its own, that of the agent that the engine is bound to, or NULL for the local user.
 * Lives in `a`, or as long as the caller's. */
NODISCARD enum status roles_principal(struct engine *engine, const struct caller *caller, struct arena *a,
                                      const struct principal **ret_who, struct error *err);
/* Binds a store handle without an engine to what a principal, or the agent of the process, can reach now; to nothing if
 * that no longer exists. Neither: the local user. *ret_over: the principal's token has expired or was revoked. */
NODISCARD enum status roles_bind(struct store *st, const struct principal *who, struct str team, const char *agent,
                                 int64_t now, bool *ret_over, struct error *err);
