/* source.c: source add, list, refresh, remove: folders whose files are searched.
 *
 * A file is a group of documents. Its hash tells whether it has changed. A file with the same content as another has no
 * documents, and its hash starts with '='. When the file that owns the documents is deleted, one of its copies becomes
 * the owner.
 *
 * Files are read in two passes, for their hashes and then for their texts, so a folder may be larger than memory.
 * The write lock is held for at most BATCH_FILES files at a time. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "core/files/pieces.h"
#include "core/secrets/redact.h"
#include "file/place.h"
#include "file/source_state.h"
#include "file/walk.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/search/corpus.h"
#include "store/memories/documents.h"
#include "store/search/lexical.h"

enum {
  RACY_MS = 2000, /* a file changed this recently may change again with the same size and timestamp */
  PROGRESS_EVERY = 50,
  HASH_HEX = 32,
  BATCH_FILES = 256,
  BATCH_BYTES = 8 << 20,
  PATH_MAX_BYTES = 1500, /* limit of the store */
  RULES = 1,             /* version of the rules for splitting files; a new number causes all files to be read again */
};

struct source_file {
  struct str path; /* absolute */
  const struct walk_file *file;
  const struct document_group *old; /* NULL if new */
  struct str hash;                  /* absent if unreadable or not text */
  bool fresh;                       /* size or timestamp differ from the stored ones */
  bool copy;                        /* the same content is stored under another path */
};

struct source {
  struct op_call *call;
  struct str root;
  struct document_groups groups; /* of the project, sorted by path */
  bool *exists;                  /* for each of `groups`: its file exists */
  struct walk_files list;
  struct walk_counts counts;
  LIST(struct source_file) files;
  struct document_counts stored;
  int64_t read, copies, gone, redacted;
};

/* ---- paths ---- */

static bool is_below(struct str path, struct str folder) {
  if (str_is(folder, "/"))
    return path.n > 1;
  return path.n > folder.n + 1 && str_starts(path, folder) && path.p[folder.n] == '/';
}

/* Opens the folder: access() does not see what a sandbox forbids. */
static enum status check_open(struct op_call *call, const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    close(fd);
    return STATUS_OK;
  }
  error_errno(call->err, errno, "cannot read the folder '%s'", path);
  return error_fix(call->err, "make it readable; a server can read only folders that were sources when it started: "
                              "run 'cairn source add' in a terminal and restart the server");
}

static enum status find_folder(struct op_call *call, struct str *ret_path) {
  TRY(call_folder(call, ret_path));
  return check_open(call, ret_path->p);
}

static enum status load_roots(struct op_call *call, struct source_roots *ret_roots) {
  return source_roots(call->engine->store, call->caller.team, call->caller.project, call->arena, ret_roots, call->err);
}

/* Finds a source by its folder, or, if the folder no longer exists, by the path that was stored. */
static enum status find_root(struct op_call *call, const struct source_roots *roots, struct str *ret_path) {
  struct str dir = json_str(call->args, "dir");
  char real[PATH_MAX];
  struct str path = realpath(arena_cstr(call->arena, dir), real) ? arena_dup(call->arena, str_from(real)) : dir;
  while (path.n > 1 && path.p[path.n - 1] == '/')
    path.n--;
  for (size_t i = 0; i < roots->n; i++)
    if (str_eq(roots->v[i].path, path) || str_eq(roots->v[i].path, dir)) {
      *ret_path = roots->v[i].path;
      return STATUS_OK;
    }
  error_set(call->err, STATUS_NOT_FOUND, "'%.*s' is not a source of this project", STR_ARG(dir));
  return error_fix(call->err, "'cairn source list' shows them; 'cairn source add DIR' adds one");
}

/* ---- stored groups ---- */

static enum status load_groups(struct source *x) {
  struct op_call *call = x->call;
  x->groups = (struct document_groups){0};
  TRY(documents_groups(call->engine->store, call->caller.team, call->caller.project, CORPUS_SOURCES, call->arena,
                       &x->groups, call->err));
  x->exists = arena_array(call->arena, bool, x->groups.n + 1);
  return STATUS_OK;
}

