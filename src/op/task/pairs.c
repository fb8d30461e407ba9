/* pairs.c: matches tasks of the file with tasks of the store and decides what to do with each. */
#include <assert.h>

#include "op/task/sync.h"

/* ---- the store's side ---- */

enum status sync_list(struct task_sync *s, struct memories *ret_list) {
  struct op_call *call = s->call;
  struct scope scope = call_scope(call);
  struct filter f = {.kind = str_from(kind_names[KIND_TASK]), .order = TASK_ORDER};
  scope.all_projects = false;
  scope.own = true;
  return memory_list(call->engine->store, &scope, &f, call->arena, ret_list, call->err);
}

bool sync_same_list(const struct task_sync *s, const struct memories *list) {
  bool same = s->list.n == list->n;
  for (size_t i = 0; same && i < list->n; i++)
    same = s->list.v[i].id == list->v[i].id && s->list.v[i].updated_at == list->v[i].updated_at &&
           str_eq(s->list.v[i].status, list->v[i].status) && str_eq(s->list.v[i].claimed_by, list->v[i].claimed_by);
  return same;
}

static struct str date_of(struct arena *a, int64_t ms) {
  char text[TIME_TEXT_SIZE];
  return arena_dup(a, str_slice(time_format(ms, text), 0, 10));
}

static enum task_progress progress_of(const struct memory *m) {
  if (str_is(m->status, "done"))
    return TASK_DONE;
  if (str_is(m->status, "blocked"))
    return TASK_BLOCKED;
  return m->claimed_by.p ? TASK_IN_PROGRESS : TASK_PENDING;
}

static void describe(struct arena *a, struct stored_task *t) {
  const struct memory *m = &t->m;
  t->entry = (struct task_entry){.description = str_trim(m->body),
                                 .milestone = m->milestone,
                                 .status = progress_of(m),
                                 .priority = TASK_MEDIUM,
                                 .acceptance = m->acceptance,
                                 .created = date_of(a, m->valid_from ? m->valid_from : m->created_at),
                                 .says = TASK_HAS_ALL};
  for (size_t i = 0; priorities[i]; i++)
    if (str_is(m->priority, priorities[i]))
      t->entry.priority = (enum task_level)i;
  if (t->entry.status == TASK_DONE)
    t->entry.completed = date_of(a, m->updated_at);
}

static enum status load(struct task_sync *s) {
  struct op_call *call = s->call;
  struct arena *a = call->arena;
  struct store *st = call->engine->store;
  s->list = (struct memories){0};
  TRY(sync_list(s, &s->list));
  for (size_t i = 0; i < s->list.n; i++) {
    struct stored_task t = {.m = s->list.v[i]};
    struct links links = {0};
    TRY(memory_load_body(st, a, &t.m, call->err));
    TRY(memory_load_lists(st, a, &t.m, call->err));
    TRY(links_of(st, call->caller.team, t.m.id, a, &links, call->err));
    for (size_t k = 0; k < links.n; k++)
      if (str_is(links.v[k].rel, "blocked_by") && links.v[k].src == t.m.id)
        list_push(a, &t.blockers, links.v[k].dst);
    describe(a, &t);
    list_push(a, &s->stored, t);
  }
  return STATUS_OK;
}

static struct stored_task *stored_by_id(struct task_sync *s, int64_t id) {
  for (size_t i = 0; i < s->stored.n; i++)
    if (s->stored.v[i].m.id == id)
      return &s->stored.v[i];
  return NULL;
}

/* ---- matching ---- */

/* Finds the current version of a memory that the last run knew. One that the store has never seen (the store was
 * restored from an older backup, for example) is not gone: the file still has it. */
