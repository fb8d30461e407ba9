/* mirror_watch.c: the thread that keeps each MEMORY.md in step behind a server. */
#include "http/background/mirror_watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "base/os/thread.h"
#include "file/place.h"
#include "op/admin/upkeep.h"

enum {
  SETTLE_MS = 800,    /* so long a page must rest: an editor writes it in several steps */
  PATIENCE_MS = 5000, /* a page that never rests is read nevertheless */
  RETRY_MS = 30000,   /* after a failure */
  RESCAN_MS = 3000,   /* how often it is looked for pages that were noted since */
};

#define EDITS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM)

/* A page; everything in it is one block of memory. */
struct watched {
  struct watched *next;
  int folder;         /* of inotify; -1: none */
  int64_t first, due; /* when its change was noticed, and when it is to be read; 0: nothing to do */
  bool noted;         /* it is still noted */
  struct str project, path;
  char text[];
};

struct mirror_watch {
  struct pool *pool;
  struct feed *feed;
  struct feed_subscriber *subscriber;
  struct caller caller;
  struct arena root_arena;
  struct str root;
  pthread_t thread;
  bool running;
  _Atomic bool quit;
  int inotify, wake;
  pthread_mutex_t lock; /* of the list: the feed's thread looks at it */
  struct watched *pages;
};

static int64_t now_ms(void) { return clock_ticks_us() / 1000; }

static void touch(struct watched *p, int64_t wait) {
  int64_t now = now_ms();
  p->first = p->first ? p->first : now;
  p->due = now + wait;
  if (p->due > p->first + PATIENCE_MS && wait == SETTLE_MS)
    p->due = p->first + PATIENCE_MS;
}

static void wake(struct mirror_watch *w) {
  uint64_t one = 1;
  (void)!write(w->wake, &one, sizeof(one));
}

static bool is_cancelled(void *arg) { return atomic_load(&((struct mirror_watch *)arg)->quit); }

/* On the feed's thread. What a sync writes comes by here, too; the next one then finds nothing to do. */
static void store_changed(void *arg, const struct event *e) {
  struct mirror_watch *w = arg;
  bool any = false;
  if (!e->change || e->memory_id <= 0)
    return;
  pthread_mutex_lock(&w->lock);
  for (struct watched *p = w->pages; p; p = p->next)
    if (str_eq(p->project, e->project)) {
      touch(p, SETTLE_MS);
      any = true;
    }
  pthread_mutex_unlock(&w->lock);
  if (any)
    wake(w);
}

/* ---- the list of pages ---- */

static int watch_folder(struct mirror_watch *w, struct str path) {
  char folder[PATH_MAX];
  struct str dir = fs_dirname(path);
  if (dir.n >= sizeof(folder))
    return -1;
  memcpy(folder, dir.p, dir.n);
  folder[dir.n] = 0;
  return inotify_add_watch(w->inotify, folder, EDITS);
}

static struct watched *new_page(struct mirror_watch *w, const struct mirror_place *place) {
  struct watched *p = mem_zalloc(sizeof(*p) + place->project.n + place->path.n + 1);
  if (!p)
    return NULL;
  memcpy(p->text, place->path.p, place->path.n);
  p->path = (struct str){p->text, place->path.n};
  if (place->project.n)
    memcpy(p->text + place->path.n + 1, place->project.p, place->project.n);
  p->project = (struct str){p->text + place->path.n + 1, place->project.n};
  p->folder = watch_folder(w, p->path);
  return p;
}

static void note_page(struct mirror_watch *w, const struct mirror_place *place) {
  for (struct watched *p = w->pages; p; p = p->next)
    if (str_eq(p->path, place->path) && str_eq(p->project, place->project)) {
      p->noted = true;
      pthread_mutex_lock(&w->lock);
      if (p->folder < 0 && (p->folder = watch_folder(w, p->path)) >= 0)
        touch(p, SETTLE_MS); /* its folder is back */
      pthread_mutex_unlock(&w->lock);
      return;
    }
  struct watched *p = new_page(w, place);
  if (!p)
    return;
  p->noted = true;
  touch(p, 0); /* it may have been edited while no server ran */
  pthread_mutex_lock(&w->lock);
  p->next = w->pages;
  w->pages = p;
  pthread_mutex_unlock(&w->lock);
}

static void drop_page(struct mirror_watch *w, struct watched **at) {
  struct watched *p = *at;
  bool shared = false;
  pthread_mutex_lock(&w->lock);
  *at = p->next;
  pthread_mutex_unlock(&w->lock);
  for (const struct watched *o = w->pages; o; o = o->next)
    shared |= o->folder == p->folder;
  if (!shared && p->folder >= 0)
    (void)inotify_rm_watch(w->inotify, p->folder);
  mem_free(p);
}

static void rescan(struct mirror_watch *w) {
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  for (struct watched *p = w->pages; p; p = p->next)
    p->noted = false;
  if (!ARENA_BOUNDARY(&a, oom)) {
    struct mirror_places places = {0};
    mirror_place_list(&a, w->root, &places);
    for (size_t i = 0; i < places.n; i++)
      note_page(w, &places.v[i]);
    for (struct watched **at = &w->pages; *at;)
      if ((*at)->noted)
        at = &(*at)->next;
      else
        drop_page(w, at);
  }
  arena_release(&a);
}

