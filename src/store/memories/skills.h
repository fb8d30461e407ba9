/* skills.h: the skills that a caller can use. */
#pragma once

#include "store/memories/memories.h"

/* Visible skills with their lists, by name; those bound to other projects are left out. */
NODISCARD enum status skills_visible(struct store *st, const struct scope *scope, struct arena *a,
                                     struct memories *ret_list, struct error *err);
