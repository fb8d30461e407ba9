/* walk.c: listing the text files of a folder, without hidden, ignored, generated and huge ones. */
#include "file/walk.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os/clock.h"
#include "base/os/fs.h"
#include "base/utf8.h"
#include "core/files/mirror.h"
#include "file/ignore.h"

enum {
  IGNORE_BYTES = 1 << 20,
  BAD_SHARE = 20, /* with more than one invalid UTF-8 byte in BAD_SHARE, a file counts as binary */
};

/* Folders of dependencies, and generated files. */
static const char *const dependencies[] = {
    "node_modules", "bower_components", "jspm_packages", "__pycache__", "site-packages", "CVS", "_darcs"};
static const char *const generated[] = {"package-lock.json",
                                        "npm-shrinkwrap.json",
                                        "yarn.lock",
                                        "pnpm-lock.yaml",
                                        "Cargo.lock",
                                        "poetry.lock",
                                        "uv.lock",
                                        "Pipfile.lock",
                                        "composer.lock",
                                        "Gemfile.lock",
                                        "go.sum",
                                        "*.min.js",
                                        "*.min.css",
                                        "*.js.map",
                                        "*.css.map"};
/* Files that tag a folder as generated. */
static const char *const tags[] = {"CACHEDIR.TAG", "pyvenv.cfg"};

struct folder {
  struct str path; /* relative to the top of the repository, as rules need it */
  const struct ignore *rules;
  int depth;
};

struct walk {
  struct arena *a;
  struct str root;
  size_t skip; /* length of the path from the top of the repository to the root */
  DIR *dir;
  LIST(struct folder) open;
  struct walk_files *files;
  struct walk_counts *counts;
  struct strs *folders; /* may be NULL */
};

/* ---- one file ---- */

static void close_fd(void *p) {
  int *fd = p;
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

/* Reads a regular file. Does not follow links, and does not block on pipes. */
static enum status read_regular(struct arena *a, const char *path, size_t limit, struct str *ret_text,
                                struct error *err) {
  int *fd = arena_alloc(a, sizeof(*fd));
  *fd = -1;
  arena_defer(a, close_fd, fd);
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat st;
  enum status s;
  if (*fd < 0 || fstat(*fd, &st) != 0)
    s = error_errno(err, errno, "cannot open '%s'", path);
  else if (!S_ISREG(st.st_mode))
    s = error_set(err, STATUS_IO, "'%s' is not a regular file", path);
  else
    s = fs_read_fd(a, *fd, path, limit, ret_text, err);
  close_fd(fd);
  return s;
}

/* Replaces a few invalid bytes by U+FFFD; absent if the file is binary. */
static struct str as_text(struct arena *a, struct str bytes) {
  if (bytes.n && memchr(bytes.p, 0, bytes.n))
    return STR_NONE;
  if (str_starts(bytes, STR("\xef\xbb\xbf")))
    bytes = str_slice(bytes, 3, bytes.n);
  return utf8_repair(a, bytes, bytes.n / BAD_SHARE);
}

struct str walk_read(const char *folder, const struct walk_file *file, struct arena *a, struct walk_counts *counts) {
  struct str bytes, text = STR_NONE;
  struct error ignored;
  struct str path = arena_printf(a, "%s/%.*s", folder, STR_ARG(file->path));
  enum status s = read_regular(a, path.p, WALK_FILE_BYTES, &bytes, &ignored);
  if (s == STATUS_OK)
    text = as_text(a, bytes);
  counts->huge += s == STATUS_TOO_LARGE;
  counts->unreadable += s != STATUS_OK && s != STATUS_TOO_LARGE;
  counts->binary += s == STATUS_OK && !text.p;
  if (text.p && mirror_is_page(text)) {
    counts->pages++;
    text = STR_NONE;
  }
  return text;
}

/* ---- a folder ---- */

static void close_dir(void *p) {
  struct walk *w = p;
  if (w->dir)
    closedir(w->dir);
  w->dir = NULL;
}

static struct str below(struct arena *a, struct str folder, struct str name) {
  return folder.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name)) : arena_dup(a, name);
}

/* The path relative to the root. */
static struct str shown(const struct walk *w, struct str path) {
  return path.n > w->skip ? str_slice(path, w->skip, path.n) : STR("");
}

/* Adds the rules of the folder's .gitignore, if any, to those of its parents. */
static const struct ignore *rules_of(struct arena *a, const struct ignore *rules, struct str disk, struct str path) {
  struct str text = STR_NONE;
  struct error ignored;
  struct str file = arena_printf(a, "%.*s/.gitignore", STR_ARG(disk));
  if (read_regular(a, file.p, IGNORE_BYTES, &text, &ignored) != STATUS_OK)
    return rules;
  return ignore_parse(a, rules, path, text);
}

static bool matches_any(const char *const *list, size_t n, struct str name) {
  for (size_t i = 0; i < n; i++)
    if (ignore_glob(str_from(list[i]), name))
      return true;
  return false;
}

/* True if the name is valid UTF-8 without control characters. */
static bool is_plain_name(struct str name) {
  for (size_t i = 0; i < name.n; i++)
    if ((unsigned char)name.p[i] < ' ' || name.p[i] == 0x7f)
      return false;
  return utf8_check(name) == name.n;
}

static void take_file(struct walk *w, struct str path, const struct stat *st) {
  w->counts->files++;
  if (st->st_size > WALK_FILE_BYTES) {
    w->counts->huge++;
    return;
  }
  struct walk_file f = {.path = shown(w, path), .size = st->st_size};
  f.changed_at = (int64_t)st->st_mtim.tv_sec * MS_PER_SECOND + st->st_mtim.tv_nsec / 1000000;
  list_push(w->a, w->files, f);
}

