/* watcher.c: frame of a server's background threads. */
#include "http/background/watcher.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/clock.h"
#include "base/os/thread.h"

static int64_t now_ms(void) { return clock_ticks_us() / 1000; }

/* ---- items ---- */

void *watched_new(size_t size, struct str project, struct str path) {
  assert(size >= sizeof(struct watched));
  char *block = mem_zalloc(size + path.n + 1 + project.n);
  if (!block)
    return NULL;
  char *text = block + size;
  memcpy(text, path.p, path.n); /* NUL-terminated, for system calls */
  if (project.n)
    memcpy(text + path.n + 1, project.p, project.n);
  struct watched *item = (struct watched *)(void *)block;
  item->path = (struct str){text, path.n};
  item->project = (struct str){text + path.n + 1, project.n};
  item->listed = true;
  return item;
}

void watcher_add(struct watcher *w, struct watched *item) {
  assert(w->process && item->listed && !item->next);
  pthread_mutex_lock(&w->lock);
  item->next = w->items;
  w->items = item;
  pthread_mutex_unlock(&w->lock);
}

struct watched *watcher_find(struct watcher *w, struct str project, struct str path) {
  for (struct watched *item = w->items; item; item = item->next)
    if (str_eq(item->path, path) && str_eq(item->project, project)) {
      item->listed = true;
      return item;
    }
  return NULL;
}

void watcher_list_begin(struct watcher *w) {
  for (struct watched *item = w->items; item; item = item->next)
    item->listed = false;
}

void watcher_list_end(struct watcher *w) {
  for (struct watched **at = &w->items; *at;) {
    struct watched *item = *at;
    if (item->listed) {
      at = &item->next;
      continue;
    }
    pthread_mutex_lock(&w->lock);
    *at = item->next;
    pthread_mutex_unlock(&w->lock);
    if (w->drop)
      w->drop(w->arg, item);
    mem_free(item);
  }
}

void watched_touch(struct watched *item, int64_t wait_ms, int64_t patience_ms) {
  assert(wait_ms >= 0 && patience_ms >= 0);
  int64_t now = now_ms();
  item->first = item->first ? item->first : now;
  int64_t latest = item->first + patience_ms + wait_ms;
  item->due = now + wait_ms < latest ? now + wait_ms : latest;
}

/* Takes the item that has been due for longest; NULL: none is. Lowers *wait_ms to the time until the next one is. */
static struct watched *take_due(struct watcher *w, int64_t *wait_ms) {
  struct watched *first = NULL;
  int64_t now = now_ms();
  pthread_mutex_lock(&w->lock);
  for (struct watched *item = w->items; item; item = item->next)
    if (item->due && (!first || item->due < first->due))
      first = item;
  if (first && first->due > now) {
    *wait_ms = first->due - now < *wait_ms ? first->due - now : *wait_ms;
    first = NULL;
  }
  if (first)
    first->first = first->due = 0;
  pthread_mutex_unlock(&w->lock);
  return first;
}

/* ---- the thread ---- */

static void read_events(struct watcher *w) {
  _Alignas(struct inotify_event) char buffer[8192];
  ssize_t n;
  assert(w->changed || w->inotify < 0);
  while (w->inotify >= 0 && (n = read(w->inotify, buffer, sizeof(buffer))) > 0)
    for (char *at = buffer; at < buffer + n;) {
      const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
      at += sizeof(*e) + e->len;
      pthread_mutex_lock(&w->lock);
      w->changed(w->arg, e);
      pthread_mutex_unlock(&w->lock);
    }
}

static void *run(void *arg) {
  struct watcher *w = arg;
  int64_t checked = 0;
  while (!atomic_load(&w->quit)) {
    struct watched *item;
    if (checked == 0 || now_ms() - checked >= w->period_ms) {
      w->check(w->arg);
      checked = now_ms();
    }
    int64_t wait = w->period_ms;
    while (!atomic_load(&w->quit) && (item = take_due(w, &wait)))
      w->process(w->arg, item);
    struct pollfd fds[] = {{.fd = w->inotify, .events = POLLIN}, {.fd = w->wake, .events = POLLIN}};
    if (!atomic_load(&w->quit) && poll(fds, 2, (int)wait) > 0) {
      uint64_t count;
      (void)!read(w->wake, &count, sizeof(count));
      read_events(w);
    }
  }
  return NULL;
}

/* ---- start and stop ---- */

enum status watcher_open(struct watcher *w, struct error *err) {
  assert(w->check && w->period_ms > 0 && w->period_ms <= INT_MAX);
  pthread_mutex_init(&w->lock, NULL);
  w->inotify = w->changed ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
  w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return w->wake < 0 ? error_errno(err, errno, "cannot start a background thread") : STATUS_OK;
}

enum status watcher_start(struct watcher *w, struct error *err) {
  assert(!w->running && w->wake >= 0);
  int failed = thread_start(&w->thread, run, w);
  if (failed)
    return error_errno(err, failed, "cannot start a thread");
  w->running = true;
  return STATUS_OK;
}

void watcher_wake(struct watcher *w) {
  uint64_t one = 1;
  (void)!write(w->wake, &one, sizeof(one));
}

bool watcher_is_stopping(void *watcher) { return atomic_load(&((struct watcher *)watcher)->quit); }

void watcher_close(struct watcher *w) {
  atomic_store(&w->quit, true);
  if (w->running) {
    watcher_wake(w);
    pthread_join(w->thread, NULL);
  }
  watcher_list_begin(w);
  watcher_list_end(w);
  if (w->inotify >= 0)
    close(w->inotify);
  if (w->wake >= 0)
    close(w->wake);
  assert(!w->items);
  pthread_mutex_destroy(&w->lock);
}