static enum status resolve(struct task_sync *s, struct task_pair *p) {
  struct op_call *call = s->call;
  struct store *st = call->engine->store;
  struct str team = call->caller.team, uid = p->base->memory;
  struct memory m;
  bool found;
  int64_t head = 0;
  TRY(memory_by_uid(st, team, uid, call->arena, &m, &found, call->err));
  if (found) {
    TRY(link_head(st, team, m.id, &head, call->err));
    p->stored = stored_by_id(s, head);
    p->gone = !p->stored;
    return STATUS_OK;
  }
  TRY(tombstone_exists(st, team, uid, &p->gone, call->err));
  if (!p->gone)
    TRY(memory_pruned(st, team, uid, call->arena, &m, &p->gone, call->err));
  return STATUS_OK;
}

static void claim(struct task_pair *p, struct stored_task *t) {
  if (t->paired)
    return;
  t->paired = true;
  p->stored = t;
  p->gone = false;
}

/* Matches by the memory of the last run first; pair_the_rest() then matches by key and by text. */
static enum status pair_by_base(struct task_sync *s) {
  struct arena *a = s->call->arena;
  for (size_t i = 0; i < s->file.tasks.n; i++) {
    const struct task_entry *e = &s->file.tasks.v[i];
    list_push(a, &s->pairs, (struct task_pair){.file = e, .base = task_entry_find(&s->base.tasks, e->id)});
  }
  for (size_t i = 0; i < s->base.tasks.n; i++)
    if (!task_entry_find(&s->file.tasks, s->base.tasks.v[i].id))
      list_push(a, &s->pairs, (struct task_pair){.base = &s->base.tasks.v[i]});
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    if (p->base && p->base->memory.p)
      TRY(resolve(s, p));
    struct stored_task *t = p->stored;
    p->stored = NULL;
    if (t)
      claim(p, t);
  }
  return STATUS_OK;
}

static void pair_the_rest(struct task_sync *s) {
  for (int by_key = 1; by_key >= 0; by_key--)
    for (size_t i = 0; i < s->pairs.n; i++) {
      struct task_pair *p = &s->pairs.v[i];
      for (size_t k = 0; p->file && !p->file->problem.p && !p->stored && !p->gone && k < s->stored.n; k++) {
        struct stored_task *t = &s->stored.v[k];
        if (by_key ? p->file->id.p && str_eq(t->m.key, p->file->id)
                   : str_eq(t->entry.description, p->file->description))
          claim(p, t);
      }
    }
}

/* Tasks that are neither done nor stale are added to the file. They stay in it until they are forgotten. */
static void pair_new(struct task_sync *s) {
  for (size_t i = 0; i < s->stored.n; i++) {
    struct stored_task *t = &s->stored.v[i];
    if (!t->paired && !str_is(t->m.status, "done") && !str_is(t->m.status, "stale")) {
      list_push(s->call->arena, &s->pairs, (struct task_pair){.stored = t});
      t->paired = true;
    }
  }
}

/* ---- ids ---- */

struct task_pair *sync_pair_of(struct task_sync *s, struct str id) {
  for (size_t i = 0; i < s->pairs.n; i++)
    if (s->pairs.v[i].now.id.p && str_eq(s->pairs.v[i].now.id, id))
      return &s->pairs.v[i];
  return NULL;
}

static void name_pairs(struct task_sync *s) {
  struct arena *a = s->call->arena;
  struct task_entries all = {0};
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    p->now.id = p->file ? p->file->id : p->base ? p->base->id : STR_NONE;
    if (p->now.id.p)
      list_push(a, &all, p->now);
  }
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    if (p->now.id.p || (p->file && p->file->problem.p))
      continue;
    struct str key = p->stored ? p->stored->m.key : STR_NONE;
    p->now.id = key.p && !sync_pair_of(s, key) ? key : task_entry_new_id(a, &all, &s->base.tasks);
    list_push(a, &all, p->now);
  }
}

/* Blockers of a stored task as ids of the file. Unknown ids in the file are kept: they have no link that could have
 * been removed. */
