/* all.c: transcript folders of all agents of a team, for maintenance and backups. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os/fs.h"
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

/* Adds the folder `rest` below each entry of the parent. */
static enum status add_folders(const char *parent, struct str rest, int64_t now, struct arena *a,
                               struct transcripts_list *list, struct error *err) {
  DIR **dir = arena_new(a, DIR *);
  struct dirent *e = NULL;
  enum status s = STATUS_OK;
  arena_defer(a, transcript_close_dir, dir);
  *dir = opendir(parent);
  if (!*dir && (errno == ENOENT || errno == ENOTDIR))
    return STATUS_OK;
  while (s == STATUS_OK && *dir && (errno = 0, e = readdir(*dir)))
    if (e->d_name[0] != '.')
      s = add_folder(arena_printf(a, "%s/%s%.*s", parent, e->d_name, STR_ARG(rest)), arena_dup(a, str_from(e->d_name)),
                     now, a, list, err);
  if (s == STATUS_OK && errno)
    s = error_errno(err, errno, "cannot read the folder '%s'", parent);
  transcript_close_dir(dir);
  return s;
}

/* The agents' folders are siblings of the admin folder, and the transcripts have the same relative path in each. */
enum status transcripts_all(struct store *st, struct str team, int64_t now, struct arena *a,
                            struct transcripts_list *ret_folders, struct error *err) {
  struct transcripts own;
  struct transcripts_list list = {0};
  struct str agent;
  TRY(transcripts_at(st, team, STR(""), now, a, &own, err));
  TRY(agent_folder(st, team, STR(""), a, &agent, err));
  if (str_starts(own.folder, agent))
    TRY(add_folders(arena_cstr(a, fs_dirname(agent)), str_slice(own.folder, agent.n, own.folder.n), now, a, &list,
                    err));
  else
    TRY(add_folder(own.folder, STR(""), now, a, &list, err)); /* shared by all agents */
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_path);
  *ret_folders = list;
  return STATUS_OK;
}

enum status transcripts_of_agent(struct store *st, struct str team, struct str agent, int64_t now, struct arena *a,
                                 struct transcripts *ret_folder, struct error *err) {
  struct transcripts own;
  struct str admin;
  TRY(transcripts_at(st, team, STR(""), now, a, &own, err));
  TRY(agent_folder(st, team, STR(""), a, &admin, err));
  if (str_starts(own.folder, admin)) {
    struct str rest = str_slice(own.folder, admin.n, own.folder.n);
    own.folder = arena_printf(a, "%.*s/%.*s%.*s", STR_ARG(fs_dirname(admin)), STR_ARG(agent), STR_ARG(rest));
    own.agent = agent;
  }
  *ret_folder = own;
  return STATUS_OK;
}
