/* sync.c: the task sync operation: two-way sync between tasks.json and the tasks of a project.
 *
 * A base copy in the agent's folder holds the result of the last run; comparing with it tells which side changed. The
 * store is changed first, in one transaction; then the file is written, then the base copy. After a crash in between,
 * the next run finds the same changes on both sides and no conflict. */
#include "op/task/sync.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "file/owner.h"
#include "file/place.h"
#include "op/files/file_event.h"
#include "op/handlers.h"

enum { FILE_BYTES = 32 << 20, FILE_MODE = 0644, BASE_MODE = 0600, TRIES = 5, LOCK_MS = 10000, LOCK_STEP_MS = 20 };

struct mirror {
  struct op_call *call;
  struct str path, copy; /* paths of the file and of the base copy */
  struct str owner;
  int locks[2];    /* our lock file, and the file itself, for programs that lock it, too */
  struct str text; /* contents of the file; absent if it does not exist */
  struct task_sync sync;
  bool written;
  int64_t delta; /* bytes by which the file has grown */
};

/* ---- path ---- */

/* The path as the caller may see it. */
static const char *shown(const struct mirror *m) { return call_path(m->call, m->path).p; }

/* Canonical path, the same before and after the file exists: it names the base copy. */
static enum status resolve_path(struct mirror *m) {
  struct op_call *call = m->call;
  struct arena *a = call->arena;
  struct str given = json_str(call->args, "file"), folder;
  TRY(agent_folder(call->engine->store, call->caller.team, call->caller.project, a, &folder, call->err));
  if (given.p && str_empty(str_trim(given))) {
    error_set(call->err, STATUS_USAGE, "task sync: the name of the file is empty");
    return error_fix(call->err, "name a file, or leave it out: cairn task sync");
  }
  struct str path = given.p ? given : arena_printf(a, "%.*s/tasks.json", STR_ARG(folder));
  struct str dir = arena_dup(a, fs_dirname(path));
  struct str own = arena_printf(a, "%.*s/tasks", STR_ARG(folder));
  char real[PATH_MAX], hash[HASH_TEXT_SIZE];
  TRY(call_refuse_store_path(call, path));
  TRY(agent_claim(call->engine->store, call->caller.team, call->caller.project, a, call->err));
  TRY(fs_mkdirs(own.p, call->err));
  if (!given.p)
    TRY(fs_mkdirs(dir.p, call->err));
  if (realpath(arena_cstr(a, path), real)) {
    m->path = arena_dup(a, str_from(real));
  } else if (errno == ENOENT && realpath(dir.p, real)) {
    m->path = arena_printf(a, "%s/%.*s", real, STR_ARG(fs_basename(path)));
  } else {
    error_errno(call->err, errno, "cannot open '%.*s'", STR_ARG(path));
    return error_fix(call->err, "name a file in a folder that exists");
  }
  hash_text(m->path, hash);
  m->copy = arena_printf(a, "%.*s/%.16s.json", STR_ARG(own), hash);
  return STATUS_OK;
}

/* ---- locks ---- */

static void unlock(void *p) {
  struct mirror *m = p;
  for (size_t i = 0; i < ARRAY_LEN(m->locks); i++) {
    if (m->locks[i] >= 0)
      close(m->locks[i]);
    m->locks[i] = -1;
  }
}

static enum status take_lock(struct mirror *m, int fd, const char *path) {
  for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited += LOCK_STEP_MS) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return error_errno(m->call->err, errno, "cannot lock '%s'", path);
    if (waited >= LOCK_MS) {
      error_set(m->call->err, STATUS_BUSY, "another program keeps '%s' locked", path);
      return error_fix(m->call->err, "try again when it is done");
    }
    nanosleep(&(struct timespec){.tv_nsec = LOCK_STEP_MS * 1000000L}, NULL);
  }
  return STATUS_OK;
}

