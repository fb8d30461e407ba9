/* write.c: the thread that writes calls down: the log, the file of calls before boot, what engines have
 * queued for the store. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "op/telemetry/internal.h"
#include "store/tables/events.h"

enum { BATCH = 64, GATHER_US = 50000, FLUSH_US = 500000, RETRY_US = 50000, CLOSE_WAIT_US = 2000000 };
/* A little longer than a call has to wait in the file, so that it then has. */
enum { WAIT_US = (BEFORE_BOOT_WAIT_MS + 1000) * 1000 };

struct telemetry_entry telemetry_entry_of(const struct kept *k) {
  return (struct telemetry_entry){.at = k->at,
                                  .duration_us = k->duration_us,
                                  .code = k->code,
                                  .slow = k->duration_us > TELEMETRY_SLOW_US,
                                  .name = str_from(k->name),
                                  .op = str_from(k->op),
                                  .team = str_from(k->team),
                                  .project = str_from(k->project),
                                  .source = str_from(k->source),
                                  .session = k->session[0] ? str_from(k->session) : STR_NONE,
                                  .message = k->code != STATUS_OK ? str_from(k->message) : STR_NONE};
}

struct call_row telemetry_row_of(const struct kept *k) {
  bool failed = k->code != STATUS_OK;
  return (struct call_row){.event_id = str_from(k->event_id),
                           .team = str_from(k->team),
                           .session = k->session[0] ? str_from(k->session) : STR_NONE,
                           .tool = str_from(k->name),
                           .op = str_from(k->op),
                           .project = str_from(k->project),
                           .source = str_from(k->source),
                           .at = k->at,
                           .duration_us = k->duration_us > 0 ? k->duration_us : 0,
                           .error = failed ? str_from(status_name(k->code)) : STR_NONE,
                           .message = failed ? str_from(k->message) : STR_NONE};
}

struct str telemetry_json(struct arena *a, const struct telemetry_entry *e) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  char time[TIME_TEXT_SIZE];
  json_put(doc, v, "at", time_format(e->at, time));
  json_put(doc, v, "name", e->name);
  json_put(doc, v, "op", e->op);
  json_put(doc, v, "team", e->team);
  json_put(doc, v, "project", e->project);
  json_put(doc, v, "source", e->source);
  json_put_opt(doc, v, "session", e->session);
  json_put_int(doc, v, "pid", getpid());
  json_put_int(doc, v, "duration_us", e->duration_us);
  json_put_bool(doc, v, "ok", e->code == STATUS_OK);
  if (e->code != STATUS_OK) {
    json_put(doc, v, "error", str_from(status_name(e->code)));
    json_put_opt(doc, v, "message", e->message);
  }
  if (e->slow)
    json_put_bool(doc, v, "slow", true);
  return json_write(a, v, false);
}

/* ---- files ---- */

static struct str client_of(struct arena *a, const char *client) {
  return arena_printf(a, "%lld/%s", (long long)getpid(), client);
}

/* What could not be written is not tried again: a disk that is full would fill the memory, too. */
static void write_lines(struct telemetry *t, struct arena *a, const struct kept *batch, size_t n,
                        volatile int64_t *ret_lost) {
  struct buf lines = BUF(a), waiting = BUF(a);
  struct error err;
  for (size_t i = 0; i < n; i++) {
    struct telemetry_entry e = telemetry_entry_of(&batch[i]);
    struct call_row row = telemetry_row_of(&batch[i]);
    buf_add(&lines, telemetry_json(a, &e));
    buf_addc(&lines, '\n');
    if (batch[i].before_boot)
      buf_add(&waiting, before_boot_line(a, &row, client_of(a, batch[i].client)));
  }
  if (t->log.path[0] && telemetry_log_add(&t->log, buf_str(&lines), &err) != STATUS_OK)
    *ret_lost = (int64_t)n;
  if (waiting.n && before_boot_add(t->buffer, a, buf_str(&waiting), &err) != STATUS_OK)
    *ret_lost = (int64_t)n;
}

static int64_t write_batch(struct telemetry *t, const struct kept *batch, size_t n) {
  struct arena a;
  jmp_buf oom;
  volatile int64_t lost = 0;
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, oom))
    lost = (int64_t)n;
  else
    write_lines(t, &a, batch, n, &lost);
  arena_release(&a);
  return lost;
}

/* A caller's mistake is the caller's business. */
static void tell(int notifier, const struct kept *batch, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (status_http(batch[i].code) >= 500)
      notify_tell(notifier, batch[i].name, batch[i].message);
}

