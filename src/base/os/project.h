/* project.h: name of the git repository that contains a directory, found without running git. */
#pragma once

#include "base/arena.h"

/* Walks up from `dir` (NULL: the working directory) to the first git repository. Its name is that of the directory that
 * contains the common .git directory, so all worktrees share one name. A bare repository or a submodule has the name of
 * its own directory without ".git". False if there is no repository. */
bool project_find(struct arena *a, const char *dir, struct str *ret_name);
/* The closest of the folder and its parents that has an entry ".git"; absent if there is none. Follows no links. */
struct str project_top(struct arena *a, struct str folder);
