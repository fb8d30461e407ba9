/* cairn.c: C library: opening and closing handles, errors, version and list of operations. */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "file/config.h"
#include "lib/handle.h"

/* The constants of cairn.h must match the internal ones. */
#define X(name, json, exit, http, text)                                                                                \
  _Static_assert((int)CAIRN_##name == (int)STATUS_##name, "cairn.h differs from base/status.h in " #name);
STATUS_LIST(X)
#undef X
_Static_assert(sizeof(((struct cairn_error *)0)->message) == ERROR_MESSAGE_MAX, "messages would be truncated");
_Static_assert(sizeof(((struct cairn_error *)0)->fix) == ERROR_FIX_MAX, "fixes would be truncated");
_Static_assert((int)CAIRN_OP_WRITES == (int)OP_WRITE && (int)CAIRN_OP_DESTRUCTIVE == (int)OP_DESTRUCTIVE &&
                   (int)CAIRN_OP_STREAMS == (int)OP_STREAM,
               "cairn.h differs from op/op.h");

/* ---- about the library ---- */

static bool is_status(int status) { return status >= 0 && status < STATUS_COUNT; }

const char *cairn_status_name(int status) { return is_status(status) ? status_name((enum status)status) : "unknown"; }

const char *cairn_status_text(int status) {
  return is_status(status) ? status_text((enum status)status) : "not a status of this version";
}

const char *cairn_version(void) { return CAIRN_VERSION; }

size_t cairn_operation_count(void) {
  size_t n = 0;
  EACH_OP(op)
    n++;
  return n;
}

static const struct op *operation_at(size_t index) {
  const struct op *op = op_next(NULL);
  while (op && index--)
    op = op_next(op);
  return op;
}

const char *cairn_operation_name(size_t index) {
  const struct op *op = operation_at(index);
  return op ? op->name : NULL;
}

const char *cairn_operation_summary(size_t index) {
  const struct op *op = operation_at(index);
  return op ? op->summary : NULL;
}

unsigned cairn_operation_flags(size_t index) {
  const struct op *op = operation_at(index);
  return op ? op->flags & (OP_WRITE | OP_DESTRUCTIVE | OP_STREAM) : 0;
}

void cairn_free(void *p) { mem_free(p); }

/* ---- options ---- */

bool lib_copy_sized(void *ret, size_t known, const void *given, size_t first) {
  size_t n;
  assert(sizeof(n) <= first && first <= known);
  memcpy(&n, given, sizeof(n));
  if (n == 0)
    n = first;
  memset(ret, 0, known);
  memcpy(ret, given, n < known ? n : known);
  /* A newer caller is fine as long as its new members are zero. */
  for (size_t i = known; i < n; i++)
    if (((const char *)given)[i] != 0)
      return false;
  return true;
}

static enum status text_option(struct arena *a, const char *name, const char *given, const char *missing,
                               struct str *ret_text, struct error *err) {
  struct str s = str_from(given ? given : missing);
  if (utf8_check(s) != s.n)
    return error_set(err, STATUS_USAGE, "the option %s is not valid UTF-8", name);
  *ret_text = s.p ? arena_dup(a, s) : STR_NONE;
  return STATUS_OK;
}

static enum status load_caller(struct cairn *db, const struct cairn_options *o, struct error *err) {
  struct caller *c = &db->caller;
  TRY(text_option(&db->arena, "team", o->team, "default", &c->team, err));
  TRY(text_option(&db->arena, "project", o->project, "", &c->project, err));
  TRY(text_option(&db->arena, "source", o->source, "library", &c->source, err));
  TRY(text_option(&db->arena, "session", o->session, NULL, &c->session, err));
  TRY(gate_check_team(c->team, err));
  TRY(gate_check_project(c->project, err));
  if (str_empty(c->source))
    c->source = STR("library");
  c->all_projects = o->all_projects;
  c->trust = STR("agent");
  return STATUS_OK;
}

/* As on the command line, CAIRN_AGENT cannot be overridden. */
static enum status load_agent(const char *given, struct engine_options *e, struct error *err) {
  struct str bound = str_from(getenv("CAIRN_AGENT")), name = str_from(given);
  if (given && bound.n && !str_eq(name, bound)) {
    error_set(err, STATUS_DENIED, "this process is bound to another agent by CAIRN_AGENT");
    return error_fix(err, "omit the option agent");
  }
  name = given ? name : bound;
  if (!given && bound.n == 0)
    return STATUS_OK;
  if (!agent_name_is_valid(name))
    return error_set(err, STATUS_USAGE, "the option agent is not a valid name: 1 to %d characters of A-Z a-z 0-9 _ . -",
                     (int)AGENT_NAME_MAX);
  assert(name.n > 0 && name.n < sizeof(e->agent));
  memcpy(e->agent, name.p, name.n);
  return STATUS_OK;
}

/* Defaults to the store of the command line. */
static enum status find_store(struct arena *a, const char *given, const char **ret_path, struct error *err) {
  const char *variable = getenv("CAIRN_DB");
  if (given && !given[0])
    return error_set(err, STATUS_USAGE, "the option path is empty");
  if (!given && variable && variable[0])
    given = variable;
  struct str path, dir;
  if (!given) {
    if (engine_default_path(a, &path, err) != STATUS_OK)
      return error_fix(err, "name a store in the option path, or in CAIRN_DB");
    dir = fs_dirname(path);
    TRY(fs_mkdirs(arena_cstr(a, dir), err));
    given = path.p;
  }
  *ret_path = given;
  return STATUS_OK;
}

static enum status load_config(struct arena *a, const struct cairn_options *o, const struct settings_given **ret,
                               struct error *err) {
  struct config_source source = {.option = "the option settings"};
  TRY(text_option(a, "config", o->config, NULL, &source.file, err));
  for (const char *const *one = o->settings; one && *one; one++) {
    struct str text;
    TRY(text_option(a, "settings", *one, NULL, &text, err));
    strs_push(a, &source.assignments, text);
  }
  return config_load(a, &source, ret, err);
}

/* ---- opening and closing ---- */

static enum status open_engine(struct cairn *db, const struct cairn_options *given) {
  struct cairn_options o = {0};
  struct engine_options e = {0};
  if (given && !lib_copy_sized(&o, sizeof(o), given, SIZE_UP_TO(struct cairn_options, settings)))
    return error_set(&db->error, STATUS_USAGE, "the options have members that version %s does not know", CAIRN_VERSION);
  TRY(load_caller(db, &o, &db->error));
  TRY(load_config(&db->arena, &o, &e.settings, &db->error));
  TRY(find_store(&db->arena, o.path, &e.path, &db->error));
  TRY(load_agent(o.agent, &e, &db->error));
  e.must_exist = o.must_exist;
  e.busy_ms = o.busy_ms < 0 ? 1 : o.busy_ms; /* 0 means the engine's default */
  e.clock.fixed = o.fixed_now_ms > 0 ? o.fixed_now_ms : 0;
  return engine_open(&e, &db->engine, &db->error);
}

int cairn_open(const struct cairn_options *options, struct cairn **ret_db) {
  if (!ret_db)
    return CAIRN_USAGE;
  struct cairn *db = mem_zalloc(sizeof(*db));
  *ret_db = db;
  if (!db)
    return CAIRN_NOMEM;
  arena_init(&db->arena);
  pthread_mutex_init(&db->calls, NULL);
  pthread_mutex_init(&db->state, NULL);
  db->owner = getpid();
  jmp_buf oom;
  enum status s;
  if (ARENA_BOUNDARY(&db->arena, oom))
    s = error_set(&db->error, STATUS_NOMEM, "out of memory");
  else
    s = open_engine(db, options);
  db->arena.oom = NULL;
  assert((s == STATUS_OK) == (db->engine != NULL) && db->error.code == s);
  return (int)s;
}

void cairn_close(struct cairn **db) {
  struct cairn *d = db ? *db : NULL;
  if (!d)
    return;
  if (d->owner == getpid()) {
    if (lib_in_callback(d))
      return;
    engine_close(&d->engine);
    arena_release(&d->arena);
    arena_release(&d->spare);
    pthread_mutex_destroy(&d->calls);
    pthread_mutex_destroy(&d->state);
    mem_free(d);
  }
  *db = NULL;
}

/* ---- errors ---- */

static void copy_text(char *ret_text, size_t size, const char *text) {
  assert(size > 0);
  struct str s = utf8_cut(str_from(text), size - 1);
  if (s.n)
    memcpy(ret_text, s.p, s.n);
  ret_text[s.n] = 0;
}

void cairn_last_error(const struct cairn *db, struct cairn_error *ret_error) {
  struct error e = {0};
  if (!db) {
    error_set(&e, STATUS_NOMEM, "out of memory: there is no handle");
  } else if (db->owner != getpid()) {
    /* Do not lock: the parent may have held the lock at the fork. */
    error_set(&e, STATUS_USAGE, "this handle belongs to another process");
    error_fix(&e, "open a handle after fork()");
  } else {
    struct cairn *d = (struct cairn *)(uintptr_t)db; /* locking modifies the mutex of a const handle */
    pthread_mutex_lock(&d->state);
    e = d->error;
    pthread_mutex_unlock(&d->state);
  }
  ret_error->code = (int)e.code;
  copy_text(ret_error->step, sizeof(ret_error->step), e.step);
  copy_text(ret_error->message, sizeof(ret_error->message), e.message);
  copy_text(ret_error->fix, sizeof(ret_error->fix), e.fix);
}

void cairn_interrupt(struct cairn *db) {
  if (db)
    atomic_store(&db->interrupted, true);
}
