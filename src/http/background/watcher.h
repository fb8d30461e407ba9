/* watcher.h: frame of a server's background threads: a periodic check, items that become due, inotify events.
 *
 * The owner fills in the callbacks, calls watcher_open() and watcher_start(), and at the end watcher_close(). Callbacks
 * run on the watcher's thread. Only that thread adds and removes items; others may read and touch them under the lock.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/inotify.h>

#include "base/error.h"
#include "base/str.h"

/* First member of an owner's items: something that belongs to a project and a path. */
struct watched {
  struct watched *next;
  int64_t first, due; /* ms: when its change was noticed, and when it is processed; 0: nothing to do */
  bool listed;        /* found by the current check */
  struct str project, path;
};

struct watcher {
  int64_t period_ms;
  void (*check)(void *arg); /* at the start, then every period_ms */
  /* The others may be NULL. */
  void (*process)(void *arg, struct watched *item);          /* an item that is due */
  void (*changed)(void *arg, const struct inotify_event *e); /* under the lock */
  void (*drop)(void *arg, struct watched *item);             /* before an item is freed; it is no longer in the list */
  void *arg;

  int inotify; /* -1: `changed` is NULL, or inotify is unavailable */
  pthread_mutex_t lock;
  struct watched *items;
  /* Private. */
  int wake;
  pthread_t thread;
  bool running;
  _Atomic bool quit;
};

/* Must be followed by watcher_close(), even if it fails. */
NODISCARD enum status watcher_open(struct watcher *w, struct error *err);
NODISCARD enum status watcher_start(struct watcher *w, struct error *err);
/* Stops the thread, if it runs, and drops all items. Waits for the current callback. */
void watcher_close(struct watcher *w);

/* Wakes the thread; thread-safe. */
void watcher_wake(struct watcher *w);
/* A `cancelled` hook for operations; the argument is the watcher. */
bool watcher_is_stopping(void *watcher);

/* ---- items, for `check` ---- */

/* Brackets a listing: items that were not listed in between are dropped. */
void watcher_list_begin(struct watcher *w);
void watcher_list_end(struct watcher *w);
/* Marks the item of this project and path as listed; NULL if there is none. */
struct watched *watcher_find(struct watcher *w, struct str project, struct str path);
/* A new item of `size` bytes that starts with a struct watched; not yet in the list. NULL on out of memory. */
void *watched_new(size_t size, struct str project, struct str path);
void watcher_add(struct watcher *w, struct watched *item);

/* Makes an item due after wait_ms without changes; one that keeps changing becomes due after patience_ms at the latest.
 * Requires the lock if the item is in the list. */
void watched_touch(struct watched *item, int64_t wait_ms, int64_t patience_ms);
