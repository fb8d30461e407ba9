/* confine.c: paths that servers need, from settings, store and environment. */
#include "cli/serve/confine.h"

#include <assert.h>
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

/* ---- all servers ---- */

/* Libraries loaded on demand, the clock, and /proc: sessions are alive as long as their processes. */
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

/* Name resolution, certificates, passwd. Folders, because their files are replaced while a server runs. */
static const char *const connect_paths[] = {
    "/etc", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", NULL,
};

/* Files in the home folder that libpq reads. */
static const char *const postgres_home_files[] = {".pgpass", ".pg_service.conf", ".postgresql", NULL};
static const char *const postgres_variables[] = {"PGPASSFILE", "PGSERVICEFILE", "PGSSLROOTCERT",
                                                 "PGSSLCERT",  "PGSSLKEY",      NULL};

/* ---- collecting ---- */

struct needs {
  struct arena *a;
  const struct context *context;
  struct store *store; /* NULL: missing, or cannot be opened now */
  struct sandbox keep;
};

static void add_names(struct needs *n, struct strs *list, const char *const *names) {
  for (; *names; names++)
    strs_push(n->a, list, str_from(*names));
}

/* Invalid values are reported by the code that uses them. */
static struct str value_of(struct needs *n, enum setting_id id) {
  struct setting_value v;
  struct error ignored;
  const struct context *c = n->context;
  enum status s = n->store ? setting_get(n->store, c->caller.team, id, n->a, &v, &ignored)
                           : setting_get_without_store(c->engine.settings, id, n->a, &v, &ignored);
  return s == STATUS_OK ? v.value : STR_NONE;
}

/* Creates missing folders of our own: rules need existing paths. */
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

