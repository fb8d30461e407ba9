/* memory.c: remember, capture, get, list, and completion of ids. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "core/memory/capture.h"
#include "core/memory/extract.h"
#include "op/handlers.h"
#include "op/search/corpus.h"
#include "op/write/replay.h"
#include "store/search/lexical.h"

/* ---- remember ---- */

enum { BATCH_SIZE = 100 };

struct batch {
  struct op_call *call;
  FILE *file;
  char *text; /* line being read; getline() allocates it */
  size_t room;
  int64_t line, counts[WRITE_ACTIONS], failed;
  enum status first_failure;
};

struct batch_item {
  int64_t line;
  struct write w;
  struct error err; /* code OK: ready to be written */
};

static enum status emit(struct op_call *call, yyjson_mut_val *v) {
  struct str line = json_write(call->arena, v, false);
  return call->hooks.emit ? call->hooks.emit(call->hooks.arg, line) : STATUS_OK;
}

static enum status prepare_line(struct op_call *call, struct str text, struct write *w) {
  yyjson_val *args;
  enum status s = json_read(call->arena, text, &args, call->err);
  if (s != STATUS_OK)
    return error_fix(call->err, "a line is one JSON object in UTF-8, for example {\"text\": \"what to remember\"}");
  TRY(op_check_args(call->op, args, call->err));
  if (yyjson_obj_get(args, "project"))
    call->caller.project = json_str(args, "project");
  TRY(write_from_args(call, args, w));
  w->defer_embedding |= json_bool(call->args, "defer_embedding", false);
  return write_prepare(call, w);
}

/* Parses and prepares one line; an error concerns only this item. */
static void batch_read(struct op_call *call, struct str text, struct batch_item *item) {
  struct error *outer = call->err;
  struct caller caller = call->caller;
  item->err = (struct error){0};
  call->err = &item->err;
  item->err.code = prepare_line(call, text, &item->w);
  call->caller = caller;
  call->err = outer;
}

static enum status batch_write(struct batch *b, struct txn *txn, struct batch_item *item) {
  struct op_call *call = b->call;
  struct error *outer = call->err;
  call->err = &item->err;
  enum status s = write_try(call, txn, &item->w);
  call->err = outer;
  /* A refusal concerns only this line; any other error (a full disk) ends the whole group. */
  if (s != STATUS_OK && s != STATUS_REFUSED && s != STATUS_DUPLICATE && s != STATUS_CONFLICT && s != STATUS_NOT_FOUND) {
    *call->err = item->err;
    return s;
  }
  item->err.code = s;
  if (s != STATUS_OK || !item->w.idempotency_key.p || item->w.replay.p)
    return STATUS_OK;
  yyjson_mut_val *v = yyjson_mut_obj(call->doc);
  write_result(call, v, &item->w);
  json_put_int(call->doc, v, "txn", txn->id);
  return replay_save(call, txn, &item->w, v);
}

static enum status batch_report(struct batch *b, const struct batch_item *item, int64_t txn) {
  struct op_call *call = b->call;
  if (item->err.code != STATUS_OK) {
    b->failed++;
    if (b->first_failure == STATUS_OK) {
      b->first_failure = item->err.code;
      *call->err = item->err;
    }
    yyjson_mut_val *v = op_error_json(call->doc, &item->err);
    json_put_int(call->doc, v, "line", item->line);
    return emit(call, v);
  }
  if (item->w.replay.p)
    return call->hooks.emit ? call->hooks.emit(call->hooks.arg, item->w.replay) : STATUS_OK;
  b->counts[item->w.action]++;
  yyjson_mut_val *v = yyjson_mut_obj(call->doc);
  json_put_int(call->doc, v, "line", item->line);
  write_result(call, v, &item->w);
  json_put_int(call->doc, v, "txn", txn);
  return emit(call, v);
}

