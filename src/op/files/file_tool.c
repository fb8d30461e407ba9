/* file_tool.c: files under /memories: file view, create, str_replace, insert, delete, rename.
 *
 * A file is a memory with its path as key and its content, byte for byte, as text. An edit supersedes it softly, so
 * that every version stays; deleting a file forgets it. Results and errors have the texts of Anthropic's memory tool,
 * without the prefix "Error: ", which the MCP tool adds to some of them. */
#include <assert.h>

#include "core/files/memfile.h"
#include "core/memory/headline.h"
#include "core/text/text.h"
#include "op/handlers.h"
#include "op/write/replace.h"
#include "store/memories/memories.h"

/* DEFER_BYTES: longer texts are embedded by maintenance, so an edit is fast. DEFER_FILES: so are larger moves. */
enum { TRIES = 20, DEFER_BYTES = 16384, DEFER_FILES = 8 };

struct file {
  struct str path, content;
  struct memory m;
  bool found;
};

/* ---- reading ---- */

static enum status path_arg(struct op_call *call, const char *name, struct str *ret_path) {
  struct str given = json_str(call->args, name);
  return memfile_path(given.p ? given : STR(MEMFILE_ROOT), ret_path, call->err);
}

static enum status find_file(struct op_call *call, struct str path, struct memory *ret_memory, bool *ret_found) {
  return memory_by_key(call->engine->store, call->caller.team, call->caller.project, path, call->arena, ret_memory,
                       ret_found, call->err);
}

static enum status load_text(struct op_call *call, struct file *f) {
  struct store *st = call->engine->store;
  TRY(memory_load_body(st, call->arena, &f->m, call->err));
  TRY(memory_load_lists(st, call->arena, &f->m, call->err));
  f->content = f->m.body;
  if (strs_has(&f->m.tags, STR(MEMFILE_BLANK_TAG)) && str_starts(f->content, STR(MEMFILE_BLANK)))
    f->content = str_slice(f->content, sizeof(MEMFILE_BLANK) - 1, f->content.n);
  return STATUS_OK;
}

static enum status load(struct op_call *call, struct str path, struct file *ret_file) {
  struct file f = {.path = path};
  TRY(find_file(call, path, &f.m, &f.found));
  if (f.found)
    TRY(load_text(call, &f));
  *ret_file = f;
  return STATUS_OK;
}

static enum status list_under(struct op_call *call, struct str dir, struct memories *ret_list) {
  struct scope scope = call_scope(call);
  return files_under(call->engine->store, &scope, dir, call->arena, ret_list, call->err);
}

static enum status refuse_missing(struct op_call *call, struct str path, bool long_text) {
  error_set(call->err, STATUS_NOT_FOUND, "The path %.*s does not exist%s", STR_ARG(path),
            long_text ? ". Please provide a valid path." : "");
  return error_fix(call->err, "'cairn file view' lists the files");
}

static enum status refuse_existing(struct op_call *call, const char *step, const char *what, struct str path) {
  error_set(call->err, STATUS_CONFLICT, "%s %.*s already exists", what, STR_ARG(path));
  error_step(call->err, step);
  return error_fix(call->err, "choose another path, or edit the existing file");
}

static enum status refuse_root(struct op_call *call, struct str path, const char *verb) {
  if (!str_is(path, MEMFILE_ROOT))
    return STATUS_OK;
  error_set(call->err, STATUS_REFUSED, "Cannot %s the /memories directory itself", verb);
  error_step(call->err, "root");
  return error_fix(call->err, "name a file or folder in it");
}

/* ---- writing ---- */

static void draft(struct op_call *call, struct str path, struct str content, struct write *w) {
  struct arena *a = call->arena;
  bool blank = str_empty(str_trim(content));
  struct str about = blank ? STR("") : headline_derive(a, content);
  w->m = (struct memory){.type = str_from(type_of_prose()->name),
                         .key = path,
                         .body = blank ? arena_printf(a, MEMFILE_BLANK "%.*s", STR_ARG(content)) : content};
  call_set_author(call, &w->m);
  w->m.headline = text_collapse(
      a, headline_cut(a, arena_printf(a, "%.*s%s%.*s", STR_ARG(path), about.n ? ": " : "", STR_ARG(about))));
  strs_push(a, &w->m.tags, STR(MEMFILE_TAG));
  if (blank)
    strs_push(a, &w->m.tags, STR(MEMFILE_BLANK_TAG));
  w->exact = w->soft = w->inherit_pin = w->inherit_skill = true;
  w->defer_embedding = content.n > DEFER_BYTES;
}

