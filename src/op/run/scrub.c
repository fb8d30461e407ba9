/* scrub.c: keeps secrets out of what operations store and return. */
#include "op/run/scrub.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "op/run/vault_values.h"
#include "store/tables/settings.h"

/* Shortest possible secret; shorter texts are not searched. */
enum { SECRET_MIN = 8 };

/* ---- texts ---- */

static void find(const struct redactor *what, struct arena *a, struct str text, struct secret_hits *ret) {
  *ret = (struct secret_hits){0};
  if (text.n >= SECRET_MIN)
    redact_find(a, text, what, ret);
}

static struct str redacted(const struct redactor *what, struct arena *a, struct str text, int64_t *count) {
  struct secret_hits hits;
  find(what, a, text, &hits);
  *count += (int64_t)hits.n;
  return redact_apply(a, text, &hits);
}

static enum status refuse(struct arena *a, struct str text, const struct secret_hits *hits, const char *name,
                          struct error *err) {
  assert(hits->n > 0);
  struct str preview = redact_preview(a, text, &hits->v[0]);
  error_set(err, STATUS_SECRET, "%s contains what looks like a secret (%s, %.*s)%s", name, hits->v[0].pattern,
            STR_ARG(preview), hits->n > 1 ? ", and more" : "");
  error_step(err, "secrets");
  return error_fix(err, "remove it and store its location instead; or 'cairn config secrets.mode redact' to have "
                        "secrets redacted");
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

/* ---- JSON values ---- */

static void clean_string(const struct redactor *what, struct arena *a, yyjson_mut_val *v, int64_t *count) {
  int64_t before = *count;
  struct str text = redacted(what, a, (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)}, count);
  if (*count > before)
    yyjson_mut_set_strn(v, text.p, text.n);
}

static void clean_value(const struct redactor *what, struct arena *a, yyjson_mut_val *v, int64_t *count);

/* Raw JSON in a result is parsed, and its strings are redacted one by one. If it cannot be parsed and holds a secret,
 * it becomes a string, because the rest may not be valid JSON. */
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
    struct str clean = redacted(what, a, raw, count);
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

/* ---- arguments ---- */

/* Name of an argument in a sentence: "the root cause". */
static const char *readable_name(struct arena *a, const char *name) {
  char *text = arena_cstr(a, arena_printf(a, "the %s", name));
  for (char *c = text; *c; c++)
    *c = *c == '_' ? ' ' : *c;
  return text;
}

/* Paths are checked only if they may be stored: a URL may need its password. */
static bool needs_check(const struct op *op, const struct param *p) {
  return !(p->flags & PARAM_SECRETS) && ((op->flags & OP_WRITE) || !(p->flags & PARAM_PATH));
}

static enum status check_arg(struct op_call *call, const struct param *p, struct str text) {
  struct secret_hits hits;
  bool redact;
  find(call->secrets, call->arena, text, &hits);
  call->redacted += (int64_t)hits.n;
  if (hits.n == 0 || !(call->op->flags & OP_WRITE))
    return STATUS_OK;
  TRY(mode_of(call, &redact));
  /* A redacted path would be another path. */
  if (!redact || (p->flags & PARAM_PATH))
    return refuse(call->arena, text, &hits, readable_name(call->arena, p->name), call->err);
  return STATUS_OK;
}

static enum status check_args(struct op_call *call, const struct param *p, yyjson_val *v) {
  size_t i, n;
  yyjson_val *e;
  if (yyjson_is_str(v))
    return check_arg(call, p, json_val_str(v));
  yyjson_arr_foreach(v, i, n, e) {
    TRY(check_arg(call, p, json_val_str(e)));
  }
  return STATUS_OK;
}

static enum status redact_args(struct op_call *call) {
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *args = yyjson_val_mut_copy(doc, call->args), *key, *v;
  size_t i, n;
  int64_t ignored = 0;
  yyjson_mut_obj_foreach(args, i, n, key, v) {
    if (needs_check(call->op, op_param(call->op, str_from(yyjson_mut_get_str(key)))))
      clean_value(call->secrets, call->arena, v, &ignored);
  }
  return json_read(call->arena, json_write(call->arena, args, false), &call->args, call->err);
}

