/* confine.c: the places that servers need, from settings, store and surroundings. */
#include "cli/serve/confine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "cli/serve/sandbox.h"
#include "file/place.h"
#include "op/embedding/config.h"
#include "op/vault/key.h"
#include "store/db/place.h"
#include "store/memories/documents.h"
#include "store/vectors/indexes.h"

const char *const sandbox_modes[] = {"on", "off", NULL};

/* ---- everybody's ---- */

/* Libraries that are opened when they are needed, the clock, and who else runs: sessions are alive while their
 * processes are. */
static const char *const always_read[] = {
    "/usr",
    "/nix/store",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc",
    "/dev/urandom",
    "/dev/random",
    "/sys/devices/system/cpu",
    NULL,
};
static const char *const always_written[] = {"/dev/null", NULL};

/* Names, certificates, the user's own data. Folders, because what is in them is replaced while a server runs. */
static const char *const to_connect[] = {
    "/etc", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", NULL,
};

/* Below the home folder: what libpq reads. */
static const char *const of_postgres[] = {".pgpass", ".pg_service.conf", ".postgresql", NULL};
static const char *const postgres_files[] = {"PGPASSFILE", "PGSERVICEFILE", "PGSSLROOTCERT",
                                             "PGSSLCERT",  "PGSSLKEY",      NULL};

/* ---- gathering ---- */

struct needs {
  struct arena *a;
  const struct context *context;
  struct store *store; /* NULL: there is none yet, or it cannot be opened now */
  struct sandbox keep;
};

static void add_names(struct needs *n, struct strs *list, const char *const *names) {
  for (; *names; names++)
    strs_push(n->a, list, str_from(*names));
}

/* A value that will not do is complained about by whoever uses it. */
static struct str value_of(struct needs *n, enum setting_id id) {
  struct setting_value v;
  struct error ignored;
  const struct context *c = n->context;
  enum status s = n->store ? setting_get(n->store, c->caller.team, id, n->a, &v, &ignored)
                           : setting_outside(c->engine.settings, id, n->a, &v, &ignored);
  return s == STATUS_OK ? v.value : STR_NONE;
}

/* A folder of our own that is not there yet is made: only what is there can be kept. */
static void add_own(struct needs *n, struct str folder) {
  struct error ignored;
  if (!str_empty(folder) && fs_mkdirs(arena_cstr(n->a, folder), &ignored) == STATUS_OK)
    strs_push(n->a, &n->keep.write, folder);
}

static void add_xdg(struct needs *n, enum xdg which) {
  struct str folder;
  struct error ignored;
  if (fs_xdg(n->a, which, "cairn", &folder, &ignored) == STATUS_OK)
    add_own(n, folder);
}

static void add_home(struct needs *n, const char *const *names) {
  const char *home = getenv("HOME");
  for (; home && *names; names++)
    strs_push(n->a, &n->keep.read, arena_printf(n->a, "%s/%s", home, *names));
}

/* A store has a folder rather than a file: its log, its copies and what belongs to its agents lie beside it. */
static void add_store(struct needs *n) {
  const char *path = n->context->engine.path;
  char real[PATH_MAX];
  if (!db_is_url(path)) {
    strs_push(n->a, &n->keep.write, fs_dirname(str_from(path)));
    if (realpath(path, real)) /* a link: SQLite works where it leads */
      strs_push(n->a, &n->keep.write, arena_dup(n->a, fs_dirname(str_from(real))));
  } else {
    n->keep.connect = true;
    add_home(n, of_postgres);
    for (const char *const *name = postgres_files; *name; name++)
      if (getenv(*name))
        strs_push(n->a, &n->keep.read, str_from(getenv(*name)));
  }
  if (n->context->default_store || db_is_url(path))
    add_xdg(n, XDG_STATE);
}

static void add_embedder(struct needs *n, const struct embed_config *c) {
  n->keep.connect |= embed_config_costly(c);
  if (str_is(c->v[0], "file"))
    strs_push(n->a, &n->keep.read, embed_config_value(c, SET_EMBEDDER_FILE));
}

