/* roles.h: which operations a caller may call, and the binding of a call to the reach of who makes it.
 *
 * A process is bound to an agent when its engines are opened (engine_options.agent); the bearer of a token is who a
 * door has verified (caller.principal). Who calls is never an argument of a call. Without either the caller is the
 * local user, who is the administrator. What the operations then see and change is decided in the store
 * (store/reach.h); the table here says which of them are open to a role at all. What it does not name is closed. */
#pragma once

#include "op/access/authenticate.h"
#include "op/op.h"
#include "store/tables/agents.h"

/* Whether a role may call an operation; an unknown one only the administrator. */
bool role_may(enum role role, const struct op *op);

/* The same of who calls, who may only read, too; NULL is the local user. For lists of what there is to call. */
bool principal_may(const struct principal *who, const struct op *op);

/* For op_run(), before anything else: until it is known who calls, nothing is reached. */
void roles_wait(const struct op_call *call);
/* When the arguments are read and before the operation runs: finds out who calls, refuses what its role
 * may not call and places outside of its projects, and binds the store. */
NODISCARD enum status roles_enter(struct op_call *call);
/* When the operation is over, whatever came of it: records an attempt to leave the reach, and frees the store. */
void roles_leave(struct op_call *call);

/* Between calls an engine of an agent reaches nothing: what forgets to say who asks gets nothing. */
void roles_rest(struct engine *engine);

/* For what doors show without an operation (a stream of events, figures): as if `op` were called. */
NODISCARD enum status roles_check(struct engine *engine, const struct caller *caller, const char *op,
                                  struct error *err);
/* Who a call of this caller would come from: the principal, the agent that the engine is bound to, or NULL for the
 * local user. Lives in `a`, or as long as the caller's. */
NODISCARD enum status roles_who(struct engine *engine, const struct caller *caller, struct arena *a,
                                const struct principal **ret_who, struct error *err);
/* Binds a handle that is no engine's to the reach of a principal or of the agent of the process, as it is now: to
 * nothing when there is no such one any more. Neither is the local user. ret_over: the principal's token is no longer
 * good, and never will be again. */
NODISCARD enum status roles_bind(struct store *st, const struct principal *who, struct str team, const char *agent,
                                 int64_t now, bool *ret_over, struct error *err);
