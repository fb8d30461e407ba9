/* sync.h: the mirror of tasks in a file, in three parts: what belongs together (op/task/pairs.c), what changes in the
 * store (op/task/apply.c), and the files around it (op/task/sync.c). */
#pragma once

#include "file/tasks_json.h"
#include "op/run/common.h"
#include "op/write/write.h"

/* A task of the store, and how the file would say it. */
struct stored_task {
  struct memory m;
  struct task_entry entry;
  LIST(int64_t) blockers;
  bool paired;
};

enum pair_action {
  PAIR_SAME,    /* nothing to do in the store; the file may follow it */
  PAIR_ADD,     /* a task of the file is new to the store */
  PAIR_CHANGE,  /* the store follows the file */
  PAIR_FORGET,  /* it was taken out of the file */
  PAIR_TO_FILE, /* a task of the store is new to the file, or comes back into it */
  PAIR_DROP,    /* it is gone from the store, and goes from the file */
};

/* One task on both sides, as far as it is there. */
struct task_pair {
  const struct task_entry *file, *base; /* NULL: not there */
  struct stored_task *stored;
  bool gone; /* base names a memory that the store has retired or removed since */
  enum pair_action action;
  struct task_entry now; /* what both sides shall be */
  struct strs conflicts; /* members that both have changed */
  bool rewrite;          /* its text changes: a new version */
  struct write w;
  int64_t memory;   /* id of what it is in the store now; 0: not there */
  struct str uid;   /* of the same */
  bool refused;     /* both sides stay as they are */
  struct error why; /* why it was refused */
};

struct task_sync {
  struct op_call *call;
  struct task_file file, base;
  struct memories list; /* of the project, as the plan found them */
  LIST(struct stored_task) stored;
  LIST(struct task_pair) pairs;
};

/* The tasks of the project; false in ret_same when they are not those of s->list any more. */
NODISCARD enum status sync_list(struct task_sync *s, struct memories *ret_list);
bool sync_same_list(const struct task_sync *s, const struct memories *list);
/* Reads the store, pairs it with the file, and decides what is to be done. */
NODISCARD enum status sync_plan(struct task_sync *s);

/* Outside of the transaction: texts are judged and embedded. What is refused is noted in its pair. */
NODISCARD enum status sync_prepare(struct task_sync *s);
/* Whether the store has anything to change. */
bool sync_writes(const struct task_sync *s);
NODISCARD enum status sync_apply(struct task_sync *s, struct txn *txn);