/* Permits the folder, not only the file: log, backups and agent files are beside the store. */
static void add_store(struct needs *n) {
  const char *path = n->context->engine.path;
  char real[PATH_MAX];
  assert(path);
  if (!db_is_url(path)) {
    strs_push(n->a, &n->keep.write, fs_dirname(str_from(path)));
    if (realpath(path, real)) /* a symlink: SQLite works on its target */
      strs_push(n->a, &n->keep.write, arena_dup(n->a, fs_dirname(str_from(real))));
  } else {
    n->keep.connect = true;
    add_home(n, postgres_home_files);
    for (const char *const *name = postgres_variables; *name; name++)
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

/* The configured embedder, and those of indexes that are still searched. */
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

/* Folders of agent files, and of pages elsewhere: a page is replaced by rename, which needs its folder. */
static void add_files(struct needs *n) {
  struct str page = value_of(n, SET_MEMORY_PATH), sessions = value_of(n, SET_SESSIONS_PATH), root;
  struct mirror_places pages = {0};
  struct error ignored;
  add_own(n, value_of(n, SET_FILES_ROOT));
  if (str_starts(sessions, STR("/")))
    add_own(n, sessions);
  if (str_starts(page, STR("/")))
    strs_push(n->a, &n->keep.write, fs_dirname(page));
  if (!n->store || mirror_place_parent(n->store, n->context->caller.team, n->a, &root, &ignored) != STATUS_OK)
    return;
  mirror_place_list(n->a, root, &pages);
  for (size_t i = 0; i < pages.n; i++)
    strs_push(n->a, &n->keep.write, fs_dirname(pages.v[i].path));
}

/* Source folders, and the .gitignore files above them. */
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

/* A key file is replaced when keys change, so its folder is needed. The vault's folder is created here so that a key
 * can be added later, but it is read-only: a server could otherwise write a configuration there. */
static void add_keys(struct needs *n) {
  struct str jwks = value_of(n, SET_OAUTH_JWKS), vault;
  struct error ignored;
  if (!str_empty(jwks))
    strs_push(n->a, &n->keep.read, fs_dirname(jwks));
  if (vault_key_file_path(n->a, &vault, &ignored) != STATUS_OK)
    return;
  vault = fs_dirname(vault);
  if (fs_mkdirs(arena_cstr(n->a, vault), &ignored) == STATUS_OK)
    strs_push(n->a, &n->keep.read, vault);
}

/* True for the home folder and its parents: reading one of them would expose everything the user has. */
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

/* A renewed certificate is a new file in the same folder, or a symlink to another target next to the old one. */
static void add_renewed(struct needs *n, const char *file) {
  char real[PATH_MAX];
  if (!file)
    return;
  bool all = add_folder_of(n, str_from(file));
  if (realpath(file, real) && strcmp(file, real) != 0)
    all &= add_folder_of(n, str_from(real));
  if (!all)
    fprintf(stderr,
            "cairn: %s is in a folder that the sandbox does not open: restart the server after renewing it, or move it "
            "to its own folder\n",
            file);
}

static void add_paths(struct needs *n) {
  struct str rest = value_of(n, SET_SANDBOX_PATHS), one;
  while (str_next(&rest, ':', &one))
    if (!str_empty(one))
      strs_push(n->a, &n->keep.write, one);
}

static void collect(struct needs *n, const struct confine *c) {
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
    add_names(n, &n->keep.read, connect_paths);
}

/* ---- entering ---- */

/* From the option, else the setting; never from the store, which agents write. */
static enum status is_wanted(const struct confine *c, bool *ret_wanted, struct error *err) {
  struct str mode = args_text(c->args->args, "sandbox");
  struct setting_value v = {.value = mode};
  if (!mode.p)
    TRY(setting_get_without_store(c->context->engine.settings, SET_SANDBOX, c->a, &v, err));
  *ret_wanted = str_is(v.value, "on");
  return STATUS_OK;
}

enum { LOOK_MS = 500, LOOK_CONNECT_MS = 1000 };

/* Read-only: nothing is created or changed before a call needs it. */
static struct store *open_read_only(const struct confine *c) {
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
    return level->seccomp ? "on, seccomp only: this kernel has no Landlock, so file access is not restricted"
                          : "on, but this kernel has neither Landlock nor seccomp: nothing is restricted";
  return arena_printf(a, "on (Landlock %d%s)", level->landlock, level->seccomp ? ", seccomp" : "; no seccomp").p;
}

static enum status enter_sandbox(const struct confine *c, struct error *err) {
  struct needs n = {.a = c->a, .context = c->context};
  struct sandbox_level level;
  bool wanted = false;
  enum status s = is_wanted(c, &wanted, err);
  if (s != STATUS_OK || !wanted) {
    telemetry_set_sandbox(c->telemetry, "off");
    return s;
  }
  n.store = open_read_only(c);
  collect(&n, c);
  store_close(&n.store);
  s = sandbox_enter(&n.keep, &level, err);
  if (s != STATUS_OK)
    return error_fix(err, "--sandbox off runs the server without it");
  telemetry_set_sandbox(c->telemetry, level_text(c->a, &level));
  if (!level.landlock || !level.seccomp)
    fprintf(stderr, "cairn: sandbox %s\n", telemetry_sandbox(c->telemetry));
  return STATUS_OK;
}

/* A warning at start; a server works without it. Trying it out takes time, so we do it only if the limit is low. */
static void warn_unlocked(void) {
  enum { LOCKED_BYTES = 1 << 20 };
  struct rlimit limit;
  bool low = getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur < LOCKED_BYTES;
  if (low && !mem_secret_can_lock(LOCKED_BYTES))
    fprintf(stderr, "cairn: less than 1 MB of memory can be locked, so vault secrets may be swapped to disk: raise the "
                    "limit (ulimit -l)\n");
}

enum status confine(const struct confine *c, struct error *err) {
  assert(c->telemetry && !c->tls_cert == !c->tls_key);
  TRY(enter_sandbox(c, err));
  warn_unlocked();
  return STATUS_OK;
}
