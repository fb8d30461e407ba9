/* tasks_json.c: reading, writing and merging tasks.json. */
#include "file/tasks_json.h"

#include <assert.h>

#include "base/os/clock.h"

const char *const task_progress_names[] = {"pending", "in_progress", "blocked", "done", NULL};

/* Accepted spellings; the first four are written. */
static const struct {
  const char *name;
  enum task_progress status;
} statuses[] = {{"pending", TASK_PENDING},
                {"in_progress", TASK_IN_PROGRESS},
                {"blocked", TASK_BLOCKED},
                {"done", TASK_DONE},
                {"todo", TASK_PENDING},
                {"open", TASK_PENDING},
                {"in-progress", TASK_IN_PROGRESS},
                {"in progress", TASK_IN_PROGRESS},
                {"completed", TASK_DONE},
                {"complete", TASK_DONE}};
static const char *const levels[] = {"high", "medium", "low", NULL};

/* ---- reading ---- */

static bool is_absent(yyjson_val *v) { return !v || yyjson_is_null(v); }

static void complain(struct arena *a, struct task_entry *e, const char *what) {
  if (!e->problem.p)
    e->problem = arena_printf(a, "%s", what);
}

static void read_status(struct arena *a, yyjson_val *v, struct task_entry *e) {
  if (is_absent(v))
    return;
  struct str s = json_val_str(v);
  for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
    if (s.p && str_ieq(s, str_from(statuses[i].name))) {
      e->status = statuses[i].status;
      e->says |= TASK_HAS_STATUS;
      return;
    }
  complain(a, e, "status is not one of pending, in_progress, blocked, done");
}

static void read_priority(struct arena *a, yyjson_val *v, struct task_entry *e) {
  if (is_absent(v))
    return;
  struct str s = json_val_str(v);
  e->says |= TASK_HAS_PRIORITY;
  if (yyjson_is_num(v)) {
    double n = yyjson_get_num(v);
    e->priority = n <= 1 ? TASK_HIGH : n <= 2 ? TASK_MEDIUM : TASK_LOW;
    return;
  }
  for (size_t i = 0; levels[i]; i++)
    if (s.p && str_ieq(s, str_from(levels[i]))) {
      e->priority = (enum task_level)i;
      return;
    }
  complain(a, e, "priority is not a number (1 is high, 2 medium, 3 low)");
}

static void read_list(struct arena *a, yyjson_val *v, unsigned bit, struct strs *list, struct task_entry *e) {
  if (is_absent(v))
    return;
  e->says |= bit;
  size_t i, n;
  yyjson_val *item;
  bool bad = !yyjson_is_arr(v);
  yyjson_arr_foreach(v, i, n, item) {
    struct str s = str_trim(json_val_str(item));
    bad |= !yyjson_is_str(item);
    if (s.n && !strs_has(list, s))
      strs_push(a, list, s);
  }
  if (bad)
    complain(a, e,
             bit == TASK_HAS_BLOCKED_BY ? "blocked_by is not a list of ids"
                                        : "acceptance_criteria is not a list of texts");
}

static struct str read_text(struct arena *a, yyjson_val *v, const char *problem, struct task_entry *e) {
  struct str s = str_trim(json_val_str(v));
  if (!is_absent(v) && !yyjson_is_str(v))
    complain(a, e, problem);
  return s.n ? s : STR_NONE;
}

static struct task_entry read_entry(struct arena *a, yyjson_val *v) {
  struct task_entry e = {.raw = v, .priority = TASK_MEDIUM};
  if (!yyjson_is_obj(v)) {
    complain(a, &e, "not an object");
    return e;
  }
  yyjson_val *milestone = yyjson_obj_get(v, "milestone");
  e.id = read_text(a, yyjson_obj_get(v, "id"), "id is not a text", &e);
  e.memory = json_str(v, "memory");
  e.description = read_text(a, yyjson_obj_get(v, "description"), "description is not a text", &e);
  e.milestone = read_text(a, milestone, "milestone is not a text", &e);
  e.says |= milestone ? TASK_HAS_MILESTONE : 0;
  e.created = json_str(v, "created");
  e.completed = json_str(v, "completed");
  read_status(a, yyjson_obj_get(v, "status"), &e);
  read_priority(a, yyjson_obj_get(v, "priority"), &e);
  read_list(a, yyjson_obj_get(v, "acceptance_criteria"), TASK_HAS_ACCEPTANCE, &e.acceptance, &e);
  read_list(a, yyjson_obj_get(v, "blocked_by"), TASK_HAS_BLOCKED_BY, &e.blocked_by, &e);
  if (e.memory.p)
    read_list(a, yyjson_obj_get(v, "left_out"), 0, &e.left_out, &e);
  if (!e.description.p)
    complain(a, &e, "no description");
  return e;
}

