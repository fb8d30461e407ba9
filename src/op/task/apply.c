/* apply.c: task sync into the store: new tasks, new versions, status, blockers, removals. */
#include <assert.h>

#include "op/run/scrub.h"
#include "op/task/sync.h"

#define REASON "edited in tasks.json"
#define CLAIMANT "tasks.json"

/* ---- before the transaction ---- */

/* Errors that concern one task and do not fail the whole call. */
static bool is_task_error(enum status s) {
  return s == STATUS_REFUSED || s == STATUS_SECRET || s == STATUS_DUPLICATE || s == STATUS_CONFLICT ||
         s == STATUS_TOO_LARGE || s == STATUS_USAGE || s == STATUS_NOT_FOUND;
}

static enum status refuse(struct task_sync *s, struct task_pair *p, enum status status) {
  if (status == STATUS_OK || !is_task_error(status))
    return status;
  p->refused = true;
  p->why = *s->call->err;
  return STATUS_OK;
}

static void set_progress(struct op_call *call, const struct task_entry *e, struct memory *m) {
  static const char *const ours[] = {"open", "open", "blocked", "done"};
  assert((size_t)e->status < ARRAY_LEN(ours));
  m->status = str_from(ours[e->status]);
  m->priority = str_from(priorities[e->priority]);
  m->milestone = e->milestone;
  if (e->status == TASK_IN_PROGRESS && !m->claimed_by.p) {
    m->claimed_by = STR(CLAIMANT);
    m->claimed_at = call->now;
  } else if (e->status == TASK_PENDING || e->status == TASK_DONE) {
    m->claimed_by = STR_NONE;
    m->claimed_at = 0;
  }
}

/* The id becomes the key, unless it is not a valid key or another memory has it. */
static enum status key_for(struct task_sync *s, struct str id, struct str *ret_key) {
  struct op_call *call = s->call;
  struct memory held;
  struct error ignored;
  bool found = true;
  if (gate_check_key(id, &ignored) == STATUS_OK)
    TRY(memory_by_key(call->engine->store, call->caller.team, call->caller.project, id, call->arena, &held, &found,
                      call->err));
  *ret_key = found ? STR_NONE : id;
  return STATUS_OK;
}

static enum status draft(struct task_sync *s, struct task_pair *p) {
  struct op_call *call = s->call;
  struct write *w = &p->w;
  struct memory *m = &w->m;
  *w = (struct write){.keep_both = true};
  *m = (struct memory){.kind = str_from(kind_names[KIND_TASK]),
                       .type = str_from(type_of_kind(KIND_TASK)->name),
                       .body = p->now.description,
                       .acceptance = p->now.acceptance};
  call_set_author(call, m);
  if (p->stored) {
    m->claimed_by = p->stored->m.claimed_by;
    m->claimed_at = p->stored->m.claimed_at;
    m->due = p->stored->m.due;
    m->valid_from = p->stored->m.valid_from;
    m->type = p->stored->m.type;
    w->supersedes = p->stored->m.uid;
    w->reason = STR(REASON);
    w->inherit_pin = w->inherit_skill = w->inherit_key = true;
  }
  set_progress(call, &p->now, m);
  int64_t created;
  if (!p->stored && p->now.created.p && time_parse(p->now.created, &created) && created <= call->now)
    m->valid_from = created;
  return p->stored ? STATUS_OK : key_for(s, p->now.id, &m->key);
}

enum status sync_prepare(struct task_sync *s) {
  size_t removed = 0;
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    removed += p->action == PAIR_FORGET && !p->refused;
    if (p->refused || (p->action != PAIR_ADD && p->action != PAIR_CHANGE))
      continue;
    if (p->action == PAIR_ADD || p->rewrite) {
      TRY(draft(s, p));
      TRY(refuse(s, p, write_prepare(s->call, &p->w)));
      if (p->w.m.suspect.p) /* the file may come from a repository and not from the caller */
        p->w.m.trust = STR("import");
    } else {
      TRY(refuse(s, p, call_scrub(s->call, &p->now.milestone, "the milestone")));
    }
  }
  return call_confirm_many(s->call, "tasks are missing in the file; this forgets", removed);
}

bool sync_writes(const struct task_sync *s) {
  for (size_t i = 0; i < s->pairs.n; i++) {
    const struct task_pair *p = &s->pairs.v[i];
    if (!p->refused && (p->action == PAIR_ADD || p->action == PAIR_CHANGE || p->action == PAIR_FORGET))
      return true;
  }
  return false;
}

/* ---- in the transaction ---- */

static enum status write_text(struct task_sync *s, struct txn *txn, struct task_pair *p) {
  struct op_call *call = s->call;
  struct write *w = &p->w;
  /* The new version inherits the old milestone: undo that if the file has removed it. */
  struct str milestone = p->now.milestone.p ? w->m.milestone : STR_NONE;
  TRY(refuse(s, p, write_try(call, txn, w)));
  if (p->refused)
    return STATUS_OK;
  if (w->action == WRITE_SKIPPED) {
    p->refused = true;
    error_set(&p->why, STATUS_DUPLICATE, "memory %lld says the same", (long long)w->id);
    return STATUS_OK;
  }
  assert(w->id);
  s->changed = true;
  p->memory = w->id;
  p->uid = w->uid;
  /* The file gets the text as the gate has changed it. */
  p->now.description = str_trim(w->m.body);
  p->now.acceptance = w->m.acceptance;
  p->now.milestone = milestone;
  struct memory now = w->m;
  now.milestone = milestone;
  return memory_change(txn, call->arena, &w->m, &now, "task:change", call->err);
}

