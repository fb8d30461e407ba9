/* skills.h: the skills that a caller can use. */
#ifndef CAIRN_STORE_SKILLS_H
#define CAIRN_STORE_SKILLS_H

#include "store/memories.h"

/* Visible skills with their lists, by name; those bound to other projects are left out. */
NODISCARD enum status skills_visible(struct store *st, const struct scope *scope, struct arena *a,
                                     struct memories *ret_list, struct error *err);

#endif
