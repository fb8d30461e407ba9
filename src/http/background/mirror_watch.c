/* mirror_watch.c: the thread that syncs each MEMORY.md with the store while a server runs. */
#include "http/background/mirror_watch.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "file/place.h"
#include "http/background/watcher.h"
#include "op/admin/upkeep.h"

enum {
  SETTLE_MS = 800,    /* delay after a change: an editor writes a page in several steps */
  PATIENCE_MS = 4200, /* a page that keeps changing is synced 5 s after its first change */
  RETRY_MS = 30000,   /* delay after a failure */
  RESCAN_MS = 3000,   /* interval between checks for newly registered pages */
};

#define EDITS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM)

struct page {
  struct watched item;
  int folder; /* inotify descriptor; -1: not watched */
};

struct mirror_watch {
  struct watcher watcher;
  struct pool *pool;
  struct feed *feed;
  struct feed_subscriber *subscriber;
  struct caller caller;
  struct arena root_arena;
  struct str root; /* folder of the agents' files */
};

static struct page *page_of(struct watched *item) { return (struct page *)item; }

static void touch(struct watched *item) { watched_touch(item, SETTLE_MS, PATIENCE_MS); }

/* Runs on the feed's thread. Writes of a sync arrive here, too; the next sync then finds nothing to do. */
static void on_event(void *arg, const struct event *e) {
  struct mirror_watch *m = arg;
  bool any = false;
  assert(e); /* only the subscription of a token ends */
  if (!e->change || e->memory_id <= 0)
    return;
  pthread_mutex_lock(&m->watcher.lock);
  for (struct watched *item = m->watcher.items; item; item = item->next)
    if (str_eq(item->project, e->project)) {
      touch(item);
      any = true;
    }
  pthread_mutex_unlock(&m->watcher.lock);
  if (any)
    watcher_wake(&m->watcher);
}

/* ---- the list of pages ---- */

static int watch_folder(const struct mirror_watch *m, struct str path) {
  char folder[PATH_MAX];
  struct str dir = fs_dirname(path);
  if (dir.n >= sizeof(folder))
    return -1;
  memcpy(folder, dir.p, dir.n);
  folder[dir.n] = 0;
  return inotify_add_watch(m->watcher.inotify, folder, EDITS);
}

static void list_page(struct mirror_watch *m, const struct mirror_place *place) {
  struct watched *known = watcher_find(&m->watcher, place->project, place->path);
  if (known) {
    pthread_mutex_lock(&m->watcher.lock);
    if (page_of(known)->folder < 0 && (page_of(known)->folder = watch_folder(m, known->path)) >= 0)
      touch(known); /* its folder is back */
    pthread_mutex_unlock(&m->watcher.lock);
    return;
  }
  struct page *p = watched_new(sizeof(*p), place->project, place->path);
  if (!p)
    return;
  p->folder = watch_folder(m, p->item.path);
  watched_touch(&p->item, 0, 0); /* it may have been edited while no server ran */
  watcher_add(&m->watcher, &p->item);
}

static void list_pages(void *arg) {
  struct mirror_watch *m = arg;
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom)) {
    struct mirror_places places = {0};
    watcher_list_begin(&m->watcher);
    mirror_place_list(&a, m->root, &places);
    for (size_t i = 0; i < places.n; i++)
      list_page(m, &places.v[i]);
    watcher_list_end(&m->watcher);
  }
  arena_release(&a);
}

/* Pages in the same folder share a descriptor. */
static void drop_page(void *arg, struct watched *item) {
  const struct mirror_watch *m = arg;
  int folder = page_of(item)->folder;
  bool shared = false;
  for (struct watched *other = m->watcher.items; other; other = other->next)
    shared |= page_of(other)->folder == folder;
  if (!shared && folder >= 0)
    (void)inotify_rm_watch(m->watcher.inotify, folder);
}

/* ---- changes ---- */

static void on_edit(void *arg, const struct inotify_event *e) {
  const struct mirror_watch *m = arg;
  for (struct watched *item = m->watcher.items; item; item = item->next) {
    struct page *p = page_of(item);
    if ((e->mask & IN_Q_OVERFLOW) ||
        (p->folder == e->wd && e->len && str_eq(fs_basename(item->path), str_from(e->name))))
      touch(item);
    else if (p->folder == e->wd && (e->mask & IN_IGNORED))
      p->folder = -1; /* the folder is gone */
  }
}

/* A deleted page is not recreated: only 'cairn sync' does that. */
static void sync_page(void *arg, struct watched *item) {
  struct mirror_watch *m = arg;
  const struct op_hooks hooks = {.arg = &m->watcher, .cancelled = watcher_is_stopping};
  if (access(item->path.p, F_OK) != 0 || upkeep_sync(m->pool, &m->caller, &hooks, item->project))
    return;
  pthread_mutex_lock(&m->watcher.lock);
  watched_touch(item, RETRY_MS, 0);
  pthread_mutex_unlock(&m->watcher.lock);
}

/* ---- start and stop ---- */

static enum status start(struct mirror_watch *m, struct error *err) {
  TRY(watcher_open(&m->watcher, err));
  if (m->watcher.inotify < 0)
    return error_errno(err, errno, "cannot watch MEMORY.md");
  TRY(upkeep_root(m->pool, m->caller.team, &m->root_arena, &m->root, err));
  struct subscription events = {.team = m->caller.team, .since = -1, .fn = on_event, .arg = m};
  if (m->feed)
    TRY(feed_subscribe(m->feed, &events, &m->subscriber, err));
  return watcher_start(&m->watcher, err);
}

enum status mirror_watch_start(const struct http_server *shared, struct mirror_watch **ret_watch, struct error *err) {
  struct mirror_watch *m = mem_zalloc(sizeof(*m));
  if (!m)
    return error_set(err, STATUS_NOMEM, "out of memory");
  m->watcher = (struct watcher){.period_ms = RESCAN_MS,
                                .check = list_pages,
                                .process = sync_page,
                                .changed = on_edit,
                                .drop = drop_page,
                                .arg = m};
  m->pool = shared->pool;
  m->feed = shared->feed;
  m->caller = shared->caller;
  arena_init(&m->root_arena);
  enum status s = start(m, err);
  if (s == STATUS_OK)
    *ret_watch = m;
  else
    mirror_watch_stop(&m);
  return s;
}

void mirror_watch_stop(struct mirror_watch **watch) {
  struct mirror_watch *m = *watch;
  if (!m)
    return;
  atomic_store(&m->watcher.quit, true); /* cancels the current sync */
  if (m->subscriber)
    feed_unsubscribe(m->feed, &m->subscriber);
  watcher_close(&m->watcher);
  arena_release(&m->root_arena);
  mem_free(m);
  *watch = NULL;
}