/* One transaction for each group; lines are reported after it is committed. */
static enum status batch_group(struct batch *b, struct batch_item *items, size_t n) {
  struct txn txn;
  TRY(call_begin(b->call, &txn));
  TRY(lexical_hold(&txn, b->call->err));
  for (size_t i = 0; i < n; i++)
    if (items[i].err.code == STATUS_OK)
      TRY(batch_write(b, &txn, &items[i]));
  TRY(lexical_release(&txn, b->call->err));
  TRY(txn_commit(&txn, b->call->err));
  for (size_t i = 0; i < n; i++)
    TRY(batch_report(b, &items[i], txn.id));
  return STATUS_OK;
}

static void batch_close(void *arg) {
  struct batch *b = arg;
  if (b->file)
    fclose(b->file);
  mem_free(b->text);
}

static enum status batch_open(struct op_call *call, struct batch *b) {
  struct str path = json_str(call->args, "batch");
  TRY(call_refuse_store_path(call, path));
  bool standard = str_is(path, "-");
  int fd = standard ? dup(STDIN_FILENO) : open(arena_cstr(call->arena, path), O_RDONLY | O_CLOEXEC);
  b->file = fd < 0 ? NULL : fdopen(fd, "r");
  if (!b->file) {
    int errnum = errno;
    if (fd >= 0)
      close(fd);
    error_errno(call->err, errnum, "cannot read the batch %.*s", STR_ARG(path));
    return error_fix(call->err, "name a file of JSON Lines, or '-' for standard input");
  }
  return STATUS_OK;
}

/* Reads and prepares up to BATCH_SIZE lines; fewer at the end of the file. */
static size_t batch_fill(struct batch *b, struct batch_item *items) {
  size_t n = 0;
  const struct write *last = NULL;
  while (n < BATCH_SIZE) {
    ssize_t len = getline(&b->text, &b->room, b->file);
    if (len <= 0)
      break;
    b->line++;
    struct str text = str_trim((struct str){b->text, (size_t)len});
    if (str_empty(text))
      continue;
    items[n].line = b->line;
    items[n].w.after = last;
    batch_read(b->call, arena_dup(b->call->arena, text), &items[n]);
    if (items[n].err.code == STATUS_OK)
      last = &items[n].w;
    n++;
  }
  return n;
}

static enum status remember_batch(struct op_call *call) {
  struct arena *arena = call->arena, *group = arena_child(arena);
  yyjson_mut_doc *doc = call->doc;
  struct batch *b = arena_new(arena, struct batch);
  b->call = call;
  arena_defer(arena, batch_close, b);
  enum status s = batch_open(call, b);
  size_t n = BATCH_SIZE;
  while (s == STATUS_OK && n == BATCH_SIZE && !cancelled(call)) {
    /* Each group has its own arena, so memory does not grow with the file. */
    call->arena = group;
    call->doc = json_new(group);
    struct batch_item *items = arena_array(group, struct batch_item, BATCH_SIZE);
    n = batch_fill(b, items);
    if (n)
      s = batch_group(b, items, n);
    progress(call, "remember", b->line, 0);
    call->arena = arena;
    call->doc = doc;
    arena_release(group);
  }
  if (s != STATUS_OK)
    return s;
  json_put_int(doc, call->result, "stored", b->counts[WRITE_STORED]);
  json_put_int(doc, call->result, "skipped", b->counts[WRITE_SKIPPED]);
  json_put_int(doc, call->result, "superseded", b->counts[WRITE_SUPERSEDED]);
  json_put_int(doc, call->result, "updated", b->counts[WRITE_UPDATED]);
  json_put_int(doc, call->result, "failed", b->failed);
  return b->first_failure;
}

enum status op_remember(struct op_call *call) {
  if (json_str(call->args, "batch").p)
    return remember_batch(call);
  struct write w = {0};
  TRY(write_from_args(call, call->args, &w));
  return write_run(call, &w);
}

/* ---- capture ---- */

