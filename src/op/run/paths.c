/* paths.c: shortens paths of the machine in errors, for callers with a token. */
#include "op/run/paths.h"

#include <assert.h>

#include "base/os/fs.h"
#include "base/utf8.h"

struct shortening {
  struct str folder; /* of the store, with its slash; empty: unknown */
  yyjson_val *args;
  char out[ERROR_FIX_MAX + 64];
  size_t n;
};

static void add(struct shortening *s, struct str text) {
  size_t room = sizeof(s->out) - s->n, n = text.n < room ? text.n : room;
  memcpy(s->out + s->n, text.p, n);
  s->n += n;
}

/* True for a slash that begins a path: not that of "and/or", "a/b" or "cairn://". */
static bool is_path_start(struct str text, size_t at) {
  bool is_url = at + 1 < text.n && text.p[at + 1] == '/';
  return text.p[at] == '/' && !is_url && (at == 0 || strchr(" '\"`(<[{=,;:", text.p[at - 1]));
}

/* A quoted path ends at its quotation mark, and may contain spaces; others end at a space. */
static size_t path_end(struct str text, size_t at, size_t folder) {
  char quote = at > 0 && strchr("'\"`", text.p[at - 1]) ? text.p[at - 1] : 0;
  const char *end = quote ? memchr(text.p + at, quote, text.n - at) : NULL;
  if (end)
    return (size_t)(end - text.p);
  for (at += folder; at < text.n && !strchr(" '\"`)>]},;", text.p[at]);)
    at++;
  return at;
}

static bool holds(yyjson_val *v, struct str path) {
  size_t i, n;
  yyjson_val *key, *e;
  if (yyjson_is_str(v))
    return str_find(json_val_str(v), path, 0) != SIZE_MAX;
  if (yyjson_is_arr(v)) {
    yyjson_arr_foreach(v, i, n, e) {
      if (holds(e, path))
        return true;
    }
  } else if (yyjson_is_obj(v)) {
    yyjson_obj_foreach(v, i, n, key, e) {
      if (holds(e, path))
        return true;
    }
  }
  return false;
}

static bool is_below(struct str path, const char *folder) {
  size_t n = strlen(folder);
  return str_starts(path, str_from(folder)) && (path.n == n || path.p[n] == '/');
}

static bool may_stay(const struct shortening *s, struct str path) {
  static const char *const shown[] = {"/memories", "/api", "/mcp", "/proc/PID"};
  for (size_t i = 0; i < ARRAY_LEN(shown); i++)
    if (is_below(path, shown[i]))
      return true;
  return holds(s->args, path);
}

/* "/proc/123/fd" without the number; false for other paths. */
static bool add_process(struct shortening *s, struct str path) {
  static const struct str proc = STR_INIT("/proc/");
  size_t at = proc.n;
  if (!str_starts(path, proc))
    return false;
  while (at < path.n && ascii_digit(path.p[at]))
    at++;
  if (at == proc.n)
    return false;
  add(s, STR("/proc/PID"));
  add(s, str_slice(path, at, path.n));
  return true;
}

/* A trailing slash or full stop belongs to the name. */
static void add_path(struct shortening *s, struct str path) {
  size_t name = path.n;
  if (add_process(s, path))
    return;
  while (name > 0 && strchr("/.:", path.p[name - 1]))
    name--;
  while (name > 0 && path.p[name - 1] != '/')
    name--;
  if (name <= 1 || may_stay(s, path)) /* "/name" has no folder */
    name = 0;
  add(s, str_slice(path, name, path.n));
}

static void shorten(struct shortening *s, char *text, size_t room) {
  struct str from = {text, strlen(text)};
  s->n = 0;
  for (size_t at = 0; at < from.n;) {
    struct str rest = str_slice(from, at, from.n);
    size_t folder = s->folder.n && str_starts(rest, s->folder) ? s->folder.n : 0, end = at + 1;
    bool path = folder || is_path_start(from, at);
    if (path)
      end = path_end(from, at, folder);
    if (path)
      add_path(s, str_slice(from, at, end));
    else
      add(s, str_slice(from, at, end));
    at = end;
  }
  struct str fits = s->n < room ? (struct str){s->out, s->n} : utf8_cut((struct str){s->out, s->n}, room - 1);
  memcpy(text, fits.p, fits.n);
  text[fits.n] = 0;
}

void paths_shorten(const char *store, yyjson_val *args, struct error *err) {
  struct shortening s = {.args = args};
  struct str path = str_from(store);
  assert(err->code != STATUS_OK);
  if (path.p && path.p[0] == '/')
    s.folder = str_slice(path, 0, path.n - fs_basename(path).n);
  shorten(&s, err->message, sizeof(err->message));
  shorten(&s, err->fix, sizeof(err->fix));
}
