/* call.c: calls on a handle: locking, memory and errors; operations with JSON arguments and results.
 *
 * Locking rule: `calls` is held during a whole call, `state` only to read or change the members that it guards. `state`
 * may be taken while holding `calls`, never the other way round. */
#include <assert.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lib/handle.h"

/* Maximum memory kept between calls; a search needs about half a megabyte. */
enum { SPARE_BYTES = 2 << 20 };

/* ---- locking ---- */

static void store_error(struct cairn *db, const struct error *err) {
  assert(err->code != STATUS_OK);
  pthread_mutex_lock(&db->state);
  db->error = *err;
  pthread_mutex_unlock(&db->state);
}

bool lib_in_callback(struct cairn *db) {
  pthread_mutex_lock(&db->state);
  bool own = db->inside && pthread_equal(db->thread, pthread_self());
  pthread_mutex_unlock(&db->state);
  return own;
}

static void set_inside(struct cairn *db, bool inside) {
  pthread_mutex_lock(&db->state);
  assert(db->inside != inside);
  db->inside = inside;
  db->thread = pthread_self();
  pthread_mutex_unlock(&db->state);
}

/* `engine` does not change after opening, so it needs no lock. The error of a failed opening stays. */
static enum status enter(struct cairn *db) {
  if (!db || db->owner != getpid())
    return STATUS_USAGE;
  if (lib_in_callback(db)) {
    struct error err;
    error_set(&err, STATUS_USAGE, "a callback called the handle that is running it");
    error_fix(&err, "open a second handle on the same store for the callback");
    store_error(db, &err);
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

/* Precedes a result: the arena that contains both. */
struct result_head {
  _Alignas(16) struct arena arena;
};

void *lib_result_new(struct lib_call *call, size_t size) {
  assert(size > 0 && !call->head);
  call->head = arena_zalloc(&call->result, sizeof(*call->head) + size);
  return call->head + 1;
}

void lib_result_free(void *result) {
  if (!result)
    return;
  struct arena a = ((struct result_head *)result - 1)->arena; /* a copy, because the release frees the original */
  arena_release(&a);
}

/* ---- out-of-memory boundary ---- */

static enum status out_of_memory(struct lib_call *c) {
  if (!c->done)
    return error_set(&c->err, STATUS_NOMEM, "out of memory; nothing was changed");
  error_set(&c->err, STATUS_NOMEM, "out of memory for the result; the operation itself succeeded");
  return error_step(&c->err, "result");
}

static enum status run_guarded(struct lib_call *c, lib_work work, void *arg) {
  jmp_buf oom;
  assert(!c->arena.oom && !c->arena.deferred); /* arena_recycle() ran */
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
  s = run_guarded(&c, work, arg);
  c.arena.oom = c.result.oom = NULL;
  arena_recycle(&c.arena, SPARE_BYTES);
  db->spare = c.arena;
  mem_free(c.line_text);
  if (s == STATUS_OK && c.head)
    c.head->arena = c.result;
  else
    arena_release(&c.result);
  if (s != STATUS_OK) {
    /* An operation that a callback stopped does not set a useful error. */
    if (c.err.code != s || s == STATUS_INTERRUPTED)
      error_set(&c.err, s, "%s", status_text(s));
    store_error(db, &c.err);
  }
  leave(db);
  return (int)s;
}

/* ---- running an operation ---- */

static enum status emit(void *arg, struct str line) {
  struct lib_call *c = arg;
  if (!c->line)
    return STATUS_OK;
  if (line.n >= c->line_cap) {
    size_t cap = line.n < 4096 ? 4096 : line.n + line.n / 2;
    char *p = mem_realloc(c->line_text, cap);
    if (!p)
      return STATUS_NOMEM;
    c->line_text = p;
    c->line_cap = cap;
  }
  assert(line.n < c->line_cap);
  if (line.n)
    memcpy(c->line_text, line.p, line.n);
  c->line_text[line.n] = 0;
  return c->line(c->line_arg, c->line_text, line.n) == 0 ? STATUS_OK : STATUS_INTERRUPTED;
}

static bool is_cancelled(void *arg) {
  struct lib_call *c = arg;
  return atomic_load(&c->db->interrupted);
}

/* Rejects "-" for a standard stream, and streaming operations without a callback. */
static enum status check_streams(const struct lib_call *c, const struct op *op, yyjson_val *args, struct error *err) {
  bool to_file = false;
  for (const struct param *p = op->params; p->name; p++) {
    struct str value = (p->flags & PARAM_PATH) ? json_str(args, p->name) : STR_NONE;
    if (str_is(value, "-")) {
      error_set(err, STATUS_USAGE, "%s: %s cannot be '-': the library does not use the standard streams", op->name,
                p->name);
      return error_fix(err, "name a file");
    }
    to_file |= value.n > 0;
  }
  if (!(op->flags & OP_STREAM) || c->line || to_file)
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "%s returns its result line by line", op->name);
  return error_fix(err, "call it with cairn_stream() and a callback");
}

enum status lib_run(struct lib_call *c, const char *operation, yyjson_val *args, struct str *ret_json) {
  const struct op *op = operation ? op_find(str_from(operation)) : NULL;
  if (!op) {
    error_set(&c->err, STATUS_USAGE, "there is no operation '%s'", operation ? operation : "(null)");
    return error_fix(&c->err, "cairn_operation_name() lists them");
  }
  TRY(check_streams(c, op, args, &c->err));
  struct op_hooks hooks = {.arg = c, .emit = emit, .cancelled = is_cancelled};
  yyjson_mut_val *result = NULL;
  if (op->flags & OP_SECRET)
    arena_guard(&c->result);
  TRY(op_run(c->db->engine, op, &c->db->caller, &hooks, &c->arena, args, &result, &c->err));
  assert(yyjson_mut_is_obj(result));
  c->done = true;
  *ret_json = json_write(&c->arena, result, false);
  return STATUS_OK;
}

/* ---- JSON calls ---- */

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