/* The previous holder of the lock may have replaced the file: lock the new one then. */
static enum status lock_file(struct mirror *m) {
  for (;;) {
    struct stat held, there;
    m->locks[1] = open(m->path.p, O_RDONLY | O_CLOEXEC);
    if (m->locks[1] < 0 && errno == ENOENT)
      return STATUS_OK;
    if (m->locks[1] < 0)
      return error_errno(m->call->err, errno, "cannot open '%s'", shown(m));
    TRY(take_lock(m, m->locks[1], shown(m))); /* unlock() closes the descriptor */
    if (fstat(m->locks[1], &held) == 0 && stat(m->path.p, &there) == 0 && held.st_ino == there.st_ino &&
        held.st_dev == there.st_dev)
      return STATUS_OK;
    close(m->locks[1]);
    m->locks[1] = -1;
  }
}

static enum status lock(struct mirror *m) {
  struct str path = arena_printf(m->call->arena, "%.*s.lock", STR_ARG(m->copy));
  arena_defer(m->call->arena, unlock, m);
  m->locks[0] = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC, BASE_MODE);
  if (m->locks[0] < 0)
    return error_errno(m->call->err, errno, "cannot open '%s'", path.p);
  TRY(take_lock(m, m->locks[0], path.p));
  return lock_file(m);
}

/* ---- reading ---- */

/* *ret_text is absent if there is no such file. */
static enum status read_if_exists(struct mirror *m, struct str path, struct str *ret_text) {
  struct stat st;
  *ret_text = STR_NONE;
  if (stat(path.p, &st) != 0 && errno == ENOENT)
    return STATUS_OK;
  if (S_ISDIR(st.st_mode)) {
    error_set(m->call->err, STATUS_USAGE, "%s is a folder", path.p);
    return error_fix(m->call->err, "name a file, for example %s/tasks.json", path.p);
  }
  return fs_read(m->call->arena, path.p, FILE_BYTES, ret_text, m->call->err);
}

/* Without a readable base copy, tasks are matched by their keys and texts. */
static void read_copy(struct mirror *m) {
  struct str text;
  struct error ignored;
  struct task_file *base = &m->sync.base;
  *base = (struct task_file){0};
  if (fs_read(m->call->arena, m->copy.p, FILE_BYTES, &text, &ignored) != STATUS_OK)
    return;
  if (tasks_json_read(m->call->arena, m->copy.p, text, base, &ignored) != STATUS_OK)
    *base = (struct task_file){0};
}

static enum status read_both(struct mirror *m) {
  m->sync = (struct task_sync){.call = m->call};
  TRY(read_if_exists(m, m->path, &m->text));
  if (!m->text.p) /* a missing file does not mean that its tasks were removed: it is written again */
    return STATUS_OK;
  TRY(tasks_json_read(m->call->arena, shown(m), m->text, &m->sync.file, m->call->err));
  if (!owner_may_write(m->sync.file.owner, m->owner)) {
    owner_refuse(str_from(shown(m)), m->sync.file.owner, m->owner, m->call->err);
    return error_fix(m->call->err, "name another file, or remove its member \"cairn\" to import its tasks here");
  }
  read_copy(m);
  return STATUS_OK;
}

/* ---- writing ---- */

/* What the file says: a blocker that would close a cycle stays there, for its author to settle. */
static struct task_entry file_form(struct arena *a, const struct task_pair *p) {
  struct task_entry e = p->now;
  e.blocked_by = (struct strs){0};
  for (size_t i = 0; i < p->now.blocked_by.n; i++)
    strs_push(a, &e.blocked_by, p->now.blocked_by.v[i]);
  for (size_t i = 0; i < p->cycles.n; i++)
    strs_push(a, &e.blocked_by, p->cycles.v[i]);
  return e;
}

