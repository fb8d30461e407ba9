/* roles.h: which operations an agent may call, and the binding of a call to the reach of the agent that makes it.
 *
 * A process is bound to an agent when its engines are opened (engine_options.agent); who calls is never an argument of
 * a call. Without a name the caller is the local user, who is the administrator. What the operations then see and
 * change is decided in the store (store/reach.h); the table here says which of them are open to a role at all. What it
 * does not name is closed. */
#ifndef CAIRN_OP_ROLES_H
#define CAIRN_OP_ROLES_H

#include "op/op.h"
#include "store/agents.h"

/* Whether a role may call an operation; an unknown one only the administrator. */
bool role_may(enum role role, struct str op);

/* For op_run(), when the arguments are read and before the operation runs: finds the agent, refuses what its role may
 * not call and places outside of its project, and binds the store. */
NODISCARD enum status roles_enter(struct op_call *call);
/* When the operation is over, whatever came of it: records an attempt to leave the reach, and frees the store. */
void roles_leave(struct op_call *call);

/* Between calls an engine of an agent reaches nothing: what forgets to say who asks gets nothing. */
void roles_rest(struct engine *engine);

/* For what doors show without an operation (a stream of events, figures): as if `op` were called. */
NODISCARD enum status roles_check(struct engine *engine, struct str team, const char *op, struct error *err);
/* Binds a handle that is no engine's to the reach of an agent, or to nothing when there is no such agent; the empty
 * name is the local user. */
NODISCARD enum status roles_bind(struct store *st, struct str team, const char *agent, struct error *err);

#endif
