/* sync.c: the operations sync (MEMORY.md with the store) and page (MEMORY.md as text). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "base/os/project.h"
#include "base/utf8.h"
#include "file/owner.h"
#include "file/place.h"
#include "file/swap.h"
#include "op/files/file_event.h"
#include "op/files/mirror.h"
#include "op/handlers.h"

enum { FILE_MAX = 16 << 20, ROUNDS = 8, FILE_MODE = 0600 };

struct syncing {
  struct op_call *call;
  struct str path, shown; /* shown: as callers may see it */
  struct str owner;
  size_t max_chars;
  bool adopt, dry_run;
  struct mirror_report report;
  struct mirror_counts counts;
  struct mirror_options options;
  bool written, created;
  int64_t size, delta; /* bytes of the file when it was read, and by which it has grown */
};

static bool is_markdown(struct str path) { return str_ends(path, STR(".md")) || str_ends(path, STR(".markdown")); }

/* ---- the file ---- */

struct text_file {
  struct str bytes; /* absent if there is no file */
  struct str text;  /* without byte order mark and carriage returns */
  bool has_bom, has_returns;
};

static struct str without_returns(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] != '\r' || i + 1 == s.n || s.p[i + 1] != '\n')
      buf_addc(&b, s.p[i]);
  return buf_str(&b);
}

static struct str restore_format(struct arena *a, const struct text_file *f, struct str text) {
  struct buf b = BUF(a);
  if (f->has_bom)
    buf_adds(&b, "\xef\xbb\xbf");
  for (size_t i = 0; i < text.n; i++) {
    if (f->has_returns && text.p[i] == '\n')
      buf_addc(&b, '\r');
    buf_addc(&b, text.p[i]);
  }
  return buf_str(&b);
}

static enum status read_page(struct syncing *y, struct text_file *ret) {
  struct op_call *call = y->call;
  struct text_file f = {.text = STR("")};
  enum status s = fs_read(call->arena, arena_cstr(call->arena, y->path), FILE_MAX, &f.bytes, call->err);
  if (s == STATUS_NOT_FOUND) {
    *ret = f;
    return STATUS_OK;
  }
  TRY(s);
  if (!f.bytes.p)
    f.bytes = STR("");
  size_t bad = utf8_check(f.bytes);
  if (bad < f.bytes.n || (f.bytes.n && memchr(f.bytes.p, 0, f.bytes.n))) {
    error_set(call->err, STATUS_USAGE, "%.*s is not UTF-8 text", STR_ARG(y->shown));
    return error_fix(call->err, "convert it, for example with iconv -f latin1 -t utf8");
  }
  f.has_bom = str_starts(f.bytes, STR("\xef\xbb\xbf"));
  f.text = str_slice(f.bytes, f.has_bom ? 3 : 0, f.bytes.n);
  f.has_returns = str_find(f.text, STR("\r\n"), 0) != SIZE_MAX;
  if (f.has_returns)
    f.text = without_returns(call->arena, f.text);
  *ret = f;
  return STATUS_OK;
}

/* The line on which an unresolved conflict of a git merge begins; 0 if there is none. */
static size_t find_merge_conflict(struct str text) {
  struct str line;
  size_t begin = 0, number = 1;
  bool halved = false;
  for (; str_next(&text, '\n', &line); number++) {
    if (str_starts(line, STR("<<<<<<< "))) {
      begin = number;
      halved = false;
    } else if (begin && str_is(line, "=======")) {
      halved = true;
    } else if (halved && str_starts(line, STR(">>>>>>> "))) {
      return begin;
    }
  }
  return 0;
}

/* Both sides would be stored, although one of them is going to be removed. */
static enum status check_merged(struct syncing *y, struct str text) {
  size_t line = find_merge_conflict(text);
  if (!line)
    return STATUS_OK;
  error_set(y->call->err, STATUS_CONFLICT, "%.*s has an unresolved merge conflict in line %zu", STR_ARG(y->shown),
            line);
  return error_fix(y->call->err, "resolve it, then run 'cairn sync' again; of two last lines, keep both");
}

