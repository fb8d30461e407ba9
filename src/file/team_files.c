/* team_files.c: finding and removing the files of a team. */
#include "file/team_files.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "file/owner.h"
#include "file/place.h"
#include "transcript/file/transcript.h"

enum { DEEPEST = 64 };

/* ---- traversal ---- */

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

struct walking {
  bool remove;
  const struct strs *foreign; /* folders at the top that stay */
  int64_t files;
};

static int walk(int parent, const char *name, int depth, struct walking *w);

static int walk_entry(int folder, const char *name, int depth, struct walking *w) {
  struct stat sb;
  if (depth == 0 && strs_has(w->foreign, str_from(name)))
    return 0;
  if (fstatat(folder, name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : errno;
  if (S_ISDIR(sb.st_mode))
    return walk(folder, name, depth + 1, w);
  if (w->remove && unlinkat(folder, name, 0) != 0 && errno != ENOENT)
    return errno;
  w->files++;
  return 0;
}

/* Counts the files below a folder, or removes them and the folder; 0 or an errno. */
static int walk(int parent, const char *name, int depth, struct walking *w) {
  int bad = depth > DEEPEST ? ELOOP : 0;
  int fd = bad ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (bad || fd < 0)
    return bad ? bad : errno;
  DIR *dir = fdopendir(fd);
  if (!dir) {
    bad = errno;
    close(fd);
    return bad;
  }
  for (struct dirent *e; !bad && (e = readdir(dir));)
    if (!is_dots(e->d_name))
      bad = walk_entry(fd, e->d_name, depth, w);
  closedir(dir);
  bool keep = depth == 0 && w->foreign->n;
  if (!bad && w->remove && !keep && unlinkat(parent, name, AT_REMOVEDIR) != 0)
    bad = errno;
  return bad;
}

static enum status walk_folder(const struct team_files *files, bool remove, int64_t *ret_count, struct error *err) {
  assert(files->folder.n > 1);
  struct walking w = {.remove = remove, .foreign = &files->foreign};
  int bad = walk(AT_FDCWD, files->folder.p, 0, &w);
  if (bad && bad != ENOENT) {
    error_errno(err, bad, "cannot %s the files of the team in %s", remove ? "remove" : "read", files->folder.p);
    return error_fix(err, "check who owns the folder, then run the same command again");
  }
  *ret_count = w.files;
  return STATUS_OK;
}

/* ---- finding ---- */

static bool is_below(struct str path, struct str folder) {
  return str_starts(path, folder) && path.n > folder.n && path.p[folder.n] == '/';
}

static void close_folder(void *dir) { closedir(dir); }

/* Folders of another store, which has the same files.root. */
static enum status find_foreign(struct store *st, struct str team, struct arena *a, struct team_files *found,
                                struct error *err) {
  struct str owner;
  TRY(owner_find(st, team, STR(""), a, &owner, err));
  DIR *dir = opendir(found->folder.p);
  if (!dir)
    return STATUS_OK; /* walk() tells why */
  arena_defer(a, close_folder, dir);
  for (struct dirent *e; (e = readdir(dir));) {
    struct str path = arena_printf(a, "%.*s/%s", STR_ARG(found->folder), e->d_name);
    struct str mark = is_dots(e->d_name) ? STR_NONE : owner_of_folder(a, path);
    if (mark.p && owner_is_foreign(mark, owner)) {
      strs_push(a, &found->foreign, arena_dup(a, str_from(e->d_name)));
      strs_push(a, &found->left, path);
    }
  }
  return STATUS_OK;
}

enum status team_files_find(struct store *st, struct str team, int64_t now, struct arena *a,
                            struct team_files *ret_files, struct error *err) {
  struct team_files found = {0};
  struct mirror_places pages = {0};
  struct transcripts spoken;
  TRY(mirror_place_parent(st, team, a, &found.folder, err));
  TRY(transcripts_at(st, team, STR(""), now, a, &spoken, err));
  found.folder = arena_dup(a, found.folder);
  TRY(find_foreign(st, team, a, &found, err));
  mirror_place_list(a, found.folder, &pages);
  for (size_t i = 0; i < pages.n; i++)
    if (!is_below(pages.v[i].path, found.folder))
      strs_push(a, &found.left, pages.v[i].path);
  struct str talks = arena_dup(a, fs_dirname(spoken.folder));
  if (!is_below(spoken.folder, found.folder) && access(talks.p, F_OK) == 0)
    strs_push(a, &found.left, talks);
  TRY(walk_folder(&found, false, &found.files, err));
  *ret_files = found;
  return STATUS_OK;
}

enum status team_files_remove(const struct team_files *files, int64_t *ret_removed, struct error *err) {
  return walk_folder(files, true, ret_removed, err);
}
