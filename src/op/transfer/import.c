/* import.c: the import operation: format detection, report of bad rows, commit. */
#include "op/transfer/import.h"

#include <assert.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "op/embedding/reembed.h"
#include "op/handlers.h"
#include "op/write/duplicates.h"
#include "store/copy/transfer.h"
#include "store/vectors/indexes.h"

/* ---- report ---- */

bool import_is_row_error(enum status s) {
  return s == STATUS_USAGE || s == STATUS_REFUSED || s == STATUS_SECRET || s == STATUS_DUPLICATE ||
         s == STATUS_CONFLICT || s == STATUS_NOT_FOUND || s == STATUS_TOO_LARGE;
}

void import_refuse(struct import *im, yyjson_mut_val *where, const struct error *err) {
  yyjson_mut_doc *doc = im->call->doc;
  if (im->bad++ >= IMPORT_REPORTED)
    return;
  yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, im->refused);
  yyjson_mut_obj_add_val(doc, row, "line", where);
  json_put(doc, row, "code", str_from(status_name(err->code)));
  json_put(doc, row, "error", str_from(err->message));
  if (err->fix[0])
    json_put(doc, row, "fix", str_from(err->fix));
}

void import_refuse_line(struct import *im, int64_t line, const struct error *err) {
  import_refuse(im, yyjson_mut_sint(im->call->doc, line), err);
}

void import_warn(struct import *im, const char *code, struct str message, struct str fix) {
  yyjson_mut_doc *doc = im->call->doc;
  if (im->warned++ >= IMPORT_REPORTED)
    return;
  yyjson_mut_val *w = yyjson_mut_arr_add_obj(doc, im->warnings);
  json_put(doc, w, "code", str_from(code));
  json_put(doc, w, "message", message);
  json_put_opt(doc, w, "fix", fix);
}

enum status import_check_cancelled(struct import *im) {
  if (!cancelled(im->call))
    return STATUS_OK;
  return error_set(im->call->err, STATUS_INTERRUPTED, "stopped; nothing was imported");
}

static void put_counts(struct import *im, bool committed) {
  const struct {
    const char *name;
    int64_t count;
    bool always;
  } counts[] = {{"imported", im->imported, true},     {"already", im->already, true},
                {"tombstoned", im->tombstoned, true}, {"duplicates", im->duplicates, false},
                {"links", im->links, true},           {"tombstones", im->tombstones, false},
                {"transactions", im->txns, false},    {"events", im->events, false},
                {"redacted", im->redacted, false},    {"untrusted", im->untrusted, false}};
  for (size_t i = 0; i < ARRAY_LEN(counts); i++)
    if (counts[i].always || counts[i].count)
      json_put_int(im->call->doc, im->call->result, counts[i].name, committed ? counts[i].count : 0);
}

static enum status embed_chunks(struct import *im, struct embeddings *set, int64_t *ret_embedded, bool *ret_complete) {
  struct op_call *call = im->call;
  TRY(embeddings_of(call, set));
  TRY(embeddings_note_now(call, set));
  for (size_t i = 0; i < set->n; i++) {
    struct pass pass;
    TRY(reembed_pass(call, &set->v[i], im->last_chunk, 0, &pass));
    if (pass.why.code != STATUS_OK)
      embeddings_degrade(call, set, arena_printf(call->arena, "embedder %.*s", STR_ARG(set->v[i].model.model)),
                         &pass.why);
    if (set->v[i].building == (set->n > 1)) /* of two indexes, count only the new one */
      *ret_embedded = pass.embedded;
    *ret_complete &= pass.complete;
  }
  return STATUS_OK;
}

/* The import is committed by now: if embedding fails or is stopped, 'cairn reembed' completes it. */
static void embed_imported(struct import *im) {
  struct op_call *call = im->call;
  struct embeddings set;
  int64_t embedded = 0;
  bool complete = true;
  struct str fix = STR("'cairn reembed' embeds the imported memories");
  enum status s = embed_chunks(im, &set, &embedded, &complete);
  json_put_int(call->doc, call->result, "embedded", embedded);
  if (s != STATUS_OK) {
    store_rollback(call->engine->store);
    import_warn(im, "embedding_deferred", str_from(call->err->message), fix);
  } else if (set.degraded.p) {
    import_warn(im, "embedding_deferred", set.degraded, fix);
  } else if (!complete) {
    import_warn(im, "embedding_deferred", STR("stopped while embedding; everything is imported"),
                STR("'cairn reembed' embeds the rest"));
  }
}