static enum status write_fields(struct task_sync *s, struct txn *txn, struct task_pair *p) {
  assert(p->stored && !p->rewrite);
  struct memory now = p->stored->m;
  set_progress(s->call, &p->now, &now);
  now.updated_at = s->call->now;
  bool progress = !str_eq(now.status, p->stored->m.status) || !str_eq(now.claimed_by, p->stored->m.claimed_by);
  bool other =
      !str_eq(now.priority, p->stored->m.priority) || !str_eq(now.milestone, p->stored->m.milestone) || progress;
  if (!other)
    return STATUS_OK; /* only its blockers changed */
  s->changed = true;
  return memory_change(txn, s->call->arena, &p->stored->m, &now, progress ? "task:status" : "task:change",
                       s->call->err);
}

static enum status forget(struct task_sync *s, struct txn *txn, struct task_pair *p) {
  assert(p->stored && p->action == PAIR_FORGET);
  struct memory now = p->stored->m;
  s->changed = true;
  memory_retire(&now, "forgotten", STR("removed from tasks.json"), txn->source, txn->now);
  return memory_change(txn, s->call->arena, &p->stored->m, &now, "memory:forget", s->call->err);
}

/* ---- blockers, after every task has its memory ---- */

static int64_t memory_of(struct task_sync *s, struct str id) {
  const struct task_pair *p = sync_pair_of(s, id);
  return p && p->action != PAIR_FORGET ? p->memory : 0;
}

/* The plan has no cycle, but links can lead through tasks that are not in it, such as global ones. */
static enum status block(struct task_sync *s, struct txn *txn, struct task_pair *p, struct str id, int64_t by) {
  struct op_call *call = s->call;
  struct str path;
  TRY(link_path(txn->store, txn->team, by, p->memory, call->arena, &path, call->err));
  if (path.p) {
    sync_leave_out(call->arena, p, id);
    return STATUS_OK;
  }
  s->changed = true;
  struct link l = {.src = p->memory, .rel = STR("blocked_by"), .dst = by};
  return link_add(txn, call->arena, &l, call->err);
}

/* Removes only links that the plan has seen and the file can name. A link may go to an older version of the blocker. */
static enum status unblock(struct task_sync *s, struct txn *txn, struct task_pair *p, int64_t by) {
  int64_t head;
  bool found;
  TRY(link_head(txn->store, txn->team, by, &head, s->call->err));
  for (size_t i = 0; i < p->stored->entry.blocked_by.n; i++) {
    struct str id = p->stored->entry.blocked_by.v[i];
    if (memory_of(s, id) == head && !strs_has(&p->now.blocked_by, id)) {
      s->changed = true;
      return link_remove(txn, s->call->arena, p->memory, STR("blocked_by"), by, &found, s->call->err);
    }
  }
  return STATUS_OK;
}

static enum status set_blockers(struct task_sync *s, struct txn *txn, struct task_pair *p) {
  assert(p->memory);
  struct op_call *call = s->call;
  struct links have = {0};
  struct strs ids = p->now.blocked_by;
  TRY(links_of(txn->store, txn->team, p->memory, call->arena, &have, call->err));
  for (size_t i = 0; i < ids.n; i++) {
    int64_t by = memory_of(s, ids.v[i]);
    bool there = by == 0;
    for (size_t k = 0; k < have.n; k++)
      there |= have.v[k].src == p->memory && have.v[k].dst == by && str_is(have.v[k].rel, "blocked_by");
    if (!there)
      TRY(block(s, txn, p, ids.v[i], by));
  }
  for (size_t i = 0; p->stored && i < have.n; i++)
    if (have.v[i].src == p->memory && str_is(have.v[i].rel, "blocked_by"))
      TRY(unblock(s, txn, p, have.v[i].dst));
  return STATUS_OK;
}

enum status sync_apply(struct task_sync *s, struct txn *txn) {
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    if (p->refused)
      continue;
    if (p->action == PAIR_FORGET)
      TRY(forget(s, txn, p));
    else if (p->action == PAIR_ADD || (p->action == PAIR_CHANGE && p->rewrite))
      TRY(write_text(s, txn, p));
    else if (p->action == PAIR_CHANGE)
      TRY(write_fields(s, txn, p));
  }
  for (size_t i = 0; i < s->pairs.n; i++) {
    struct task_pair *p = &s->pairs.v[i];
    if (!p->refused && p->memory && (p->action == PAIR_ADD || p->action == PAIR_CHANGE))
      TRY(set_blockers(s, txn, p));
  }
  return STATUS_OK;
}