/* Refuses a page of another project, and one that Cairn did not write unless --adopt is given. */
static enum status check_page(struct syncing *y, const struct mirror_page *page) {
  struct op_call *call = y->call;
  bool blank = true, other_store = owner_is_other_store(page->owner, y->owner);
  for (size_t i = 0; i < page->blocks.n; i++)
    blank &= str_empty(str_trim(page->blocks.v[i].raw));
  if (!owner_may_write(page->owner, y->owner) && !(other_store && y->adopt)) {
    owner_refuse(y->shown, page->owner, y->owner, call->err);
    return error_fix(call->err, other_store ? "with --adopt its bullets become memories of this store, and it becomes "
                                              "the page of this store; or name another file with --path"
                                            : "name that project with --project, or another file with --path; to make "
                                              "it the page of this project, delete its last line");
  }
  if (page->ours || blank || y->adopt)
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "%.*s was written by hand", STR_ARG(y->shown));
  return error_fix(call->err, "with --adopt its bullets become memories, and its other text is kept; "
                              "--dry-run shows what would be done");
}

/* The file that the path names, with links resolved; that of its folder if there is no file yet. Absent if there is no
 * such folder, or if the path is a link to nothing. */
static struct str real_path(struct arena *a, struct str path) {
  char real[PATH_MAX];
  struct stat sb;
  if (realpath(arena_cstr(a, path), real))
    return arena_dup(a, str_from(real));
  if (lstat(arena_cstr(a, path), &sb) == 0 || !realpath(arena_cstr(a, fs_dirname(path)), real))
    return STR_NONE;
  return arena_printf(a, "%s/%.*s", real, STR_ARG(fs_basename(path)));
}

/* True if the file is a Markdown file in the repository, or in the folder, that its path names. */
static bool stays_inside(struct arena *a, struct str path, struct str file) {
  char top[PATH_MAX];
  struct str folder = fs_dirname(path), root = project_top(a, folder);
  if (!realpath(arena_cstr(a, root.p ? root : folder), top))
    return true; /* writing it says what is wrong */
  return is_markdown(file) && str_starts(file, str_from(top)) &&
         (file.p[strlen(top)] == '/' || str_is(str_from(top), "/"));
}

/* A repository may contain a link to any file of its user. Such a file is only written if it is our page already. */
static enum status check_link(struct syncing *y, const struct mirror_page *page) {
  struct op_call *call = y->call;
  struct stat sb;
  struct str file = real_path(call->arena, y->path);
  if (!file.p && lstat(arena_cstr(call->arena, y->path), &sb) != 0)
    return STATUS_OK; /* no such folder: writing it says so */
  if (!file.p) {
    error_set(call->err, STATUS_CONFLICT, "%.*s is a link to a file that does not exist", STR_ARG(y->shown));
    return error_fix(call->err, "create that file, or name it with --path");
  }
  if (stays_inside(call->arena, y->path, file) || (page->owner.p && owner_may_write(page->owner, y->owner)))
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "%.*s is a link to %.*s, outside of its repository or folder",
            STR_ARG(y->shown), STR_ARG(call_path(call, file)));
  return error_fix(call->err, "name the file itself with --path, if it is the one you want");
}

/* ---- one round ---- */

static void begin_report(struct syncing *y) {
  struct op_call *call = y->call;
  struct {
    const char *name;
    yyjson_mut_val **list;
  } lists[] = {{"added", &y->report.added},       {"changed", &y->report.changed}, {"removed", &y->report.removed},
               {"finished", &y->report.finished}, {"refused", &y->report.refused}, {"conflicts", &y->report.conflicts}};
  for (size_t i = 0; i < ARRAY_LEN(lists); i++)
    *lists[i].list = json_put_arr(call->doc, call->result, lists[i].name);
}

