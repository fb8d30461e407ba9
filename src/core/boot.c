/* boot.c: fitting the boot payload into its budget. */
#include "core/boot.h"

#include "core/tokens.h"

static struct str render(struct arena *a, struct str title, const struct boot_group *groups, size_t n) {
  struct buf b = BUF(a);
  buf_addf(&b, "# %.*s\n", STR_ARG(title));
  for (size_t g = 0; g < n; g++) {
    const struct boot_group *group = &groups[g];
    if (group->shown == 0 && group->dropped == 0)
      continue;
    buf_addf(&b, "\n## %s\n", group->title);
    for (size_t i = 0; i < group->shown; i++)
      buf_addf(&b, "- [%lld] %.*s\n", (long long)group->v[i].id, STR_ARG(group->v[i].text));
    if (group->dropped)
      buf_addf(&b, "- %zu more: %s\n", group->dropped, group->fetch);
  }
  return buf_str(&b);
}

/* The group that gives up its last line next; NULL when only protected lines are left. */
static struct boot_group *next_victim(struct boot_group *groups, size_t n) {
  struct boot_group *victim = NULL;
  for (size_t g = 0; g < n; g++) {
    struct boot_group *group = &groups[g];
    if (group->drop_order == 0 || group->shown == 0 || group->v[group->shown - 1].protect)
      continue;
    if (!victim || group->drop_order < victim->drop_order)
      victim = group;
  }
  return victim;
}

struct str boot_fit(struct arena *a, struct str title, struct boot_group *groups, size_t n, size_t budget,
                    size_t *ret_tokens) {
  for (size_t g = 0; g < n; g++)
    groups[g].shown = groups[g].n;
  for (;;) {
    struct str text = render(a, title, groups, n);
    *ret_tokens = tokens_estimate(text);
    struct boot_group *victim = *ret_tokens > budget ? next_victim(groups, n) : NULL;
    if (!victim)
      return text;
    victim->shown--;
    victim->dropped++;
  }
}