static bool is_copy(struct str hash) { return str_starts(hash, STR("=")); }
static struct str content_of(struct str hash) { return is_copy(hash) ? str_slice(hash, 1, hash.n) : hash; }

static struct str hash_of(struct arena *a, struct str text) {
  char hex[HASH_TEXT_SIZE];
  hash_text(text, hex);
  return arena_printf(a, "%d:%.*s", RULES, HASH_HEX, hex);
}

static bool has_our_rules(struct str hash) {
  struct str rest = content_of(hash), part;
  int64_t rules;
  return str_next(&rest, ':', &part) && str_int64(part, &rules) && rules == RULES;
}

static int by_text(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

static bool has_text(const struct strs *sorted, struct str s) {
  return sorted->n && bsearch(&s, sorted->v, sorted->n, sizeof(*sorted->v), by_text) != NULL;
}

static enum status interrupted(struct op_call *call) {
  error_set(call->err, STATUS_INTERRUPTED, "stopped before the end");
  return error_fix(call->err, "the files indexed so far are kept; 'cairn source refresh' does the rest");
}

/* ---- first pass: hashes ---- */

static void hash_file(struct source *x, struct arena *scratch, struct source_file *f) {
  int64_t unreadable = x->counts.unreadable;
  const struct document_group *old = f->old;
  f->fresh = !old || !has_our_rules(old->hash) || old->size != f->file->size || old->changed_at != f->file->changed_at;
  if (!f->fresh) {
    f->hash = content_of(old->hash);
    return;
  }
  struct str text = walk_read(x->root.p, f->file, scratch, &x->counts);
  if (text.p) {
    f->hash = hash_of(x->call->arena, text);
    x->read++;
  } else if (old && x->counts.unreadable > unreadable) {
    f->hash = content_of(old->hash); /* keep the stored text while the file is unreadable */
    f->fresh = false;
  }
}

static enum status read_hashes(struct source *x) {
  struct op_call *call = x->call;
  struct arena *scratch = arena_child(call->arena);
  TRY(walk_list(x->root.p, call->arena, &x->list, &x->counts, call->err));
  for (size_t i = 0; i < x->list.n; i++) {
    if (i % PROGRESS_EVERY == 0) {
      progress(call, "reading", (int64_t)i, (int64_t)x->list.n);
      if (cancelled(call))
        return interrupted(call);
    }
    struct source_file f = {.file = &x->list.v[i]};
    f.path = arena_printf(call->arena, "%s/%.*s", str_is(x->root, "/") ? "" : x->root.p, STR_ARG(f.file->path));
    if (f.path.n > PATH_MAX_BYTES) {
      x->counts.unreadable++;
      continue;
    }
    f.old = document_group_find(&x->groups, f.path);
    hash_file(x, scratch, &f);
    if (f.hash.p && f.old)
      x->exists[f.old - x->groups.v] = true;
    if (f.hash.p)
      list_push(call->arena, &x->files, f);
    arena_recycle(scratch, WALK_FILE_BYTES);
  }
  progress(call, "reading", (int64_t)x->list.n, (int64_t)x->list.n);
  return STATUS_OK;
}

/* ---- copies ---- */

/* Of files with the same content, the current owner of the documents is first. */
static int by_hash(const void *x, const void *y) {
  const struct source_file *f = *(struct source_file *const *)x, *g = *(struct source_file *const *)y;
  int order = str_cmp(f->hash, g->hash);
  bool owns_f = f->old && str_eq(f->old->hash, f->hash), owns_g = g->old && str_eq(g->old->hash, g->hash);
  if (!order)
    order = owns_g - owns_f;
  return order ? order : str_cmp(f->path, g->path);
}

static void find_copies(struct source *x) {
  struct arena *a = x->call->arena;
  struct strs elsewhere = {0};
  struct source_file **sorted = arena_array(a, struct source_file *, x->files.n + 1);
  for (size_t i = 0; i < x->groups.n; i++)
    if (!is_below(x->groups.v[i].path, x->root) && !is_copy(x->groups.v[i].hash))
      strs_push(a, &elsewhere, x->groups.v[i].hash);
  if (elsewhere.n)
    qsort(elsewhere.v, elsewhere.n, sizeof(*elsewhere.v), by_text);
  for (size_t i = 0; i < x->files.n; i++)
    sorted[i] = &x->files.v[i];
  if (x->files.n)
    qsort(sorted, x->files.n, sizeof(*sorted), by_hash);
  for (size_t i = 0; i < x->files.n; i++) {
    sorted[i]->copy = (i > 0 && str_eq(sorted[i]->hash, sorted[i - 1]->hash)) || has_text(&elsewhere, sorted[i]->hash);
    x->copies += sorted[i]->copy;
  }
}

/* ---- second pass: texts ---- */

/* Redacts secrets, but keeps their line breaks, so line numbers stay right. */
static struct str without_secrets(struct source *x, struct arena *a, struct str text) {
  struct secret_hits hits = {0};
  struct buf b = BUF(a);
  size_t done = 0;
  redact_find(a, text, x->call->secrets, &hits);
  x->redacted += (int64_t)hits.n;
  for (size_t i = 0; i < hits.n; i++) {
    struct str secret = str_slice(text, hits.v[i].start, hits.v[i].start + hits.v[i].len);
    assert(hits.v[i].start >= done);
    buf_add(&b, str_slice(text, done, hits.v[i].start));
    buf_addf(&b, "[REDACTED:%s]", hits.v[i].pattern);
    for (size_t k = 0; k < secret.n; k++)
      if (secret.p[k] == '\n')
        buf_addc(&b, '\n');
    done = hits.v[i].start + hits.v[i].len;
  }
  buf_add(&b, str_slice(text, done, text.n));
  return hits.n ? buf_str(&b) : text;
}

static void add_pieces(struct source *x, struct arena *a, struct str path, struct str text,
                       struct documents *ret_list) {
  struct pieces pieces = {0};
  struct str name = fs_basename(path);
  struct str shown = is_below(path, x->root) ? str_slice(path, x->root.n + !str_is(x->root, "/"), path.n) : path;
  pieces_split(a, name, without_secrets(x, a, text), &pieces);
  for (size_t i = 0; i < pieces.n; i++) {
    const struct piece *p = &pieces.v[i];
    struct str headline = p->heading.p ? arena_printf(a, "%.*s: %.*s", STR_ARG(name), STR_ARG(p->heading)) : shown;
    list_push(a, ret_list,
              (struct document){.ref = arena_printf(a, "%zu", i + 1),
                                .type = STR("reference"),
                                .headline = headline,
                                .text = p->text,
                                .line = p->line,
                                .confidence = 1,
                                .at = x->call->now});
  }
}

/* A new or changed group. */
struct change {
  struct document_group group;
  struct documents list;
};

struct batch {
  struct arena *a; /* holds the texts */
  LIST(struct change) changes;
  size_t bytes;
  struct strs removed;
};

static enum status flush(struct source *x, struct batch *b) {
  struct op_call *call = x->call;
  struct txn txn;
  bool hold = b->changes.n > 1;
  assert(b->changes.n + b->removed.n <= BATCH_FILES);
  if (b->changes.n + b->removed.n == 0)
    return STATUS_OK;
  TRY(call_begin(call, &txn));
  if (hold)
    TRY(lexical_hold(&txn, call->err));
  for (size_t i = 0; i < b->removed.n; i++)
    TRY(documents_remove(&txn, b->a, CORPUS_SOURCES, b->removed.v[i], &x->stored, call->err));
  for (size_t i = 0; i < b->changes.n; i++)
    TRY(documents_replace(&txn, b->a, CORPUS_SOURCES, &b->changes.v[i].group, &b->changes.v[i].list, &x->stored,
                          call->err));
  if (hold)
    TRY(lexical_release(&txn, call->err));
  TRY(txn_commit(&txn, call->err));
  arena_recycle(b->a, BATCH_BYTES);
  *b = (struct batch){.a = b->a};
  return STATUS_OK;
}

static enum status flush_if_full(struct source *x, struct batch *b) {
  if (b->changes.n + b->removed.n < BATCH_FILES && b->bytes < BATCH_BYTES)
    return STATUS_OK;
  return cancelled(x->call) ? interrupted(x->call) : flush(x, b);
}

static enum status write_file(struct source *x, struct batch *b, const struct source_file *f) {
  struct op_call *call = x->call;
  struct change c = {.group = {.path = f->path, .size = f->file->size, .hash = f->hash}};
  struct str want = f->copy ? arena_printf(call->arena, "=%.*s", STR_ARG(f->hash)) : f->hash, text = STR_NONE;
  if (f->old && !f->fresh && str_eq(f->old->hash, want))
    return STATUS_OK;
  c.group.changed_at = f->file->changed_at < call->now - RACY_MS ? f->file->changed_at : 0;
  if (!f->copy) {
    text = walk_read(x->root.p, f->file, b->a, &x->counts);
    if (!text.p)
      return STATUS_OK;
    want = hash_of(call->arena, text); /* the file may have changed since the first pass */
    add_pieces(x, b->a, f->path, text, &c.list);
  }
  c.group.hash = want;
  list_push(b->a, &b->changes, c);
  b->bytes += text.n;
  return flush_if_full(x, b);
}

static enum status write_files(struct source *x) {
  struct op_call *call = x->call;
  struct batch b = {.a = arena_child(call->arena)};
  for (size_t i = 0; i < x->groups.n; i++)
    if (is_below(x->groups.v[i].path, x->root) && !x->exists[i]) {
      x->gone++;
      strs_push(b.a, &b.removed, x->groups.v[i].path);
      TRY(flush_if_full(x, &b));
    }
  for (size_t i = 0; i < x->files.n; i++) {
    if (i % PROGRESS_EVERY == 0)
      progress(call, "storing", (int64_t)i, (int64_t)x->files.n);
    TRY(write_file(x, &b, &x->files.v[i]));
  }
  progress(call, "storing", (int64_t)x->files.n, (int64_t)x->files.n);
  return flush(x, &b);
}

/* ---- copies whose owner was deleted ---- */

static enum status make_owner(struct source *x, struct batch *b, const struct document_group *g) {
  struct walk_file file = {.path = str_slice(g->path, 1, g->path.n)};
  struct walk_counts ignored = {0};
  struct str text = walk_read("", &file, b->a, &ignored);
  if (!text.p || !str_eq(hash_of(b->a, text), content_of(g->hash))) {
    strs_push(b->a, &b->removed, g->path); /* the next refresh of its folder reads it */
    return flush_if_full(x, b);
  }
  struct change c = {.group = *g};
  c.group.hash = content_of(g->hash);
  add_pieces(x, b->a, g->path, text, &c.list);
  list_push(b->a, &b->changes, c);
  b->bytes += text.n;
  return flush_if_full(x, b);
}

static enum status replace_owners(struct source *x) {
  struct arena *a = x->call->arena;
  struct batch b = {.a = arena_child(a)};
  struct strs owned = {0}, replaced = {0};
  TRY(load_groups(x));
  for (size_t i = 0; i < x->groups.n; i++)
    if (!is_copy(x->groups.v[i].hash))
      strs_push(a, &owned, x->groups.v[i].hash);
  if (owned.n)
    qsort(owned.v, owned.n, sizeof(*owned.v), by_text);
  for (size_t i = 0; i < x->groups.n; i++) {
    struct str content = content_of(x->groups.v[i].hash);
    if (!is_copy(x->groups.v[i].hash) || has_text(&owned, content) || strs_has(&replaced, content))
      continue;
    strs_push(a, &replaced, content);
    TRY(make_owner(x, &b, &x->groups.v[i]));
  }
  return flush(x, &b);
}

/* ---- one folder ---- */

/* One event for the whole run. */
static enum status note_run(struct source *x) {
  struct op_call *call = x->call;
  struct txn txn;
  if (x->stored.added + x->stored.changed + x->stored.removed == 0)
    return STATUS_OK;
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "type", STR("sources"));
  json_put(doc, detail, "path", x->root);
  json_put_int(doc, detail, "delta", x->stored.added - x->stored.removed);
  json_put_int(doc, detail, "added", x->stored.added);
  json_put_int(doc, detail, "changed", x->stored.changed);
  json_put_int(doc, detail, "removed", x->stored.removed);
  struct event e = {.action = STR("memory:write"), .detail = json_write(call->arena, detail, false)};
  TRY(call_begin(call, &txn));
  TRY(event_add(&txn, &e, call->err));
  return txn_commit(&txn, call->err);
}