/* A fact may be a decision, a reference and the like, by its words. */
static struct str type_of_piece(const struct capture_piece *p) {
  const struct mem_type *t = type_find(str_from(p->type_cue)), *finer;
  const char *hint = t && t->kind == KIND_FACT ? extract_type_hint(p->body) : NULL;
  finer = hint ? type_find(str_from(hint)) : NULL;
  return str_from(finer && finer->kind == KIND_FACT ? finer->name : p->type_cue);
}

static void draft_from_piece(struct op_call *call, const struct capture_piece *p, struct write *w) {
  w->m = (struct memory){.kind = STR(""),
                         .type = type_of_piece(p),
                         .severity = p->blocker ? STR("blocker") : STR_NONE,
                         .headline = p->headline,
                         .body = p->body,
                         .auto_captured = 1};
  call_set_author(call, &w->m);
  w->m.trust = args_trust(call, call->args);
  const struct mem_type *t = type_find(w->m.type);
  if (!t || t->kind != KIND_RULE)
    w->m.severity = STR_NONE;
  json_strs(call->arena, call->args, "tags", &w->m.tags);
  labels_clean(call, &w->m);
}

enum status op_capture(struct op_call *call) {
  struct str text = json_str(call->args, "text");
  struct capture_pieces pieces = {0};
  struct strs dropped = {0};
  capture_split(call->arena, text, &pieces, &dropped);
  if (pieces.n == 0) {
    error_set(call->err, STATUS_REFUSED, "no memories found in this text: pieces under five words are dropped");
    error_step(call->err, "atomic");
    return error_fix(call->err, "store it as it is with 'cairn remember TEXT'");
  }
  struct drafts list = {.v = arena_array(call->arena, struct draft, pieces.n), .n = pieces.n};
  for (size_t i = 0; i < pieces.n; i++)
    draft_from_piece(call, &pieces.v[i], &list.v[i].w);
  json_put_int(call->doc, call->result, "dropped", (int64_t)dropped.n);
  if (dropped.n)
    json_put_strs(call->doc, call->result, "dropped_texts", &dropped);
  return write_drafts(call, &list, "capture");
}

/* ---- get ---- */

/* Reading a faded memory activates it again, except by a safe request. Memories in other states stay as they are. */
static enum status revive(struct op_call *call, struct memory *m) {
  struct store *st = call->engine->store;
  if (call->hooks.safe || !str_is(m->state, "faded") || !store_can_write(st, m->project) ||
      !store_can_write(st, call->caller.project))
    return STATUS_OK;
  struct txn txn;
  TRY(call_begin(call, &txn));
  struct memory now = *m;
  memory_activate(&now);
  now.last_accessed = call->now;
  enum status s = memory_change(&txn, call->arena, m, &now, "memory:revive", call->err);
  if (s == STATUS_CONFLICT) { /* another memory has its key now: show it, but leave it faded */
    store_rollback(txn.store);
    return STATUS_OK;
  }
  TRY(s);
  TRY(txn_commit(&txn, call->err));
  *m = now;
  return STATUS_OK;
}

enum status op_get(struct op_call *call) {
  struct memory m;
  struct scope scope = call_scope(call);
  scope.corpora = CORPORA_ALL;
  TRY(memory_find(call->engine->store, &scope, json_str(call->args, "id"), call->arena, &m, call->err));
  TRY(revive(call, &m));
  show_expired(call, &m);
  TRY(put_full(call, call->result, &m));
  TRY(load_and_put_place(call, call->result, &m));
  note_read(call, &m);
  return STATUS_OK;
}

/* ---- list ---- */

static enum status put_listed(struct op_call *call, yyjson_mut_val *obj, struct memory *m) {
  struct str detail = json_str(call->args, "detail");
  show_expired(call, m);
  if (str_is(detail, "full")) {
    TRY(put_full(call, obj, m));
    return load_and_put_place(call, obj, m);
  }
  TRY(memory_load_lists(call->engine->store, call->arena, m, call->err));
  put_brief(call, obj, m);
  memory_put_lists(call->doc, obj, m);
  if (str_is(detail, "snippet")) {
    TRY(memory_load_body(call->engine->store, call->arena, m, call->err));
    json_put(call->doc, obj, "snippet", utf8_cut(m->body, SNIPPET_BYTES));
  }
  return load_and_put_place(call, obj, m);
}

