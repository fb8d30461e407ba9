/* action.h: action items in operations: as JSON, and the gate that they are. */
#pragma once

#include "op/run/common.h"
#include "store/tables/actions.h"

void put_action_item(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct action_item *item);

/* Refuses the write of an agent whose session was told of action items and has not answered them. Called by op_run()
 * before operations with OP_GATED. */
NODISCARD enum status action_gate(struct op_call *call);
