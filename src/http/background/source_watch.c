/* source_watch.c: the thread that indexes changed files of sources while a server runs.
 *
 * Every folder of a source is watched unless there are too many; then, or without inotify, the source is scanned
 * periodically. Only one process per store and machine does it. */
#include "http/background/source_watch.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "file/source_state.h"
#include "file/walk.h"
#include "http/background/watcher.h"
#include "op/admin/upkeep.h"
#include "store/memories/documents.h"
#include "store/tables/settings.h"

enum {
  SETTLE_MS = 1500,    /* delay after a change: a checkout writes many files */
  PATIENCE_MS = 15000, /* a folder that keeps changing is read this much later at the latest */
  LIST_MS = 5000,      /* interval between checks for added or removed sources */
  SCAN_MS = 60000,     /* interval between scans of a source that is not watched */
  RESCAN_MS = 600000,  /* and of one that is watched: some file systems report no changes */
  SHARE = 20,          /* reading takes at most 1/SHARE of the time */
  WATCHES_MAX = 8192,  /* folders of all sources together: the limit per user is not much higher */
};

#define CHANGES                                                                                                        \
  (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct source {
  struct watched item;
  int64_t cost_ms; /* duration of the last read */
  enum source_way way;
  int *watches; /* inotify descriptors, one per folder */
  size_t n;
};

struct source_watch {
  struct watcher watcher;
  struct pool *pool;
  struct caller caller;
  struct arena root_arena;
  struct str root; /* folder of the agents' files */
  int claim;       /* lock file; -1: another process watches the sources */
  bool published;  /* the published states are current */
};

static struct source *source_of(struct watched *item) { return (struct source *)item; }

static struct source *first_source(const struct source_watch *w) { return source_of(w->watcher.items); }
static struct source *next_source(const struct source *s) { return source_of(s->item.next); }

static void touch(struct source *s) {
  int64_t wait = s->cost_ms * SHARE > SETTLE_MS ? s->cost_ms * SHARE : SETTLE_MS;
  watched_touch(&s->item, wait, PATIENCE_MS);
}

static void set_way(struct source_watch *w, struct source *s, enum source_way way) {
  assert(way <= SOURCE_EMPTY);
  w->published &= s->way == way;
  s->way = way;
}

/* ---- watching the folders of a source ---- */

static bool is_shared(const struct source_watch *w, const struct source *s, int watch) {
  for (const struct source *o = first_source(w); o; o = next_source(o))
    for (size_t i = 0; o != s && i < o->n; i++)
      if (o->watches[i] == watch)
        return true;
  return false;
}

static void unwatch(struct source_watch *w, struct source *s) {
  assert(s->watches || s->n == 0);
  for (size_t i = 0; i < s->n; i++)
    if (s->watches[i] >= 0 && !is_shared(w, s, s->watches[i]))
      (void)inotify_rm_watch(w->watcher.inotify, s->watches[i]);
  mem_free(s->watches);
  s->watches = NULL;
  s->n = 0;
}

static size_t other_watch_count(const struct source_watch *w, const struct source *s) {
  size_t n = 0;
  for (const struct source *o = first_source(w); o; o = next_source(o))
    n += o == s ? 0 : o->n;
  return n;
}

static int compare_ints(const void *x, const void *y) {
  int a = *(const int *)x, b = *(const int *)y;
  return (a > b) - (a < b);
}

/* Removes watches of folders that left the source; a folder that was moved away would be watched forever. */
static void remove_stale_watches(struct source_watch *w, struct source *s, const int *still, size_t n) {
  for (size_t i = 0; i < s->n; i++)
    if (s->watches[i] >= 0 && !bsearch(&s->watches[i], still, n, sizeof(*still), compare_ints) &&
        !is_shared(w, s, s->watches[i]))
      (void)inotify_rm_watch(w->watcher.inotify, s->watches[i]);
}

/* False if the system has no more watches. Adding a folder twice is harmless. */
static bool watch_all(struct source_watch *w, struct source *s, const struct strs *folders) {
  int *watches = mem_alloc(sizeof(*watches) * (folders->n + 1));
  bool ok = watches != NULL;
  size_t n = 0;
  for (; ok && n < folders->n; n++) {
    watches[n] = inotify_add_watch(w->watcher.inotify, folders->v[n].p, CHANGES);
    ok = watches[n] >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EACCES;
  }
  if (!watches)
    return false;
  assert(n <= folders->n);
  qsort(watches, n, sizeof(*watches), compare_ints);
  remove_stale_watches(w, s, watches, n);
  mem_free(s->watches);
  s->watches = watches;
  s->n = n;
  return ok;
}

/* Checks whether the folder can be read; an unmounted file system is an empty folder. */
static enum source_way check_folder(const struct source *s) {
  DIR *dir = opendir(s->item.path.p);
  bool any = false;
  if (!dir)
    return errno == EACCES || errno == EPERM ? SOURCE_CLOSED : SOURCE_EMPTY;
  for (struct dirent *e; !any && (e = readdir(dir));)
    any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(dir);
  return any ? SOURCE_WATCHED : SOURCE_EMPTY;
}

static void watch_source(struct source_watch *w, struct source *s) {
  struct arena a;
  struct error ignored;
  jmp_buf oom;
  enum source_way way = check_folder(s);
  arena_init(&a);
  if (way == SOURCE_WATCHED && !ARENA_BOUNDARY(&a, oom)) {
    struct strs folders = {0};
    if (walk_folders(s->item.path.p, &a, &folders, &ignored) != STATUS_OK ||
        folders.n + other_watch_count(w, s) > WATCHES_MAX || !watch_all(w, s, &folders))
      way = SOURCE_SCANNED;
  } else if (way == SOURCE_WATCHED) {
    way = SOURCE_SCANNED; /* out of memory */
  }
  arena_release(&a);
  if (way != SOURCE_WATCHED)
    unwatch(w, s);
  set_way(w, s, way);
}

/* ---- the list of sources ---- */

static void list_source(struct source_watch *w, struct str project, struct str path) {
  if (watcher_find(&w->watcher, project, path))
    return;
  struct source *s = watched_new(sizeof(*s), project, path);
  if (!s)
    return;
  watched_touch(&s->item, 0, 0); /* it may have changed while no server ran */
  watcher_add(&w->watcher, &s->item);
  w->published = false;
}

static void drop_source(void *arg, struct watched *item) {
  struct source_watch *w = arg;
  unwatch(w, source_of(item));
  w->published = false;
}

/* None if switched off. If machines share a store on a server, the same path may be another folder on each of them, so
 * watching must be switched on explicitly. */
static enum status list_with(struct engine *engine, struct str team, struct arena *a, struct source_roots *ret_roots,
                             struct error *err) {
  struct setting_value v;
  TRY(setting_get(engine->store, team, SET_SOURCES_WATCH, a, &v, err));
  if (str_is(v.value, "off") || (str_is(v.value, "auto") && db_engine(store_db(engine->store)) != DB_SQLITE))
    return STATUS_OK;
  return source_roots_all(engine->store, team, a, ret_roots, err);
}

static enum status find_sources(struct source_watch *w, struct arena *a, struct source_roots *ret_roots,
                                struct error *err) {
  struct engine *engine;
  struct store_boundary oom;
  jmp_buf *outer = a->oom;
  TRY(pool_acquire(w->pool, &engine, err));
  volatile enum status listed = STATUS_NOMEM;
  pthread_mutex_lock(&engine->lock);
  if (!STORE_BOUNDARY(engine->store, a, oom))
    listed = list_with(engine, w->caller.team, a, ret_roots, err);
  a->oom = outer;
  pthread_mutex_unlock(&engine->lock);
  pool_release(w->pool, engine);
  return listed;
}

/* For 'cairn source list', which may run in another process. */
static void publish(struct source_watch *w) {
  struct arena a;
  struct error ignored;
  struct source_states states = {0};
  jmp_buf oom;
  if (w->published || w->claim < 0)
    return;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    for (const struct source *s = first_source(w); s; s = next_source(s))
      list_push(&a, &states, (struct source_state){s->item.project, s->item.path, s->way});
    w->published = source_state_write(w->root, &states, &a, &ignored) == STATUS_OK;
  }
  arena_release(&a);
}

