/* action.h: action items as JSON, and the gate that requires answers to them. */
#pragma once

#include "op/run/common.h"
#include "store/tables/actions.h"

void put_action_item(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct action_item *item);

/* Refuses writes of an agent until its session has answered the action items it saw at boot. op_run() calls it before
 * operations with OP_GATED. */
NODISCARD enum status action_gate(struct op_call *call);