/* ---- the thread ---- */

static void read_edits(struct mirror_watch *w) {
  _Alignas(struct inotify_event) char buffer[8192];
  ssize_t n;
  while ((n = read(w->inotify, buffer, sizeof(buffer))) > 0)
    for (char *at = buffer; at < buffer + n;) {
      const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
      at += sizeof(*e) + e->len;
      pthread_mutex_lock(&w->lock);
      for (struct watched *p = w->pages; p; p = p->next)
        if ((e->mask & IN_Q_OVERFLOW) ||
            (p->folder == e->wd && e->len && str_eq(fs_basename(p->path), str_from(e->name))))
          touch(p, SETTLE_MS);
        else if (p->folder == e->wd && (e->mask & IN_IGNORED))
          p->folder = -1; /* the folder is gone */
      pthread_mutex_unlock(&w->lock);
    }
}

/* The page that is due; NULL: none. ret_wait: until the next one is. */
static struct watched *next_due(struct mirror_watch *w, int64_t *ret_wait) {
  struct watched *due = NULL;
  int64_t now = now_ms();
  *ret_wait = RESCAN_MS;
  pthread_mutex_lock(&w->lock);
  for (struct watched *p = w->pages; p && !due; p = p->next) {
    if (p->due && p->due <= now)
      due = p;
    else if (p->due && p->due - now < *ret_wait)
      *ret_wait = p->due - now;
  }
  if (due)
    due->first = due->due = 0;
  pthread_mutex_unlock(&w->lock);
  return due;
}

/* Only this thread takes pages out of the list, so the one that is due stays what it is. A page that somebody has
 * deleted is not made again: 'cairn sync' does that. */
static void sync_due(struct mirror_watch *w, int64_t *ret_wait) {
  const struct op_hooks hooks = {.arg = w, .cancelled = is_cancelled};
  for (struct watched *p = next_due(w, ret_wait); p && !atomic_load(&w->quit); p = next_due(w, ret_wait))
    if (access(p->path.p, F_OK) == 0 && !upkeep_sync(w->pool, &w->caller, &hooks, p->project)) {
      pthread_mutex_lock(&w->lock);
      touch(p, RETRY_MS);
      pthread_mutex_unlock(&w->lock);
    }
}

static void *watch_pages(void *arg) {
  struct mirror_watch *w = arg;
  int64_t scanned = 0, wait = 0;
  while (!atomic_load(&w->quit)) {
    if (scanned == 0 || now_ms() - scanned >= RESCAN_MS) {
      rescan(w);
      scanned = now_ms();
    }
    sync_due(w, &wait);
    struct pollfd fds[] = {{.fd = w->inotify, .events = POLLIN}, {.fd = w->wake, .events = POLLIN}};
    if (!atomic_load(&w->quit) && poll(fds, 2, (int)wait) > 0) {
      uint64_t count;
      (void)!read(w->wake, &count, sizeof(count));
      read_edits(w);
    }
  }
  return NULL;
}

/* ---- its life ---- */

enum status mirror_watch_start(const struct http_server *shared, struct mirror_watch **ret_watch, struct error *err) {
  struct mirror_watch *w = mem_zalloc(sizeof(*w));
  if (!w)
    return error_set(err, STATUS_NOMEM, "out of memory");
  w->pool = shared->pool;
  w->feed = shared->feed;
  w->caller = shared->caller;
  arena_init(&w->root_arena);
  pthread_mutex_init(&w->lock, NULL);
  w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  enum status s = STATUS_OK;
  if (w->inotify < 0 || w->wake < 0)
    s = error_errno(err, errno, "MEMORY.md cannot be watched");
  if (s == STATUS_OK)
    s = upkeep_root(w->pool, w->caller.team, &w->root_arena, &w->root, err);
  if (s == STATUS_OK && w->feed)
    s = feed_subscribe(w->feed, w->caller.team, NULL, -1, store_changed, w, &w->subscriber, err);
  int failed = s == STATUS_OK ? thread_start(&w->thread, watch_pages, w) : 0;
  if (failed)
    s = error_errno(err, failed, "no thread could be started");
  w->running = s == STATUS_OK;
  if (s == STATUS_OK)
    *ret_watch = w;
  else
    mirror_watch_stop(&w);
  return s;
}

void mirror_watch_stop(struct mirror_watch **watch) {
  struct mirror_watch *w = *watch;
  if (!w)
    return;
  atomic_store(&w->quit, true);
  if (w->subscriber)
    feed_unsubscribe(w->feed, &w->subscriber);
  if (w->running) {
    wake(w);
    pthread_join(w->thread, NULL);
  }
  while (w->pages)
    drop_page(w, &w->pages);
  if (w->inotify >= 0)
    close(w->inotify);
  if (w->wake >= 0)
    close(w->wake);
  pthread_mutex_destroy(&w->lock);
  arena_release(&w->root_arena);
  mem_free(w);
  *watch = NULL;
}
