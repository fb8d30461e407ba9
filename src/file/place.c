/* place.c: where the files of an agent are. */
#include "file/place.h"

#include "base/str.h"
#include "store/db/place.h"

#define AGENT "<agent>"

enum { NAME_BYTES = 60 };

/* A project's name as the name of a folder: what a file name may not hold, or what would hide it, becomes '-', and then
 * a hash of the whole name keeps it apart from others. A name that needs no change stays as it is. */
static struct str folder_name(struct arena *a, struct str project) {
  struct buf b = BUF(a);
  bool same = project.n <= NAME_BYTES;
  for (size_t i = 0; i < project.n && i < NAME_BYTES; i++) {
    char c = project.p[i];
    bool ok = ascii_alnum(c) || c == '-' || c == '_' || (c == '.' && i > 0);
    same &= ok && !ascii_upper(c); /* two names that differ in case are one folder on some file systems */
    buf_addc(&b, ok ? c : '-');
  }
  if (same && !str_eq(project, STR("admin")))
    return buf_str(&b);
  buf_addf(&b, "-%08llx", (unsigned long long)(str_hash(STR_HASH, project) & 0xffffffff));
  return buf_str(&b);
}

enum status place_agent(struct store *st, struct str team, struct str project, struct arena *a, struct str *ret_folder,
                        struct error *err) {
  struct setting_value root;
  char beside[PLACE_MAX];
  TRY(setting_get(st, team, SET_FILES_ROOT, a, &root, err));
  struct str folder = root.value;
  if (str_empty(folder)) {
    place_side(db_path(store_db(st)), ".files", beside);
    folder = arena_dup(a, str_from(beside));
  }
  if (str_empty(folder))
    return error_set(err, STATUS_USAGE, "there is no folder for files: set files.root to one");
  struct str agent = str_empty(project) ? STR("admin") : folder_name(a, project);
  *ret_folder = arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(folder), STR_ARG(team), STR_ARG(agent));
  return STATUS_OK;
}

enum status place_of(struct store *st, struct str team, struct str project, enum setting_id id, struct arena *a,
                     struct str *ret_path, struct error *err) {
  struct setting_value path;
  struct str agent;
  TRY(setting_get(st, team, id, a, &path, err));
  TRY(place_agent(st, team, project, a, &agent, err));
  struct str rest = path.value;
  if (str_starts(rest, STR(AGENT)))
    rest = str_slice(rest, sizeof(AGENT) - 1, rest.n);
  else if (str_starts(rest, STR("/"))) {
    *ret_path = rest;
    return STATUS_OK;
  }
  while (str_starts(rest, STR("/")))
    rest = str_slice(rest, 1, rest.n);
  while (rest.n && rest.p[rest.n - 1] == '/')
    rest.n--;
  *ret_path = arena_printf(a, "%.*s/%.*s", STR_ARG(agent), STR_ARG(rest));
  return STATUS_OK;
}
