/* tasks_json.h: tasks.json: a list of tasks that people and programs edit, read and written without losing what is not
 * ours, and merged with what the store says. Pure. */
#pragma once

#include "base/json.h"

enum task_level { TASK_HIGH, TASK_MEDIUM, TASK_LOW };
enum task_progress { TASK_PENDING, TASK_IN_PROGRESS, TASK_BLOCKED, TASK_DONE };
extern const char *const task_progress_names[]; /* "pending", ... */

/* Members that an entry may leave out, which says nothing about them. */
enum {
  SAYS_MILESTONE = 1,
  SAYS_PRIORITY = 2,
  SAYS_STATUS = 4,
  SAYS_ACCEPTANCE = 8,
  SAYS_BLOCKED_BY = 16,
  SAYS_ALL = 31,
};

struct task_entry {
  struct str id;     /* "TASK-001"; absent in a new entry of a person who leaves it to us */
  struct str memory; /* uid; in our own copy of the file alone */
  struct str milestone, description;
  enum task_level priority;
  enum task_progress status;
  struct strs acceptance, blocked_by;
  struct str created, completed; /* as they stand there */
  unsigned says;
  yyjson_val *raw;    /* NULL: not in the file yet */
  struct str problem; /* why it cannot be understood: it stays as it is; absent: it can */
};
struct task_entries {
  struct task_entry *v;
  size_t n, cap;
};

struct task_file {
  yyjson_val *root; /* NULL: there is none yet */
  struct task_entries tasks;
};

/* What is wrong with one entry is told in it; what is wrong with the whole is an error. `name` is the file's. */
NODISCARD enum status tasks_json_read(struct arena *a, const char *name, struct str text, struct task_file *ret_file,
                                      struct error *err);
/* The file with these entries; members that are not ours, and how ours are spelt, stay as they are in `file`. */
struct str tasks_json_write(struct arena *a, const struct task_file *file, const struct task_entries *tasks);

/* The entry of that id; NULL when there is none. */
struct task_entry *task_entry_find(const struct task_entries *list, struct str id);
/* "TASK-008" behind the highest number of these two lists. */
struct str task_entry_new_id(struct arena *a, const struct task_entries *x, const struct task_entries *y);
/* Whether the six members that both sides know are the same; lists in any order. */
bool task_entry_same(const struct task_entry *x, const struct task_entry *y);

/* Three ways: what one side has changed since `base` (NULL: not known) is taken over; of what both have changed, the
 * file's is taken, and the member is named in conflicts. Of lists, everything that either side has added or taken away.
 */
struct task_entry task_entry_merge(struct arena *a, const struct task_entry *base, const struct task_entry *file,
                                   const struct task_entry *store, struct strs *conflicts);