enum status import_finish(struct import *im) {
  struct op_call *call = im->call;
  yyjson_mut_val *result = call->result;
  bool failed = im->bad && !im->skip_bad;
  bool changed = im->imported || im->links || im->tombstones || im->txns || im->events;
  json_put(call->doc, result, "format", str_from(im->format));
  put_counts(im, !failed);
  if (im->untrusted && !failed)
    json_put(
        call->doc, result, "promote",
        STR("search finds untrusted memories, boot does not show them: 'cairn list --untrusted' lists them, 'cairn "
            "promote ID' makes one trusted"));
  json_put_int(call->doc, result, "refused_count", im->bad);
  yyjson_mut_obj_add_val(call->doc, result, "refused", im->refused);
  yyjson_mut_obj_add_val(call->doc, result, "warnings", im->warnings);
  if (im->warned > IMPORT_REPORTED)
    json_put_int(call->doc, result, "more_warnings", im->warned - IMPORT_REPORTED);
  if (im->dry_run)
    json_put_bool(call->doc, result, "dry_run", true);
  if (failed) {
    struct str message = arena_printf(call->arena, "%lld bad %s; nothing was imported", (long long)im->bad,
                                      im->bad == 1 ? "row" : "rows");
    json_put_bool(call->doc, result, "ok", false);
    json_put(call->doc, result, "message", message);
    json_put(call->doc, result, "fix", STR("correct them, or repeat the call with --skip-bad to leave them out"));
  }
  if (failed || im->dry_run || !changed) {
    store_rollback(call->engine->store);
    return STATUS_OK;
  }
  TRY(call_commit(call, &im->txn));
  if (im->imported && !json_bool(call->args, "defer_embedding", false))
    embed_imported(im);
  return STATUS_OK;
}

/* ---- foreign memories ---- */

struct str import_uid(struct arena *a, const struct str *texts, size_t n) {
  struct buf b = BUF(a);
  uint8_t hash[HASH_BYTES];
  char *uid = arena_alloc(a, UUID_SIZE);
  for (size_t i = 0; i < n; i++) {
    buf_addf(&b, "%zu:", texts[i].n); /* length prefix: different lists give different bytes */
    buf_add(&b, texts[i]);
  }
  hash_bytes(buf_str(&b), hash);
  uuid8_from_hash(hash, uid);
  return str_from(uid);
}

static enum status insert_draft(struct import *im, struct op_call *call, struct write *w) {
  struct chunk_rows chunks = {0};
  struct memory *m = &w->m;
  m->state = STR("active");
  m->created_at = m->updated_at = m->valid_from = call->now;
  enum status s = memory_insert_split(&im->txn, call->arena, m, &w->parts, w->parts.n, &chunks, call->err);
  w->id = m->id;
  if (s == STATUS_OK)
    s = duplicates_link(call, &im->txn, w);
  im->imported += s == STATUS_OK;
  im->untrusted += s == STATUS_OK && !memory_is_trusted(m);
  im->redacted += w->redacted;
  /* After the row is inserted, an error is not a row error. */
  if (s != STATUS_OK && m->id && import_is_row_error(s))
    call->err->code = s = STATUS_INTERNAL;
  return s;
}

enum status import_store(struct import *im, struct arena *a, struct memory *m, int64_t *ret_id, struct error *err) {
  struct op_call call = *im->call;
  struct store *st = call.engine->store;
  bool purged = false;
  assert(db_in_transaction(store_db(st)));
  call.arena = a;
  call.err = err;
  *ret_id = 0;
  TRY(transfer_find(st, call.caller.team, m->uid, ret_id, NULL, err));
  if (*ret_id) {
    im->already++;
    return STATUS_OK;
  }
  TRY(tombstone_exists(st, call.caller.team, m->uid, &purged, err));
  if (purged) {
    im->tombstoned++;
    return STATUS_OK;
  }
  struct write w = {.m = *m, .defer_embedding = true};
  struct replacement rep = {0};
  w.m.team = call.caller.team;
  w.m.source = call.caller.source;
  w.m.session = call.caller.session;
  w.m.trust = STR("import");
  w.m.weight = 1.0;
  TRY(write_prepare(&call, &w));
  TRY(duplicates_decide(&call, &w, &rep));
  /* Imported text never replaces an existing memory. */
  if (w.action == WRITE_SKIPPED || rep.old.id) {
    im->duplicates++;
    *ret_id = rep.old.id ? rep.old.id : w.id;
    return STATUS_OK;
  }
  enum status s = insert_draft(im, &call, &w);
  *ret_id = w.id;
  return s;
}

