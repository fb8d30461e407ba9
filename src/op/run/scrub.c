/* scrub.c: keeps secrets out of what operations store and show. */
#include "op/run/scrub.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "op/run/vault_values.h"
#include "store/tables/settings.h"

/* No secret is shorter. */
enum { SECRET_MIN = 8 };

/* ---- texts ---- */

static void find(const struct redactor *what, struct arena *a, struct str text, struct secret_hits *ret) {
  *ret = (struct secret_hits){0};
  if (text.n >= SECRET_MIN)
    redact_find(a, text, what, ret);
}

static struct str without(const struct redactor *what, struct arena *a, struct str text, int64_t *count) {
  struct secret_hits hits;
  find(what, a, text, &hits);
  *count += (int64_t)hits.n;
  return redact_apply(a, text, &hits);
}

static enum status refuse(struct arena *a, struct str text, const struct secret_hits *hits, const char *name,
                          struct error *err) {
  struct str preview = redact_preview(a, text, &hits->v[0]);
  error_set(err, STATUS_SECRET, "%s holds what looks like a secret (%s, %.*s)%s", name, hits->v[0].pattern,
            STR_ARG(preview), hits->n > 1 ? ", and more" : "");
  error_step(err, "secrets");
  return error_fix(err, "take it out and store where it is kept; or 'cairn config secrets.mode redact' to have "
                        "secrets replaced");
}

enum status scrub_text(const struct redactor *what, struct arena *a, bool redact, struct str *text, const char *name,
                       int64_t *count, struct error *err) {
  struct secret_hits hits;
  find(what, a, *text, &hits);
  if (hits.n > 0 && !redact)
    return refuse(a, *text, &hits, name, err);
  *text = redact_apply(a, *text, &hits);
  *count += (int64_t)hits.n;
  return STATUS_OK;
}

static enum status mode_of(struct op_call *call, bool *ret_redact) {
  struct setting_value mode;
  TRY(setting_get(call->engine->store, call->caller.team, SET_SECRETS_MODE, call->arena, &mode, call->err));
  *ret_redact = str_is(mode.value, "redact");
  return STATUS_OK;
}

enum status call_scrub(struct op_call *call, struct str *text, const char *name) {
  int64_t count = 0;
  bool redact;
  TRY(mode_of(call, &redact));
  return scrub_text(call->secrets, call->arena, redact, text, name, &count, call->err);
}

/* ---- values of JSON ---- */

static void clean_string(const struct redactor *what, struct arena *a, yyjson_mut_val *v, int64_t *count) {
  int64_t before = *count;
  struct str text = without(what, a, (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)}, count);
  if (*count > before)
    yyjson_mut_set_strn(v, text.p, text.n);
}

static void clean_value(const struct redactor *what, struct arena *a, yyjson_mut_val *v, int64_t *count);

/* JSON that was put into the result as it was stored: its strings are looked at one by one, too. What cannot be read
 * and holds a secret becomes a string, because what is left of it may be no JSON. */
static void clean_raw(const struct redactor *what, struct arena *a, yyjson_mut_val *v, int64_t *count) {
  struct str raw = {yyjson_mut_get_raw(v), yyjson_mut_get_len(v)};
  struct error ignored;
  yyjson_val *root;
  int64_t before = *count;
  if (raw.n < SECRET_MIN)
    return;
  if (json_read(a, raw, &root, &ignored) == STATUS_OK) {
    yyjson_mut_val *copy = yyjson_val_mut_copy(json_new(a), root);
    clean_value(what, a, copy, count);
    struct str clean = *count > before ? json_write(a, copy, false) : raw;
    yyjson_mut_set_raw(v, clean.p, clean.n);
  } else {
    struct str clean = without(what, a, raw, count);
    if (*count > before)
      yyjson_mut_set_strn(v, clean.p, clean.n);
  }
}

static void clean_value(const struct redactor *what, struct arena *a, yyjson_mut_val *v, int64_t *count) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v)) {
    clean_string(what, a, v, count);
  } else if (yyjson_mut_is_raw(v)) {
    clean_raw(what, a, v, count);
  } else if (yyjson_mut_is_arr(v)) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      clean_value(what, a, e, count);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      clean_string(what, a, key, count);
      clean_value(what, a, e, count);
    }
  }
}

/* ---- what comes in ---- */

/* The name of an argument as a part of a sentence: "the root cause". */
static const char *spoken(struct arena *a, const char *name) {
  char *words = arena_cstr(a, arena_printf(a, "the %s", name));
  for (char *c = words; *c; c++)
    *c = *c == '_' ? ' ' : *c;
  return words;
}

