/* table.c: the table of operations, in the order of the help text; one file per family. */
#include "op/table/row.h"

/* clang-format off */

static const char *const scopes[] = {"global", "project", NULL};
const struct param common_params[] = {
  TEXT("project", 0, "NAME", "project to read or write (default: CAIRN_PROJECT, else the git repository; '' = global)"),
  CHOICE("scope", scopes, "'global': ignore the project; 'project': require one"),
  FLAG("all_projects", "include every project, not only this one and global memories"),
  END
};

/* clang-format on */

const struct op *op_next(const struct op *op) {
  static const struct op *const families[] = {memories_ops, correction_ops,  tasks_ops,
                                              sessions_ops, transcripts_ops, agents_ops,
                                              store_ops,    knowledge_ops,   vault_ops};
  if (!op)
    return families[0];
  if (op[1].name)
    return &op[1];
  for (size_t i = 0; i + 1 < ARRAY_LEN(families); i++)
    for (const struct op *last = families[i]; last->name; last++)
      if (last == op)
        return families[i + 1];
  return NULL;
}
