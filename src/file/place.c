/* place.c: paths of an agent's files. */
#include "file/place.h"

#include <assert.h>
#include <dirent.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "base/os/fs.h"
#include "base/str.h"
#include "file/owner.h"
#include "store/db/place.h"

#define AGENT "<agent>"
#define NOTE "mirror.json"

enum { NAME_BYTES = 60, HASH_DIGITS = 8, ESCAPED_BYTES = 200, LONG_HASH = 32, NOTE_MAX = 64 * 1024 };

/* ---- names of folders ---- */

/* The name that 0.1.0 used: other characters became '-', and a hash of the whole name was appended. */
static struct str old_name(struct arena *a, struct str project) {
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

/* The byte that is escaped in a name that would otherwise be plain: the first of "admin", or the '-' before what looks
 * like a hash in a name of 0.1.0. SIZE_MAX if none is. */
static size_t taken_at(struct str project) {
  if (str_is(project, "admin"))
    return 0;
  if (project.n <= HASH_DIGITS || project.p[project.n - HASH_DIGITS - 1] != '-')
    return SIZE_MAX;
  for (size_t i = project.n - HASH_DIGITS; i < project.n; i++)
    if (!ascii_digit(project.p[i]) && (project.p[i] < 'a' || project.p[i] > 'f'))
      return SIZE_MAX;
  return project.n - HASH_DIGITS - 1;
}

/* A folder name that no other project has: other characters become %XX, and so do capitals, since some file systems
 * ignore case. "%-" and a hash end a name that is too long. */
static struct str new_name(struct arena *a, struct str project) {
  assert(project.n > 0);
  struct buf b = BUF(a);
  char hash[HASH_TEXT_SIZE];
  size_t taken = taken_at(project);
  for (size_t i = 0; i < project.n; i++) {
    char c = project.p[i];
    bool ok = (ascii_alnum(c) && !ascii_upper(c)) || c == '-' || c == '_' || (c == '.' && i > 0);
    if (ok && i != taken)
      buf_addc(&b, c);
    else
      buf_addf(&b, "%%%02X", (unsigned)(uint8_t)c);
  }
  if (b.n <= ESCAPED_BYTES)
    return buf_str(&b);
  hash_text(project, hash);
  return arena_printf(a, "%.*s%%-%.*s", NAME_BYTES, b.p, LONG_HASH, hash);
}

static bool read_note(struct arena *a, struct str folder, struct mirror_place *ret);

/* True for a folder of 0.1.0 that may hold files of this project: two projects could get the same name. */
static bool is_old_folder(struct arena *a, struct str folder, struct str project, struct str owner) {
  struct mirror_place noted;
  if (access(arena_cstr(a, folder), F_OK) != 0 || !owner_may_write(owner_of_folder(a, folder), owner))
    return false;
  return owner_of_folder(a, folder).p || !read_note(a, folder, &noted) || str_eq(noted.project, project);
}

enum status agent_folder_in(struct store *st, struct str parent, struct str team, struct str project, struct arena *a,
                            struct str *ret_folder, struct error *err) {
  struct str owner;
  struct str name = str_empty(project) ? STR("admin") : new_name(a, project);
  struct str folder = arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(parent), STR_ARG(team), STR_ARG(name));
  struct str old = str_empty(project) ? name : old_name(a, project);
  *ret_folder = folder;
  if (str_eq(name, old) || access(folder.p, F_OK) == 0)
    return STATUS_OK;
  TRY(owner_find(st, team, project, a, &owner, err));
  folder = arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(parent), STR_ARG(team), STR_ARG(old));
  if (is_old_folder(a, folder, project, owner))
    *ret_folder = folder;
  return STATUS_OK;
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
  return agent_folder_in(st, folder, team, project, a, ret_folder, err);
}

enum status agent_claim(struct store *st, struct str team, struct str project, struct arena *a, struct error *err) {
  struct str folder, owner;
  TRY(agent_folder(st, team, project, a, &folder, err));
  TRY(owner_find(st, team, project, a, &owner, err));
  return owner_claim(a, folder, owner, err);
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
  TRY(agent_claim(st, team, project, a, err));
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
