/* import_state.c: imports.json, the import progress of foreign transcripts. */
#include <assert.h>

#include "base/os/fs.h"
#include "transcript/file/import_files.h"

enum { STATES_VERSION = 1, STATES_BYTES = 256 << 20, STATES_MODE = 0600 };

static const char *state_path(struct str folder, struct arena *a) {
  return arena_printf(a, "%.*s/imports.json", STR_ARG(folder)).p;
}

static bool get_state(yyjson_val *v, struct import_state *state) {
  struct str from = json_str(v, "from");
  *state = (struct import_state){.path = json_str(v, "path"),
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
  return state->path.n && state->from != IMPORT_UNKNOWN && state->session.n && state->offset >= 0 && state->lines >= 0;
}

void import_states_read(struct str folder, struct arena *a, struct import_states *ret_states) {
  struct import_states states = {0};
  struct error ignored;
  struct str text;
  yyjson_val *root, *key, *v;
  size_t i, n;
  *ret_states = states;
  if (fs_read(a, state_path(folder, a), STATES_BYTES, &text, &ignored) != STATUS_OK ||
      json_read(a, text, &root, &ignored) != STATUS_OK || json_int(root, "version", 0) != STATES_VERSION)
    return;
  yyjson_arr_foreach(yyjson_obj_get(root, "files"), i, n, v) {
    struct import_state state;
    if (get_state(v, &state))
      list_push(a, &states, state);
  }
  yyjson_obj_foreach(yyjson_obj_get(root, "sessions"), i, n, key, v) {
    if (yyjson_is_str(v))
      list_push(a, &states.places, (struct import_place){json_val_str(key), json_val_str(v)});
  }
  *ret_states = states;
}

static void put_state(yyjson_mut_doc *doc, yyjson_mut_val *v, const struct import_state *state) {
  assert(state->from > IMPORT_UNKNOWN && state->from < IMPORT_FROM_COUNT);
  json_put(doc, v, "path", state->path);
  json_put(doc, v, "from", str_from(import_from_names[state->from]));
  json_put_int(doc, v, "size", state->size);
  json_put_int(doc, v, "changed", state->changed_at);
  json_put_int(doc, v, "offset", state->offset);
  json_put_int(doc, v, "lines", state->lines);
  json_put(doc, v, "tail", state->tail);
  json_put(doc, v, "session", state->session);
  json_put_opt(doc, v, "cwd", state->cwd);
  json_put_opt(doc, v, "repository", state->repository);
  json_put_bool(doc, v, "versioned", state->versioned);
  json_put_bool(doc, v, "header", state->header);
  json_put_int(doc, v, "at", state->at);
}

enum status import_states_write(struct str folder, const struct import_states *states, struct arena *a,
                                struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  json_put_int(doc, root, "version", STATES_VERSION);
  yyjson_mut_val *files = json_put_arr(doc, root, "files");
  for (size_t i = 0; i < states->n; i++)
    put_state(doc, yyjson_mut_arr_add_obj(doc, files), &states->v[i]);
  yyjson_mut_val *sessions = json_put_obj(doc, root, "sessions");
  for (size_t i = 0; i < states->places.n; i++)
    json_put(doc, sessions, arena_cstr(a, states->places.v[i].session), states->places.v[i].project);
  TRY(fs_mkdirs(arena_cstr(a, folder), err));
  return fs_write(state_path(folder, a), json_write(a, root, true), STATES_MODE, err);
}

static struct import_state *find(struct import_states *states, struct str path) {
  for (size_t k = 0; k < states->n; k++) {
    size_t at = (states->near + k) % states->n;
    if (str_eq(states->v[at].path, path)) {
      states->near = at;
      return &states->v[at];
    }
  }
  return NULL;
}

const struct import_state *import_state_find(struct import_states *states, struct str path) {
  return find(states, path);
}

void import_state_put(struct arena *a, struct import_states *states, const struct import_state *state) {
  struct import_state copy = *state, *old = find(states, state->path);
  struct str *texts[] = {&copy.path, &copy.tail, &copy.session, &copy.cwd, &copy.repository};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (texts[i]->p)
      *texts[i] = arena_dup(a, *texts[i]);
  if (old)
    *old = copy;
  else
    list_push(a, states, copy);
}

bool import_place_find(const struct import_states *states, struct str session, struct str *ret_project) {
  for (size_t i = 0; i < states->places.n; i++)
    if (str_eq(states->places.v[i].session, session)) {
      *ret_project = states->places.v[i].project;
      return true;
    }
  return false;
}

void import_place_put(struct arena *a, struct import_states *states, struct str session, struct str project) {
  list_push(a, &states->places, (struct import_place){arena_dup(a, session), arena_dup(a, project)});
}
