/* store.c: temporary store of an evaluation. */
#include "op/eval/store.h"
#include "op/embedding/embedding.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/id.h"
#include "core/text/text.h"
#include "op/transfer/import.h"
#include "store/db/databases.h"
#include "store/search/lexical.h"
#include "store/tables/settings.h"

enum { BATCH = 64, REFUSALS_TOLD = 5 };

/* ---- create and remove ---- */

static void close_store(struct eval_store *st) {
  static const char *const parts[] = {"", "-wal", "-shm", "-journal"};
  char path[4200];
  struct error ignored;
  if (!st->engine && !st->path.p)
    return;
  if (st->engine)
    engine_close(&st->engine);
  if (st->server.p && !st->keep && database_drop(st->server.p, st->path, &ignored) != STATUS_OK)
    return; /* the database stays; its name starts with cairn_eval_ */
  for (size_t i = 0; !st->server.p && !st->keep && i < ARRAY_LEN(parts); i++) {
    int n = snprintf(path, sizeof(path), "%.*s%s", STR_ARG(st->path), parts[i]);
    if (n > 0 && (size_t)n < sizeof(path))
      unlink(path);
  }
  st->path = st->keep ? st->path : STR_NONE;
}

void eval_store_remove(struct eval_store *st) {
  close_store(st);
  if (!st->folder || st->keep)
    return;
  /* Side files of the store; there are no subdirectories. */
  DIR *dir = opendir(st->folder);
  int fd = dir ? dirfd(dir) : -1;
  for (struct dirent *e; fd >= 0 && (e = readdir(dir));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      unlinkat(fd, e->d_name, 0);
  if (dir)
    closedir(dir);
  rmdir(st->folder);
  st->folder = NULL;
}

static void remove_deferred(void *p) { eval_store_remove(p); }

enum status eval_store_make(struct op_call *call, struct str server, bool keep, struct eval_store **ret_store) {
  const char *dir = getenv("TMPDIR");
  struct eval_store *st = arena_new(call->arena, struct eval_store);
  *st = (struct eval_store){.call = call, .arena = call->arena, .server = server, .keep = keep};
  char *folder = arena_cstr(call->arena, arena_printf(call->arena, "%s/cairn-eval-XXXXXX", dir && *dir ? dir : "/tmp"));
  arena_defer(call->arena, remove_deferred, st);
  *ret_store = st;
  if (server.p)
    return STATUS_OK;
  if (!mkdtemp(folder)) {
    error_errno(call->err, errno, "cannot create the directory of the temporary store, %s", folder);
    return error_fix(call->err, "set TMPDIR to a writable directory");
  }
  st->folder = folder;
  return STATUS_OK;
}

/* Path or URL of the next store; creates the database on a server. */
static enum status next_path(struct eval_store *st, struct str *ret_path) {
  char uid[UUID_SIZE];
  if (!st->server.p) {
    *ret_path = st->path = arena_printf(st->arena, "%s/%d.db", st->folder, st->made);
    return STATUS_OK;
  }
  uuid7_new(st->call->now, uid);
  struct str name = arena_printf(st->arena, "cairn_eval_%.*s", STR_ARG(str_slice(str_from(uid), 24, 36)));
  TRY(database_create(st->server.p, name, st->call->err));
  st->path = name;
  *ret_path = database_url(st->arena, st->server, name);
  return STATUS_OK;
}

/* The user's settings (an embedder, for example), except for secrets.mode. */
static const struct settings_given *eval_settings(struct eval_store *st) {
  const struct settings_given *given = st->call->engine ? st->call->engine->settings : NULL;
  if (!given)
    return NULL;
  struct settings_given *copy = arena_new(st->arena, struct settings_given);
  *copy = *given;
  copy->flag[SET_SECRETS_MODE] = copy->file[SET_SECRETS_MODE] = (struct setting_given){0};
  return copy;
}

/* One file per store; on a server, one database with a team per store. */
static enum status open_next(struct eval_store *st) {
  struct clock clock = st->call->engine ? st->call->engine->clock : (struct clock){0};
  st->made++;
  st->team = st->server.p ? arena_printf(st->arena, "group-%d", st->made) : STR("default");
  if (st->server.p && st->engine) {
    st->engine->clock = clock;
    return STATUS_OK;
  }
  struct str path;
  close_store(st);
  TRY(next_path(st, &path));
  struct engine_options options = {.path = path.p, .clock = clock, .settings = eval_settings(st)};
  return engine_open(&options, &st->engine, st->call->err);
}

/* Independent of the user's team, project and session. */
static struct caller eval_caller(const struct eval_store *st) {
  return (struct caller){
      .team = st->team, .project = STR(""), .source = STR("eval"), .trust = STR("user"), .project_given = true};
}

static enum status run(struct eval_store *st, struct arena *a, const char *name, yyjson_mut_val *args,
                       yyjson_mut_val **ret_result) {
  struct caller caller = eval_caller(st);
  yyjson_val *values;
  TRY(json_read(a, json_write(a, args, false), &values, st->call->err));
  return op_run(st->engine, op_find(str_from(name)), &caller, NULL, a, values, ret_result, st->call->err);
}

enum status eval_store_open(struct eval_store *st) {
  struct op_call *call = st->call;
  TRY(open_next(st));
  /* Documents that look like secrets must not be refused. */
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *args = yyjson_mut_obj(doc), *result;
  json_put(doc, args, "name", STR("secrets.mode"));
  json_put(doc, args, "value", STR("redact"));
  return run(st, call->arena, "config", args, &result);
}

enum status eval_store_embedder(struct eval_store *st, const struct embedder **ret_embedder) {
  struct op_call c = {.op = op_find(STR("remember")), .engine = st->engine, .caller = eval_caller(st)};
  struct embeddings set;
  c.arena = st->call->arena;
  c.doc = json_new(c.arena);
  c.result = yyjson_mut_obj(c.doc);
  c.now = st->call->now;
  c.err = st->call->err;
  TRY(embeddings_of(&c, &set));
  const struct embedding *wanted = embeddings_wanted(&set);
  *ret_embedder = wanted ? wanted->e : NULL;
  return STATUS_OK;
}

/* ---- loading ---- */

struct item {
  size_t doc;
  int64_t at;      /* valid_from */
  int64_t written; /* time of writing */
  struct write w;
  struct error err; /* code STATUS_OK: it can be written */
};

/* State of loading a group. */
struct load {
  struct eval_store *st;
  struct arena *a;    /* lives as long as the group */
  struct op_call sub; /* a call of remember, as an interface would make it */
  const struct eval_load *what;
  int64_t newest; /* latest time of a document */
  struct eval_counts *counts;
  struct eval_places places;
  LIST(int64_t) replaced_by; /* indexed by the id of the superseded memory; 0: not superseded */
};

/* Entries of a dialogue are stored as a sequence, unless they are too long for an entry. */
static const struct mem_type *type_of_doc(const struct eval_doc *d) {
  return d->session.p && text_count_words(d->text) <= BODY_WORDS ? type_of_sequence() : type_of_prose();
}

/* Arguments of remember. */
static enum status arguments(struct load *l, const struct eval_doc *d, int64_t at, yyjson_val **ret_args) {
  struct op_call *c = &l->sub;
  char time[TIME_TEXT_SIZE];
  yyjson_mut_val *args = yyjson_mut_obj(c->doc);
  json_put(c->doc, args, "text", d->text);
  json_put(c->doc, args, "type", str_from(type_of_doc(d)->name));
  json_put(c->doc, args, "valid_from", time_format(at, time));
  if (l->what->fast)
    json_put_bool(c->doc, args, "defer_embedding", true);
  TRY(json_read(c->arena, json_write(c->arena, args, false), ret_args, c->err));
  return op_check_args(c->op, *ret_args, c->err);
}

static void prepare(struct load *l, const struct eval_entry *entry, struct item *item) {
  struct op_call *c = &l->sub;
  const struct eval_doc *d = &l->what->set->docs.v[entry->doc];
  yyjson_val *args;
  item->doc = entry->doc;
  item->at = entry->at ? entry->at : l->what->now;
  item->written = l->what->dates == DATES_WRITTEN ? item->at : l->newest;
  c->err = &item->err;
  c->now = item->written;
  c->caller.session = d->session;
  enum status s = arguments(l, d, item->at, &args);
  if (s == STATUS_OK)
    s = write_from_args(c, args, &item->w);
  if (s == STATUS_OK)
    s = write_prepare(c, &item->w);
  item->err.code = s;
}

static void refuse(struct load *l, const struct item *item) {
  struct eval_counts *n = l->counts;
  if (n->refused++ >= REFUSALS_TOLD)
    return;
  struct arena *a = l->st->call->arena;
  list_push(a, &n->refusals,
            (struct eval_refusal){arena_dup(a, l->what->set->docs.v[item->doc].id), status_name(item->err.code),
                                  arena_dup(a, str_from(item->err.message))});
}

static void note_replaced(struct load *l, int64_t old, int64_t by) {
  while (l->replaced_by.n <= (size_t)old)
    list_push(l->a, &l->replaced_by, 0);
  l->replaced_by.v[old] = by;
}

static void account(struct load *l, const struct item *item) {
  const struct write *w = &item->w;
  l->counts->stored += w->action == WRITE_STORED;
  l->counts->skipped += w->action == WRITE_SKIPPED;
  l->counts->superseded += w->action == WRITE_SUPERSEDED;
  l->counts->redacted += w->redacted;
  if (w->action == WRITE_SUPERSEDED)
    note_replaced(l, w->old_id, w->id);
  list_push(l->a, &l->places, (struct eval_place){w->id, item->doc});
}

/* A refused document is counted; any other error (a full disk) ends the evaluation. */
static enum status store_item(struct load *l, struct txn *txn, struct item *item) {
  struct op_call *c = &l->sub;
  if (item->err.code == STATUS_OK) {
    c->err = &item->err;
    c->now = item->written;
    c->caller.session = l->what->set->docs.v[item->doc].session;
    item->err.code = write_try(c, txn, &item->w);
  }
  if (item->err.code == STATUS_OK) {
    account(l, item);
    return STATUS_OK;
  }
  if (!import_is_row_error(item->err.code)) {
    *l->st->call->err = item->err;
    return item->err.code;
  }
  refuse(l, item);
  return STATUS_OK;
}

/* Prepares and embeds the texts without a lock, then stores them in one transaction. */
static enum status load_batch(struct load *l, const struct eval_entry *entries, size_t n) {
  struct op_call *c = &l->sub;
  struct txn txn;
  struct item *items = arena_array(c->arena, struct item, n);
  const struct write *last = NULL;
  for (size_t i = 0; i < n; i++) {
    items[i].w.after = last;
    prepare(l, &entries[i], &items[i]);
    if (items[i].err.code == STATUS_OK)
      last = &items[i].w;
  }
  c->err = l->st->call->err;
  c->caller.session = STR_NONE;
  enum status s = call_begin(c, &txn);
  if (s == STATUS_OK)
    s = lexical_hold(&txn, c->err);
  for (size_t i = 0; s == STATUS_OK && i < n; i++)
    s = store_item(l, &txn, &items[i]);
  c->err = l->st->call->err;
  if (s == STATUS_OK)
    s = lexical_release(&txn, c->err);
  return s == STATUS_OK ? txn_commit(&txn, c->err) : s;
}

static enum status load_entries(struct load *l) {
  const struct eval_group *g = l->what->group;
  struct op_call *c = &l->sub;
  enum status s = STATUS_OK;
  c->arena = arena_child(l->a);
  for (size_t i = 0; s == STATUS_OK && i < g->entries.n; i += BATCH) {
    size_t n = g->entries.n - i < BATCH ? g->entries.n - i : BATCH;
    if (cancelled(l->st->call))
      return error_set(l->st->call->err, STATUS_INTERRUPTED, "stopped");
    c->doc = json_new(c->arena);
    c->result = yyjson_mut_obj(c->doc);
    s = load_batch(l, g->entries.v + i, n);
    progress(l->st->call, l->what->label, l->what->done + (int64_t)(i + n), l->what->total);
    arena_release(c->arena);
  }
  return s;
}

static int by_memory(const void *x, const void *y) {
  const struct eval_place *a = x, *b = y;
  return a->memory != b->memory ? (a->memory > b->memory) - (a->memory < b->memory)
                                : (a->doc > b->doc) - (a->doc < b->doc);
}

/* Maps documents of superseded memories to the current version. */
static void follow_chains(struct load *l) {
  for (size_t i = 0; i < l->places.n; i++) {
    int64_t *m = &l->places.v[i].memory;
    while ((size_t)*m < l->replaced_by.n && l->replaced_by.v[*m])
      *m = l->replaced_by.v[*m];
  }
  if (l->places.n)
    qsort(l->places.v, l->places.n, sizeof(*l->places.v), by_memory);
}

static enum status embed_deferred(struct eval_store *st, struct arena *a) {
  yyjson_mut_val *result;
  return run(st, a, "maintain", yyjson_mut_obj(json_new(a)), &result);
}

enum status eval_store_load(struct eval_store *st, struct arena *a, const struct eval_load *what,
                            struct eval_counts *counts, struct eval_places *ret_places) {
  struct load l = {.st = st, .a = a, .what = what, .counts = counts};
  l.newest = what->group->newest ? what->group->newest : what->now;
  l.sub = (struct op_call){.op = op_find(STR("remember")), .engine = st->engine, .caller = eval_caller(st)};
  l.sub.now = what->now;
  enum status s = load_entries(&l);
  st->engine->clock.fixed = l.newest;
  if (s == STATUS_OK && what->fast)
    s = embed_deferred(st, a);
  if (s != STATUS_OK)
    return s;
  follow_chains(&l);
  *ret_places = l.places;
  return STATUS_OK;
}

/* ---- searching ---- */

/* Reports a search that fell back to another mode: its metrics are not those of the requested mode. */
static void note_degraded(struct eval_store *st, yyjson_mut_val *result, const char *mode) {
  yyjson_mut_val *used = yyjson_mut_obj_get(result, "search_mode"), *why = yyjson_mut_obj_get(result, "degraded");
  struct str name = {yyjson_mut_get_str(used), yyjson_mut_get_len(used)};
  bool as_asked = str_is(name, mode) && (!why || strcmp(mode, "keyword") == 0);
  if (st->degraded.p || as_asked)
    return;
  struct str reason = {yyjson_mut_get_str(why), yyjson_mut_get_len(why)};
  st->degraded = arena_printf(st->arena, "a search was '%.*s', not '%s'%s%.*s", STR_ARG(name), mode,
                              reason.n ? ": " : "", STR_ARG(reason));
}

enum status eval_store_search(struct eval_store *st, struct arena *a, const struct eval_search *search,
                              struct eval_hits *ret_hits, int64_t *ret_us) {
  struct caller caller = eval_caller(st);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *args = yyjson_mut_obj(doc), *result = NULL, *r;
  yyjson_val *values;
  json_put(doc, args, "query", search->query);
  json_put(doc, args, "mode", str_from(search->mode));
  json_put_int(doc, args, "limit", search->limit);
  TRY(json_read(a, json_write(a, args, false), &values, st->call->err));
  st->engine->clock.fixed = search->now;
  int64_t began = clock_ticks_us();
  enum status s = op_run(st->engine, op_find(STR("search")), &caller, NULL, a, values, &result, st->call->err);
  *ret_us = clock_ticks_us() - began;
  if (s != STATUS_OK)
    return s;
  note_degraded(st, result, search->mode);
  struct eval_hits hits = {0};
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "results"), i, n, r) {
    struct eval_hit h = {yyjson_mut_get_sint(yyjson_mut_obj_get(r, "id")),
                         yyjson_mut_get_num(yyjson_mut_obj_get(r, "score"))};
    list_push(a, &hits, h);
  }
  *ret_hits = hits;
  return STATUS_OK;
}
