/* project.c: name of the git repository that contains a directory. */
#include "base/os/project.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"

enum { POINTER_MAX = 4096 + 64 }; /* bytes of a .git file: "gitdir: " and a path */

static bool is_type(mode_t type, const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

static bool has_entry(struct arena *a, struct str dir, const char *name, mode_t type) {
  return is_type(type, arena_printf(a, "%.*s/%s", STR_ARG(dir), name).p);
}

/* The same check as git's own. */
static bool is_git_dir(struct arena *a, struct str dir) {
  return has_entry(a, dir, "HEAD", S_IFREG) &&
         (has_entry(a, dir, "commondir", S_IFREG) ||
          (has_entry(a, dir, "objects", S_IFDIR) && has_entry(a, dir, "refs", S_IFDIR)));
}

/* Reads the first line of a small file; false if it is empty or unreadable. */
static bool read_first_line(struct arena *a, const char *path, struct str *ret_line) {
  struct error err;
  struct str text;
  if (fs_read(a, path, POINTER_MAX, &text, &err) != STATUS_OK || !str_line(&text, ret_line))
    return false;
  *ret_line = str_trim(*ret_line);
  return ret_line->n > 0;
}

/* `path` relative to `base`; links and ".." are resolved if the file exists. */
static struct str resolve(struct arena *a, struct str base, struct str path) {
  assert(path.n > 0);
  struct str joined =
      path.p[0] == '/' ? arena_dup(a, path) : arena_printf(a, "%.*s/%.*s", STR_ARG(base), STR_ARG(path));
  char real[PATH_MAX];
  return realpath(joined.p, real) ? arena_dup(a, str_from(real)) : joined;
}

static struct str common_dir(struct arena *a, struct str git_dir) {
  struct str line;
  if (read_first_line(a, arena_printf(a, "%.*s/commondir", STR_ARG(git_dir)).p, &line))
    return resolve(a, git_dir, line);
  /* The main repository of a worktree may be missing, for example in a container that mounts only the worktree. Then
   * the path of the git directory still names it. */
  struct str above = fs_dirname(git_dir);
  if (str_is(fs_basename(above), "worktrees"))
    return fs_dirname(above);
  return git_dir;
}

/* A hidden directory (.git, .bare) takes the name of its parent. */
static struct str repository_name(struct str common) {
  struct str name = fs_basename(common);
  if (str_starts(name, STR(".")))
    name = fs_basename(fs_dirname(common));
  return str_ends(name, STR(".git")) ? str_slice(name, 0, name.n - 4) : name;
}

/* Finds the git directory if `dir` is the top of a work tree or a git directory itself. */
static bool find_git_dir(struct arena *a, struct str dir, struct str *ret_git_dir) {
  struct str dot_git = arena_printf(a, "%.*s/.git", STR_ARG(dir));
  struct str line;
  if (is_type(S_IFDIR, dot_git.p) && is_git_dir(a, dot_git)) {
    *ret_git_dir = dot_git;
    return true;
  }
  if (is_type(S_IFREG, dot_git.p) && read_first_line(a, dot_git.p, &line) && str_starts(line, STR("gitdir:"))) {
    line = str_trim(str_slice(line, 7, line.n));
    if (line.n == 0)
      return false;
    *ret_git_dir = resolve(a, dir, line);
    return true;
  }
  if (!is_git_dir(a, dir))
    return false;
  *ret_git_dir = dir;
  return true;
}

bool project_find(struct arena *a, const char *dir, struct str *ret_name) {
  char start[PATH_MAX];
  if (!realpath(dir ? dir : ".", start))
    return false;
  struct str at = str_from(start), git_dir;
  while (!find_git_dir(a, at, &git_dir)) {
    if (str_is(at, "/"))
      return false;
    at = fs_dirname(at);
  }
  struct str name = repository_name(common_dir(a, git_dir));
  if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
    return false;
  *ret_name = arena_dup(a, name);
  return true;
}

struct str project_top(struct arena *a, struct str folder) {
  for (struct str at = folder; at.n && !str_is(at, "/") && !str_is(at, "."); at = fs_dirname(at))
    if (access(arena_printf(a, "%.*s/.git", STR_ARG(at)).p, F_OK) == 0)
      return at;
  return STR_NONE;
}
