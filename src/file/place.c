/* place.c: paths of an agent's files. */
#include "file/place.h"

#include <assert.h>
#include <dirent.h>

#include "base/json.h"
#include "base/os/fs.h"
#include "base/str.h"
#include "store/db/place.h"

#define AGENT "<agent>"
#define NOTE "mirror.json"

enum { NAME_BYTES = 60, NOTE_MAX = 64 * 1024 };

/* A folder name for a project. Characters that are not allowed or would hide the folder become '-', and then a hash of
 * the whole name is appended to keep it unique. */
static struct str folder_name(struct arena *a, struct str project) {
  assert(project.n > 0);
  struct buf b = BUF(a);
  bool same = project.n <= NAME_BYTES;
  for (size_t i = 0; i < project.n && i < NAME_BYTES; i++) {
    char c = project.p[i];
    bool ok = ascii_alnum(c) || c == '-' || c == '_' || (c == '.' && i > 0);
    same &= ok && !ascii_upper(c); /* some file systems ignore case */
    buf_addc(&b, ok ? c : '-');
  }
  if (same && !str_eq(project, STR("admin")))
    return buf_str(&b);
  buf_addf(&b, "-%08llx", (unsigned long long)(str_hash(STR_HASH, project) & 0xffffffff));
  return buf_str(&b);
}

enum status agent_folder(struct store *st, struct str team, struct str project, struct arena *a, struct str *ret_folder,
                         struct error *err) {
  struct setting_value root;
  assert(team.n > 0);
  char beside[PLACE_MAX];
  TRY(setting_get(st, team, SET_FILES_ROOT, a, &root, err));
  struct str folder = root.value;
  if (str_empty(folder)) {
    place_side(db_path(store_db(st)), ".files", beside);
    folder = arena_dup(a, str_from(beside));
  }
  if (str_empty(folder))
    return error_set(err, STATUS_USAGE, "there is no folder for files: set files.root");
  struct str agent = str_empty(project) ? STR("admin") : folder_name(a, project);
  *ret_folder = arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(folder), STR_ARG(team), STR_ARG(agent));
  return STATUS_OK;
}

enum status agent_path(struct store *st, struct str team, struct str project, enum setting_id id, struct arena *a,
                       struct str *ret_path, struct error *err) {
  struct setting_value path;
  struct str agent;
  TRY(setting_get(st, team, id, a, &path, err));
  TRY(agent_folder(st, team, project, a, &agent, err));
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

/* ---- MEMORY.md ---- */

static bool read_note(struct arena *a, struct str folder, struct mirror_place *ret) {
  struct str text;
  struct error ignored;
  yyjson_val *root;
  struct str path = arena_printf(a, "%.*s/" NOTE, STR_ARG(folder));
  if (fs_read(a, arena_cstr(a, path), NOTE_MAX, &text, &ignored) != STATUS_OK ||
      json_read(a, text, &root, &ignored) != STATUS_OK)
    return false;
  struct mirror_place p = {json_str(root, "project"), json_str(root, "path")};
  if (!p.project.p || str_empty(p.path) || p.path.p[0] != '/')
    return false;
  *ret = p;
  return true;
}

enum status mirror_place_find(struct store *st, struct str team, struct str project, struct arena *a,
                              struct str *ret_path, struct error *err) {
  struct str folder;
  struct mirror_place noted;
  TRY(agent_folder(st, team, project, a, &folder, err));
  if (read_note(a, folder, &noted) && str_eq(noted.project, project)) {
    *ret_path = noted.path;
    return STATUS_OK;
  }
  return agent_path(st, team, project, SET_MEMORY_PATH, a, ret_path, err);
}

enum status mirror_place_save(struct store *st, struct str team, struct str project, struct str path, struct arena *a,
                              struct error *err) {
  struct str folder;
  struct mirror_place noted;
  TRY(agent_folder(st, team, project, a, &folder, err));
  if (read_note(a, folder, &noted) && str_eq(noted.project, project) && str_eq(noted.path, path))
    return STATUS_OK;
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put_int(doc, obj, "version", 1);
  json_put(doc, obj, "project", project);
  json_put(doc, obj, "path", path);
  TRY(fs_mkdirs(arena_cstr(a, folder), err));
  struct str file = arena_printf(a, "%.*s/" NOTE, STR_ARG(folder));
  return fs_write(arena_cstr(a, file), arena_printf(a, "%.*s\n", STR_ARG(json_write(a, obj, true))), 0600, err);
}

static void close_folder(void *p) { closedir(p); }

enum status mirror_place_parent(struct store *st, struct str team, struct arena *a, struct str *ret_root,
                                struct error *err) {
  struct str admin;
  TRY(agent_folder(st, team, STR(""), a, &admin, err));
  *ret_root = fs_dirname(admin);
  return STATUS_OK;
}

void mirror_place_list(struct arena *a, struct str root, struct mirror_places *ret_places) {
  DIR *dir = opendir(arena_cstr(a, root));
  if (!dir)
    return; /* nothing has been written yet */
  arena_defer(a, close_folder, dir);
  const struct dirent *entry;
  while ((entry = readdir(dir)) != NULL) {
    struct mirror_place p;
    if (entry->d_name[0] != '.' && read_note(a, arena_printf(a, "%.*s/%s", STR_ARG(root), entry->d_name), &p))
      list_push(a, ret_places, p);
  }
}
