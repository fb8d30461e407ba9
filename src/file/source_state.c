/* source_state.c: status file of the server that watches a team's sources. */
#include "file/source_state.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os/fs.h"

enum { STATE_BYTES = 16 << 20, STATE_MODE = 0600 };

const char *const source_way_names[] = {"off", "watched", "scanned", "closed", "empty", NULL};

static const char *state_path(struct str root, const char *name, struct arena *a) {
  return arena_printf(a, "%.*s/.sources.%s", STR_ARG(root), name).p;
}

int source_state_claim(struct str root, struct arena *a) {
  struct error ignored;
  if (fs_mkdirs(arena_cstr(a, root), &ignored) != STATUS_OK)
    return -1;
  int fd = open(state_path(root, "lock", a), O_RDWR | O_CREAT | O_CLOEXEC, STATE_MODE);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    fd = -1;
  }
  return fd;
}

/* True if a server holds the lock. */
static bool is_claimed(struct str root, struct arena *a) {
  int fd = open(state_path(root, "lock", a), O_RDONLY | O_CLOEXEC);
  bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
  if (fd >= 0)
    close(fd);
  return held;
}

enum status source_state_write(struct str root, const struct source_states *states, struct arena *a,
                               struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *top = yyjson_mut_obj(doc), *arr = json_put_arr(doc, top, "sources");
  for (size_t i = 0; i < states->n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
    json_put(doc, v, "project", states->v[i].project);
    json_put(doc, v, "folder", states->v[i].folder);
    assert(states->v[i].way <= SOURCE_EMPTY);
    json_put(doc, v, "watch", str_from(source_way_names[states->v[i].way]));
  }
  return fs_write(state_path(root, "json", a), json_write(a, top, true), STATE_MODE, err);
}

static enum source_way parse_way(struct str name) {
  for (int i = 0; source_way_names[i]; i++)
    if (str_is(name, source_way_names[i]))
      return (enum source_way)i;
  return SOURCE_UNWATCHED;
}

void source_state_read(struct str root, struct arena *a, struct source_states *ret_states) {
  struct error ignored;
  struct str text;
  yyjson_val *top, *v;
  size_t i, n;
  if (!is_claimed(root, a) || fs_read(a, state_path(root, "json", a), STATE_BYTES, &text, &ignored) != STATUS_OK ||
      json_read(a, text, &top, &ignored) != STATUS_OK)
    return;
  yyjson_arr_foreach(yyjson_obj_get(top, "sources"), i, n, v)
    list_push(a, ret_states,
              (struct source_state){json_str(v, "project"), json_str(v, "folder"), parse_way(json_str(v, "watch"))});
}