enum status scrub_args(struct op_call *call) {
  size_t i, n;
  yyjson_val *key, *v;
  call->redacted = 0;
  yyjson_obj_foreach(call->args, i, n, key, v) {
    const struct param *p = op_param(call->op, json_val_str(key));
    assert(p);
    if (needs_check(call->op, p))
      TRY(check_args(call, p, v));
  }
  return call->redacted ? redact_args(call) : STATUS_OK;
}

/* ---- results ---- */

void scrub_result(struct op_call *call) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  int64_t ignored = 0;
  yyjson_mut_obj_foreach(call->result, i, n, key, v) {
    if (!call->op->reveals || strcmp(yyjson_mut_get_str(key), call->op->reveals) != 0)
      clean_value(call->secrets, call->arena, v, &ignored);
  }
}

/* An error may quote invalid UTF-8: replaces bad bytes as a terminal does, so secrets around them are found. */
static struct str valid_utf8(struct arena *a, struct str s) {
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
  struct str clean = redacted(what, a, valid_utf8(a, (struct str){text, strlen(text)}), &count);
  if (!count)
    return;
  clean = utf8_cut(clean, room - 1);
  assert(clean.n < room);
  memcpy(text, clean.p, clean.n);
  text[clean.n] = 0;
}

static void clean_error(const struct redactor *what, struct arena *a, struct error *err) {
  clean_chars(what, a, err->message, sizeof(err->message));
  clean_chars(what, a, err->fix, sizeof(err->fix));
}

void scrub_error(struct op_call *call) { clean_error(call->secrets, call->arena, call->err); }

/* The strings are redacted one by one: in the raw text an escape could hide the start of a secret, and removing one
 * could remove a quotation mark. */
struct str scrub_line(const struct redactor *what, struct arena *a, struct str line) {
  struct error ignored;
  yyjson_val *root;
  int64_t count = 0;
  if (json_read(a, line, &root, &ignored) != STATUS_OK)
    return redacted(what, a, line, &count);
  yyjson_mut_val *copy = yyjson_val_mut_copy(json_new(a), root);
  clean_value(what, a, copy, &count);
  return count ? json_write(a, copy, false) : line;
}

static enum status emit(void *arg, struct str line) {
  struct scrub_stream *stream = arg;
  stream->has_output = true;
  stream->line.oom = stream->call->arena->oom;
  enum status s = stream->hooks.emit(stream->hooks.arg, scrub_line(stream->call->secrets, &stream->line, line));
  arena_recycle(&stream->line, 1 << 16);
  return s;
}

static void tell_progress(void *arg, const char *what, int64_t done, int64_t total) {
  struct scrub_stream *stream = arg;
  stream->has_output = true;
  stream->hooks.progress(stream->hooks.arg, what, done, total);
}

static bool ask(void *arg, const char *prompt, struct arena *a, struct str *ret_text) {
  struct scrub_stream *stream = arg;
  return stream->hooks.ask(stream->hooks.arg, prompt, a, ret_text);
}

static bool ask_cancelled(void *arg) {
  struct scrub_stream *stream = arg;
  return stream->hooks.cancelled(stream->hooks.arg);
}

void scrub_open(struct scrub_stream *ret_stream, struct op_call *call) {
  struct op_hooks *h = &call->hooks;
  *ret_stream = (struct scrub_stream){.call = call, .hooks = *h};
  arena_init(&ret_stream->line);
  h->arg = ret_stream;
  h->emit = h->emit ? emit : NULL;
  h->progress = h->progress ? tell_progress : NULL;
  h->ask = h->ask ? ask : NULL;
  h->cancelled = h->cancelled ? ask_cancelled : NULL;
}

void scrub_close(struct scrub_stream *stream) { arena_release(&stream->line); }

/* ---- the call ---- */