/* Counts of memories that the list leaves out because of their state, on the first page. A list of the past has
 * them. */
static enum status put_retired(struct op_call *call, const struct scope *scope, struct filter f) {
  static const char *const states[] = {"faded", "archived", "expired"};
  if (f.states || f.offset || f.after.id || scope->as_of)
    return STATUS_OK;
  for (size_t i = 0; i < ARRAY_LEN(states); i++) {
    int64_t n = 0;
    f.states = arena_printf(call->arena, "'%s'", states[i]).p;
    TRY(memory_count(call->engine->store, scope, &f, call->arena, &n, call->err));
    if (n)
      json_put_int(call->doc, call->result, states[i], n);
  }
  return STATUS_OK;
}

enum status op_list(struct op_call *call) {
  struct filter f;
  struct scope scope = call_scope(call);
  struct memories list = {0};
  int64_t total = 0;
  struct str state = json_str(call->args, "state");
  scope.corpora = call_corpora(call);
  scope.own = json_bool(call->args, "own", false);
  TRY(call_filter(call, &f));
  TRY(call_int(call, "limit", 20, 1, 1000, &f.limit));
  TRY(call_int(call, "offset", 0, 0, INT64_MAX, &f.offset));
  TRY(call_cursor(call, &f.after));
  TRY(call_time(call, "as_of", -1, &scope.as_of));
  int64_t limit = f.limit++; /* one more than asked for: it shows whether there is a next page */
  if (state.p)               /* op_check_args() allows only known states, so this is safe in SQL */
    f.states = arena_printf(call->arena, "'%.*s'", STR_ARG(state)).p;
  TRY(memory_list(call->engine->store, &scope, &f, call->arena, &list, call->err));
  TRY(memory_count(call->engine->store, &scope, &f, call->arena, &total, call->err));
  put_cursor(call, &list, limit, false);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "memories");
  for (size_t i = 0; i < list.n; i++)
    TRY(put_listed(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]));
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  json_put_int(call->doc, call->result, "total", total);
  json_put_int(call->doc, call->result, "offset", f.offset);
  struct memory_ids ids = {0};
  for (size_t i = 0; i < list.n; i++)
    list_push(call->arena, &ids, list.v[i].id);
  note_result_read(call, "list", arena_printf(call->arena, "cairn://list/%.*s", STR_ARG(call->caller.project)), &ids,
                   false);
  return put_retired(call, &scope, f);
}

/* ---- completion of ids ---- */

static enum status complete(struct op_call *call) {
  struct scope scope = call_scope(call);
  struct memory_ids ids = {0};
  int64_t limit;
  TRY(call_int(call, "limit", 100, 1, 1000, &limit));
  TRY(memory_ids(call->engine->store, &scope, json_str(call->args, "prefix"), limit + 1, call->arena, &ids, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "ids");
  for (size_t i = 0; i < ids.n && (int64_t)i < limit; i++)
    yyjson_mut_arr_add_sint(call->doc, arr, ids.v[i]);
  json_put_bool(call->doc, call->result, "more", (int64_t)ids.n > limit);
  return STATUS_OK;
}

static const struct param complete_params[] = {
    {"prefix", PARAM_TEXT, PARAM_REQUIRED | PARAM_NOISE, NULL, NULL, NULL, "beginning of an id"},
    {"limit", PARAM_INT, 0, NULL, NULL, NULL, "maximum number of ids"},
    {0},
};

/* Named "list" because it needs the same rights as that operation. */
const struct op complete_ids = {.name = "list", .params = complete_params, .run = complete};
