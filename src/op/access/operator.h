/* operator.h: what only the operator of the store may do, who runs Cairn on its machine: never the bearer of a token,
 * whatever its role. */
#pragma once

#include "op/op.h"

/* Operations with OP_OPERATOR, and arguments that name files of the machine (PARAM_PATH), are refused to a principal:
 * both reach beyond its team. Everybody's team must be a slug, however the door came by it. */
NODISCARD enum status operator_enter(const struct op_call *call);
/* For a part of an operation that is the operator's. */
NODISCARD enum status operator_alone(const struct op_call *call);
/* For what only a person may do: no agent, whatever door it comes by, and no process that is bound to one. */
NODISCARD enum status operator_person(const struct op_call *call);