enum status tasks_json_read(struct arena *a, const char *name, struct str text, struct task_file *ret_file,
                            struct error *err) {
  struct task_file file = {0};
  struct error why;
  if (json_read(a, text, &file.root, &why) != STATUS_OK) {
    error_set(err, STATUS_USAGE, "%s is not JSON: %s", name, why.message);
    return error_fix(err, "repair it, or move it away: the next call writes a new one");
  }
  yyjson_val *list = yyjson_obj_get(file.root, "tasks"), *v;
  file.owner = json_str(file.root, "cairn");
  if (!yyjson_is_arr(list)) {
    error_set(err, STATUS_USAGE, "%s has no list of tasks", name);
    return error_fix(err, "a file of tasks is {\"tasks\": [...]}; name another file, or repair this one");
  }
  size_t i, n;
  yyjson_arr_foreach(list, i, n, v) {
    struct task_entry e = read_entry(a, v);
    if (e.id.p && task_entry_find(&file.tasks, e.id))
      complain(a, &e, "an earlier task has the same id");
    list_push(a, &file.tasks, e);
  }
  *ret_file = file;
  return STATUS_OK;
}

/* ---- writing ---- */

/* Replaces a member in place, or adds it. */
static void set(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, yyjson_mut_val *value) {
  assert(yyjson_mut_is_obj(obj));
  if (!yyjson_mut_obj_replace(obj, yyjson_mut_str(doc, name), value))
    yyjson_mut_obj_add(obj, yyjson_mut_str(doc, name), value);
}

static yyjson_mut_val *text_or_null(yyjson_mut_doc *doc, struct str s) {
  return s.p ? yyjson_mut_strncpy(doc, s.p, s.n) : yyjson_mut_null(doc);
}

static yyjson_mut_val *texts(yyjson_mut_doc *doc, const struct strs *list) {
  yyjson_mut_val *arr = yyjson_mut_arr(doc);
  for (size_t i = 0; i < list->n; i++)
    json_add_str(doc, arr, list->v[i]);
  return arr;
}

/* Writes the members that differ from the entry in the file; all members of a new entry (was == NULL). */
static void put_entry(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct task_entry *e,
                      const struct task_entry *was) {
  assert((unsigned)e->status <= TASK_DONE && (unsigned)e->priority <= TASK_LOW);
  if (!was || !str_eq(e->id, was->id))
    set(doc, obj, "id", text_or_null(doc, e->id));
  if (!was || !str_eq(e->milestone, was->milestone))
    set(doc, obj, "milestone", text_or_null(doc, e->milestone));
  if (!was || e->priority != was->priority)
    set(doc, obj, "priority", yyjson_mut_sint(doc, e->priority + 1));
  if (!was || e->status != was->status)
    set(doc, obj, "status", yyjson_mut_str(doc, task_progress_names[e->status]));
  if (!was || !str_eq(e->description, was->description))
    set(doc, obj, "description", text_or_null(doc, e->description));
  if (!was || !strs_same(&e->acceptance, &was->acceptance))
    set(doc, obj, "acceptance_criteria", texts(doc, &e->acceptance));
  if (!was || !str_eq(e->created, was->created))
    set(doc, obj, "created", text_or_null(doc, e->created));
  if (!was || !str_eq(e->completed, was->completed))
    set(doc, obj, "completed", text_or_null(doc, e->completed));
  if (!was || !strs_same(&e->blocked_by, &was->blocked_by))
    set(doc, obj, "blocked_by", texts(doc, &e->blocked_by));
  if (e->memory.p)
    set(doc, obj, "memory", text_or_null(doc, e->memory));
  if (e->left_out.n)
    set(doc, obj, "left_out", texts(doc, &e->left_out));
}

struct str tasks_json_write(struct arena *a, const struct task_file *file, const struct task_entries *tasks) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = file->root ? yyjson_val_mut_copy(doc, file->root) : yyjson_mut_obj(doc);
  yyjson_mut_val *arr = yyjson_mut_arr(doc);
  if (file->owner.p)
    set(doc, root, "cairn", text_or_null(doc, file->owner));
  for (size_t i = 0; i < tasks->n; i++) {
    const struct task_entry *e = &tasks->v[i];
    yyjson_mut_val *v = e->raw ? yyjson_val_mut_copy(doc, e->raw) : yyjson_mut_obj(doc);
    struct task_entry was = e->raw ? read_entry(a, e->raw) : (struct task_entry){0};
    if (!e->problem.p)
      put_entry(doc, v, e, e->raw ? &was : NULL);
    yyjson_mut_arr_append(arr, v);
  }
  set(doc, root, "tasks", arr);
  struct str text = json_write(a, root, true);
  return arena_printf(a, "%.*s\n", STR_ARG(text));
}

/* ---- entries ---- */