/* The one that is set, and those of indexes that are still searched. */
static void add_embedders(struct needs *n) {
  struct embed_config c = {0};
  struct vec_indexes indexes;
  struct error ignored;
  for (int id = SET_EMBEDDER; id <= SET_EMBEDDER_LAST; id++)
    c.v[id - SET_EMBEDDER] = value_of(n, (enum setting_id)id);
  add_embedder(n, &c);
  if (!n->store || vec_indexes_of(n->store, n->context->caller.team, n->a, &indexes, &ignored) != STATUS_OK)
    return;
  for (size_t i = 0; i < VEC_STATES; i++)
    if (indexes.of[i].model.p && embed_config_parse(n->a, indexes.of[i].config, &c, &ignored) == STATUS_OK)
      add_embedder(n, &c);
}

/* Where the settings put files of the agents, and pages that people have somewhere else: a page is replaced as a whole,
 * which takes its folder. */
static void add_files(struct needs *n) {
  struct str page = value_of(n, SET_MEMORY_PATH), sessions = value_of(n, SET_SESSIONS_PATH), root;
  struct mirror_places pages = {0};
  struct error ignored;
  add_own(n, value_of(n, SET_FILES_ROOT));
  if (str_starts(sessions, STR("/")))
    add_own(n, sessions);
  if (str_starts(page, STR("/")))
    strs_push(n->a, &n->keep.write, fs_dirname(page));
  if (!n->store || mirror_place_root(n->store, n->context->caller.team, n->a, &root, &ignored) != STATUS_OK)
    return;
  mirror_place_list(n->a, root, &pages);
  for (size_t i = 0; i < pages.n; i++)
    strs_push(n->a, &n->keep.write, fs_dirname(pages.v[i].path));
}

/* Folders whose files are searched, with the rules of the repository around them. */
static void add_sources(struct needs *n) {
  struct strs roots = {0};
  struct error ignored;
  if (!n->store || source_root_paths(n->store, n->context->caller.team, n->a, &roots, &ignored) != STATUS_OK)
    return;
  for (size_t i = 0; i < roots.n; i++) {
    strs_push(n->a, &n->keep.read, roots.v[i]);
    for (struct str above = fs_dirname(roots.v[i]); above.n > 1; above = fs_dirname(above))
      strs_push(n->a, &n->keep.read, arena_printf(n->a, "%.*s/.gitignore", STR_ARG(above)));
  }
}

/* A file of keys is replaced when they change, and is another one then: it is the folder that counts. That of the vault
 * is made, so that a key can come later; never by the server, which could leave a configuration there, too. */
static void add_keys(struct needs *n) {
  struct str jwks = value_of(n, SET_OAUTH_JWKS), vault;
  struct error ignored;
  if (!str_empty(jwks))
    strs_push(n->a, &n->keep.read, fs_dirname(jwks));
  if (key_file_place(n->a, &vault, &ignored) != STATUS_OK)
    return;
  vault = fs_dirname(vault);
  if (fs_mkdirs(arena_cstr(n->a, vault), &ignored) == STATUS_OK)
    strs_push(n->a, &n->keep.read, vault);
}

/* The root, the home folder, and what is between them: whoever may read one of them may read all that a user has. */
static bool holds_home(struct needs *n, struct str folder) {
  const char *home = getenv("HOME");
  char real[PATH_MAX], real_home[PATH_MAX];
  if (!realpath(arena_cstr(n->a, folder), real))
    return false;
  size_t k = strlen(real);
  if (k == 1)
    return true;
  return home && realpath(home, real_home) && strncmp(real_home, real, k) == 0 &&
         (!real_home[k] || real_home[k] == '/');
}

static bool add_folder_of(struct needs *n, struct str file) {
  struct str folder = fs_dirname(file);
  bool too_much = holds_home(n, folder);
  strs_push(n->a, &n->keep.read, arena_dup(n->a, too_much ? file : folder));
  return !too_much;
}

/* A renewed certificate is another file in the same folder, or a link there leads elsewhere than before, to the
 * neighbour of what it led to. */
static void add_renewed(struct needs *n, const char *file) {
  char real[PATH_MAX];
  if (!file)
    return;
  bool all = add_folder_of(n, str_from(file));
  if (realpath(file, real) && strcmp(file, real) != 0)
    all &= add_folder_of(n, str_from(real));
  if (!all)
    fprintf(stderr,
            "cairn: %s lies directly in a folder that the sandbox does not open: once it is renewed, start the server "
            "again, or keep it in a folder of its own\n",
            file);
}

