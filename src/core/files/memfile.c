/* memfile.c: paths, lines and edits of the files under /memories. */
#include "core/files/memfile.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/text/text.h"

static const struct str root = STR_INIT(MEMFILE_ROOT);

/* ---- paths ---- */

bool memfile_is_path(struct str key) { return key.n > root.n + 1 && str_starts(key, STR(MEMFILE_ROOT "/")); }

/* A percent-encoded dot is an attempt to leave the folder. */
static bool has_encoded_dot(struct str s) {
  for (size_t i = 0; i + 2 < s.n; i++)
    if (s.p[i] == '%' && s.p[i + 1] == '2' && ascii_lower(s.p[i + 2]) == 'e')
      return true;
  return false;
}

/* NULL if the path is valid. */
static const char *path_error(struct str path) {
  if (!str_eq(path, root) && !memfile_is_path(path))
    return "must be /memories or below it";
  if (path.n > MEMFILE_PATH_BYTES)
    return "is too long: at most 200 bytes are allowed";
  if (text_has_control(path))
    return "contains a control character";
  if (has_encoded_dot(path))
    return "would escape the /memories directory";
  if (path.p[path.n - 1] == '/') /* str_next() returns no empty part at the end */
    return "has an empty part";
  struct str rest = {path.p + 1, path.n - 1}, part;
  while (str_next(&rest, '/', &part)) {
    if (str_empty(part))
      return "has an empty part";
    if (str_is(part, "..") || str_is(part, "."))
      return "would escape the /memories directory";
  }
  return NULL;
}

enum status memfile_path(struct str given, struct str *ret_path, struct error *err) {
  struct str path = given;
  if (path.n > 1 && path.p[path.n - 1] == '/')
    path.n--;
  const char *fault = path_error(path);
  if (!fault) {
    *ret_path = path;
    return STATUS_OK;
  }
  error_set(err, STATUS_REFUSED, "The path %.*s %s", STR_ARG(utf8_cut(given, MEMFILE_PATH_BYTES)), fault);
  error_step(err, "path");
  return error_fix(err, "use a path such as /memories/notes.md");
}

/* ---- lines ---- */

/* Reads the next line, including its line feed; false at the end. */
static bool next_line(struct str text, size_t *pos, struct str *ret_line) {
  if (*pos >= text.n)
    return false;
  const char *end = memchr(text.p + *pos, '\n', text.n - *pos);
  size_t to = end ? (size_t)(end - text.p) + 1 : text.n;
  *ret_line = str_slice(text, *pos, to);
  *pos = to;
  return true;
}

size_t memfile_count_lines(struct str text) {
  size_t n = 0, pos = 0;
  struct str line;
  while (next_line(text, &pos, &line))
    n++;
  return n;
}

struct str memfile_number(struct arena *a, struct str text, size_t from, size_t to, size_t *ret_last) {
  struct buf b = BUF(a);
  size_t number = 0, pos = 0, shown = 0;
  struct str line;
  *ret_last = from ? from - 1 : 0;
  while (next_line(text, &pos, &line) && number < to) {
    if (++number < from)
      continue;
    if (line.p[line.n - 1] == '\n')
      line.n--;
    size_t length = utf8_length(line) + 8;
    if (shown + length > MEMFILE_SHOWN_CHARS) {
      if (shown)
        break;
      /* The first line exceeds the limit: show its beginning. */
      size_t end = 0;
      for (size_t i = 0; i < MEMFILE_SHOWN_CHARS - 8; i++)
        utf8_next(line, &end);
      line.n = end;
    }
    buf_addf(&b, "%s%6zu\t", shown ? "\n" : "", number);
    buf_add(&b, line);
    shown += length;
    *ret_last = number;
  }
  return buf_str(&b);
}

/* ---- edits ---- */

void memfile_find(struct arena *a, struct str text, struct str part, struct places *ret_places) {
  if (str_empty(part))
    return;
  for (size_t at = str_find(text, part, 0); at != SIZE_MAX; at = str_find(text, part, at + part.n))
    list_push(a, ret_places, at);
}

size_t memfile_line_at(struct str text, size_t offset) {
  size_t line = 1;
  for (size_t i = 0; i < offset && i < text.n; i++)
    line += text.p[i] == '\n';
  return line;
}

struct str memfile_replace(struct arena *a, struct str text, size_t at, size_t len, struct str by) {
  assert(at <= text.n && len <= text.n - at);
  struct buf b = BUF(a);
  buf_add(&b, str_slice(text, 0, at));
  buf_add(&b, by);
  buf_add(&b, str_slice(text, at + len, text.n));
  return buf_str(&b);
}

struct str memfile_insert(struct arena *a, struct str text, size_t line, struct str part) {
  struct buf b = BUF(a);
  size_t pos = 0;
  struct str skipped;
  for (size_t i = 0; i < line && next_line(text, &pos, &skipped); i++)
    ;
  buf_add(&b, str_slice(text, 0, pos));
  if (b.n && b.p[b.n - 1] != '\n')
    buf_addc(&b, '\n');
  buf_add(&b, part);
  if (!part.n || part.p[part.n - 1] != '\n')
    buf_addc(&b, '\n');
  buf_add(&b, str_slice(text, pos, text.n));
  return buf_str(&b);
}

/* ---- listings ---- */

struct str memfile_size(struct arena *a, int64_t bytes) {
  static const char units[] = {'K', 'M', 'G', 'T'};
  if (bytes < 1024)
    return arena_printf(a, "%lldB", (long long)bytes);
  double size = (double)bytes;
  size_t unit = 0;
  for (size /= 1024; size >= 1024 && unit + 1 < sizeof(units); unit++)
    size /= 1024;
  return arena_printf(a, "%.1f%c", size, units[unit]);
}

static bool is_hidden(struct str name) { return name.p[0] == '.' || str_is(name, "node_modules"); }

void memfile_list(struct arena *a, struct str dir, const struct memfile_entries *files,
                  struct memfile_entries *ret_entries) {
  size_t last[2] = {0, 0}; /* last folder listed on each level; 0 if none */
  list_push(a, ret_entries, (struct memfile_entry){dir, 0, true});
  for (size_t i = 0; i < files->n; i++) {
    const struct memfile_entry *f = &files->v[i];
    assert(f->path.n > dir.n && str_starts(f->path, dir));
    struct str rest = {f->path.p + dir.n + 1, f->path.n - dir.n - 1}, part;
    struct str all = rest;
    bool hidden = false;
    while (str_next(&all, '/', &part))
      hidden |= is_hidden(part);
    if (hidden)
      continue;
    ret_entries->v[0].size += f->size;
    for (int depth = 0; depth < 2 && str_next(&rest, '/', &part); depth++) {
      struct memfile_entry e = {{f->path.p, (size_t)(part.p + part.n - f->path.p)}, f->size, rest.n > 0};
      if (e.directory && last[depth] && str_eq(ret_entries->v[last[depth]].path, e.path)) {
        ret_entries->v[last[depth]].size += f->size;
        continue;
      }
      if (e.directory)
        last[depth] = ret_entries->n;
      list_push(a, ret_entries, e);
    }
  }
}
