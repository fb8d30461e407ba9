/* skills.c: the skills that a caller can use. */
#include "store/memories/skills.h"

#include "store/store_internal.h"

enum status skills_visible(struct store *st, const struct scope *scope, struct arena *a, struct memories *ret_list,
                           struct error *err) {
  struct sql q = memory_select(a);
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.skill_name IS NOT NULL ORDER BY m.skill_name");
  struct memories all = {0};
  TRY(memory_collect(st, &q, a, &all, err));
  for (size_t i = 0; i < all.n; i++) {
    struct memory *m = &all.v[i];
    TRY(memory_load_lists(st, a, m, err));
    if ((scope->all_projects || m->skill_projects.n == 0 || strs_has(&m->skill_projects, scope->project)))
      list_push(a, ret_list, *m);
  }
  return STATUS_OK;
}