static enum status write_page(struct syncing *y, const struct mirror_page *page, const struct text_file *f,
                              bool *ret_done) {
  struct op_call *call = y->call;
  struct mirror_entries entries = {0};
  TRY(mirror_load_entries(call, true, y->max_chars, &entries, &y->options));
  y->options.owner = owner_mark(y->owner);
  struct str text = mirror_render(call->arena, page, &entries, &y->options, &y->counts);
  text = restore_format(call->arena, f, text);
  *ret_done = true;
  if ((f->bytes.p && str_eq(text, f->bytes)) || y->dry_run)
    return STATUS_OK;
  TRY(file_swap(call->arena, y->path, f->bytes, text, FILE_MODE, ret_done, call->err));
  if (*ret_done) {
    y->written = true;
    y->created = !f->bytes.p;
    y->delta = (int64_t)text.n - (int64_t)f->bytes.n;
  }
  return STATUS_OK;
}

/* Changes the store first, then the file. After a crash or another edit in between, the next round reads the file
 * again, and duplicates are not stored. */
static enum status one_round(struct syncing *y, bool *ret_done) {
  struct op_call *call = y->call;
  struct text_file f;
  struct mirror_page page;
  struct mirror_knowns known = {0};
  struct mirror_ids removed = {0};
  TRY(read_page(y, &f));
  y->size = (int64_t)f.bytes.n;
  TRY(check_merged(y, f.text));
  mirror_parse(call->arena, f.text, &page);
  TRY(check_page(y, &page));
  TRY(check_link(y, &page));
  TRY(mirror_load_known(call, &page, &known));
  mirror_compare(call->arena, &page, &known, &removed);
  TRY(mirror_apply(call, &page, &known, &removed, y->dry_run, &y->report));
  TRY(write_page(y, &page, &f, ret_done));
  if (y->dry_run)
    store_rollback(call->engine->store);
  return STATUS_OK;
}

/* ---- path ---- */

static enum status check_path(struct syncing *y) {
  struct op_call *call = y->call;
  if (is_markdown(y->path))
    return call_refuse_store_path(call, y->path);
  error_set(call->err, STATUS_USAGE, "%.*s does not end in .md", STR_ARG(call_path(call, y->path)));
  return error_fix(call->err, "name a Markdown file, for example --path MEMORY.md");
}

/* Absolute, because the path is stored. Leading ".." are resolved: otherwise the repository of the working directory
 * would be taken for that of the file. */
static enum status absolute_path(struct op_call *call, struct str given, struct str *ret_path) {
  char cwd[PATH_MAX];
  if (given.n && given.p[0] == '/') {
    *ret_path = given;
    return STATUS_OK;
  }
  if (!getcwd(cwd, sizeof(cwd)))
    return error_errno(call->err, errno, "cannot determine the working directory");
  struct str folder = str_from(cwd);
  for (; str_starts(given, STR("../")); given = str_slice(given, 3, given.n))
    folder = fs_dirname(folder);
  *ret_path = arena_printf(call->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(given));
  return STATUS_OK;
}

static enum status find_path(struct syncing *y) {
  struct op_call *call = y->call;
  struct store *st = call->engine->store;
  const struct caller *c = &call->caller;
  struct str given = json_str(call->args, "path");
  if (given.p) {
    TRY(absolute_path(call, given, &y->path));
    return check_path(y);
  }
  TRY(mirror_place_find(st, c->team, c->project, call->arena, &y->path, call->err));
  TRY(check_path(y));
  if (y->dry_run)
    return STATUS_OK;
  /* We create the agent's folder, but not a folder that a person has named. */
  struct str folder = STR("");
  TRY(agent_folder(st, c->team, c->project, call->arena, &folder, call->err));
  if (str_starts(y->path, folder))
    TRY(fs_mkdirs(arena_cstr(call->arena, fs_dirname(y->path)), call->err));
  return STATUS_OK;
}

/* Names the repository's own file while the page is in the agent's folder and the caller is in the repository, where
 * callers with a token never are. */
static enum status put_offer(struct syncing *y) {
  struct op_call *call = y->call;
  const struct caller *c = &call->caller;
  char cwd[PATH_MAX];
  struct str folder, name, top;
  TRY(agent_folder(call->engine->store, c->team, c->project, call->arena, &folder, call->err));
  if (c->principal || !str_starts(y->path, folder) || !getcwd(cwd, sizeof(cwd)) ||
      !project_find(call->arena, cwd, &name) || !str_eq(name, c->project))
    return STATUS_OK;
  top = project_top(call->arena, str_from(cwd));
  if (top.p)
    json_put(call->doc, call->result, "offer", arena_printf(call->arena, "%.*s/MEMORY.md", STR_ARG(top)));
  return STATUS_OK;
}

