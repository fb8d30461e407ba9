/* mirror_place.c: which file is the MEMORY.md of a project on this machine. */
#include "file/mirror_place.h"

#include <dirent.h>

#include "base/json.h"
#include "base/os/fs.h"

#define NOTE "mirror.json"
enum { NOTE_MAX = 64 * 1024 };

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
  enum status s = place_agent(st, team, project, a, &folder, err);
  if (s != STATUS_OK)
    return s;
  if (read_note(a, folder, &noted) && str_eq(noted.project, project)) {
    *ret_path = noted.path;
    return s;
  }
  return place_of(st, team, project, SET_MEMORY_PATH, a, ret_path, err);
}

enum status mirror_place_keep(struct store *st, struct str team, struct str project, struct str path, struct arena *a,
                              struct error *err) {
  struct str folder;
  struct mirror_place noted;
  TRY(place_agent(st, team, project, a, &folder, err));
  if ((read_note(a, folder, &noted) && str_eq(noted.project, project) && str_eq(noted.path, path)))
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

enum status mirror_place_root(struct store *st, struct str team, struct arena *a, struct str *ret_root,
                              struct error *err) {
  struct str admin;
  TRY(place_agent(st, team, STR(""), a, &admin, err));
  *ret_root = fs_dirname(admin);
  return STATUS_OK;
}

void mirror_place_list(struct arena *a, struct str root, struct mirror_places *ret_places) {
  DIR *dir = opendir(arena_cstr(a, root));
  if (!dir)
    return; /* nobody has written anything there yet */
  arena_defer(a, close_folder, dir);
  const struct dirent *entry;
  while ((entry = readdir(dir)) != NULL) {
    struct mirror_place p;
    if (entry->d_name[0] != '.' && read_note(a, arena_printf(a, "%.*s/%s", STR_ARG(root), entry->d_name), &p))
      list_push(a, ret_places, p);
  }
}