static void take_entry(struct walk *w, const struct folder *in, int dir, struct str name) {
  struct stat st;
  if (str_is(name, ".") || str_is(name, ".."))
    return;
  if (!is_plain_name(name) || fstatat(dir, name.p, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    w->counts->unreadable++;
    return;
  }
  bool folder = S_ISDIR(st.st_mode);
  struct str path = below(w->a, in->path, name);
  if (name.p[0] == '.' || ignore_match(in->rules, path, folder) ||
      (folder ? matches_any(dependencies, ARRAY_LEN(dependencies), name)
              : matches_any(generated, ARRAY_LEN(generated), name)))
    w->counts->hidden++;
  else if (S_ISLNK(st.st_mode))
    w->counts->links++;
  else if (folder && in->depth < WALK_DEPTH)
    list_push(w->a, &w->open, (struct folder){path, in->rules, in->depth + 1});
  else if (S_ISREG(st.st_mode))
    take_file(w, path, &st);
  else
    w->counts->unreadable++; /* too deep, or a pipe, a socket, a device */
}

static bool is_generated(int dir) {
  for (size_t i = 0; i < ARRAY_LEN(tags); i++)
    if (faccessat(dir, tags[i], F_OK, 0) == 0)
      return true;
  return false;
}

/* Only a missing root is an error. Subfolders may have been deleted, or may be unreadable. */
static enum status read_folder(struct walk *w, struct folder in, struct error *err) {
  assert(!w->dir && in.depth <= WALK_DEPTH);
  struct str disk = in.depth ? below(w->a, w->root, shown(w, in.path)) : w->root;
  int fd = open(disk.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (in.depth ? O_NOFOLLOW : 0));
  int why = errno;
  w->dir = fd < 0 ? NULL : fdopendir(fd);
  if (!w->dir && fd >= 0)
    close(fd);
  if (!w->dir && !in.depth)
    return error_errno(err, why, "cannot open the folder '%s'", w->root.p);
  if (!w->dir) {
    w->counts->unreadable++;
    return STATUS_OK;
  }
  if (in.depth && is_generated(fd)) {
    w->counts->hidden++;
  } else {
    w->counts->folders++;
    if (w->folders)
      strs_push(w->a, w->folders, disk);
    in.rules = rules_of(w->a, in.rules, disk, in.path);
    for (const struct dirent *e; (e = readdir(w->dir));)
      take_entry(w, &in, fd, str_from(e->d_name));
  }
  close_dir(w);
  return STATUS_OK;
}

/* ---- the enclosing repository ---- */

static bool has_git(struct arena *a, struct str folder) {
  struct stat st;
  return stat(arena_printf(a, "%.*s/.git", STR_ARG(folder)).p, &st) == 0;
}

/* Loads the rules of the folders between the top of the repository and the root. If they ignore the root itself, they
 * do not apply: the user named it explicitly. */
static struct folder start(struct walk *w) {
  char real[PATH_MAX];
  struct folder in = {.path = STR("")};
  if (!realpath(w->root.p, real))
    return in;
  struct str path = arena_dup(w->a, str_from(real)), top = path;
  while (top.n > 1 && !has_git(w->a, top))
    top = fs_dirname(top);
  if (top.n <= 1 || top.n == path.n)
    return in;
  struct str inner = str_slice(path, top.n + 1, path.n);
  const struct ignore *rules = NULL;
  for (size_t end = 0; end <= inner.n; end++) {
    if (end > 0 && end < inner.n && inner.p[end] != '/')
      continue;
    struct str part = str_slice(inner, 0, end);
    if (end > 0 && ignore_match(rules, part, true))
      return in;
    if (end < inner.n)
      rules = rules_of(w->a, rules, str_slice(path, 0, end ? top.n + 1 + end : top.n), part);
  }
  w->skip = inner.n + 1;
  in.path = inner;
  in.rules = rules;
  return in;
}

static int by_path(const void *x, const void *y) {
  const struct walk_file *f = x, *g = y;
  return str_cmp(f->path, g->path);
}

static enum status read_all(const char *folder, const struct walk *what, struct error *err) {
  struct walk *w = arena_new(what->a, struct walk);
  *w = *what;
  w->root = arena_dup(w->a, str_from(folder));
  /* A failed allocation longjmps out; the arena then closes the folder. */
  arena_defer(w->a, close_dir, w);
  TRY(read_folder(w, start(w), err));
  while (w->open.n)
    TRY(read_folder(w, w->open.v[--w->open.n], err));
  return STATUS_OK;
}

enum status walk_folders(const char *folder, struct arena *a, struct strs *ret_folders, struct error *err) {
  struct walk_files files = {0};
  struct walk_counts counts = {0};
  struct strs folders = {0};
  TRY(read_all(folder, &(struct walk){.a = a, .files = &files, .counts = &counts, .folders = &folders}, err));
  *ret_folders = folders;
  return STATUS_OK;
}

enum status walk_list(const char *folder, struct arena *a, struct walk_files *ret_files, struct walk_counts *ret_counts,
                      struct error *err) {
  struct walk_files files = {0};
  struct walk_counts counts = {0};
  TRY(read_all(folder, &(struct walk){.a = a, .files = &files, .counts = &counts}, err));
  if (files.n)
    qsort(files.v, files.n, sizeof(*files.v), by_path);
  *ret_files = files;
  *ret_counts = counts;
  return STATUS_OK;
}