static void put_source(const struct source *x, yyjson_mut_val *arr) {
  yyjson_mut_doc *doc = x->call->doc;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
  json_put(doc, v, "folder", call_path(x->call, x->root));
  json_put_int(doc, v, "files", (int64_t)x->files.n);
  json_put_int(doc, v, "read", x->read);
  json_put_int(doc, v, "copies", x->copies);
  json_put_int(doc, v, "gone", x->gone);
  json_put_int(doc, v, "added", x->stored.added);
  json_put_int(doc, v, "changed", x->stored.changed);
  json_put_int(doc, v, "removed", x->stored.removed);
  if (x->redacted)
    json_put_int(doc, v, "redacted", x->redacted);
  yyjson_mut_val *skipped = json_put_obj(doc, v, "skipped");
  json_put_int(doc, skipped, "binary", x->counts.binary);
  json_put_int(doc, skipped, "pages", x->counts.pages);
  json_put_int(doc, skipped, "huge", x->counts.huge);
  json_put_int(doc, skipped, "unreadable", x->counts.unreadable);
  json_put_int(doc, skipped, "hidden", x->counts.hidden);
  json_put_int(doc, skipped, "links", x->counts.links);
}

static enum status index_folder(struct op_call *call, struct str root, yyjson_mut_val *arr) {
  struct source x = {.call = call, .root = root};
  TRY(load_groups(&x));
  TRY(read_hashes(&x));
  find_copies(&x);
  TRY(write_files(&x));
  TRY(replace_owners(&x));
  TRY(note_run(&x));
  put_source(&x, arr);
  return STATUS_OK;
}

