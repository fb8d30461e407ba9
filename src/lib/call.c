/* call.c: one call on a handle: its turn, its memory, its error; and operations with JSON in and out.
 *
 * Locking rule: `calls` is held for the whole of a call, `state` only to look at or change the few members it guards,
 * and always inside `calls` or alone. */
#include <unistd.h>

#include "base/alloc.h"
#include "lib/handle.h"

/* A search needs about half a megabyte; more than this is not kept from one call to the next. */
enum { SPARE_BYTES = 2 << 20 };

/* ---- a call's turn ---- */

static void keep_error(struct cairn *db, const struct error *err) {
  pthread_mutex_lock(&db->state);
  db->error = *err;
  pthread_mutex_unlock(&db->state);
}

static bool in_own_callback(struct cairn *db) {
  pthread_mutex_lock(&db->state);
  bool own = db->inside && pthread_equal(db->thread, pthread_self());
  pthread_mutex_unlock(&db->state);
  return own;
}

static void set_inside(struct cairn *db, bool inside) {
  pthread_mutex_lock(&db->state);
  db->inside = inside;
  db->thread = pthread_self();
  pthread_mutex_unlock(&db->state);
}

/* The engine does not change once the handle is open, so that it needs no lock; the error of a failed opening stays. */
static enum status enter(struct cairn *db) {
  if (!db || db->owner != getpid())
    return STATUS_USAGE;
  if (in_own_callback(db)) {
    struct error err;
    error_set(&err, STATUS_USAGE, "a callback called the handle that is running it");
    error_fix(&err, "open a second handle on the same store for it");
    keep_error(db, &err);
    return err.code;
  }
  if (!db->engine) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    return (enum status)e.code;
  }
  pthread_mutex_lock(&db->calls);
  set_inside(db, true);
  return STATUS_OK;
}

static void leave(struct cairn *db) {
  atomic_store(&db->interrupted, false);
  set_inside(db, false);
  pthread_mutex_unlock(&db->calls);
}

/* ---- results ---- */

/* In front of a result: the arena that holds them both. */
struct result_head {
  _Alignas(16) struct arena arena;
};

void *lib_result_new(struct lib_call *call, size_t size) {
  call->head = arena_zalloc(&call->result, sizeof(*call->head) + size);
  return call->head + 1;
}

void lib_result_free(void *result) {
  if (!result)
    return;
  struct arena a = ((struct result_head *)result - 1)->arena; /* a copy: releasing it frees the original */
  arena_release(&a);
}

/* ---- the boundary ---- */

static enum status out_of_memory(struct lib_call *c) {
  if (!c->done)
    return error_set(&c->err, STATUS_NOMEM, "out of memory; nothing was changed");
  error_set(&c->err, STATUS_NOMEM, "out of memory for the result; the operation itself is done");
  return error_step(&c->err, "result");
}

static enum status work_inside(struct lib_call *c, lib_work work, void *arg) {
  jmp_buf oom;
  if (ARENA_BOUNDARY(&c->arena, oom))
    return out_of_memory(c);
  c->result.oom = c->arena.oom;
  return work(c, arg);
}

int lib_guard(struct cairn *db, lib_work work, void *arg) {
  enum status s = enter(db);
  if (s != STATUS_OK)
    return (int)s;
  struct lib_call c = {.db = db, .arena = db->spare};
  s = work_inside(&c, work, arg);
  c.arena.oom = c.result.oom = NULL;
  arena_recycle(&c.arena, SPARE_BYTES);
  db->spare = c.arena;
  mem_free(c.line_text);
  if (s == STATUS_OK && c.head)
    c.head->arena = c.result;
  else
    arena_release(&c.result);
  if (s != STATUS_OK) {
    /* The operation cannot know why a callback stopped it. */
    if (c.err.code != s || s == STATUS_INTERRUPTED)
      error_set(&c.err, s, "%s", status_text(s));
    keep_error(db, &c.err);
  }
  leave(db);
  return (int)s;
}

/* ---- running an operation ---- */