static void put_file(struct op_call *call, struct str path, struct str content, const struct write *w) {
  json_put(call->doc, call->result, "path", path);
  json_put_int(call->doc, call->result, "id", w->id);
  json_put(call->doc, call->result, "uid", w->uid);
  json_put_int(call->doc, call->result, "size", (int64_t)content.n);
  json_put_int(call->doc, call->result, "lines", (int64_t)memfile_count_lines(content));
  put_trust(call, call->result, &w->m);
}

/* Stores the new content if `was` is still the current version; otherwise sets *ret_again. */
static enum status save(struct op_call *call, const struct file *was, struct str content, const char *reason,
                        struct str text, bool *ret_again) {
  struct write w = {0};
  struct txn txn;
  struct memory held;
  bool found;
  assert(memfile_is_path(was->path));
  draft(call, was->path, content, &w);
  w.reason = str_from(reason);
  w.in_parts = true;
  *ret_again = false;
  TRY(write_prepare(call, &w));
  TRY(call_begin(call, &txn));
  TRY(find_file(call, was->path, &held, &found));
  if (found != was->found || (found && held.id != was->m.id)) {
    store_rollback(txn.store);
    *ret_again = true;
    return STATUS_OK;
  }
  TRY(write_commit(call, &txn, &w));
  put_file(call, was->path, content, &w);
  json_put(call->doc, call->result, "text", text);
  put_no_project(call, w.m.project);
  TRY(call_commit(call, &txn));
  write_index_rest(call, &w);
  return STATUS_OK;
}

/* Computes the new content from the version that was read; repeated if another edit was faster. */
typedef enum status (*edit_fn)(struct op_call *call, const struct file *f, struct str *ret_content,
                               struct str *ret_text);

static enum status edit(struct op_call *call, struct str path, edit_fn fn, const char *reason) {
  for (int i = 0; i < TRIES; i++) {
    struct file f;
    struct str content, text;
    bool again = false;
    TRY(load(call, path, &f));
    TRY(fn(call, &f, &content, &text));
    TRY(save(call, &f, content, reason, text, &again));
    if (!again)
      return STATUS_OK;
  }
  error_set(call->err, STATUS_BUSY, "other callers keep editing %.*s", STR_ARG(path));
  return error_fix(call->err, "try again");
}

/* ---- view ---- */

static bool is_covered(const struct memfile_entry *e, struct str from, struct str key) {
  return e->directory ? str_starts(key, from) : str_eq(key, from);
}

/* True if the file, or every file of the directory, is untrusted. `list` is sorted by path. */
static bool is_untrusted(struct arena *a, const struct memfile_entry *e, const struct memories *list) {
  struct str from = e->directory ? arena_printf(a, "%.*s/", STR_ARG(e->path)) : e->path;
  size_t low = 0, high = list->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (str_cmp(list->v[mid].key, from) < 0)
      low = mid + 1;
    else
      high = mid;
  }
  size_t i = low;
  while (i < list->n && is_covered(e, from, list->v[i].key) && !memory_is_trusted(&list->v[i]))
    i++;
  return i > low && !(i < list->n && is_covered(e, from, list->v[i].key));
}