static void name_blockers(struct task_sync *s, struct task_pair *p) {
  struct arena *a = s->call->arena;
  struct strs *list = &p->stored->entry.blocked_by;
  assert(list->n == 0);
  const struct task_entry *known = p->base ? p->base : p->file;
  for (size_t k = 0; k < p->stored->blockers.n; k++)
    for (size_t i = 0; i < s->pairs.n; i++) {
      const struct task_pair *q = &s->pairs.v[i];
      if (q->stored && q->stored->m.id == p->stored->blockers.v[k])
        strs_push(a, list, q->now.id);
    }
  for (size_t k = 0; known && k < known->blocked_by.n; k++)
    if (!sync_pair_of(s, known->blocked_by.v[k]) && !strs_has(list, known->blocked_by.v[k]))
      strs_push(a, list, known->blocked_by.v[k]);
}

/* ---- decisions ---- */

static void decide_both(struct task_sync *s, struct task_pair *p) {
  struct arena *a = s->call->arena;
  const struct task_entry *st = &p->stored->entry;
  struct str id = p->now.id;
  p->now = task_entry_merge(a, p->base, p->file, st, &p->conflicts);
  p->now.id = id;
  p->rewrite = !str_eq(p->now.description, st->description) || !strs_same(&p->now.acceptance, &st->acceptance);
  p->action = task_entry_same(&p->now, st) ? PAIR_SAME : PAIR_CHANGE;
}

/* Members that the file leaves out, and blockers that Cairn has left out, count as unchanged. */
static bool is_file_unchanged(struct task_sync *s, const struct task_pair *p) {
  struct strs none = {0}, ids = {0};
  struct task_entry now = task_entry_merge(s->call->arena, p->base, p->file, p->base, &none);
  for (size_t i = 0; i < now.blocked_by.n; i++)
    if (!strs_has(&p->base->left_out, now.blocked_by.v[i]))
      strs_push(s->call->arena, &ids, now.blocked_by.v[i]);
  now.blocked_by = ids;
  return task_entry_same(&now, p->base);
}

/* A blocker that disappeared is no change of the task. */
static bool is_store_unchanged(const struct task_pair *p) {
  if (!p->base)
    return false;
  struct task_entry now = p->stored->entry;
  for (size_t i = 0; i < now.blocked_by.n; i++)
    if (!strs_has(&p->base->blocked_by, now.blocked_by.v[i]))
      return false;
  now.blocked_by = p->base->blocked_by;
  return task_entry_same(&now, p->base);
}

static void decide(struct task_sync *s, struct task_pair *p) {
  struct str id = p->now.id;
  if (p->file && p->file->problem.p) {
    p->refused = true;
    p->now = *p->file;
    error_set(&p->why, STATUS_REFUSED, "%.*s", STR_ARG(p->file->problem));
  } else if (p->file && p->stored) {
    decide_both(s, p);
  } else if (p->file) {
    p->action = p->gone && is_file_unchanged(s, p) ? PAIR_DROP : PAIR_ADD;
    p->now = *p->file;
  } else if (!p->stored) {
    p->action = PAIR_DROP; /* gone from both */
  } else {
    p->action = is_store_unchanged(p) ? PAIR_FORGET : PAIR_TO_FILE;
    p->now = p->stored->entry;
  }
  p->now.id = id;
  struct str today = date_of(s->call->arena, s->call->now);
  if (p->now.status == TASK_DONE && !p->now.completed.p)
    p->now.completed = today;
  if (!p->now.created.p)
    p->now.created = today;
  p->memory = p->stored ? p->stored->m.id : 0;
  p->uid = p->stored ? p->stored->m.uid : STR_NONE;
}

enum status sync_plan(struct task_sync *s) {
  TRY(load(s));
  TRY(pair_by_base(s));
  pair_the_rest(s);
  pair_new(s);
  name_pairs(s);
  for (size_t i = 0; i < s->pairs.n; i++)
    if (s->pairs.v[i].stored)
      name_blockers(s, &s->pairs.v[i]);
  for (size_t i = 0; i < s->pairs.n; i++)
    decide(s, &s->pairs.v[i]);
  sync_cut_cycles(s);
  return STATUS_OK;
}