/* ---- operations ---- */

static enum status refuse_nested(struct op_call *call, struct str path, struct str root) {
  error_set(call->err, STATUS_CONFLICT, "'%.*s' is part of the source '%.*s'", STR_ARG(path), STR_ARG(root));
  return error_fix(call->err, "'cairn source refresh' reads its new files");
}

/* The root is stored before its files, so the next refresh completes an interrupted call. Sources below it become
 * part of it. */
static enum status save_root(struct op_call *call, struct str path, const struct source_roots *roots) {
  struct txn txn;
  bool found;
  TRY(call_begin(call, &txn));
  for (size_t i = 0; i < roots->n; i++)
    if (is_below(roots->v[i].path, path))
      TRY(source_root_remove(&txn, roots->v[i].path, &found, call->err));
  TRY(source_root_add(&txn, path, call->err));
  return txn_commit(&txn, call->err);
}

enum status op_source_add(struct op_call *call) {
  struct source_roots roots = {0};
  struct str path;
  bool known = false;
  TRY(find_folder(call, &path));
  TRY(load_roots(call, &roots));
  for (size_t i = 0; i < roots.n; i++) {
    known |= str_eq(roots.v[i].path, path);
    if (is_below(path, roots.v[i].path))
      return refuse_nested(call, path, roots.v[i].path);
  }
  if (path.n > PATH_MAX_BYTES) {
    error_set(call->err, STATUS_USAGE, "a path of %zu bytes cannot be indexed", path.n);
    return error_fix(call->err, "paths have at most %d bytes", (int)PATH_MAX_BYTES);
  }
  if (!known)
    TRY(save_root(call, path, &roots));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "sources");
  TRY(index_folder(call, path, arr));
  return corpus_embed(call);
}