struct str client_source(struct arena *a, struct str client) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < client.n && b.n < 64; i++) {
    char c = ascii_lower(client.p[i]);
    if (ascii_alnum(c) || c == '_' || c == '.')
      buf_addc(&b, c);
    else if (b.n && b.p[b.n - 1] != '-')
      buf_addc(&b, '-');
  }
  while (b.n && b.p[b.n - 1] == '-')
    b.n--;
  return buf_str(&b);
}

static void clean_caller(const struct redactor *what, struct arena *a, struct caller *c) {
  struct str *names[] = {&c->project, &c->source, &c->session, &c->tool};
  struct str given = c->origin ? c->origin->client : STR_NONE;
  int64_t ignored = 0, in_client = 0;
  struct str client = redacted(what, a, given, &in_client);
  /* The source may have been made from the name, with its secret in lower case. */
  if (in_client && str_eq(c->source, client_source(a, given)))
    c->source = client_source(a, client);
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    *names[i] = redacted(what, a, *names[i], &ignored);
  if (!c->origin)
    return;
  struct origin *o = arena_new(a, struct origin);
  *o = *c->origin;
  o->cwd = redacted(what, a, o->cwd, &ignored);
  o->client = client;
  o->client_version = redacted(what, a, o->client_version, &ignored);
  c->origin = o;
}

/* Redactor cached for one version of a vault. It points at the vault's values, which do not move while their version is
 * the same. */
struct scrubber {
  uint64_t version;
  struct arena memory;
  const struct redactor *what; /* NULL: none cached */
};

static const struct redactor *cached_redactor(struct engine *engine, struct str team, bool may_be_recent,
                                              struct arena *a) {
  uint64_t version;
  const struct strs *values = vault_values_versioned(engine, team, may_be_recent, &version);
  struct scrubber *cache = engine->scrubber ? engine->scrubber : mem_zalloc(sizeof(*cache));
  if (!cache)
    return redactor_new(a, values);
  engine->scrubber = cache;
  if (!cache->what || cache->version != version) {
    arena_release(&cache->memory);
    cache->what = NULL;
    cache->memory.oom = a->oom;
    cache->what = redactor_new(&cache->memory, values);
    cache->version = version;
  }
  return cache->what;
}

void scrubber_free(struct scrubber **scrubber) {
  if (*scrubber)
    arena_release(&(*scrubber)->memory);
  mem_free(*scrubber);
  *scrubber = NULL;
}

const struct redactor *scrub_redactor(struct engine *engine, struct str team, struct arena *a) {
  return cached_redactor(engine, team, false, a);
}

void scrub_refresh(struct op_call *call) {
  call->secrets = scrub_redactor(call->engine, call->caller.team, call->arena);
}

/* Writes need the current values: another process may have added a secret a moment ago. For reads, values of the last
 * second are good enough. */
void scrub_begin(struct op_call *call) {
  bool writes = call->op->flags & (OP_WRITE | OP_NO_TXN);
  call->secrets = cached_redactor(call->engine, call->caller.team, !writes, call->arena);
  clean_caller(call->secrets, call->arena, &call->caller);
}

void scrub_caller(struct engine *engine, struct arena *a, struct caller *caller) {
  clean_caller(engine->store ? cached_redactor(engine, caller->team, true, a) : NULL, a, caller);
}

/* ---- errors of an interface ---- */

void scrub_interface_error(struct engine *engine, struct str team, struct error *err) {
  struct arena a;
  struct error ignored;
  struct store_boundary oom;
  arena_init(&a);
  enum status locked = engine ? engine_lock_team(engine, team, &ignored) : STATUS_NOT_FOUND;
  if (STORE_BOUNDARY(engine ? engine->store : NULL, &a, oom))
    error_set(err, STATUS_NOMEM, "out of memory");
  else
    clean_error(locked == STATUS_OK ? scrub_redactor(engine, team, &a) : NULL, &a, err);
  if (engine && engine_unlock_team(engine, STATUS_OK, &ignored) != STATUS_OK)
    store_rollback(engine->store); /* the next call reports the error */
  arena_release(&a);
}
