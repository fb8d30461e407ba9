/* sync.c: MEMORY.md and the store brought into step, and the page as it is read. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "base/utf8.h"
#include "file/place.h"
#include "file/swap.h"
#include "op/files/file_event.h"
#include "op/files/mirror.h"
#include "op/handlers.h"

enum { FILE_MAX = 16 << 20, ROUNDS = 8, FILE_MODE = 0600 };

struct syncing {
  struct op_call *call;
  struct str path;
  size_t max_chars;
  bool adopt, dry_run;
  struct mirror_report report;
  struct mirror_counts counts;
  int64_t hidden;
  bool written, created;
  int64_t size, delta; /* of the file as it was read, and by how much it has grown; bytes */
};

/* ---- the file ---- */

struct text_file {
  struct str bytes; /* absent: there is no file */
  struct str text;  /* without a byte order mark and carriage returns */
  bool mark, returns;
};

static struct str without_returns(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] != '\r' || i + 1 == s.n || s.p[i + 1] != '\n')
      buf_addc(&b, s.p[i]);
  return buf_str(&b);
}

static struct str as_it_was(struct arena *a, const struct text_file *f, struct str text) {
  struct buf b = BUF(a);
  if (f->mark)
    buf_adds(&b, "\xef\xbb\xbf");
  for (size_t i = 0; i < text.n; i++) {
    if (f->returns && text.p[i] == '\n')
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
  if (s != STATUS_OK)
    return s;
  if (!f.bytes.p)
    f.bytes = STR("");
  size_t bad = utf8_check(f.bytes);
  if (bad < f.bytes.n || (f.bytes.n && memchr(f.bytes.p, 0, f.bytes.n))) {
    error_set(call->err, STATUS_USAGE, "%.*s is not a text in UTF-8", STR_ARG(y->path));
    return error_fix(call->err, "convert it, for example with iconv -f latin1 -t utf8");
  }
  f.mark = str_starts(f.bytes, STR("\xef\xbb\xbf"));
  f.text = str_slice(f.bytes, f.mark ? 3 : 0, f.bytes.n);
  f.returns = str_find(f.text, STR("\r\n"), 0) != SIZE_MAX;
  if (f.returns)
    f.text = without_returns(call->arena, f.text);
  *ret = f;
  return STATUS_OK;
}

/* Is it ours to write? */
static enum status check_page(struct syncing *y, const struct mirror_page *page) {
  struct op_call *call = y->call;
  struct str owner = mirror_owner(call->arena, call->caller.team, call->caller.project);
  bool blank = true;
  for (size_t i = 0; i < page->blocks.n; i++)
    blank &= str_empty(str_trim(page->blocks.v[i].raw));
  if (page->owner.p && !str_eq(page->owner, owner)) {
    error_set(call->err, STATUS_CONFLICT, "%.*s is the page of %.*s, not of %.*s", STR_ARG(y->path),
              STR_ARG(page->owner), STR_ARG(owner));
    return error_fix(call->err, "name that project with --project, or another file with --path; to make it the page of "
                                "this project, delete its last line");
  }
  if (page->ours || blank || y->adopt)
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "%.*s was written by hand", STR_ARG(y->path));
  return error_fix(call->err, "with --adopt its bullets become memories, and its other text stays as it is; "
                              "--dry-run shows what would be done");
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
  struct mirror_options options;
  TRY(mirror_entries_of(call, true, y->max_chars, &entries, &options));
  struct str text = mirror_render(call->arena, page, &entries, &options, &y->counts);
  y->hidden = options.hidden;
  text = as_it_was(call->arena, f, text);
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

/* The store first, then the file: what happens to the file in between, a crash or another edit, is found by reading it
 * again, and a text that the store has already is not stored twice. */
static enum status one_round(struct syncing *y, bool *ret_done) {
  struct op_call *call = y->call;
  struct text_file f;
  struct mirror_page page;
  struct mirror_knowns known = {0};
  struct mirror_ids removed = {0};
  TRY(read_page(y, &f));
  y->size = (int64_t)f.bytes.n;
  mirror_parse(call->arena, f.text, &page);
  TRY(check_page(y, &page));
  TRY(mirror_known_of(call, &page, &known));
  mirror_compare(call->arena, &page, &known, &removed);
  TRY(mirror_apply(call, &page, &known, &removed, y->dry_run, &y->report));
  return write_page(y, &page, &f, ret_done);
}

/* ---- where ---- */

static enum status check_path(struct syncing *y) {
  struct op_call *call = y->call;
  if (str_ends(y->path, STR(".md")) || str_ends(y->path, STR(".markdown")))
    return call_not_the_store(call, y->path);
  error_set(call->err, STATUS_USAGE, "%.*s does not end in .md", STR_ARG(y->path));
  return error_fix(call->err, "name a Markdown file, for example --path MEMORY.md");
}

/* Absolute, since it is remembered. */
static enum status given_path(struct op_call *call, struct str given, struct str *ret_path) {
  char cwd[PATH_MAX];
  if (given.n && given.p[0] == '/') {
    *ret_path = given;
    return STATUS_OK;
  }
  if (!getcwd(cwd, sizeof(cwd)))
    return error_errno(call->err, errno, "the working folder is not known");
  *ret_path = arena_printf(call->arena, "%s/%.*s", cwd, STR_ARG(given));
  return STATUS_OK;
}

static enum status find_path(struct syncing *y) {
  struct op_call *call = y->call;
  struct store *st = call->engine->store;
  const struct caller *c = &call->caller;
  struct str given = json_str(call->args, "path");
  enum status s;
  if (given.p) {
    s = given_path(call, given, &y->path);
    return s == STATUS_OK ? check_path(y) : s;
  }
  TRY(mirror_place_find(st, c->team, c->project, call->arena, &y->path, call->err));
  TRY(check_path(y));
  if (y->dry_run)
    return STATUS_OK;
  /* The folder of the agent is ours to make; one that a person has named is not. */
  struct str folder = STR("");
  TRY(place_agent(st, c->team, c->project, call->arena, &folder, call->err));
  if (str_starts(y->path, folder))
    TRY(fs_mkdirs(arena_cstr(call->arena, fs_dirname(y->path)), call->err));
  return STATUS_OK;
}

static enum status prepare(struct syncing *y) {
  struct op_call *call = y->call;
  double max;
  if (call->caller.all_projects) {
    error_set(call->err, STATUS_USAGE, "a page is that of one project");
    return error_fix(call->err, "name it with --project NAME, or --project '' for the global memories");
  }
  TRY(setting_number(call->engine->store, call->caller.team, SET_MEMORY_MAX_CHARS, call->arena, &max, call->err));
  y->max_chars = (size_t)max;
  return find_path(y);
}

enum status op_sync(struct op_call *call) {
  struct syncing y = {
      .call = call, .adopt = json_bool(call->args, "adopt", false), .dry_run = json_bool(call->args, "dry_run", false)};
  bool done = false;
  enum status s = prepare(&y);
  if (s != STATUS_OK)
    return s;
  begin_report(&y);
  for (int i = 0; s == STATUS_OK && !done && i < ROUNDS; i++) {
    yyjson_mut_obj_remove_key(call->result, "txn"); /* of a round whose page was edited meanwhile */
    s = one_round(&y, &done);
  }
  if (s == STATUS_OK && !done) {
    error_set(call->err, STATUS_BUSY, "%.*s is being changed all the time; it was left as it is", STR_ARG(y.path));
    return error_fix(call->err, "call 'cairn sync' again; what was on the page is stored");
  }
  if (s == STATUS_OK && !y.dry_run)
    s = mirror_place_keep(call->engine->store, call->caller.team, call->caller.project, y.path, call->arena, call->err);
  if (s != STATUS_OK)
    return s;
  /* A look that finds both sides in step is no event: the watcher would wake itself by it. */
  if (y.written && !y.created)
    file_was_read(call, FILE_LONG_TERM, y.path, y.size);
  if (y.written)
    file_wrote(call, FILE_LONG_TERM, y.path, y.delta);
  json_put(call->doc, call->result, "file", y.path);
  json_put(call->doc, call->result, "project", call->caller.project);
  json_put_bool(call->doc, call->result, "written", y.written);
  json_put_bool(call->doc, call->result, "created", y.created);
  json_put_bool(call->doc, call->result, "dry_run", y.dry_run);
  json_put_int(call->doc, call->result, "shown", (int64_t)y.counts.shown);
  json_put_int(call->doc, call->result, "left_out", (int64_t)y.counts.left_out);
  json_put_int(call->doc, call->result, "hidden", y.hidden);
  return STATUS_OK;
}

/* ---- the page, to be read ---- */

enum status op_page(struct op_call *call) {
  struct mirror_entries entries = {0};
  struct mirror_options options;
  struct mirror_page none = {0};
  struct mirror_counts counts;
  double max;
  TRY(setting_number(call->engine->store, call->caller.team, SET_MEMORY_MAX_CHARS, call->arena, &max, call->err));
  TRY(mirror_entries_of(call, false, (size_t)max, &entries, &options));
  options.plain = true;
  json_put(call->doc, call->result, "text", mirror_render(call->arena, &none, &entries, &options, &counts));
  json_put_int(call->doc, call->result, "shown", (int64_t)counts.shown);
  json_put_int(call->doc, call->result, "left_out", (int64_t)counts.left_out);
  json_put_int(call->doc, call->result, "hidden", options.hidden);
  return STATUS_OK;
}
