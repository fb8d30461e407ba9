/* write.c: the writer thread: writes the log file, the buffer of calls before boot, and queued rows of the engines. */
#include <assert.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "op/telemetry/internal.h"
#include "store/tables/events.h"

enum { BATCH = 64, GATHER_US = 50000, FLUSH_US = 500000, RETRY_US = 50000, CLOSE_WAIT_US = 2000000 };
/* A little longer than BEFORE_BOOT_WAIT_MS, so the calls are old enough then. */
enum { WAIT_US = (BEFORE_BOOT_WAIT_MS + 1000) * 1000 };

struct telemetry_entry telemetry_entry_of(const struct recorded_call *r) {
  return (struct telemetry_entry){.at = r->at,
                                  .duration_us = r->duration_us,
                                  .code = r->code,
                                  .slow = r->duration_us > TELEMETRY_SLOW_US,
                                  .name = str_from(r->name),
                                  .op = str_from(r->op),
                                  .team = str_from(r->team),
                                  .project = str_from(r->project),
                                  .source = str_from(r->source),
                                  .session = r->session[0] ? str_from(r->session) : STR_NONE,
                                  .message = r->code != STATUS_OK ? str_from(r->message) : STR_NONE};
}

struct call_row telemetry_row_of(const struct recorded_call *r) {
  bool failed = r->code != STATUS_OK;
  return (struct call_row){.event_id = str_from(r->event_id),
                           .team = str_from(r->team),
                           .session = r->session[0] ? str_from(r->session) : STR_NONE,
                           .tool = str_from(r->name),
                           .op = str_from(r->op),
                           .project = str_from(r->project),
                           .source = str_from(r->source),
                           .at = r->at,
                           .duration_us = r->duration_us > 0 ? r->duration_us : 0,
                           .error = failed ? str_from(status_name(r->code)) : STR_NONE,
                           .message = failed ? str_from(r->message) : STR_NONE};
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

/* Failed writes are not retried: on a full disk the queue would fill the memory. */
static void write_lines(struct telemetry *t, struct arena *a, const struct recorded_call *batch, size_t n,
                        volatile int64_t *ret_lost) {
  struct buf lines = BUF(a), buffered = BUF(a);
  struct error err;
  for (size_t i = 0; i < n; i++) {
    struct telemetry_entry e = telemetry_entry_of(&batch[i]);
    struct call_row row = telemetry_row_of(&batch[i]);
    buf_add(&lines, telemetry_json(a, &e));
    buf_addc(&lines, '\n');
    if (batch[i].before_boot)
      buf_add(&buffered, before_boot_line(a, &row, client_of(a, batch[i].client)));
  }
  if (t->log.path[0] && telemetry_log_add(&t->log, buf_str(&lines), &err) != STATUS_OK)
    *ret_lost = (int64_t)n;
  if (buffered.n && before_boot_add(t->buffer, a, buf_str(&buffered), &err) != STATUS_OK)
    *ret_lost = (int64_t)n;
}

static int64_t write_batch(struct telemetry *t, const struct recorded_call *batch, size_t n) {
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

/* Only server errors; a caller gets its own. */
static void notify_errors(int notifier, const struct recorded_call *batch, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (status_http(batch[i].code) >= 500)
      notify_tell(notifier, batch[i].name, batch[i].message);
}

/* Takes the next calls from the ring; called with the lock. */
static size_t take(struct telemetry *t, struct recorded_call *batch) {
  assert(t->written <= t->noted);
  size_t n = 0;
  if (t->noted - t->written > RING) {
    t->dropped += t->noted - t->written - RING;
    t->written = t->noted - RING;
  }
  while (n < BATCH && t->written < t->noted)
    batch[n++] = t->ring[t->written++ % RING];
  return n;
}

/* Called with the lock, which it releases while it writes. */
static void write_all(struct telemetry *t, struct recorded_call *batch) {
  size_t n;
  while ((n = take(t, batch)) > 0) {
    assert(!t->writing);
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
    notify_errors(notifier, batch, n);
    pthread_mutex_lock(&t->lock);
    t->dropped += lost;
    t->writing = false;
  }
  pthread_cond_broadcast(&t->idle);
}

/* ---- the store, with any idle engine ---- */

/* Which calls before boot to move. */
struct request {
  const char *client; /* NULL: none; "": all clients of this process */
  struct str session;
  int64_t age; /* ms; also moves older calls of any client; negative: none */
};

static enum status move_inside(struct engine *e, const char *path, struct arena *a, const struct request *r) {
  struct error err;
  int64_t now = clock_now(&e->clock);
  struct before_boot_move move = {.from = r->client ? client_of(a, r->client) : STR_NONE,
                                  .session = r->session,
                                  .older = r->age < 0 ? 0 : now - r->age,
                                  .now = now};
  return before_boot_move(e->store, path, a, &move, NULL, &err);
}

/* Called with the engine's lock; false if it should be tried again. */
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

/* Locks and returns an engine that is not in use, or NULL; called with engines_lock. */
static struct engine *lock_idle_engine(struct telemetry *t) {
  for (struct engine *e = t->engines; e; e = e->next_watched)
    if (e->store && pthread_mutex_trylock(&e->lock) == 0)
      return e;
  return NULL;
}

static bool move_calls(struct telemetry *t, const struct request *r) {
  pthread_mutex_lock(&t->engines_lock);
  struct engine *e = lock_idle_engine(t);
  bool done = e && move_by(e, t->buffer, r);
  if (e)
    pthread_mutex_unlock(&e->lock);
  pthread_mutex_unlock(&t->engines_lock);
  return done;
}

/* Writes the queued rows of the engines, so other processes see them soon even if no further call comes. False if
 * some engine was in use. */
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

/* The slot may have been reused in the meantime. */
static bool is_same_boot(const struct boot *a, const struct boot *b) {
  return strcmp(a->client, b->client) == 0 && strcmp(a->session, b->session) == 0;
}

/* Does one task that is due; returns when to check again: ticks, or 0 for never. Called with the lock, which it
 * releases while it works. */
static int64_t run_due_task(struct telemetry *t) {
  int64_t now = clock_ticks_us();
  struct boot *b = pending_boot(t), copy;
  bool done;
  if (b) {
    copy = *b;
    pthread_mutex_unlock(&t->lock);
    done = move_calls(t, &(struct request){copy.client, str_from(copy.session), BEFORE_BOOT_WAIT_MS});
    pthread_mutex_lock(&t->lock);
    /* Pending until it is done: the last engine to close must see it. */
    if (done && is_same_boot(b, &copy))
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

/* Waits for more calls, so a busy server writes them in batches; called with the lock. */
static void wait_for_batch(struct telemetry *t) {
  int64_t until = clock_ticks_us() + GATHER_US;
  while (!t->stop && t->written < t->noted && t->noted - t->written < BATCH && clock_ticks_us() < until)
    (void)cond_wait_until(&t->wake, &t->lock, until);
}

void *telemetry_run(void *telemetry) {
  struct telemetry *t = telemetry;
  struct recorded_call *batch = mem_alloc(BATCH * sizeof(*batch));
  pthread_mutex_lock(&t->lock);
  while (!t->stop) {
    wait_for_batch(t);
    if (batch)
      write_all(t, batch);
    int64_t next = run_due_task(t);
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

/* Waits until the thread has written all calls, for at most CLOSE_WAIT_US: the disk may hang. True if calls of this
 * process are in the buffer file. */
static bool wait_for_files(struct telemetry *t) {
  int64_t end = clock_ticks_us() + CLOSE_WAIT_US;
  pthread_mutex_lock(&t->lock);
  while (t->started && (t->writing || t->written < t->noted) && clock_ticks_us() < end)
    (void)cond_wait_until(&t->idle, &t->lock, end);
  bool buffered = t->buffered_at != 0;
  pthread_mutex_unlock(&t->lock);
  return buffered;
}

/* The last engine moves the calls that would otherwise stay in the file until another process boots. */
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
