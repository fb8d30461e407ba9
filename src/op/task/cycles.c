/* cycles.c: task sync: finds blockers in the file that would make a task block itself. */
#include "op/task/sync.h"

void sync_leave_out(struct arena *a, struct task_pair *p, struct str id) {
  struct strs rest = {0};
  for (size_t i = 0; i < p->now.blocked_by.n; i++)
    if (!str_eq(p->now.blocked_by.v[i], id))
      strs_push(a, &rest, p->now.blocked_by.v[i]);
  p->now.blocked_by = rest;
  strs_push(a, &p->cycles, id);
}

struct searches {
  size_t *todo, n; /* todo: room for all pairs */
};

static void visit(struct task_sync *s, struct searches *all, size_t *left, size_t at) {
  if (s->pairs.v[at].seen == all->n)
    return;
  s->pairs.v[at].seen = all->n;
  all->todo[(*left)++] = at;
}

/* True if the task `from` waits for the task `to`, directly or not, by the blockers added so far. */
static bool waits_for(struct task_sync *s, struct searches *all, size_t from, size_t to) {
  size_t left = 0;
  all->n++;
  for (visit(s, all, &left, from); left;) {
    size_t at = all->todo[--left];
    const struct task_pair *p = &s->pairs.v[at];
    if (at == to)
      return true;
    for (size_t i = 0; i < p->blockers.n; i++)
      visit(s, all, &left, p->blockers.v[i]);
  }
  return false;
}

static bool is_kept(const struct task_pair *p) {
  return !p->refused && p->action != PAIR_FORGET && p->action != PAIR_DROP;
}

/* Adds blockers that the store has (stored) or that are new; leaves out those that would close a cycle. */
static void add_blockers(struct task_sync *s, struct task_pair *p, bool stored, struct searches *all) {
  struct strs ids = p->now.blocked_by;
  for (size_t i = 0; i < ids.n; i++) {
    const struct task_pair *by = sync_pair_of(s, ids.v[i]);
    if (!by || !is_kept(by) || stored != (p->stored && strs_has(&p->stored->entry.blocked_by, ids.v[i])))
      continue;
    size_t at = (size_t)(by - s->pairs.v);
    if (waits_for(s, all, at, (size_t)(p - s->pairs.v)))
      sync_leave_out(s->call->arena, p, ids.v[i]);
    else
      list_push(s->call->arena, &p->blockers, at);
  }
}

/* Links of the store come first, so a cycle is cut where the file adds to it. */
void sync_cut_cycles(struct task_sync *s) {
  struct searches all = {.todo = arena_array(s->call->arena, size_t, s->pairs.n + 1)};
  for (int stored = 1; stored >= 0; stored--)
    for (size_t i = 0; i < s->pairs.n; i++)
      if (is_kept(&s->pairs.v[i]))
        add_blockers(s, &s->pairs.v[i], stored, &all);
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    if (p->cycles.n && p->action == PAIR_CHANGE && task_entry_same(&p->now, &p->stored->entry))
      p->action = PAIR_SAME;
  }
}
