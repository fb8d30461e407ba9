/* bench_feed.c: latency from a commit in one process to its event in another one that follows the change feed.
 *
 * Usage: bench_feed COUNT URL... (superuser URLs of one PostgreSQL server, direct and through poolers; the first
 * creates the database) */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "op/admin/feed.h"
#include "store/store.h"
#include "store/tables/events.h"
#include "support/measure.h"
#include "support/pg.h"

enum { WARM_UP = 20, PAUSE_US = 5000 };

#define DATABASE "bench_feed"

struct seen {
  pthread_mutex_t lock;
  pthread_cond_t more;
  size_t n;
  double at[SAMPLES_MAX];
};

static void note(void *arg, const struct event *e UNUSED) {
  struct seen *s = arg;
  double at = now_us();
  pthread_mutex_lock(&s->lock);
  if (s->n < SAMPLES_MAX)
    s->at[s->n++] = at;
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
}

static void must(enum status s, const struct error *err) {
  if (s != STATUS_OK)
    fail("%s", err->message);
}

/* The other process: commits one event after the other, and reports when each was acknowledged. */
static _Noreturn void write_events(const char *url, size_t count, int go, int out) {
  struct store_options o = {.path = url, .now = 1};
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("bench"), .op = "bench", .now = 1}, txn;
  struct event e = {.action = STR("bench:event"), .uid = STR("u"), .detail = STR("{}")};
  struct store *st = NULL;
  struct error err;
  char c;
  if (read(go, &c, 1) != 1)
    _exit(1);
  must(store_open(&o, &st, &err), &err);
  for (size_t i = 0; i < count; i++) {
    must(txn_begin(st, &who, 0, &txn, &err), &err);
    must(event_add(&txn, &e, &err), &err);
    must(txn_commit(&txn, &err), &err);
    double at = now_us();
    if (write(out, &at, sizeof(at)) != sizeof(at))
      _exit(1);
    usleep(PAUSE_US);
  }
  store_close(&st);
  _exit(0);
}

static void follow(const char *url, size_t count, int go, int in, struct samples *late) {
  static struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
  struct engine_options o = {.path = url};
  struct feed *f = NULL;
  struct feed_subscriber *sub = NULL;
  struct error err;
  double done[SAMPLES_MAX];
  seen.n = 0;
  must(feed_new(&o, &f, &err), &err);
  struct subscription what = {.team = STR("default"), .since = -1, .fn = note, .arg = &seen};
  must(feed_subscribe(f, &what, &sub, &err), &err);
  if (write(go, "", 1) != 1)
    fail("the writer is gone");
  for (size_t i = 0; i < count; i++)
    if (read(in, &done[i], sizeof(done[i])) != sizeof(done[i]))
      fail("the writer has stopped");
  pthread_mutex_lock(&seen.lock);
  while (seen.n < count)
    pthread_cond_wait(&seen.more, &seen.lock);
  pthread_mutex_unlock(&seen.lock);
  for (size_t i = WARM_UP; i < count; i++) /* the event may arrive before the writer's acknowledgement */
    samples_add(late, seen.at[i] > done[i] ? (seen.at[i] - done[i]) / 1000 : 0);
  feed_unsubscribe(f, &sub);
  feed_close(&f);
}

static void measure(const char *url, size_t count, struct samples *late) {
  int go[2], out[2];
  if (pipe(go) != 0 || pipe(out) != 0)
    fail("no pipe");
  pid_t pid = fork();
  if (pid == 0)
    write_events(url, count, go[0], out[1]);
  close(out[1]);
  follow(url, count, go[1], out[0], late);
  waitpid(pid, NULL, 0);
  close(go[0]);
  close(go[1]);
  close(out[0]);
}

int main(int argc, char **argv) {
  static struct samples late;
  struct arena a = {0};
  size_t count = argc > 2 ? (size_t)strtoul(argv[1], NULL, 10) + WARM_UP : 0;
  if (count <= WARM_UP || count > SAMPLES_MAX)
    fail("usage: bench_feed COUNT URL...");
  PGconn *admin = pg_connect(argv[2]);
  for (int i = 2; i < argc; i++) {
    pg_run(admin, "DROP DATABASE IF EXISTS " DATABASE " WITH (FORCE)");
    pg_run(admin, "CREATE DATABASE " DATABASE);
    late.n = 0;
    measure(pg_address(&a, argv[i], NULL, DATABASE), count, &late);
    report_tail(i == 2 ? "commit to event in another process" : "the same through a pooler", &late, "ms", "");
  }
  pg_run(admin, "DROP DATABASE " DATABASE " WITH (FORCE)");
  pg_library()->finish(admin);
  arena_release(&a);
  return 0;
}