/* Takes the next entries that nobody has taken; the lock is held. */
static size_t take(struct telemetry *t, struct kept *batch) {
  size_t n = 0;
  if (t->noted - t->written > RING) {
    t->dropped += t->noted - t->written - RING;
    t->written = t->noted - RING;
  }
  while (n < BATCH && t->written < t->noted)
    batch[n++] = t->ring[t->written++ % RING];
  return n;
}

/* The lock is held on entry and on return, not while something is written. */
static void write_all(struct telemetry *t, struct kept *batch) {
  size_t n;
  while ((n = take(t, batch)) > 0) {
    t->writing = true;
    for (size_t i = 0; i < n; i++)
      if (batch[i].before_boot) {
        t->buffered_last = clock_ticks_us();
        if (!t->buffered_at)
          t->buffered_at = t->buffered_last;
      }
    int notifier = t->notifier;
    pthread_mutex_unlock(&t->lock);
    int64_t lost = write_batch(t, batch, n);
    tell(notifier, batch, n);
    pthread_mutex_lock(&t->lock);
    t->dropped += lost;
    t->writing = false;
  }
  pthread_cond_broadcast(&t->idle);
}

/* ---- the store, by whichever engine is free ---- */

/* Which calls before boot are to be moved. */
struct request {
  const char *client; /* NULL: of nobody in particular; "": of all clients of this process */
  struct str session;
  int64_t age; /* ms: of others, those that are older; below zero: none */
};

static enum status move_inside(struct engine *e, const char *path, struct arena *a, const struct request *r) {
  struct error err;
  int64_t now = clock_now(&e->clock);
  struct str from = r->client ? client_of(a, r->client) : STR_NONE;
  return before_boot_move(e->store, path, a, from, r->session, r->age < 0 ? 0 : now - r->age, now, NULL, &err);
}

/* By an engine whose lock is held; false when it should be tried again. */
static bool move_by(struct engine *e, const char *path, const struct request *r) {
  struct arena a;
  struct store_boundary oom;
  volatile enum status s = STATUS_NOMEM;
  arena_init(&a);
  if (!STORE_BOUNDARY(e->store, &a, oom))
    s = move_inside(e, path, &a, r);
  arena_release(&a);
  return s != STATUS_BUSY;
}

/* An engine of which nobody makes use right now, locked; engines_lock is held. */
static struct engine *free_engine(struct telemetry *t) {
  for (struct engine *e = t->engines; e; e = e->next_watched)
    if (e->store && pthread_mutex_trylock(&e->lock) == 0)
      return e;
  return NULL;
}

static bool move_calls(struct telemetry *t, const struct request *r) {
  pthread_mutex_lock(&t->engines_lock);
  struct engine *e = free_engine(t);
  bool done = e && move_by(e, t->buffer, r);
  if (e)
    pthread_mutex_unlock(&e->lock);
  pthread_mutex_unlock(&t->engines_lock);
  return done;
}

/* Writes what engines have queued, so that others see it soon, even when no further call comes. */
static bool flush_engines(struct telemetry *t) {
  bool all = true;
  pthread_mutex_lock(&t->engines_lock);
  for (struct engine *e = t->engines; e; e = e->next_watched) {
    if (!e->store)
      continue;
    if (pthread_mutex_trylock(&e->lock) != 0) {
      all = false;
      continue;
    }
    all &= reads_flush_now(e->store);
    pthread_mutex_unlock(&e->lock);
  }
  pthread_mutex_unlock(&t->engines_lock);
  return all;
}

static struct boot *pending_boot(struct telemetry *t) {
  for (size_t i = 0; i < BOOTS; i++)
    if (t->boots[i].pending)
      return &t->boots[i];
  return NULL;
}

/* Its place may have gone to another one meanwhile. */
static bool same_boot(const struct boot *a, const struct boot *b) {
  return strcmp(a->client, b->client) == 0 && strcmp(a->session, b->session) == 0;
}

/* Does one thing that is due, and says when to look again: ticks, or 0 for never. The lock is held, but for the work.
 */
