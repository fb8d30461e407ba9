/* project.h: the name of the git project that a folder belongs to, found without running git. */
#pragma once

#include "base/arena.h"

/* Walks up from `dir` (NULL: the working folder) to the first git repository. Its name is that of the folder that
 * holds the common .git directory, so that all worktrees share one; of a bare repository or a submodule, that of its
 * own directory without ".git". False when there is no repository. */
bool project_find(struct arena *a, const char *dir, struct str *ret_name);