static void gather(struct mirror *m, struct task_entries *ret_file, struct task_entries *ret_base) {
  struct arena *a = m->call->arena;
  for (size_t i = 0; i < m->sync.pairs.n; i++) {
    struct task_pair *p = &m->sync.pairs.v[i];
    if (p->refused) {
      if (p->file)
        list_push(a, ret_file, *p->file);
      if (p->base)
        list_push(a, ret_base, *p->base);
      continue;
    }
    if (p->action == PAIR_FORGET || p->action == PAIR_DROP)
      continue;
    assert(p->memory && p->uid.n);
    struct task_entry e = p->now;
    list_push(a, ret_file, file_form(a, p));
    e.raw = NULL;
    e.memory = p->uid;
    e.left_out = p->cycles;
    list_push(a, ret_base, e);
  }
}

/* *ret_done is false if the file has changed since it was read: then the run is repeated. */
static enum status write_both(struct mirror *m, bool *ret_done) {
  struct arena *a = m->call->arena;
  struct task_entries tasks = {0}, base = {0};
  struct task_file none = {0};
  struct str now;
  gather(m, &tasks, &base);
  struct task_file file = m->sync.file;
  file.owner = owner_mark(m->owner);
  struct str text = tasks_json_write(a, &file, &tasks);
  TRY(read_if_exists(m, m->path, &now));
  if (!m->text.p != !now.p || !str_eq(m->text, now)) {
    *ret_done = false;
    return STATUS_OK;
  }
  if (!m->text.p || !str_eq(text, tasks_json_write(a, &m->sync.file, &m->sync.file.tasks))) {
    TRY(fs_write(m->path.p, text, FILE_MODE, m->call->err));
    m->written = true;
    m->delta = (int64_t)text.n - (int64_t)m->text.n;
  }
  TRY(fs_write(m->copy.p, tasks_json_write(a, &none, &base), BASE_MODE, m->call->err));
  *ret_done = true;
  return STATUS_OK;
}

/* ---- one run ---- */

/* *ret_done is false if the store has changed since the plan was made. */
static enum status change_store(struct mirror *m, bool *ret_done) {
  struct op_call *call = m->call;
  struct txn txn;
  struct memories list = {0};
  *ret_done = true;
  if (!sync_writes(&m->sync))
    return STATUS_OK;
  TRY(call_begin(call, &txn));
  TRY(sync_list(&m->sync, &list));
  if (!sync_same_list(&m->sync, &list)) {
    store_rollback(call->engine->store);
    *ret_done = false;
    return STATUS_OK;
  }
  TRY(sync_apply(&m->sync, &txn));
  if (!m->sync.changed) { /* everything was refused */
    store_rollback(call->engine->store);
    return STATUS_OK;
  }
  return call_commit(call, &txn);
}

static enum status run_once(struct mirror *m, bool dry_run, bool *ret_done) {
  TRY(read_both(m));
  TRY(sync_plan(&m->sync));
  TRY(sync_prepare(&m->sync));
  *ret_done = true;
  if (dry_run)
    return STATUS_OK;
  TRY(change_store(m, ret_done));
  return *ret_done ? write_both(m, ret_done) : STATUS_OK;
}

/* ---- result ---- */

/* True if the task changes in the file. */
static bool changes_file(const struct mirror *m, const struct task_pair *p) {
  struct task_entries was = {0}, now = {0};
  if (!p->file || p->refused)
    return false;
  list_push(m->call->arena, &was, *p->file);
  list_push(m->call->arena, &now, file_form(m->call->arena, p));
  struct task_file none = {0};
  return !str_eq(tasks_json_write(m->call->arena, &none, &was), tasks_json_write(m->call->arena, &none, &now));
}

static void put_counts(struct mirror *m) {
  yyjson_mut_doc *doc = m->call->doc;
  int64_t store[3] = {0}, file[3] = {0}, tasks = 0;
  for (size_t i = 0; i < m->sync.pairs.n; i++) {
    const struct task_pair *p = &m->sync.pairs.v[i];
    tasks += p->refused ? p->file != NULL : p->action != PAIR_FORGET && p->action != PAIR_DROP;
    if (p->refused)
      continue;
    store[0] += p->action == PAIR_ADD;
    store[1] += p->action == PAIR_CHANGE;
    store[2] += p->action == PAIR_FORGET;
    file[0] += p->action == PAIR_TO_FILE;
    file[1] += changes_file(m, p) && p->action != PAIR_DROP;
    file[2] += p->action == PAIR_DROP && p->file;
  }
  static const char *const names[] = {"added", "changed", "removed"};
  json_put_int(doc, m->call->result, "tasks", tasks);
  yyjson_mut_val *in_store = json_put_obj(doc, m->call->result, "store");
  yyjson_mut_val *in_file = json_put_obj(doc, m->call->result, "in_file");
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    json_put_int(doc, in_store, names[i], store[i]);
    json_put_int(doc, in_file, names[i], file[i]);
  }
}