static int64_t tend(struct telemetry *t) {
  int64_t now = clock_ticks_us();
  struct boot *b = pending_boot(t), copy;
  bool done;
  if (b) {
    copy = *b;
    pthread_mutex_unlock(&t->lock);
    done = move_calls(t, &(struct request){copy.client, str_from(copy.session), BEFORE_BOOT_WAIT_MS});
    pthread_mutex_lock(&t->lock);
    /* Pending until it is done: the last engine that closes meanwhile has to see it. */
    if (done && same_boot(b, &copy))
      b->pending = false;
    return done ? now : now + RETRY_US;
  }
  if (t->dirty_at && now - t->dirty_at >= FLUSH_US) {
    t->dirty_at = 0;
    pthread_mutex_unlock(&t->lock);
    done = flush_engines(t);
    pthread_mutex_lock(&t->lock);
    if (!done && !t->dirty_at)
      t->dirty_at = now;
    return now;
  }
  if (t->buffered_at && now - t->buffered_at >= WAIT_US) {
    t->buffered_at = t->buffered_last > now - WAIT_US ? t->buffered_last : 0;
    pthread_mutex_unlock(&t->lock);
    done = move_calls(t, &(struct request){NULL, STR_NONE, BEFORE_BOOT_WAIT_MS});
    pthread_mutex_lock(&t->lock);
    if (!done)
      t->buffered_at = now;
    return now;
  }
  if (t->dirty_at)
    return t->dirty_at + FLUSH_US;
  return t->buffered_at ? t->buffered_at + WAIT_US : 0;
}

/* The calls of a busy server are written together. The lock is held. */
static void gather(struct telemetry *t) {
  int64_t until = clock_ticks_us() + GATHER_US;
  while (!t->stop && t->written < t->noted && t->noted - t->written < BATCH && clock_ticks_us() < until)
    (void)cond_wait_until(&t->wake, &t->lock, until);
}

void *telemetry_run(void *telemetry) {
  struct telemetry *t = telemetry;
  struct kept *batch = mem_alloc(BATCH * sizeof(*batch));
  pthread_mutex_lock(&t->lock);
  while (!t->stop) {
    gather(t);
    if (batch)
      write_all(t, batch);
    int64_t next = tend(t);
    if (t->stop || (batch && t->written < t->noted))
      continue;
    if (next)
      (void)cond_wait_until(&t->wake, &t->lock, next);
    else
      pthread_cond_wait(&t->wake, &t->lock);
  }
  if (batch)
    write_all(t, batch);
  pthread_mutex_unlock(&t->lock);
  mem_free(batch);
  return NULL;
}

/* ---- engines ---- */

void telemetry_watch(struct telemetry *t, struct engine *e) {
  if (!t)
    return;
  pthread_mutex_lock(&t->engines_lock);
  e->next_watched = t->engines;
  t->engines = e;
  pthread_mutex_unlock(&t->engines_lock);
  pthread_mutex_lock(&t->lock);
  if (!t->buffer[0] && e->store)
    before_boot_path(db_path(store_db(e->store)), t->buffer);
  pthread_mutex_unlock(&t->lock);
}

/* Until the thread has written what was noted; not for ever, the disk may be stuck. Whether a call waits in the file.
 */
static bool wait_for_files(struct telemetry *t) {
  int64_t end = clock_ticks_us() + CLOSE_WAIT_US;
  pthread_mutex_lock(&t->lock);
  while (t->started && (t->writing || t->written < t->noted) && clock_ticks_us() < end)
    (void)cond_wait_until(&t->idle, &t->lock, end);
  bool waiting = t->buffered_at != 0;
  pthread_mutex_unlock(&t->lock);
  return waiting;
}

/* The last engine takes along what would otherwise wait for somebody else's boot. */
static void move_rest(struct telemetry *t, struct engine *e) {
  struct boot copy;
  for (;;) {
    pthread_mutex_lock(&t->lock);
    struct boot *b = pending_boot(t);
    if (b) {
      copy = *b;
      b->pending = false;
    }
    pthread_mutex_unlock(&t->lock);
    if (!b)
      break;
    move_by(e, t->buffer, &(struct request){copy.client, str_from(copy.session), -1});
  }
  move_by(e, t->buffer, &(struct request){"", STR_NONE, -1});
}

void telemetry_unwatch(struct telemetry *t, struct engine *e) {
  if (!t)
    return;
  pthread_mutex_lock(&t->engines_lock);
  struct engine **at = &t->engines;
  while (*at && *at != e)
    at = &(*at)->next_watched;
  if (*at)
    *at = e->next_watched;
  bool last = t->engines == NULL;
  pthread_mutex_unlock(&t->engines_lock);
  if (last && e->store && wait_for_files(t))
    move_rest(t, e);
}