static enum status view_directory(struct op_call *call, struct str path, const struct memories *list) {
  struct arena *a = call->arena;
  struct memfile_entries files = {0}, shown = {0};
  bool any = false;
  for (size_t i = 0; i < list->n; i++) {
    struct memfile_entry e = {.path = list->v[i].key};
    TRY(memory_file_size(call->engine->store, call->caller.team, list->v[i].id, &e.size, call->err));
    list_push(a, &files, e);
  }
  memfile_list(a, path, &files, &shown);
  struct buf b = BUF(a);
  buf_addf(&b,
           "Here're the files and directories up to 2 levels deep in %.*s, excluding hidden items and node_modules:",
           STR_ARG(path));
  json_put(call->doc, call->result, "path", path);
  json_put_bool(call->doc, call->result, "directory", true);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "entries");
  for (size_t i = 0; i < shown.n; i++) {
    const struct memfile_entry *e = &shown.v[i];
    struct str size = memfile_size(a, e->size);
    buf_addf(&b, "\n%.*s\t%.*s%s", STR_ARG(size), STR_ARG(e->path), e->directory && i ? "/" : "");
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "path", e->path);
    json_put_int(call->doc, v, "size", e->size);
    json_put_bool(call->doc, v, "directory", e->directory);
    bool untrusted = is_untrusted(a, e, list);
    if (untrusted)
      json_put_bool(call->doc, v, "untrusted", true);
    any |= untrusted;
  }
  if (any) /* `text` contains their names */
    json_put_bool(call->doc, call->result, "untrusted", true);
  json_put(call->doc, call->result, "text", buf_str(&b));
  return STATUS_OK;
}

static enum status refuse_range(struct op_call *call, int64_t from, int64_t to, size_t lines) {
  error_set(call->err, STATUS_USAGE, "Invalid `view_range` parameter: [%lld, %lld]. The file has %zu lines",
            (long long)from, (long long)to, lines);
  error_step(call->err, "range");
  return error_fix(call->err, "the first line is at least 1, the last one not before it; -1 is the end of the file");
}

static enum status view_file(struct op_call *call, struct file *f) {
  struct arena *a = call->arena;
  size_t lines = memfile_count_lines(f->content), last = 0;
  int64_t from = json_int(call->args, "from", 1), to = json_int(call->args, "to", -1);
  if (lines > MEMFILE_LINES) {
    error_set(call->err, STATUS_TOO_LARGE, "File %.*s exceeds maximum line limit of 999,999 lines.", STR_ARG(f->path));
    error_step(call->err, "lines");
    return error_fix(call->err, "'cairn file view --raw' shows it without numbers");
  }
  if (from < 1 || (from > 1 && from > (int64_t)lines) || (to != -1 && to < from))
    return refuse_range(call, from, to, lines);
  if (to == -1 || to > (int64_t)lines)
    to = (int64_t)lines;
  bool raw = json_bool(call->args, "raw", false);
  struct str shown = raw ? f->content : memfile_number(a, f->content, (size_t)from, (size_t)to, &last);
  struct buf b = BUF(a);
  if (!raw)
    buf_addf(&b, "Here's the content of %.*s with line numbers:%s", STR_ARG(f->path), shown.n ? "\n" : "");
  buf_add(&b, shown);
  if (!raw && last < (size_t)to)
    buf_addf(&b, "\n[truncated: lines %lld to %zu of %zu; use view_range to see more]", (long long)from, last, lines);
  json_put(call->doc, call->result, "path", f->path);
  json_put_bool(call->doc, call->result, "directory", false);
  json_put_int(call->doc, call->result, "id", f->m.id);
  json_put(call->doc, call->result, "uid", f->m.uid);
  json_put_int(call->doc, call->result, "size", (int64_t)f->content.n);
  json_put_int(call->doc, call->result, "lines", (int64_t)lines);
  json_put_bool(call->doc, call->result, "truncated", !raw && last < (size_t)to);
  put_trust(call, call->result, &f->m);
  if (raw)
    json_put_bool(call->doc, call->result, "raw", true);
  json_put(call->doc, call->result, "text", buf_str(&b));
  note_read(call, &f->m);
  return STATUS_OK;
}

enum status op_file_view(struct op_call *call) {
  struct str path;
  struct file f = {0};
  struct memories list = {0};
  TRY(path_arg(call, "path", &path));
  if (!str_is(path, MEMFILE_ROOT))
    TRY(load(call, path, &f));
  if (f.found)
    return view_file(call, &f);
  TRY(list_under(call, path, &list));
  return list.n || str_is(path, MEMFILE_ROOT) ? view_directory(call, path, &list) : refuse_missing(call, path, true);
}

/* ---- create ---- */

/* A file cannot be a directory of the path, and a directory cannot become a file. */
static enum status check_place(struct op_call *call, struct str path, const char *step, const char *what) {
  struct memories list = {0};
  TRY(list_under(call, path, &list));
  if (list.n)
    return refuse_existing(call, step, what, path);
  for (size_t i = sizeof(MEMFILE_ROOT); i < path.n; i++) {
    struct memory m;
    bool found = false;
    if (path.p[i] != '/')
      continue;
    TRY(find_file(call, (struct str){path.p, i}, &m, &found));
    if (found)
      return refuse_existing(call, step, "File", (struct str){path.p, i});
  }
  return STATUS_OK;
}