static void add_paths(struct needs *n) {
  struct str rest = value_of(n, SET_SANDBOX_PATHS), one;
  while (str_next(&rest, ':', &one))
    if (!str_empty(one))
      strs_push(n->a, &n->keep.write, one);
}

static void gather(struct needs *n, const struct confine *c) {
  add_names(n, &n->keep.read, always_read);
  add_names(n, &n->keep.write, always_written);
  if (c->socket)
    strs_push(n->a, &n->keep.remove, fs_dirname(str_from(c->socket)));
  add_store(n);
  add_embedders(n);
  add_files(n);
  add_sources(n);
  add_keys(n);
  add_renewed(n, c->tls_cert);
  add_renewed(n, c->tls_key);
  add_paths(n);
  if (n->keep.connect)
    add_names(n, &n->keep.read, to_connect);
}

/* ---- entering ---- */

/* The option, else the setting; never what a store holds, which agents write. */
static enum status is_wanted(const struct confine *c, bool *ret_wanted, struct error *err) {
  struct str mode = args_text(c->args->args, "sandbox");
  struct setting_value v = {.value = mode};
  if (!mode.p)
    TRY(setting_outside(c->context->engine.settings, SET_SANDBOX, c->a, &v, err));
  *ret_wanted = str_is(v.value, "on");
  return STATUS_OK;
}

enum { LOOK_MS = 500, LOOK_CONNECT_MS = 1000 };

/* Only looked at: nothing is made or changed before a call needs it. */
static struct store *look_into_store(const struct confine *c) {
  struct store *st = NULL;
  struct error ignored;
  const struct engine_options *e = &c->context->engine;
  struct store_options o = {.path = e->path,
                            .busy_ms = LOOK_MS,
                            .connect_ms = c->at_once ? LOOK_CONNECT_MS : 0,
                            .must_exist = true,
                            .read_only = true,
                            .now = clock_now(&e->clock),
                            .settings = e->settings};
  return store_open(&o, &st, &ignored) == STATUS_OK ? st : NULL;
}

static const char *level_text(struct arena *a, const struct sandbox_level *level) {
  if (!level->landlock)
    return level->seccomp ? "on, by seccomp alone: this kernel has no Landlock, so that files are not fenced off"
                          : "on, but this kernel has neither Landlock nor seccomp: nothing is fenced off";
  return arena_printf(a, "on (Landlock %d%s)", level->landlock, level->seccomp ? ", seccomp" : "; no seccomp").p;
}

static enum status fence_in(const struct confine *c, struct error *err) {
  struct needs n = {.a = c->a, .context = c->context};
  struct sandbox_level level;
  bool wanted = false;
  enum status s = is_wanted(c, &wanted, err);
  if (s != STATUS_OK || !wanted) {
    telemetry_set_sandbox(c->telemetry, "off");
    return s;
  }
  n.store = look_into_store(c);
  gather(&n, c);
  store_close(&n.store);
  s = sandbox_enter(&n.keep, &level, err);
  if (s != STATUS_OK)
    return error_fix(err, "--sandbox off runs the server without it");
  telemetry_set_sandbox(c->telemetry, level_text(c->a, &level));
  if (!level.landlock || !level.seccomp)
    fprintf(stderr, "cairn: sandbox %s\n", telemetry_sandbox(c->telemetry));
  return STATUS_OK;
}

/* Said once, at the start: a server works without it. Only where the limit is low is it tried out, which takes time. */
static void tell_unlocked(void) {
  enum { LOCKED_BYTES = 1 << 20 };
  struct rlimit limit;
  bool low = getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur < LOCKED_BYTES;
  if (low && !mem_secret_locks(LOCKED_BYTES))
    fprintf(stderr, "cairn: less than a megabyte of memory can be locked, so that secrets of the vault may be swapped "
                    "to disk: raise the limit (ulimit -l)\n");
}

enum status confine(const struct confine *c, struct error *err) {
  TRY(fence_in(c, err));
  tell_unlocked();
  return STATUS_OK;
}