/* The documents of a missing folder are kept: its disk may not be mounted. */
static void put_missing(struct op_call *call, struct str root, yyjson_mut_val *arr) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "folder", call_path(call, root));
  json_put(call->doc, v, "problem", STR("the folder does not exist; its documents are kept"));
}

static bool is_readable(struct op_call *call, struct str root) {
  struct stat st;
  return stat(arena_cstr(call->arena, root), &st) == 0 && S_ISDIR(st.st_mode) &&
         access(arena_cstr(call->arena, root), R_OK | X_OK) == 0;
}

enum status op_source_refresh(struct op_call *call) {
  struct source_roots roots = {0};
  struct str only = STR_NONE;
  TRY(load_roots(call, &roots));
  if (json_str(call->args, "dir").p)
    TRY(find_root(call, &roots, &only));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "sources");
  for (size_t i = 0; i < roots.n; i++) {
    struct str root = roots.v[i].path;
    if (only.p && !str_eq(only, root))
      continue;
    if (is_readable(call, root)) {
      TRY(index_folder(call, root, arr));
    } else if (only.p) {
      return call_no_folder(call, root);
    } else {
      put_missing(call, root, arr);
    }
  }
  return corpus_embed(call);
}

/* How a server on this machine watches the folders. */
static void load_states(struct op_call *call, struct source_states *ret_states) {
  struct str root;
  struct error ignored;
  if (mirror_place_parent(call->engine->store, call->caller.team, call->arena, &root, &ignored) == STATUS_OK)
    source_state_read(root, call->arena, ret_states);
}

