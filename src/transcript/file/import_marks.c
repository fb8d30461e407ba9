/* import_marks.c: imports.json, which says how far each transcript of another program was read. */
#include "base/os/fs.h"
#include "transcript/file/import_files.h"

enum { MARKS_VERSION = 1, MARKS_BYTES = 256 << 20, MARKS_MODE = 0600 };

static const char *marks_path(struct str folder, struct arena *a) {
  return arena_printf(a, "%.*s/imports.json", STR_ARG(folder)).p;
}

static bool get_mark(yyjson_val *v, struct import_mark *mark) {
  struct str from = json_str(v, "from");
  *mark = (struct import_mark){.path = json_str(v, "path"),
                               .from = str_is(from, "claude")  ? IMPORT_CLAUDE
                                       : str_is(from, "codex") ? IMPORT_CODEX
                                                               : IMPORT_UNKNOWN,
                               .size = json_int(v, "size", -1),
                               .changed_at = json_int(v, "changed", 0),
                               .offset = json_int(v, "offset", 0),
                               .lines = json_int(v, "lines", 0),
                               .tail = json_str(v, "tail"),
                               .session = json_str(v, "session"),
                               .cwd = json_str(v, "cwd"),
                               .repository = json_str(v, "repository"),
                               .versioned = json_bool(v, "versioned", false),
                               .header = json_bool(v, "header", false),
                               .at = json_int(v, "at", 0)};
  return mark->path.n && mark->from != IMPORT_UNKNOWN && mark->session.n && mark->offset >= 0 && mark->lines >= 0;
}

void import_marks_read(struct str folder, struct arena *a, struct import_marks *ret_marks) {
  struct import_marks marks = {0};
  struct error ignored;
  struct str text;
  yyjson_val *root, *key, *v;
  size_t i, n;
  *ret_marks = marks;
  if (fs_read(a, marks_path(folder, a), MARKS_BYTES, &text, &ignored) != STATUS_OK ||
      json_read(a, text, &root, &ignored) != STATUS_OK || json_int(root, "version", 0) != MARKS_VERSION)
    return;
  yyjson_arr_foreach(yyjson_obj_get(root, "files"), i, n, v) {
    struct import_mark mark;
    if (get_mark(v, &mark))
      list_push(a, &marks, mark);
  }
  yyjson_obj_foreach(yyjson_obj_get(root, "sessions"), i, n, key, v) {
    if (yyjson_is_str(v))
      list_push(a, &marks.places, (struct import_place){json_val_str(key), json_val_str(v)});
  }
  *ret_marks = marks;
}

static void put_mark(yyjson_mut_doc *doc, yyjson_mut_val *v, const struct import_mark *mark) {
  json_put(doc, v, "path", mark->path);
  json_put(doc, v, "from", str_from(import_from_names[mark->from]));
  json_put_int(doc, v, "size", mark->size);
  json_put_int(doc, v, "changed", mark->changed_at);
  json_put_int(doc, v, "offset", mark->offset);
  json_put_int(doc, v, "lines", mark->lines);
  json_put(doc, v, "tail", mark->tail);
  json_put(doc, v, "session", mark->session);
  json_put_opt(doc, v, "cwd", mark->cwd);
  json_put_opt(doc, v, "repository", mark->repository);
  json_put_bool(doc, v, "versioned", mark->versioned);
  json_put_bool(doc, v, "header", mark->header);
  json_put_int(doc, v, "at", mark->at);
}

enum status import_marks_write(struct str folder, const struct import_marks *marks, struct arena *a,
                               struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  json_put_int(doc, root, "version", MARKS_VERSION);
  yyjson_mut_val *files = json_put_arr(doc, root, "files");
  for (size_t i = 0; i < marks->n; i++)
    put_mark(doc, yyjson_mut_arr_add_obj(doc, files), &marks->v[i]);
  yyjson_mut_val *sessions = json_put_obj(doc, root, "sessions");
  for (size_t i = 0; i < marks->places.n; i++)
    json_put(doc, sessions, arena_cstr(a, marks->places.v[i].session), marks->places.v[i].project);
  TRY(fs_mkdirs(arena_cstr(a, folder), err));
  return fs_write(marks_path(folder, a), json_write(a, root, true), MARKS_MODE, err);
}

static struct import_mark *find(struct import_marks *marks, struct str path) {
  for (size_t k = 0; k < marks->n; k++) {
    size_t at = (marks->near + k) % marks->n;
    if (str_eq(marks->v[at].path, path)) {
      marks->near = at;
      return &marks->v[at];
    }
  }
  return NULL;
}

const struct import_mark *import_mark_find(struct import_marks *marks, struct str path) { return find(marks, path); }

void import_mark_put(struct arena *a, struct import_marks *marks, const struct import_mark *mark) {
  struct import_mark copy = *mark, *old = find(marks, mark->path);
  struct str *texts[] = {&copy.path, &copy.tail, &copy.session, &copy.cwd, &copy.repository};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (texts[i]->p)
      *texts[i] = arena_dup(a, *texts[i]);
  if (old)
    *old = copy;
  else
    list_push(a, marks, copy);
}

bool import_place_find(const struct import_marks *marks, struct str session, struct str *ret_project) {
  for (size_t i = 0; i < marks->places.n; i++)
    if (str_eq(marks->places.v[i].session, session)) {
      *ret_project = marks->places.v[i].project;
      return true;
    }
  return false;
}

void import_place_put(struct arena *a, struct import_marks *marks, struct str session, struct str project) {
  list_push(a, &marks->places, (struct import_place){arena_dup(a, session), arena_dup(a, project)});
}
