/* operator.c: the checks that stand before an operation which reaches beyond a team. */
#include "op/access/operator.h"

#include "core/gate/gate.h"
#include "op/run/common.h"

static const struct param *named_file(const struct op_call *call) {
  for (const struct param *p = call->op->params; p->name; p++)
    if ((p->flags & PARAM_PATH) && yyjson_obj_get(call->args, p->name))
      return p;
  return NULL;
}

enum status operator_alone(const struct op_call *call) {
  if (!call->caller.principal)
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "'%s' concerns more than a team: a token does not open it", call->op->name);
  return error_fix(call->err, "ask the operator of the store, who calls it on the store's machine");
}

enum status operator_enter(const struct op_call *call) {
  if (call->engine->store && gate_check_team(call->caller.team, call->err) != STATUS_OK)
    return call->err->code;
  if (call->op->flags & OP_OPERATOR)
    return operator_alone(call);
  const struct param *file = call->caller.principal ? named_file(call) : NULL;
  if (!file)
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "%s: a token does not open files of the machine, and '%s' names one",
            call->op->name, file->name);
  return error_fix(call->err, "leave it out, or ask the operator of the store");
}

enum status operator_person(const struct op_call *call) {
  if (call_by_person(call))
    return STATUS_OK;
  error_set(call->err, STATUS_DENIED, "'%s' is for a person alone", call->op->name);
  return error_fix(call->err, "run 'cairn %s' in a terminal of the store's machine", call->op->name);
}