static enum status emit(void *arg, struct str line) {
  struct lib_call *c = arg;
  if (!c->line)
    return STATUS_OK;
  if (line.n >= c->line_room) {
    size_t room = line.n < 4096 ? 4096 : line.n + line.n / 2;
    char *p = mem_realloc(c->line_text, room);
    if (!p)
      return STATUS_NOMEM;
    c->line_text = p;
    c->line_room = room;
  }
  if (line.n)
    memcpy(c->line_text, line.p, line.n);
  c->line_text[line.n] = 0;
  return c->line(c->line_arg, c->line_text, line.n) == 0 ? STATUS_OK : STATUS_INTERRUPTED;
}

static bool cancelled(void *arg) {
  struct lib_call *c = arg;
  return atomic_load(&c->db->interrupted);
}

/* What only a program with standard streams can do, and lines that nobody would get. */
static enum status check_streams(const struct lib_call *c, const struct op *op, yyjson_val *args, struct error *err) {
  bool to_file = false;
  for (const struct param *p = op->params; p->name; p++) {
    struct str value = (p->flags & PARAM_PATH) ? json_str(args, p->name) : STR_NONE;
    if (str_is(value, "-")) {
      error_set(err, STATUS_USAGE, "%s: %s cannot be '-' here: the library leaves the standard streams alone", op->name,
                p->name);
      return error_fix(err, "name a file");
    }
    to_file |= value.n > 0;
  }
  if (!(op->flags & OP_STREAM) || c->line || to_file)
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "%s gives its result line by line", op->name);
  return error_fix(err, "call it with cairn_stream() and a callback");
}

enum status lib_run(struct lib_call *c, const char *operation, yyjson_val *args, struct str *ret_json) {
  const struct op *op = operation ? op_find(str_from(operation)) : NULL;
  if (!op) {
    error_set(&c->err, STATUS_USAGE, "there is no operation '%s'", operation ? operation : "(null)");
    return error_fix(&c->err, "cairn_operation_name() lists them");
  }
  TRY(check_streams(c, op, args, &c->err));
  struct op_hooks hooks = {.arg = c, .emit = emit, .cancelled = cancelled};
  yyjson_mut_val *result = NULL;
  if (op->flags & OP_SECRET)
    arena_guard(&c->result);
  TRY(op_run(c->db->engine, op, &c->db->caller, &hooks, &c->arena, args, &result, &c->err));
  c->done = true;
  *ret_json = json_write(&c->arena, result, false);
  return STATUS_OK;
}

/* ---- JSON in, JSON out ---- */

struct json_call {
  const char *operation;
  struct str args;
  cairn_line_fn fn;
  void *arg;
  char *json;
  size_t n;
  bool wanted;
};

static enum status run_json(struct lib_call *c, void *arg) {
  struct json_call *j = arg;
  yyjson_val *args;
  struct str json = STR("");
  c->line = j->fn;
  c->line_arg = j->arg;
  TRY(json_read(&c->arena, j->args, &args, &c->err));
  TRY(lib_run(c, j->operation, args, &json));
  j->n = json.n;
  if (!j->wanted)
    return STATUS_OK;
  j->json = mem_alloc(json.n + 1);
  if (!j->json)
    return out_of_memory(c);
  memcpy(j->json, json.p, json.n);
  j->json[json.n] = 0;
  return STATUS_OK;
}

static int call_json(struct cairn *db, struct json_call *j, const char *args, size_t n, char **ret_json,
                     size_t *ret_n) {
  j->args = !args ? STR("{}") : n ? (struct str){args, n} : str_from(args);
  j->wanted = ret_json != NULL;
  int s = lib_guard(db, run_json, j);
  if (s != CAIRN_OK)
    return s;
  if (ret_json)
    *ret_json = j->json;
  if (ret_n)
    *ret_n = j->n;
  return s;
}

int cairn_call(struct cairn *db, const char *operation, const char *args, size_t n, char **ret_json, size_t *ret_n) {
  struct json_call j = {.operation = operation};
  return call_json(db, &j, args, n, ret_json, ret_n);
}

int cairn_stream(struct cairn *db, const char *operation, const char *args, size_t n, cairn_line_fn fn, void *arg,
                 char **ret_json, size_t *ret_n) {
  struct json_call j = {.operation = operation, .fn = fn, .arg = arg};
  return call_json(db, &j, args, n, ret_json, ret_n);
}
