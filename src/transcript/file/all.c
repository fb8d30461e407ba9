/* all.c: transcript folders of all agents of a team, for maintenance and backups. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "file/owner.h"
#include "file/place.h"
#include "transcript/file/internal.h"

static int by_path(const void *x, const void *y) {
  return str_cmp(((const struct transcripts *)x)->folder, ((const struct transcripts *)y)->folder);
}

/* An unreadable folder is an error: a backup must not omit it silently. */
static enum status add_folder(struct str path, struct str agent, int64_t now, struct arena *a,
                              struct transcripts_list *list, struct error *err) {
  struct stat sb;
  if (stat(path.p, &sb) != 0)
    return errno == ENOENT || errno == ENOTDIR ? STATUS_OK
                                               : error_errno(err, errno, "cannot read the folder '%s'", path.p);
  if (S_ISDIR(sb.st_mode))
    list_push(a, list, (struct transcripts){.folder = path, .agent = agent, .now = now});
  return STATUS_OK;
}

/* True for a folder of another store, which has the same files.root or files.sessions_path. */
static bool is_foreign(struct arena *a, struct str folder, struct str owner) {
  struct str mark = owner_of_folder(a, folder);
  return mark.p && owner_is_foreign(mark, owner);
}

/* Adds the folder `rest` below each entry of the parent. */
static enum status add_folders(const char *parent, struct str rest, struct str owner, int64_t now, struct arena *a,
                               struct transcripts_list *list, struct error *err) {
  DIR **dir = arena_new(a, DIR *);
  struct dirent *e = NULL;
  enum status s = STATUS_OK;
  arena_defer(a, transcript_close_dir, dir);
  *dir = opendir(parent);
  if (!*dir && (errno == ENOENT || errno == ENOTDIR))
    return STATUS_OK;
  while (s == STATUS_OK && *dir && (errno = 0, e = readdir(*dir)))
    if (e->d_name[0] != '.' && !is_foreign(a, arena_printf(a, "%s/%s", parent, e->d_name), owner))
      s = add_folder(arena_printf(a, "%s/%s%.*s", parent, e->d_name, STR_ARG(rest)), arena_dup(a, str_from(e->d_name)),
                     now, a, list, err);
  if (s == STATUS_OK && errno)
    s = error_errno(err, errno, "cannot read the folder '%s'", parent);
  transcript_close_dir(dir);
  return s;
}

/* The files belong to the team of their owner; to "default" while they have none. */
static enum status add_shared(struct str parent, struct str team, struct str owner, int64_t now, struct arena *a,
                              struct transcripts_list *list, struct error *err) {
  struct str mark = owner_of_folder(a, parent);
  size_t slash = str_find(owner, STR("/"), 0);
  bool ours = mark.p ? str_starts(mark, str_slice(owner, 0, slash + 1)) : str_is(team, "default");
  if (!ours || is_foreign(a, parent, owner) ||
      access(arena_printf(a, "%.*s/" TRANSCRIPT_INDEX, STR_ARG(parent)).p, F_OK) != 0)
    return STATUS_OK;
  return add_folder(parent, STR(""), now, a, list, err);
}

/* Where the folders of a team's agents are, and the path of the transcripts in each. */
struct agents {
  struct str parent, rest;
  struct transcripts own; /* of the admin */
  bool absolute;
};

static enum status find_agents(struct store *st, struct str team, int64_t now, struct arena *a, struct agents *ret,
                               struct error *err) {
  struct setting_value path;
  struct str admin;
  TRY(transcripts_at(st, team, STR(""), now, a, &ret->own, err));
  TRY(setting_get(st, team, SET_SESSIONS_PATH, a, &path, err));
  ret->absolute = str_starts(path.value, STR("/"));
  if (ret->absolute) {
    while (path.value.n > 1 && path.value.p[path.value.n - 1] == '/')
      path.value.n--;
    ret->parent = arena_printf(a, "%.*s/%.*s", STR_ARG(path.value), STR_ARG(team));
    ret->rest = STR("");
    return STATUS_OK;
  }
  TRY(agent_folder(st, team, STR(""), a, &admin, err));
  ret->parent = arena_dup(a, fs_dirname(admin));
  ret->rest = str_slice(ret->own.folder, admin.n, ret->own.folder.n);
  return STATUS_OK;
}

enum status transcripts_all(struct store *st, struct str team, int64_t now, struct arena *a,
                            struct transcripts_list *ret_folders, struct error *err) {
  struct agents agents = {0};
  struct transcripts_list list = {0};
  TRY(find_agents(st, team, now, a, &agents, err));
  TRY(add_folders(agents.parent.p, agents.rest, agents.own.owner, now, a, &list, err));
  if (agents.absolute) /* files of 0.1.0, which all agents shared */
    TRY(add_shared(arena_dup(a, fs_dirname(agents.parent)), team, agents.own.owner, now, a, &list, err));
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_path);
  *ret_folders = list;
  return STATUS_OK;
}

enum status transcripts_of_agent(struct store *st, struct str team, struct str agent, int64_t now, struct arena *a,
                                 struct transcripts *ret_folder, struct error *err) {
  struct agents agents = {0};
  TRY(find_agents(st, team, now, a, &agents, err));
  struct str folder = arena_printf(a, "%.*s/%.*s%.*s", STR_ARG(agents.parent), STR_ARG(agent), STR_ARG(agents.rest));
  *ret_folder = (struct transcripts){.folder = folder, .agent = agent, .now = now};
  return STATUS_OK;
}