static enum status prepare(struct syncing *y) {
  struct op_call *call = y->call;
  double max;
  if (call->caller.all_projects) {
    error_set(call->err, STATUS_USAGE, "a page belongs to one project");
    return error_fix(call->err, "name it with --project NAME, or --project '' for the global memories");
  }
  TRY(setting_number(call->engine->store, call->caller.team, SET_MEMORY_MAX_CHARS, call->arena, &max, call->err));
  y->max_chars = (size_t)max;
  TRY(owner_find(call->engine->store, call->caller.team, call->caller.project, call->arena, &y->owner, call->err));
  TRY(find_path(y));
  y->shown = call_path(call, y->path);
  return STATUS_OK;
}

/* Of the memories on the page, and of those that are not. */
static void put_counts(struct op_call *call, const struct mirror_counts *counts, const struct mirror_options *options) {
  json_put_int(call->doc, call->result, "shown", (int64_t)counts->shown);
  json_put_int(call->doc, call->result, "left_out", (int64_t)counts->left_out);
  json_put_int(call->doc, call->result, "hidden", options->hidden);
  const struct {
    const char *name;
    int64_t count;
  } retired[] = {{"faded", options->faded},
                 {"archived", options->archived},
                 {"expired", options->expired},
                 {"stale", options->stale}};
  for (size_t i = 0; i < ARRAY_LEN(retired); i++)
    if (retired[i].count)
      json_put_int(call->doc, call->result, retired[i].name, retired[i].count);
}

enum status op_sync(struct op_call *call) {
  struct syncing y = {
      .call = call, .adopt = json_bool(call->args, "adopt", false), .dry_run = json_bool(call->args, "dry_run", false)};
  bool done = false;
  TRY(prepare(&y));
  begin_report(&y);
  for (int i = 0; !done && i < ROUNDS; i++) {
    yyjson_mut_obj_remove_key(call->result, "txn"); /* of the previous round */
    TRY(one_round(&y, &done));
  }
  if (!done) {
    error_set(call->err, STATUS_BUSY, "%.*s keeps changing; it was left unchanged", STR_ARG(y.shown));
    return error_fix(call->err, "run 'cairn sync' again; the text of the page is stored");
  }
  if (!y.dry_run)
    TRY(mirror_place_save(call->engine->store, call->caller.team, call->caller.project, y.path, call->arena,
                          call->err));
  /* No event if nothing changed: it would wake the watcher, which runs sync. */
  if (y.written && !y.created)
    file_event_read(call, FILE_LONG_TERM, y.path, y.size);
  if (y.written)
    file_event_write(call, FILE_LONG_TERM, y.path, y.delta);
  json_put(call->doc, call->result, "file", y.shown);
  json_put(call->doc, call->result, "project", call->caller.project);
  json_put_bool(call->doc, call->result, "written", y.written);
  json_put_bool(call->doc, call->result, "created", y.created);
  json_put_bool(call->doc, call->result, "dry_run", y.dry_run);
  put_counts(call, &y.counts, &y.options);
  return put_offer(&y);
}

/* ---- page ---- */

enum status op_page(struct op_call *call) {
  struct mirror_entries entries = {0};
  struct mirror_options options;
  struct mirror_page none = {0};
  struct mirror_counts counts;
  double max;
  TRY(setting_number(call->engine->store, call->caller.team, SET_MEMORY_MAX_CHARS, call->arena, &max, call->err));
  TRY(mirror_load_entries(call, false, (size_t)max, &entries, &options));
  options.plain = true;
  json_put(call->doc, call->result, "text", mirror_render(call->arena, &none, &entries, &options, &counts));
  put_counts(call, &counts, &options);
  note_result_read(call, FILE_LONG_TERM, arena_printf(call->arena, "cairn://page/%.*s", STR_ARG(call->caller.project)),
                   NULL, false);
  return STATUS_OK;
}