static void put_conflict(struct mirror *m, yyjson_mut_val *arr, const struct task_pair *p) {
  yyjson_mut_doc *doc = m->call->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
  json_put(doc, v, "id", p->now.id);
  json_put_int(doc, v, "memory", p->memory);
  json_put_strs(doc, v, "members", &p->conflicts);
}

static void put_refused(struct mirror *m, yyjson_mut_val *arr, const struct task_pair *p) {
  yyjson_mut_doc *doc = m->call->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
  json_put_opt(doc, v, "id", p->file ? p->file->id : p->now.id);
  json_put_opt(doc, v, "description", p->file ? p->file->description : STR_NONE);
  json_put(doc, v, "reason", str_from(p->why.message));
  if (p->why.fix[0])
    json_put(doc, v, "fix", str_from(p->why.fix));
}

static void put_cycles(struct mirror *m, yyjson_mut_val *arr, const struct task_pair *p) {
  yyjson_mut_doc *doc = m->call->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
  json_put(doc, v, "id", p->now.id);
  if (p->memory)
    json_put_int(doc, v, "memory", p->memory);
  json_put_strs(doc, v, "blocked_by", &p->cycles);
}

static void put_result(struct mirror *m, bool dry_run) {
  yyjson_mut_doc *doc = m->call->doc;
  yyjson_mut_val *result = m->call->result;
  if (m->written && m->text.p)
    file_event_read(m->call, FILE_TASKS, m->path, (int64_t)m->text.n);
  if (m->written)
    file_event_write(m->call, FILE_TASKS, m->path, m->delta);
  json_put(doc, result, "file", str_from(shown(m)));
  put_counts(m);
  yyjson_mut_val *conflicts = json_put_arr(doc, result, "conflicts");
  yyjson_mut_val *cycles = json_put_arr(doc, result, "cycles");
  yyjson_mut_val *refused = json_put_arr(doc, result, "refused");
  for (size_t i = 0; i < m->sync.pairs.n; i++) {
    const struct task_pair *p = &m->sync.pairs.v[i];
    if (p->conflicts.n && !p->refused)
      put_conflict(m, conflicts, p);
    if (p->cycles.n && !p->refused)
      put_cycles(m, cycles, p);
    if (p->refused)
      put_refused(m, refused, p);
  }
  json_put_bool(doc, result, "written", m->written);
  json_put_bool(doc, result, "dry_run", dry_run);
}

static enum status run_locked(struct mirror *m, bool dry_run) {
  bool done = false;
  const struct caller *c = &m->call->caller;
  TRY(owner_find(m->call->engine->store, c->team, c->project, m->call->arena, &m->owner, m->call->err));
  TRY(resolve_path(m));
  TRY(lock(m));
  for (int i = 0; !done && i < TRIES; i++)
    TRY(run_once(m, dry_run, &done));
  if (!done) {
    error_set(m->call->err, STATUS_BUSY, "'%s' or its tasks change faster than they can be compared", shown(m));
    return error_fix(m->call->err, "try again in a moment");
  }
  put_result(m, dry_run);
  return STATUS_OK;
}

enum status op_task_sync(struct op_call *call) {
  struct mirror *m = arena_new(call->arena, struct mirror);
  *m = (struct mirror){.call = call, .locks = {-1, -1}};
  enum status s = run_locked(m, json_bool(call->args, "dry_run", false));
  unlock(m);
  return s;
}
