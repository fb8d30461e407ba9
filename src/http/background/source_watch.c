/* source_watch.c: the thread that reads what has changed in the folders of sources behind a server.
 *
 * Every folder of a source is watched, as long as there are not too many of them; else, and where watching is not to be
 * had, the source is looked at now and then. One process does it for a store on a machine. */
#include "http/background/source_watch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "file/source_state.h"
#include "file/walk.h"
#include "op/admin/upkeep.h"
#include "store/memories/documents.h"
#include "store/tables/settings.h"

enum {
  SETTLE_MS = 1500,    /* so long a folder must rest: a checkout writes many files */
  PATIENCE_MS = 15000, /* one that never rests is read nevertheless */
  LIST_MS = 5000,      /* how often it is looked for sources that were added or removed */
  SCAN_MS = 60000,     /* between looks at a source that is not watched */
  REST_MS = 600000,    /* and at one that is: some file systems tell of nothing */
  SHARE = 20,          /* reading takes at most one part in so many of the time */
  WATCHES_MOST = 8192, /* folders, of all sources together: the system has not many more for a user */
};

#define CHANGES                                                                                                        \
  (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* A source; its texts are behind it. */
struct followed {
  struct followed *next;
  int64_t first, due; /* when its change was noticed, and when it is to be read */
  int64_t cost;       /* ms that the last reading took */
  enum source_way way;
  int *watches; /* of inotify, one for each folder */
  size_t n;
  bool noted; /* it is still a source */
  struct str project, path;
  char text[];
};

struct source_watch {
  struct pool *pool;
  struct caller caller;
  struct arena root_arena;
  struct str root; /* of the agents' folders */
  pthread_t thread;
  bool running;
  _Atomic bool quit;
  int inotify, wake, claim; /* claim: -1 while another process follows the sources */
  struct followed *sources;
  bool told; /* what is noted for others is what is so */
};

static int64_t now_ms(void) { return clock_ticks_us() / 1000; }

static bool is_cancelled(void *arg) { return atomic_load(&((struct source_watch *)arg)->quit); }

static void touch(struct followed *f) {
  int64_t now = now_ms(), rest = f->cost * SHARE > SETTLE_MS ? f->cost * SHARE : SETTLE_MS;
  bool waits = f->first != 0;
  f->first = waits ? f->first : now;
  f->due = now + rest;
  if (waits && f->due > f->first + PATIENCE_MS + rest)
    f->due = f->first + PATIENCE_MS + rest;
}

static void set_way(struct source_watch *w, struct followed *f, enum source_way way) {
  w->told &= f->way == way;
  f->way = way;
}

/* ---- watching the folders of a source ---- */

static bool is_shared(const struct source_watch *w, const struct followed *f, int watch) {
  for (const struct followed *o = w->sources; o; o = o->next)
    for (size_t i = 0; o != f && i < o->n; i++)
      if (o->watches[i] == watch)
        return true;
  return false;
}

static void unwatch(struct source_watch *w, struct followed *f) {
  for (size_t i = 0; i < f->n; i++)
    if (f->watches[i] >= 0 && !is_shared(w, f, f->watches[i]))
      (void)inotify_rm_watch(w->inotify, f->watches[i]);
  mem_free(f->watches);
  f->watches = NULL;
  f->n = 0;
}

static size_t watches_of_others(const struct source_watch *w, const struct followed *f) {
  size_t n = 0;
  for (const struct followed *o = w->sources; o; o = o->next)
    n += o == f ? 0 : o->n;
  return n;
}

static int by_number(const void *x, const void *y) {
  int a = *(const int *)x, b = *(const int *)y;
  return (a > b) - (a < b);
}

/* Those of folders that are no longer below the source: one that was moved away would be watched for ever. */
static void drop_watches(struct source_watch *w, struct followed *f, const int *still, size_t n) {
  for (size_t i = 0; i < f->n; i++)
    if (f->watches[i] >= 0 && !bsearch(&f->watches[i], still, n, sizeof(*still), by_number) &&
        !is_shared(w, f, f->watches[i]))
      (void)inotify_rm_watch(w->inotify, f->watches[i]);
}

/* False when the system has no more of them. Adding a folder again changes nothing. */
static bool watch_all(struct source_watch *w, struct followed *f, const struct strs *folders) {
  int *watches = mem_alloc(sizeof(*watches) * (folders->n + 1));
  bool ok = watches != NULL;
  size_t n = 0;
  for (; ok && n < folders->n; n++) {
    watches[n] = inotify_add_watch(w->inotify, folders->v[n].p, CHANGES);
    ok = watches[n] >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EACCES;
  }
  if (!watches)
    return false;
  qsort(watches, n, sizeof(*watches), by_number);
  drop_watches(w, f, watches, n);
  mem_free(f->watches);
  f->watches = watches;
  f->n = n;
  return ok;
}

/* What stands in the way of reading it; a mount that is missing is an empty folder. */
static enum source_way look_at(const struct followed *f) {
  DIR *dir = opendir(f->path.p);
  bool any = false;
  if (!dir)
    return errno == EACCES || errno == EPERM ? SOURCE_CLOSED : SOURCE_EMPTY;
  for (struct dirent *e; !any && (e = readdir(dir));)
    any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(dir);
  return any ? SOURCE_WATCHED : SOURCE_EMPTY;
}

static void watch_source(struct source_watch *w, struct followed *f) {
  struct arena a;
  struct error ignored;
  jmp_buf oom;
  enum source_way way = look_at(f);
  arena_init(&a);
  if (way == SOURCE_WATCHED && !ARENA_BOUNDARY(&a, oom)) {
    struct strs folders = {0};
    if (walk_folders(f->path.p, &a, &folders, &ignored) != STATUS_OK ||
        folders.n + watches_of_others(w, f) > WATCHES_MOST || !watch_all(w, f, &folders))
      way = SOURCE_SCANNED;
  } else if (way == SOURCE_WATCHED) {
    way = SOURCE_SCANNED; /* no memory for it now */
  }
  arena_release(&a);
  if (way != SOURCE_WATCHED)
    unwatch(w, f);
  set_way(w, f, way);
}

/* ---- the list of sources ---- */

static void note_source(struct source_watch *w, struct str project, struct str path) {
  for (struct followed *f = w->sources; f; f = f->next)
    if (str_eq(f->path, path) && str_eq(f->project, project)) {
      f->noted = true;
      return;
    }
  struct followed *f = mem_zalloc(sizeof(*f) + project.n + path.n + 1);
  if (!f)
    return;
  memcpy(f->text, path.p, path.n);
  f->path = (struct str){f->text, path.n};
  if (project.n)
    memcpy(f->text + path.n + 1, project.p, project.n);
  f->project = (struct str){f->text + path.n + 1, project.n};
  f->noted = true;
  f->first = f->due = now_ms(); /* it may have changed while no server ran */
  f->next = w->sources;
  w->sources = f;
  w->told = false;
}

static void drop_source(struct source_watch *w, struct followed **at) {
  struct followed *f = *at;
  unwatch(w, f);
  *at = f->next;
  mem_free(f);
  w->told = false;
}

/* Off: none. Where several machines use a store on a server, each of them may have another folder of the same name: one
 * has to be told to follow them. */
static enum status list_with(struct engine *engine, struct str team, struct arena *a, struct source_roots *ret_roots,
                             struct error *err) {
  struct setting_value v;
  TRY(setting_get(engine->store, team, SET_SOURCES_WATCH, a, &v, err));
  if (str_is(v.value, "off") || (str_is(v.value, "auto") && db_engine(store_db(engine->store)) != DB_SQLITE))
    return STATUS_OK;
  return source_roots_all(engine->store, team, a, ret_roots, err);
}

static enum status list_sources(struct source_watch *w, struct arena *a, struct source_roots *ret_roots,
                                struct error *err) {
  struct engine *engine;
  struct store_boundary oom;
  jmp_buf *outer = a->oom;
  TRY(pool_take(w->pool, &engine, err));
  volatile enum status listed = STATUS_NOMEM;
  pthread_mutex_lock(&engine->lock);
  if (!STORE_BOUNDARY(engine->store, a, oom))
    listed = list_with(engine, w->caller.team, a, ret_roots, err);
  a->oom = outer;
  pthread_mutex_unlock(&engine->lock);
  pool_give(w->pool, engine);
  return listed;
}

static void relist(struct source_watch *w) {
  struct arena a;
  struct error ignored;
  struct source_roots roots = {0};
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    if (w->claim < 0)
      w->claim = source_state_claim(w->root, &a);
    if (w->claim >= 0 && list_sources(w, &a, &roots, &ignored) == STATUS_OK) {
      for (struct followed *f = w->sources; f; f = f->next)
        f->noted = false;
      for (size_t i = 0; i < roots.n; i++)
        note_source(w, roots.v[i].project, roots.v[i].path);
      for (struct followed **at = &w->sources; *at;)
        if ((*at)->noted)
          at = &(*at)->next;
        else
          drop_source(w, at);
    }
  }
  arena_release(&a);
}

