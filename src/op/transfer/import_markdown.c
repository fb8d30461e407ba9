/* import_markdown.c: import of Markdown notes, a file or a folder: each section becomes a memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "base/utf8.h"
#include "op/transfer/import.h"

enum { DEPTH_MAX = 64, FILES_MAX = 100000 };

/* ---- files ---- */

struct folder {
  struct op_call *call;
  struct str root;
  struct strs files; /* paths relative to root */
  struct strs open;  /* folders not read yet */
};

static void close_folder(void *p) {
  DIR **dir = p;
  if (*dir)
    closedir(*dir);
  *dir = NULL;
}

static bool is_note(struct str name) { return str_ends(name, STR(".md")) || str_ends(name, STR(".markdown")); }

static struct str join_path(struct arena *a, struct str folder, struct str name) {
  return folder.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name)) : arena_dup(a, name);
}

static enum status refuse_folder(struct folder *f, struct str path) {
  error_errno(f->call->err, errno, "cannot read the folder %.*s", STR_ARG(path));
  return error_fix(f->call->err, "check its permissions");
}

static size_t depth_of(struct str path) {
  size_t n = 0;
  for (size_t i = 0; i < path.n; i++)
    n += path.p[i] == '/';
  return n;
}

/* Symbolic links are not followed: they could lead outside the folder, or into a loop. */
static enum status add_entry(struct folder *f, int dir, struct str folder, struct str name) {
  struct stat st;
  struct arena *a = f->call->arena;
  if (name.p[0] == '.' || fstatat(dir, name.p, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return STATUS_OK;
  struct str path = join_path(a, folder, name);
  if (S_ISDIR(st.st_mode) && depth_of(path) < DEPTH_MAX)
    strs_push(a, &f->open, path);
  if (S_ISREG(st.st_mode) && is_note(name))
    strs_push(a, &f->files, path);
  if (f->files.n + f->open.n <= FILES_MAX)
    return STATUS_OK;
  error_set(f->call->err, STATUS_TOO_LARGE, "there are more than %d notes and folders in %.*s", FILES_MAX,
            STR_ARG(f->root));
  return error_fix(f->call->err, "import its folders one by one");
}

static enum status read_folder(struct folder *f, struct str folder) {
  struct arena *a = f->call->arena;
  struct str path = join_path(a, f->root, folder);
  /* An allocation may longjmp out of this function: the arena then closes the folder. */
  DIR **dir = arena_new(a, DIR *);
  arena_defer(a, close_folder, dir);
  *dir = opendir(arena_cstr(a, folder.n ? path : f->root));
  int fd = *dir ? dirfd(*dir) : -1;
  if (fd < 0)
    return refuse_folder(f, path);
  enum status s = STATUS_OK;
  const struct dirent *entry;
  while (s == STATUS_OK && (errno = 0, entry = readdir(*dir)) != NULL)
    s = add_entry(f, fd, folder, str_from(entry->d_name));
  if (s == STATUS_OK && errno)
    s = refuse_folder(f, path);
  close_folder(dir);
  return s;
}

static int by_path(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

static enum status find_files(struct folder *f) {
  TRY(read_folder(f, STR("")));
  while (f->open.n)
    TRY(read_folder(f, f->open.v[--f->open.n]));
  if (f->files.n == 0) {
    error_set(f->call->err, STATUS_NOT_FOUND, "there is no Markdown file in %.*s", STR_ARG(f->root));
    return error_fix(f->call->err, "notes are files whose names end in .md or .markdown");
  }
  qsort(f->files.v, f->files.n, sizeof(*f->files.v), by_path);
  return STATUS_OK;
}

/* ---- one file ---- */

static enum status check_text(struct str text, struct error *err) {
  size_t bad = utf8_check(text);
  if (text.n && memchr(text.p, 0, text.n)) {
    error_set(err, STATUS_USAGE, "the file is binary: it holds a NUL byte");
    return error_fix(err, "move it out of the folder, or repeat the call with --skip-bad");
  }
  if (bad == text.n)
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "the file is not valid UTF-8, at byte %zu", bad);
  return error_fix(err, "convert it, for example with iconv -f latin1 -t utf8");
}

static enum status store_section(struct import *im, struct arena *a, struct str name, const struct front_matter *front,
                                 const struct section *section, struct error *err) {
  const struct caller *caller = &im->call->caller;
  const struct str identity[] = {STR("cairn import markdown 1"), name, section->path, section->body};
  int64_t id;
  struct memory m = {.uid = import_uid(a, identity, ARRAY_LEN(identity)),
                     .type = front->type.p ? front->type : str_from(type_of_prose()->name),
                     .project = front->project.p && !caller->project_given ? front->project : caller->project,
                     .headline = section->headline,
                     .body = section->body,
                     .tags = front->tags};
  if (section->topic.p)
    strs_push(a, &m.topics, section->topic);
  return import_store(im, a, &m, &id, err);
}

/* Reports the path, or path:line if `line` is not 0. */
static enum status refuse(struct import *im, struct str name, size_t line, enum status s, const struct error *err) {
  struct op_call *call = im->call;
  if (!import_is_row_error(s)) {
    *call->err = *err;
    return s;
  }
  struct str where = line ? arena_printf(call->arena, "%.*s:%zu", STR_ARG(name), line) : name;
  yyjson_mut_val *holder = yyjson_mut_arr(call->doc);
  json_add_str(call->doc, holder, where); /* replaces invalid UTF-8 in a file's name */
  import_refuse(im, yyjson_mut_arr_remove_first(holder), err);
  return STATUS_OK;
}

static enum status store_text(struct import *im, struct arena *a, struct str name, struct str text) {
  struct front_matter front = {0};
  struct sections sections = {0};
  struct error err;
  enum status s = check_text(text, &err);
  if (s != STATUS_OK)
    return refuse(im, name, 0, s, &err);
  markdown_front(a, text, &front);
  markdown_split(a, text, &front, &sections);
  for (size_t i = 0; i < sections.n; i++) {
    s = store_section(im, a, name, &front, &sections.v[i], &err);
    if (s != STATUS_OK)
      TRY(refuse(im, name, sections.v[i].line, s, &err));
  }
  return STATUS_OK;
}

static enum status store_file(struct import *im, struct arena *a, struct str path, struct str name) {
  struct str text;
  struct error err;
  enum status s = fs_read(a, arena_cstr(a, path), IMPORT_MARKDOWN_MAX, &text, &err);
  if (s == STATUS_OK)
    return store_text(im, a, name, text);
  error_fix(&err, s == STATUS_TOO_LARGE ? "split the file; one note has at most 1 MB" : "check its permissions");
  /* An unreadable file is a row error, too. */
  return refuse(im, name, 0, import_is_row_error(s) ? s : STATUS_NOT_FOUND, &err);
}

/* ---- the import ---- */

static enum status store_folder(struct import *im, struct str path) {
  struct op_call *call = im->call;
  struct folder f = {.call = call, .root = path};
  struct arena *a = arena_child(call->arena);
  TRY(find_files(&f));
  TRY(call_begin(call, &im->txn));
  for (size_t i = 0; i < f.files.n; i++) {
    TRY(store_file(im, a, join_path(a, path, f.files.v[i]), f.files.v[i]));
    arena_release(a);
    progress(call, "import", (int64_t)i + 1, (int64_t)f.files.n);
    TRY(import_check_cancelled(im));
  }
  return STATUS_OK;
}

static enum status store_input(struct import *im) {
  struct op_call *call = im->call;
  struct str text;
  TRY(fs_read_fd(call->arena, STDIN_FILENO, "standard input", IMPORT_MARKDOWN_MAX, &text, call->err));
  TRY(call_begin(call, &im->txn));
  return store_text(im, call->arena, STR("-"), text);
}

enum status import_markdown(struct import *im, struct str path) {
  struct op_call *call = im->call;
  struct stat st;
  if (str_is(path, "-"))
    return store_input(im);
  if (stat(arena_cstr(call->arena, path), &st) != 0) {
    error_errno(call->err, errno, "cannot read %.*s", STR_ARG(path));
    return error_fix(call->err, "name a Markdown file, or a folder of them");
  }
  if (S_ISDIR(st.st_mode)) {
    while (path.n > 1 && path.p[path.n - 1] == '/')
      path.n--;
    return store_folder(im, path);
  }
  TRY(call_begin(call, &im->txn));
  return store_file(im, arena_child(call->arena), path, fs_basename(path));
}
