/* files.h: the memories that are files: those whose key is a path. */
#pragma once

#include "store/memories/memories.h"

/* The memories of the scope's own project whose keys lie in the folder `dir`, at any depth, by path; without texts. */
NODISCARD enum status files_under(struct store *st, const struct scope *scope, struct str dir, struct arena *a,
                                  struct memories *ret_list, struct error *err);
/* How many bytes the file of this memory has. */
NODISCARD enum status file_size(struct store *st, struct str team, int64_t id, int64_t *ret_size, struct error *err);
