/* offer.c: which tools of a profile, and which of their actions, a caller is offered: those that it may call.
 *
 * This spares a model useless attempts. What is refused is decided when it is called (op/access/roles.h). */
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

/* Which operations a function calls is not in the table: it is taken at its word about reading. */
static bool function_offered(const struct principal *who, const struct tool *tool) {
  return who->role != ROLE_SKILL && (!who->read_only || (tool->flags & TOOL_READS));
}

const struct tool *tool_offered(const struct principal *who, struct arena *a, const struct tool *tool) {
  if (!who)
    return tool;
  if (tool->run)
    return function_offered(who, tool) ? tool : NULL;
  struct tool *part = arena_new(a, struct tool);
  *part = *tool;
  part->actions = actions_offered(who, a, tool->actions);
  part->op = op_offered(who, tool->op) ? tool->op : NULL;
  if (who->read_only)
    part->flags = (tool_flags(tool) | TOOL_READS) & ~(unsigned)TOOL_DESTROYS;
  return part->op || part->actions ? part : NULL;
}