static enum status make_create(struct op_call *call, const struct file *f, struct str *ret_content,
                               struct str *ret_text) {
  TRY(check_place(call, f->path, "exists", "File"));
  if (f->found && !json_bool(call->args, "overwrite", false))
    return refuse_existing(call, "exists", "File", f->path);
  *ret_content = json_str(call->args, "file_text");
  *ret_text = arena_printf(call->arena, "File created successfully at: %.*s", STR_ARG(f->path));
  return STATUS_OK;
}

enum status op_file_create(struct op_call *call) {
  struct str path;
  TRY(path_arg(call, "path", &path));
  if (str_is(path, MEMFILE_ROOT))
    return refuse_existing(call, "exists", "File", path);
  return edit(call, path, make_create, "written again");
}

/* ---- str_replace ---- */

static enum status refuse_match(struct op_call *call, const struct file *f, struct str old,
                                const struct places *places) {
  struct buf lines = BUF(call->arena);
  size_t before = 0;
  for (size_t i = 0; i < places->n; i++) {
    size_t line = memfile_line_at(f->content, places->v[i]);
    if (line != before)
      buf_addf(&lines, "%s%zu", before ? ", " : "", line);
    before = line;
  }
  if (places->n == 0) {
    error_set(call->err, STATUS_CONFLICT,
              "No replacement was performed, old_str `%.*s` did not appear verbatim in %.*s.", STR_ARG(old),
              STR_ARG(f->path));
    error_step(call->err, "no_match");
    return error_fix(call->err, "view the file, and copy the text exactly");
  }
  error_set(call->err, STATUS_CONFLICT,
            "No replacement was performed. Multiple occurrences of old_str `%.*s` in lines: %s. Please ensure it is "
            "unique",
            STR_ARG(old), lines.p);
  error_step(call->err, "matches");
  return error_fix(call->err, "make it longer until it is unique; it is in lines: %s", lines.p);
}

static enum status make_replace(struct op_call *call, const struct file *f, struct str *ret_content,
                                struct str *ret_text) {
  enum { AROUND = 2 };
  struct str old = json_str(call->args, "old_str"), new = json_str(call->args, "new_str");
  struct places places = {0};
  if (!f->found)
    return refuse_missing(call, f->path, true);
  memfile_find(call->arena, f->content, old, &places);
  if (places.n != 1)
    return refuse_match(call, f, old, &places);
  struct str content = memfile_replace(call->arena, f->content, places.v[0], old.n, new);
  size_t first = memfile_line_at(content, places.v[0]), last = memfile_line_at(content, places.v[0] + new.n), shown;
  struct str snippet = memfile_number(call->arena, content, first > AROUND ? first - AROUND : 1, last + AROUND, &shown);
  *ret_content = content;
  *ret_text =
      arena_printf(call->arena, "The memory file has been edited.%s%.*s", snippet.n ? "\n" : "", STR_ARG(snippet));
  return STATUS_OK;
}

enum status op_file_str_replace(struct op_call *call) {
  struct str path;
  TRY(path_arg(call, "path", &path));
  return edit(call, path, make_replace, "edited");
}

/* ---- insert ---- */

static enum status make_insert(struct op_call *call, const struct file *f, struct str *ret_content,
                               struct str *ret_text) {
  int64_t line = json_int(call->args, "insert_line", 0);
  if (!f->found)
    return refuse_missing(call, f->path, false);
  size_t lines = memfile_count_lines(f->content);
  if (line < 0 || line > (int64_t)lines) {
    error_set(call->err, STATUS_USAGE,
              "Invalid `insert_line` parameter: %lld. It should be within the range of lines of the file: [0, %zu]",
              (long long)line, lines);
    error_step(call->err, "insert_line");
    return error_fix(call->err, "the text is inserted after that line; 0 is the top of the file");
  }
  *ret_content = memfile_insert(call->arena, f->content, (size_t)line, json_str(call->args, "insert_text"));
  *ret_text = arena_printf(call->arena, "The file %.*s has been edited.", STR_ARG(f->path));
  return STATUS_OK;
}