/* A path that is only read or written, and not stored, is the caller's affair: an address may need its password. */
static bool is_looked_at(const struct op *op, const struct param *p) {
  return !(p->flags & PARAM_SECRETS) && ((op->flags & OP_WRITE) || !(p->flags & PARAM_PATH));
}

static enum status look_at(struct op_call *call, const struct param *p, struct str text) {
  struct secret_hits hits;
  bool redact;
  find(call->secrets, call->arena, text, &hits);
  call->redacted += (int64_t)hits.n;
  if (hits.n == 0 || !(call->op->flags & OP_WRITE))
    return STATUS_OK;
  TRY(mode_of(call, &redact));
  /* A path with a hole in it would be another path. */
  if ((!redact || p->flags & PARAM_PATH))
    TRY(refuse(call->arena, text, &hits, spoken(call->arena, p->name), call->err));
  return STATUS_OK;
}

static enum status look_at_all(struct op_call *call, const struct param *p, yyjson_val *v) {
  size_t i, n;
  yyjson_val *e;
  if (yyjson_is_str(v))
    return look_at(call, p, json_val_str(v));
  yyjson_arr_foreach(v, i, n, e) {
    TRY(look_at(call, p, json_val_str(e)));
  }
  return STATUS_OK;
}

static enum status replace_args(struct op_call *call) {
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *args = yyjson_val_mut_copy(doc, call->args), *key, *v;
  size_t i, n;
  int64_t ignored = 0;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    if (is_looked_at(call->op, op_param(call->op, str_from(yyjson_mut_get_str(key)))))
      clean_value(call->secrets, call->arena, v, &ignored);
  }
  return json_read(call->arena, json_write(call->arena, args, false), &call->args, call->err);
}

enum status scrub_args(struct op_call *call) {
  size_t i, n;
  yyjson_val *key, *v;
  call->redacted = 0;
  if (call->op->flags & OP_NO_STORE)
    return STATUS_OK;
  yyjson_obj_foreach(call->args, i, n, key, v) {
    const struct param *p = op_param(call->op, json_val_str(key));
    if (is_looked_at(call->op, p))
      TRY(look_at_all(call, p, v));
  }
  if (call->redacted)
    return replace_args(call);
  return STATUS_OK;
}

/* ---- what goes out ---- */

void scrub_result(struct op_call *call) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  int64_t ignored = 0;
  yyjson_mut_obj_foreach(call->result, i, n, key, v) {
    if (!call->op->reveals || strcmp(yyjson_mut_get_str(key), call->op->reveals) != 0)
      clean_value(call->secrets, call->arena, v, &ignored);
  }
}

/* A door may quote bytes that are no text: they are searched for secrets as what a terminal makes of them. */
static struct str readable(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  char out[4];
  if (utf8_check(s) == s.n)
    return s;
  for (size_t pos = 0; pos < s.n;)
    buf_add(&b, (struct str){out, utf8_put(utf8_next(s, &pos), out)});
  return buf_str(&b);
}

static void clean_chars(const struct redactor *what, struct arena *a, char *text, size_t room) {
  int64_t count = 0;
  struct str clean = without(what, a, readable(a, (struct str){text, strlen(text)}), &count);
  if (!count)
    return;
  clean = utf8_cut(clean, room - 1);
  memcpy(text, clean.p, clean.n);
  text[clean.n] = 0;
}

static void clean_error(const struct redactor *what, struct arena *a, struct error *err) {
  clean_chars(what, a, err->message, sizeof(err->message));
  clean_chars(what, a, err->fix, sizeof(err->fix));
}

void scrub_error(struct op_call *call) { clean_error(call->secrets, call->arena, call->err); }

/* A line is JSON, whose strings are looked at one by one: in the text of it an escape could hide where a secret
 * begins, and cutting one out could take a quotation mark along. */
struct str scrub_line(const struct redactor *what, struct arena *a, struct str line) {
  struct error ignored;
  yyjson_val *root;
  int64_t count = 0;
  if (json_read(a, line, &root, &ignored) != STATUS_OK)
    return without(what, a, line, &count);
  yyjson_mut_val *copy = yyjson_val_mut_copy(json_new(a), root);
  clean_value(what, a, copy, &count);
  return count ? json_write(a, copy, false) : line;
}