struct task_entry *task_entry_find(const struct task_entries *list, struct str id) {
  for (size_t i = 0; i < list->n; i++)
    if (id.p && list->v[i].id.p && str_eq(list->v[i].id, id))
      return &list->v[i];
  return NULL;
}

struct str task_entry_new_id(struct arena *a, const struct task_entries *x, const struct task_entries *y) {
  const struct task_entries *lists[] = {x, y};
  int64_t highest = 0, n;
  for (size_t l = 0; l < ARRAY_LEN(lists); l++)
    for (size_t i = 0; i < lists[l]->n; i++) {
      struct str id = lists[l]->v[i].id;
      if (str_starts(id, STR("TASK-")) && str_int64(str_slice(id, 5, id.n), &n) && n > highest && n < INT32_MAX)
        highest = n;
    }
  int64_t next = highest + 1;
  return arena_printf(a, "TASK-%03lld", (long long)next);
}

bool task_entry_same(const struct task_entry *x, const struct task_entry *y) {
  return str_eq(x->description, y->description) && str_eq(x->milestone, y->milestone) && x->priority == y->priority &&
         x->status == y->status && strs_same(&x->acceptance, &y->acceptance) &&
         strs_same(&x->blocked_by, &y->blocked_by);
}

/* ---- merge ---- */

enum side { FROM_FILE, FROM_STORE };

/* The side whose value is used: the one that changed it, or the file on a conflict. */
static enum side choose(struct arena *a, bool sides_agree, bool file_changed, bool store_changed, const char *member,
                        struct strs *conflicts) {
  if (sides_agree || !file_changed)
    return FROM_STORE;
  if (store_changed)
    strs_push(a, conflicts, str_from(member));
  return FROM_FILE;
}

/* Union of both lists, without elements of the base that one side has removed. */
static struct strs merge_texts(struct arena *a, const struct strs *base, const struct strs *file,
                               const struct strs *store) {
  struct strs out = {0};
  for (size_t i = 0; i < file->n; i++)
    if (strs_has(store, file->v[i]) || !base || !strs_has(base, file->v[i]))
      strs_push(a, &out, file->v[i]);
  for (size_t i = 0; i < store->n; i++)
    if (!strs_has(file, store->v[i]) && (!base || !strs_has(base, store->v[i])))
      strs_push(a, &out, store->v[i]);
  return out;
}

/* Fills members that the file omits from `other`. */
static struct task_entry fill_omitted(const struct task_entry *file, const struct task_entry *other) {
  struct task_entry f = *file;
  if (!(f.says & TASK_HAS_MILESTONE))
    f.milestone = other->milestone;
  if (!(f.says & TASK_HAS_PRIORITY))
    f.priority = other->priority;
  if (!(f.says & TASK_HAS_STATUS))
    f.status = other->status;
  if (!(f.says & TASK_HAS_ACCEPTANCE))
    f.acceptance = other->acceptance;
  if (!(f.says & TASK_HAS_BLOCKED_BY))
    f.blocked_by = other->blocked_by;
  return f;
}

struct task_entry task_entry_merge(struct arena *a, const struct task_entry *base, const struct task_entry *file,
                                   const struct task_entry *store, struct strs *conflicts) {
  struct task_entry f = fill_omitted(file, base ? base : store), out = *file;
  const struct task_entry *s = store, *b = base;
  bool text = choose(a, str_eq(f.description, s->description), !b || !str_eq(f.description, b->description),
                     !b || !str_eq(s->description, b->description), "description", conflicts) == FROM_STORE;
  bool milestone = choose(a, str_eq(f.milestone, s->milestone), !b || !str_eq(f.milestone, b->milestone),
                          !b || !str_eq(s->milestone, b->milestone), "milestone", conflicts) == FROM_STORE;
  bool priority = choose(a, f.priority == s->priority, !b || f.priority != b->priority,
                         !b || s->priority != b->priority, "priority", conflicts) == FROM_STORE;
  bool status = choose(a, f.status == s->status, !b || f.status != b->status, !b || s->status != b->status, "status",
                       conflicts) == FROM_STORE;
  out.description = text ? s->description : f.description;
  out.milestone = milestone ? s->milestone : f.milestone;
  out.priority = priority ? s->priority : f.priority;
  out.status = status ? s->status : f.status;
  out.acceptance = merge_texts(a, b ? &b->acceptance : NULL, &f.acceptance, &s->acceptance);
  out.blocked_by = merge_texts(a, b ? &b->blocked_by : NULL, &f.blocked_by, &s->blocked_by);
  if (!out.created.p)
    out.created = s->created;
  if (out.status == TASK_DONE && !out.completed.p)
    out.completed = s->completed;
  else if (out.status != TASK_DONE && b && b->status == TASK_DONE)
    out.completed = STR_NONE;
  return out;
}
