/* turns.c: the connections of this process write to a file in turn, first come first served.
 *
 * SQLite's lock has no queue: a writer that finds it taken polls, and a busy writer can take it again and again. A turn
 * is handed over at once. It is taken before the lock; writers of other processes still poll. */
#include <assert.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "store/sqlite/internal.h"

struct waiter {
  struct waiter *next;
  pthread_cond_t served_cond;
  bool is_served;
};

/* One for each open file. */
struct sqlite_turns {
  struct sqlite_turns *next;
  struct db_file file;
  size_t connections;
  bool taken;
  struct waiter *first;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sqlite_turns *files;

struct sqlite_turns *sqlite_turns_open(struct db_file file) {
  pthread_mutex_lock(&lock);
  struct sqlite_turns *t = files;
  while (t && (t->file.ino != file.ino || t->file.dev != file.dev))
    t = t->next;
  if (!t && (t = mem_zalloc(sizeof(*t)))) {
    t->file = file;
    t->next = files;
    files = t;
  }
  if (t)
    t->connections++;
  pthread_mutex_unlock(&lock);
  return t;
}

void sqlite_turns_close(struct sqlite_turns **turns) {
  struct sqlite_turns *t = *turns, **at = &files;
  *turns = NULL;
  if (!t)
    return;
  pthread_mutex_lock(&lock);
  assert(t->connections > 0);
  if (--t->connections == 0) {
    assert(!t->taken && !t->first);
    while (*at != t)
      at = &(*at)->next;
    *at = t->next;
    mem_free(t);
  }
  pthread_mutex_unlock(&lock);
}

/* Called with the lock. */
static void remove_waiter(struct sqlite_turns *t, const struct waiter *w) {
  struct waiter **at = &t->first;
  while (*at != w)
    at = &(*at)->next;
  *at = w->next;
}

/* Called with the lock, which it releases while it waits. */
static bool wait_for_turn(struct sqlite_turns *t, int64_t until) {
  struct waiter w = {0}, **last = &t->first;
  cond_init(&w.served_cond);
  while (*last)
    last = &(*last)->next;
  *last = &w;
  while (!w.is_served && cond_wait_until(&w.served_cond, &lock, until))
    continue;
  if (!w.is_served)
    remove_waiter(t, &w);
  pthread_cond_destroy(&w.served_cond);
  return w.is_served;
}

bool sqlite_turn_take(struct sqlite_turns *t, int64_t until) {
  pthread_mutex_lock(&lock);
  bool got = !t->taken || wait_for_turn(t, until);
  t->taken |= got;
  pthread_mutex_unlock(&lock);
  return got;
}

void sqlite_turn_leave(struct sqlite_turns *t) {
  pthread_mutex_lock(&lock);
  assert(t->taken);
  struct waiter *w = t->first;
  t->taken = w != NULL;
  if (w) {
    t->first = w->next;
    w->is_served = true;
    pthread_cond_signal(&w->served_cond);
  }
  pthread_mutex_unlock(&lock);
}