/* For 'cairn source list', which may be asked in another process. */
static void tell(struct source_watch *w) {
  struct arena a;
  struct error ignored;
  struct source_states states = {0};
  jmp_buf oom;
  if (w->told || w->claim < 0)
    return;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    for (const struct followed *f = w->sources; f; f = f->next)
      list_push(&a, &states, (struct source_state){f->project, f->path, f->way});
    w->told = source_state_write(w->root, &states, &a, &ignored) == STATUS_OK;
  }
  arena_release(&a);
}

/* ---- the thread ---- */

static void read_changes(struct source_watch *w) {
  _Alignas(struct inotify_event) char buffer[8192];
  ssize_t n;
  while ((n = read(w->inotify, buffer, sizeof(buffer))) > 0)
    for (char *at = buffer; at < buffer + n;) {
      const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
      at += sizeof(*e) + e->len;
      for (struct followed *f = w->sources; f; f = f->next) {
        bool own = (e->mask & IN_Q_OVERFLOW) != 0;
        for (size_t i = 0; !own && i < f->n; i++)
          own = f->watches[i] == e->wd;
        if (own)
          touch(f);
      }
    }
}

/* Watched first, read then: what changes in between is noticed. */
static void read_source(struct source_watch *w, struct followed *f) {
  const struct op_hooks hooks = {.arg = w, .cancelled = is_cancelled};
  int64_t began = now_ms();
  f->first = f->due = 0;
  watch_source(w, f);
  if (f->way == SOURCE_WATCHED || f->way == SOURCE_SCANNED)
    (void)upkeep_source(w->pool, &w->caller, &hooks, f->project, f->path);
  f->cost = now_ms() - began;
}