/* ---- the operation ---- */

enum import_format import_detect_format(struct arena *a, struct str line) {
  yyjson_val *root;
  struct error ignored;
  if (json_read(a, line, &root, &ignored) != STATUS_OK)
    return FORMAT_UNKNOWN;
  struct str type = json_str(root, "type");
  if (yyjson_obj_get(root, "cairn"))
    return FORMAT_NATIVE;
  return str_is(type, "entity") || str_is(type, "relation") ? FORMAT_GRAPH : FORMAT_UNKNOWN;
}

static enum status refuse_format(struct op_call *call, const struct source *source, bool empty) {
  error_set(call->err, STATUS_USAGE, empty ? "%s is empty" : "%s is neither an export nor a memory graph",
            source->name);
  return error_fix(call->err,
                   "'cairn export FILE' writes a file that can be imported; use --format markdown for notes, "
                   "--format graph for the JSONL file of the official memory server");
}

static enum status guess(struct op_call *call, const struct source *source, enum import_format *ret_format) {
  struct lines lines;
  struct str line;
  bool more;
  struct arena *a = arena_child(call->arena);
  lines_open(&lines, source, a, 0, 1);
  enum status s;
  do
    s = lines_next(&lines, &line, &more, call->err);
  while (s == STATUS_OK && more && str_empty(str_trim(line)) && !lines.too_long);
  if (s == STATUS_OK)
    *ret_format = more ? import_detect_format(a, line) : FORMAT_UNKNOWN;
  if (s == STATUS_OK && *ret_format == FORMAT_UNKNOWN)
    s = refuse_format(call, source, !more);
  arena_release(a);
  return s;
}

static bool is_markdown(struct op_call *call, struct str path) {
  struct stat st;
  if (str_ends(path, STR(".md")) || str_ends(path, STR(".markdown")))
    return true;
  return stat(arena_cstr(call->arena, path), &st) == 0 && S_ISDIR(st.st_mode);
}

static enum status import_file(struct import *im, struct str path, struct str format) {
  struct op_call *call = im->call;
  struct source source;
  enum import_format guessed = str_is(format, "cairn") ? FORMAT_NATIVE : FORMAT_GRAPH;
  TRY(source_open(call, path, &source));
  if (str_empty(format) || str_is(format, "auto"))
    TRY(guess(call, &source, &guessed));
  im->format = guessed == FORMAT_NATIVE ? "cairn" : "graph";
  return guessed == FORMAT_NATIVE ? import_native(im, &source) : import_graph(im, &source);
}

enum status op_import(struct op_call *call) {
  struct str path = json_str(call->args, "file"), format = json_str(call->args, "format");
  struct import im = {.call = call,
                      .skip_bad = json_bool(call->args, "skip_bad", false),
                      .dry_run = json_bool(call->args, "dry_run", false),
                      .keep_trust = json_bool(call->args, "keep_trust", false),
                      .refused = yyjson_mut_arr(call->doc),
                      .warnings = yyjson_mut_arr(call->doc)};
  if (str_empty(path)) {
    error_set(call->err, STATUS_USAGE, "import: the file's name is empty");
    return error_fix(call->err, "cairn import FILE");
  }
  call->caller.foreign = true; /* imported memories do not age */
  im.own = call_is_by_person(call) && !json_bool(call->args, "untrusted", false);
  if (im.keep_trust && !im.own && call_is_by_person(call)) {
    error_set(call->err, STATUS_USAGE, "import: keep_trust and untrusted contradict each other");
    return error_fix(call->err, "give one of them");
  }
  if (im.keep_trust && !im.own) {
    error_set(call->err, STATUS_DENIED, "only a person may use keep_trust");
    return error_fix(call->err, "leave keep_trust out: the memories are imported as untrusted; your user can promote "
                                "them");
  }
  bool any = str_empty(format) || str_is(format, "auto");
  TRY(call_refuse_store_path(call, path));
  TRY(chunk_last_id(call->engine->store, call->caller.team, &im.last_chunk, call->err));
  if (str_is(format, "markdown") || (any && is_markdown(call, path))) {
    im.format = "markdown";
    TRY(import_markdown(&im, path));
  } else {
    TRY(import_file(&im, path, format));
  }
  return import_finish(&im);
}