enum status op_file_insert(struct op_call *call) {
  struct str path;
  TRY(path_arg(call, "path", &path));
  return edit(call, path, make_insert, "edited");
}

/* ---- delete and rename ---- */

/* The file, or all files of the directory. */
static enum status files_at(struct op_call *call, struct str path, struct memories *ret_list) {
  struct memory m;
  bool found;
  TRY(find_file(call, path, &m, &found));
  if (found)
    list_push(call->arena, ret_list, m);
  else
    TRY(list_under(call, path, ret_list));
  return ret_list->n ? STATUS_OK : refuse_missing(call, path, false);
}

enum status op_file_delete(struct op_call *call) {
  struct str path;
  struct memories list = {0};
  struct txn txn;
  TRY(path_arg(call, "path", &path));
  TRY(refuse_root(call, path, "delete"));
  TRY(call_begin(call, &txn));
  TRY(files_at(call, path, &list));
  for (size_t i = 0; i < list.n; i++) {
    struct memory now = list.v[i];
    memory_retire(&now, "forgotten", STR("the file was deleted"), txn.source, txn.now);
    TRY(memory_change(&txn, call->arena, &list.v[i], &now, "memory:forget", call->err));
  }
  json_put(call->doc, call->result, "path", path);
  json_put_int(call->doc, call->result, "files", (int64_t)list.n);
  json_put(call->doc, call->result, "text", arena_printf(call->arena, "Successfully deleted %.*s", STR_ARG(path)));
  return call_commit(call, &txn);
}

struct move {
  struct file from;
  struct write w;
};

static enum status prepare_move(struct op_call *call, const struct memory *m, struct str old, struct str new, bool many,
                                struct move *ret_move) {
  struct arena *a = call->arena;
  struct file f = {.path = m->key, .m = *m, .found = true};
  TRY(load_text(call, &f));
  assert(str_starts(f.path, old));
  struct str rest = str_slice(f.path, old.n, f.path.n), path;
  TRY(memfile_path(arena_printf(a, "%.*s%.*s", STR_ARG(new), STR_ARG(rest)), &path, call->err));
  struct move mv = {.from = f};
  draft(call, path, f.content, &mv.w);
  mv.w.supersedes = f.m.uid;
  mv.w.reason = arena_printf(a, "renamed from %.*s", STR_ARG(f.path));
  mv.w.defer_embedding |= many;
  TRY(write_prepare(call, &mv.w));
  *ret_move = mv;
  return STATUS_OK;
}

static enum status check_target(struct op_call *call, struct str old, struct str new) {
  struct memory m;
  bool found;
  TRY(find_file(call, new, &m, &found));
  bool inside = str_starts(new, old) && (new.n == old.n || new.p[old.n] == '/');
  if (found || inside)
    return refuse_existing(call, "destination", "The destination", new);
  return check_place(call, new, "destination", "The destination");
}

static enum status move_all(struct op_call *call, struct str old, struct str new, const struct memories *list) {
  struct move *moves = arena_array(call->arena, struct move, list->n);
  struct txn txn;
  for (size_t i = 0; i < list->n; i++)
    TRY(prepare_move(call, &list->v[i], old, new, list->n > DEFER_FILES, &moves[i]));
  TRY(call_begin(call, &txn));
  TRY(check_target(call, old, new));
  for (size_t i = 0; i < list->n; i++)
    TRY(write_commit(call, &txn, &moves[i].w));
  return call_commit(call, &txn);
}

enum status op_file_rename(struct op_call *call) {
  struct str old, new;
  struct memories list = {0};
  TRY(path_arg(call, "old_path", &old));
  TRY(path_arg(call, "new_path", &new));
  TRY(refuse_root(call, old, "rename"));
  TRY(files_at(call, old, &list));
  TRY(check_target(call, old, new));
  json_put(call->doc, call->result, "path", new);
  json_put_int(call->doc, call->result, "files", (int64_t)list.n);
  json_put(call->doc, call->result, "text",
           arena_printf(call->arena, "Successfully renamed %.*s to %.*s", STR_ARG(old), STR_ARG(new)));
  return move_all(call, old, new, &list);
}