/* Reads the sources that are due. ret_wait: until the next one is. */
static void read_due(struct source_watch *w, int64_t *ret_wait) {
  *ret_wait = LIST_MS;
  for (struct followed *f = w->sources; f && !atomic_load(&w->quit); f = f->next) {
    if (f->due && f->due <= now_ms()) {
      read_source(w, f);
      tell(w);
      if (!f->due) {
        f->due = now_ms() + (f->way == SOURCE_WATCHED ? REST_MS : SCAN_MS);
        f->first = 0;
      }
    }
    int64_t left = f->due - now_ms();
    if (left < *ret_wait)
      *ret_wait = left > 0 ? left : 0;
  }
}

static void *watch_sources(void *arg) {
  struct source_watch *w = arg;
  int64_t listed = 0, wait = 0;
  while (!atomic_load(&w->quit)) {
    if (listed == 0 || now_ms() - listed >= LIST_MS) {
      relist(w);
      listed = now_ms();
    }
    tell(w);
    read_due(w, &wait);
    struct pollfd fds[] = {{.fd = w->inotify, .events = POLLIN}, {.fd = w->wake, .events = POLLIN}};
    if (!atomic_load(&w->quit) && poll(fds, 2, (int)wait) > 0)
      read_changes(w);
  }
  return NULL;
}

/* ---- its life ---- */

enum status source_watch_start(const struct http_server *shared, struct source_watch **ret_watch, struct error *err) {
  struct source_watch *w = mem_zalloc(sizeof(*w));
  if (!w)
    return error_set(err, STATUS_NOMEM, "out of memory");
  w->pool = shared->pool;
  w->caller = shared->caller;
  w->claim = -1;
  arena_init(&w->root_arena);
  w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  enum status s = STATUS_OK;
  if (w->wake < 0) /* without inotify, of which a user has not many, they are looked at now and then */
    s = error_errno(err, errno, "sources cannot be watched");
  if (s == STATUS_OK)
    s = upkeep_root(w->pool, w->caller.team, &w->root_arena, &w->root, err);
  int failed = s == STATUS_OK ? thread_start(&w->thread, watch_sources, w) : 0;
  if (failed)
    s = error_errno(err, failed, "no thread could be started");
  w->running = s == STATUS_OK;
  if (s == STATUS_OK)
    *ret_watch = w;
  else
    source_watch_stop(&w);
  return s;
}

void source_watch_stop(struct source_watch **watch) {
  struct source_watch *w = *watch;
  uint64_t one = 1;
  if (!w)
    return;
  atomic_store(&w->quit, true);
  if (w->running) {
    (void)!write(w->wake, &one, sizeof(one));
    pthread_join(w->thread, NULL);
  }
  while (w->sources)
    drop_source(w, &w->sources);
  if (w->inotify >= 0)
    close(w->inotify);
  if (w->wake >= 0)
    close(w->wake);
  if (w->claim >= 0)
    close(w->claim);
  arena_release(&w->root_arena);
  mem_free(w);
  *watch = NULL;
}