static enum status emit(void *arg, struct str line) {
  struct scrub_stream *stream = arg;
  stream->told = true;
  stream->line.oom = stream->call->arena->oom;
  enum status s = stream->door.emit(stream->door.arg, scrub_line(stream->call->secrets, &stream->line, line));
  arena_recycle(&stream->line, 1 << 16);
  return s;
}

static void tell_progress(void *arg, const char *what, int64_t done, int64_t total) {
  struct scrub_stream *stream = arg;
  stream->told = true;
  stream->door.progress(stream->door.arg, what, done, total);
}

static bool ask(void *arg, const char *prompt, struct arena *a, struct str *ret_text) {
  struct scrub_stream *stream = arg;
  return stream->door.ask(stream->door.arg, prompt, a, ret_text);
}

static bool ask_cancelled(void *arg) {
  struct scrub_stream *stream = arg;
  return stream->door.cancelled(stream->door.arg);
}

void scrub_open(struct scrub_stream *ret_stream, struct op_call *call) {
  struct op_hooks *h = &call->hooks;
  *ret_stream = (struct scrub_stream){.call = call, .door = *h};
  arena_init(&ret_stream->line);
  h->arg = ret_stream;
  h->emit = h->emit ? emit : NULL;
  h->progress = h->progress ? tell_progress : NULL;
  h->ask = h->ask ? ask : NULL;
  h->cancelled = h->cancelled ? ask_cancelled : NULL;
}

void scrub_close(struct scrub_stream *stream) { arena_release(&stream->line); }

/* ---- the call ---- */

static void clean_caller(struct op_call *call) {
  struct caller *c = &call->caller;
  struct str *names[] = {&c->project, &c->source, &c->session, &c->tool};
  int64_t ignored = 0;
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    *names[i] = without(call->secrets, call->arena, *names[i], &ignored);
  if (!c->origin)
    return;
  struct origin *o = arena_new(call->arena, struct origin);
  *o = *c->origin;
  o->cwd = without(call->secrets, call->arena, o->cwd, &ignored);
  o->client = without(call->secrets, call->arena, o->client, &ignored);
  o->client_version = without(call->secrets, call->arena, o->client_version, &ignored);
  c->origin = o;
}

/* What is looked for, made ready once for each state of a vault. It points at the values, which stay where they are as
 * long as their list has the same number. */
struct scrubber {
  uint64_t number;
  struct arena memory;
  const struct redactor *what; /* NULL: not ready */
};

static const struct redactor *ready(struct engine *engine, struct str team, bool lately, struct arena *a) {
  uint64_t number;
  const struct strs *known = secrets_known_as(engine, team, lately, &number);
  struct scrubber *kept = engine->scrubber ? engine->scrubber : mem_zalloc(sizeof(*kept));
  if (!kept)
    return redactor_new(a, known);
  engine->scrubber = kept;
  if (!kept->what || kept->number != number) {
    arena_release(&kept->memory);
    kept->what = NULL;
    kept->memory.oom = a->oom;
    kept->what = redactor_new(&kept->memory, known);
    kept->number = number;
  }
  return kept->what;
}

void scrubber_free(struct scrubber **scrubber) {
  if (*scrubber)
    arena_release(&(*scrubber)->memory);
  mem_free(*scrubber);
  *scrubber = NULL;
}

const struct redactor *scrub_known(struct engine *engine, struct str team, struct arena *a) {
  return ready(engine, team, false, a);
}

void scrub_refresh(struct op_call *call) { call->secrets = scrub_known(call->engine, call->caller.team, call->arena); }

/* What is written must not hold a value that became a secret a moment ago elsewhere; what is read was there before. */
void scrub_begin(struct op_call *call) {
  bool writes = call->op->flags & (OP_WRITE | OP_NO_TXN);
  call->secrets = ready(call->engine, call->caller.team, !writes, call->arena);
  clean_caller(call);
}

/* ---- errors of a door ---- */

void scrub_door_error(struct engine *engine, struct str team, struct error *err) {
  struct arena a;
  struct error ignored;
  struct store_boundary oom;
  arena_init(&a);
  enum status held = engine ? engine_hold(engine, team, &ignored) : STATUS_NOT_FOUND;
  if (STORE_BOUNDARY(engine ? engine->store : NULL, &a, oom))
    error_set(err, STATUS_NOMEM, "out of memory");
  else
    clean_error(held == STATUS_OK ? scrub_known(engine, team, &a) : NULL, &a, err);
  if (engine && engine_let_go(engine, STATUS_OK, &ignored) != STATUS_OK)
    store_rollback(engine->store); /* whoever is next finds out what it is */
  arena_release(&a);
}