static const char *way_of(struct op_call *call, const struct source_states *states, struct str folder) {
  enum source_way way = SOURCE_UNWATCHED;
  for (size_t i = 0; i < states->n; i++)
    if (str_eq(states->v[i].folder, folder) && str_eq(states->v[i].project, call->caller.project))
      way = states->v[i].way;
  return source_way_names[way];
}

enum status op_source_list(struct op_call *call) {
  struct source x = {.call = call};
  struct source_roots roots = {0};
  struct source_states states = {0};
  TRY(load_roots(call, &roots));
  TRY(load_groups(&x));
  load_states(call, &states);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "sources");
  for (size_t i = 0; i < roots.n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    char time[TIME_TEXT_SIZE];
    int64_t files = 0, copies = 0, bytes = 0;
    for (size_t k = 0; k < x.groups.n; k++)
      if (is_below(x.groups.v[k].path, roots.v[i].path)) {
        files++;
        copies += is_copy(x.groups.v[k].hash);
        bytes += x.groups.v[k].size;
      }
    json_put(call->doc, v, "folder", call_path(call, roots.v[i].path));
    json_put_int(call->doc, v, "files", files);
    json_put_int(call->doc, v, "copies", copies);
    json_put_int(call->doc, v, "bytes", bytes);
    json_put(call->doc, v, "added_at", time_format(roots.v[i].added_at, time));
    json_put_bool(call->doc, v, "there", is_readable(call, roots.v[i].path));
    json_put(call->doc, v, "watch", str_from(way_of(call, &states, roots.v[i].path)));
  }
  json_put_int(call->doc, call->result, "count", (int64_t)roots.n);
  return STATUS_OK;
}

enum status op_source_remove(struct op_call *call) {
  struct source x = {.call = call};
  struct source_roots roots = {0};
  struct txn txn;
  bool found;
  TRY(load_roots(call, &roots));
  TRY(find_root(call, &roots, &x.root));
  TRY(load_groups(&x));
  TRY(write_files(&x)); /* x.exists is all false, so this removes every group of the folder */
  TRY(call_begin(call, &txn));
  TRY(source_root_remove(&txn, x.root, &found, call->err));
  TRY(txn_commit(&txn, call->err));
  TRY(replace_owners(&x));
  TRY(note_run(&x));
  json_put(call->doc, call->result, "folder", x.root);
  json_put_int(call->doc, call->result, "files", x.gone);
  json_put_int(call->doc, call->result, "removed", x.stored.removed);
  return STATUS_OK;
}
