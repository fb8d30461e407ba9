/* offer.c: hides the tools and actions of a profile that a caller may not call.
 *
 * This saves a model useless attempts. Access is enforced at the call (op/access/roles.h). */
#include "mcp/tools/internal.h"
#include "op/access/roles.h"

bool op_offered(const struct principal *who, const char *name) {
  const struct op *op = name ? op_find(str_from(name)) : NULL;
  return op && principal_may(who, op);
}

static const struct tool_action *actions_offered(const struct principal *who, struct arena *a,
                                                 const struct tool_action *actions) {
  LIST(struct tool_action) list = {0};
  for (const struct tool_action *p = actions; p && p->name; p++)
    if (op_offered(who, p->op))
      list_push(a, &list, *p);
  if (list.n)
    list_push(a, &list, (struct tool_action){0});
  return list.v;
}

/* The table does not say which operations a function calls, so the row's TOOL_READS flag decides. */
static bool may_call_function(const struct principal *who, const struct tool *tool) {
  return who->role != ROLE_SKILL && (!who->read_only || (tool->flags & TOOL_READS));
}

const struct tool *tool_offered(const struct principal *who, struct arena *a, const struct tool *tool) {
  if (!who)
    return tool;
  if (tool->run)
    return may_call_function(who, tool) ? tool : NULL;
  struct tool *part = arena_new(a, struct tool);
  *part = *tool;
  part->actions = actions_offered(who, a, tool->actions);
  part->op = op_offered(who, tool->op) ? tool->op : NULL;
  if (who->read_only)
    part->flags = (tool_flags(tool) | TOOL_READS) & ~(unsigned)TOOL_DESTROYS;
  return part->op || part->actions ? part : NULL;
}