static void list_sources(void *arg) {
  struct source_watch *w = arg;
  struct arena a;
  struct error ignored;
  struct source_roots roots = {0};
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    if (w->claim < 0)
      w->claim = source_state_claim(w->root, &a);
    if (w->claim >= 0 && find_sources(w, &a, &roots, &ignored) == STATUS_OK) {
      watcher_list_begin(&w->watcher);
      for (size_t i = 0; i < roots.n; i++)
        list_source(w, roots.v[i].project, roots.v[i].path);
      watcher_list_end(&w->watcher);
    }
  }
  arena_release(&a);
  publish(w);
}

/* ---- changes ---- */

static void on_change(void *arg, const struct inotify_event *e) {
  const struct source_watch *w = arg;
  for (struct source *s = first_source(w); s; s = next_source(s)) {
    bool own = (e->mask & IN_Q_OVERFLOW) != 0;
    for (size_t i = 0; !own && i < s->n; i++)
      own = s->watches[i] == e->wd;
    if (own)
      touch(s);
  }
}

/* Adds the watches before it reads, so changes in between are noticed. */
static void read_source(void *arg, struct watched *item) {
  struct source_watch *w = arg;
  struct source *s = source_of(item);
  const struct op_hooks hooks = {.arg = &w->watcher, .cancelled = watcher_is_stopping};
  int64_t began = clock_ticks_us();
  watch_source(w, s);
  if (s->way == SOURCE_WATCHED || s->way == SOURCE_SCANNED)
    (void)upkeep_source(w->pool, &w->caller, &hooks, item->project, item->path);
  s->cost_ms = (clock_ticks_us() - began) / 1000;
  publish(w);
  item->due = clock_ticks_us() / 1000 + (s->way == SOURCE_WATCHED ? RESCAN_MS : SCAN_MS);
}

/* ---- start and stop ---- */

/* Works without inotify, of which a user has only a few instances: sources are then scanned periodically. */
static enum status start(struct source_watch *w, struct error *err) {
  TRY(watcher_open(&w->watcher, err));
  TRY(upkeep_root(w->pool, w->caller.team, &w->root_arena, &w->root, err));
  return watcher_start(&w->watcher, err);
}

enum status source_watch_start(const struct http_server *shared, struct source_watch **ret_watch, struct error *err) {
  struct source_watch *w = mem_zalloc(sizeof(*w));
  if (!w)
    return error_set(err, STATUS_NOMEM, "out of memory");
  w->watcher = (struct watcher){.period_ms = LIST_MS,
                                .check = list_sources,
                                .process = read_source,
                                .changed = on_change,
                                .drop = drop_source,
                                .arg = w};
  w->pool = shared->pool;
  w->caller = shared->caller;
  w->claim = -1;
  arena_init(&w->root_arena);
  enum status s = start(w, err);
  if (s == STATUS_OK)
    *ret_watch = w;
  else
    source_watch_stop(&w);
  return s;
}

void source_watch_stop(struct source_watch **watch) {
  struct source_watch *w = *watch;
  if (!w)
    return;
  watcher_close(&w->watcher);
  if (w->claim >= 0)
    close(w->claim);
  arena_release(&w->root_arena);
  mem_free(w);
  *watch = NULL;
}
