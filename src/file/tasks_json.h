/* tasks_json.h: reading and writing tasks.json, and merging it with the store. Preserves unknown members. No I/O. */
#pragma once

#include "base/json.h"

enum task_level { TASK_HIGH, TASK_MEDIUM, TASK_LOW };
enum task_progress { TASK_PENDING, TASK_IN_PROGRESS, TASK_BLOCKED, TASK_DONE };
extern const char *const task_progress_names[]; /* "pending", ... */

/* Optional members that an entry contains. */
enum {
  TASK_HAS_MILESTONE = 1,
  TASK_HAS_PRIORITY = 2,
  TASK_HAS_STATUS = 4,
  TASK_HAS_ACCEPTANCE = 8,
  TASK_HAS_BLOCKED_BY = 16,
  TASK_HAS_ALL = 31,
};

struct task_entry {
  struct str id;     /* "TASK-001"; absent in a new entry without one */
  struct str memory; /* uid; only in our own copy of the file */
  struct str milestone, description;
  enum task_level priority;
  enum task_progress status;
  struct strs acceptance, blocked_by;
  struct strs left_out;          /* blockers in the file that would close a circle; only in our own copy */
  struct str created, completed; /* verbatim */
  unsigned says;                 /* SAYS_ bits */
  yyjson_val *raw;               /* NULL if not in the file yet */
  struct str problem;            /* why the entry is invalid and left unchanged; absent if it is valid */
};
struct task_entries {
  struct task_entry *v;
  size_t n, cap;
};

struct task_file {
  yyjson_val *root; /* NULL if there is no file yet */
  struct str owner; /* the member "cairn": see file/owner.h; absent if it has none */
  struct task_entries tasks;
};

/* A bad entry gets a problem; a bad file is an error. `name` is used in messages. */
NODISCARD enum status tasks_json_read(struct arena *a, const char *name, struct str text, struct task_file *ret_file,
                                      struct error *err);
/* The file's new text. Keeps unknown members, and the spelling of unchanged values. */
struct str tasks_json_write(struct arena *a, const struct task_file *file, const struct task_entries *tasks);

/* NULL if there is none. */
struct task_entry *task_entry_find(const struct task_entries *list, struct str id);
/* The next id, such as "TASK-008", after the highest of both lists. */
struct str task_entry_new_id(struct arena *a, const struct task_entries *x, const struct task_entries *y);
/* Compares the six shared members; the order of lists does not matter. */
bool task_entry_same(const struct task_entry *x, const struct task_entry *y);

/* Three-way merge; base may be NULL if unknown. If both sides changed a member, the file wins and the member is added
 * to conflicts. For lists, additions and removals of both sides apply. */
struct task_entry task_entry_merge(struct arena *a, const struct task_entry *base, const struct task_entry *file,
                                   const struct task_entry *store, struct strs *conflicts);
