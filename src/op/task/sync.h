/* sync.h: task sync: matching (op/task/pairs.c, op/task/cycles.c), changes of the store (op/task/apply.c), files
 * (op/task/sync.c). */
#pragma once

#include "file/tasks_json.h"
#include "op/run/common.h"
#include "op/write/write.h"

/* A task of the store, and its form in the file. */
struct stored_task {
  struct memory m;
  struct task_entry entry;
  LIST(int64_t) blockers;
  bool paired;
};

enum pair_action {
  PAIR_SAME,    /* no change in the store; the file may change */
  PAIR_ADD,     /* new in the file: add it to the store */
  PAIR_CHANGE,  /* changed in the file: change the store */
  PAIR_FORGET,  /* removed from the file: forget it in the store */
  PAIR_TO_FILE, /* new in the store, or changed there after it was removed from the file: add it to the file */
  PAIR_DROP,    /* gone from the store: remove it from the file */
};

/* One task on both sides. */
struct task_pair {
  const struct task_entry *file, *base; /* in the file now, and after the last run; NULL if absent */
  struct stored_task *stored;           /* NULL if absent */
  bool gone;                            /* the memory of `base` was retired or removed since */
  enum pair_action action;
  struct task_entry now; /* result for both sides */
  struct strs conflicts; /* members that changed on both sides */
  bool rewrite;          /* the text changes: store a new version */
  struct write w;
  int64_t memory;        /* id in the store; 0 if absent */
  struct str uid;        /* of `memory` */
  struct strs cycles;    /* ids of blocked_by that would close a cycle: kept in the file, never stored */
  LIST(size_t) blockers; /* indexes of the pairs in now.blocked_by, without those in cycles */
  size_t seen;           /* number of the last search for a cycle that came here */
  bool refused;          /* leave both sides unchanged */
  struct error why;      /* reason of the refusal */
};

struct task_sync {
  struct op_call *call;
  struct task_file file, base;
  struct memories list; /* tasks of the project when the plan was made */
  LIST(struct stored_task) stored;
  LIST(struct task_pair) pairs;
  bool changed; /* the transaction has changed the store */
};

/* The tasks of the project. */
NODISCARD enum status sync_list(struct task_sync *s, struct memories *ret_list);
/* True if `list` has the same tasks, in the same versions, as s->list. */
bool sync_same_list(const struct task_sync *s, const struct memories *list);
/* Reads the store, matches it with the file, and decides what to do. */
NODISCARD enum status sync_plan(struct task_sync *s);

/* The task with this id in the file; NULL if there is none. */
struct task_pair *sync_pair_of(struct task_sync *s, struct str id);
/* Leaves out blockers that would close a cycle. */
void sync_cut_cycles(struct task_sync *s);
/* Moves an id from blocked_by to the cycles. */
void sync_leave_out(struct arena *a, struct task_pair *p, struct str id);

/* Before the transaction: checks and embeds the texts. A refusal is recorded in its pair. */
NODISCARD enum status sync_prepare(struct task_sync *s);
/* True if the store must change. */
bool sync_writes(const struct task_sync *s);
NODISCARD enum status sync_apply(struct task_sync *s, struct txn *txn);
