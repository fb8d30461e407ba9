/* feed.c: a thread that follows the event log and delivers events to subscribers. */
#include "op/admin/feed.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "op/access/roles.h"
#include "op/run/scrub.h"
#include "op/run/vault_values.h"
#include "op/vault/key.h"

/* A file is polled, with a growing interval while it is idle. Events are delivered in batches, so a subscriber
 * that is far behind does not delay the others. */
enum { POLL_FIRST_MS = 50, POLL_LAST_MS = 250, RETRY_MS = 250, BATCH = 500, BUSY_MS = 500 };

/* A PostgreSQL server notifies of commits. The thread waits for LISTEN_MS at a time, to notice new subscribers and the
 * end. It reads the log every ASSURE_US even without a notification, in case the connection died silently. */
enum { LISTEN_MS = 100, ASSURE_US = 30 * 1000 * 1000 };

struct feed_subscriber {
  struct feed_subscriber *next;
  feed_fn fn;
  void *arg;
  int64_t last;    /* seq of the last delivered event; -1: the end of the log, which could not be read yet */
  int64_t last_at; /* time of that event; 0: none yet */
  int64_t turn;    /* value of feed->turns when it was last served */
  bool due;        /* there may be events for it */
  bool serving;    /* the thread is using it */
  bool unsure;     /* `last` may be beyond the end of the log */
  bool recheck;    /* the server may have crashed and lost the last delivered events */
  bool gone;
  bool over;             /* its token is no longer valid, and it was notified */
  struct principal *who; /* NULL: the process */
  size_t team_n;
  char team[];
};

struct feed {
  pthread_mutex_t lock;
  pthread_cond_t wake, served;
  pthread_t thread;
  bool started, stop;
  struct feed_subscriber *list;
  int64_t turns;
  /* Used only by the thread. */
  struct store *store;
  struct engine vault;            /* only its store, secrets and keys are set */
  struct str serving;             /* team of the subscriber that is being served */
  const struct redactor *secrets; /* of that team; NULL: not loaded */
  struct db_stamp stamp;
  bool deaf;       /* the server does not support LISTEN (a standby): it is polled */
  int64_t session; /* of the connection; 0: none yet */
  int64_t looked;  /* ticks when a server's log was last checked */
  char epoch[EVENTS_EPOCH_SIZE];
  struct clock clock;
  char agent[AGENT_NAME_MAX + 1]; /* agent that the process is bound to; limits what subscribers get */
  char path[];
};

enum status feed_new(const struct engine_options *options, struct feed **ret_feed, struct error *err) {
  size_t n = strlen(options->path) + 1;
  struct feed *f = mem_zalloc(sizeof(*f) + n);
  if (!f)
    return error_set(err, STATUS_NOMEM, "out of memory");
  memcpy(f->path, options->path, n);
  f->clock = options->clock;
  memcpy(f->agent, options->agent, sizeof(f->agent));
  cond_init(&f->wake);
  cond_init(&f->served);
  pthread_mutex_init(&f->lock, NULL);
  *ret_feed = f;
  return STATUS_OK;
}

/* ---- watching the store ---- */

static enum status open_store(const struct feed *f, struct store **ret_store, struct error *err) {
  struct store_options o = {
      .path = f->path, .busy_ms = BUSY_MS, .must_exist = true, .read_only = true, .now = clock_now(&f->clock)};
  return store_open(&o, ret_store, err);
}

static void close_store(struct feed *f) {
  scrubber_free(&f->vault.scrubber);
  secrets_free(&f->vault.secrets); /* their stamps belong to this connection */
  f->vault.store = NULL;
  store_close(&f->store);
}

/* Loaded once per batch. */
const struct redactor *feed_secrets(struct feed *feed, struct arena *a) {
  if (feed->secrets)
    return feed->secrets;
  feed->vault.store = feed->store;
  const struct redactor *secrets = scrub_redactor(&feed->vault, feed->serving, a);
  feed->secrets = feed->vault.scrubber ? secrets : NULL; /* without a scrubber it lives in the caller's arena */
  return secrets;
}

static struct str team_of(const struct feed_subscriber *sub) { return (struct str){sub->team, sub->team_n}; }

/* End of the log; 0 if the store does not exist yet. */
static enum status end_of_log(const struct feed *f, struct str team, int64_t *ret_seq, struct error *err) {
  struct store *st;
  enum status s = open_store(f, &st, err);
  if (s == STATUS_NOT_FOUND) {
    *ret_seq = 0;
    return STATUS_OK;
  }
  if (s != STATUS_OK)
    return s;
  s = events_end(st, team, ret_seq, err);
  store_close(&st);
  return s;
}

/* A restore replaces the log: subscribers that are beyond its new end continue there. */
static enum status check_epoch(struct feed *f, struct error *err) {
  char epoch[EVENTS_EPOCH_SIZE];
  TRY(events_epoch(f->store, epoch, err));
  if (strcmp(epoch, f->epoch) == 0)
    return STATUS_OK;
  pthread_mutex_lock(&f->lock);
  for (struct feed_subscriber *sub = f->list; sub; sub = sub->next)
    sub->unsure = true;
  pthread_mutex_unlock(&f->lock);
  memcpy(f->epoch, epoch, sizeof(epoch));
  return STATUS_OK;
}

static bool on_server(const struct feed *f) { return f->store && db_engine(store_db(f->store)) != DB_SQLITE; }

/* *ret_news: the file has changed since the last check. */
static enum status check_file(struct feed *f, bool opened, bool *ret_news, struct error *err) {
  struct db_stamp now = {0};
  TRY(db_stamp(store_db(f->store), &now, err));
  *ret_news = opened || now.others != f->stamp.others;
  f->stamp = now;
  return STATUS_OK;
}

static bool is_connection_lost(enum status s) { return s == STATUS_LOST || s == STATUS_UNAVAILABLE; }

/* Waits for a notification. Does not wait after connecting: starts to listen, then the log is read, so no commit
 * in between is missed. */
static enum status listen_to_server(struct feed *f, bool opened, bool *ret_news, struct error *err) {
  bool news = false;
  enum status s = f->deaf ? STATUS_OK : db_wait(store_db(f->store), opened ? 0 : LISTEN_MS, &news, err);
  if (s != STATUS_OK && !is_connection_lost(s)) {
    f->deaf = true;
    db_rollback(store_db(f->store));
    s = STATUS_OK;
  }
  if (s == STATUS_OK)
    *ret_news = news || opened || f->deaf || clock_ticks_us() - f->looked >= ASSURE_US;
  return s;
}

/* After a new connection, subscribers must check their position. */
static void note_session(struct feed *f) {
  f->session = db_sessions(store_db(f->store));
  pthread_mutex_lock(&f->lock);
  for (struct feed_subscriber *sub = f->list; sub; sub = sub->next)
    sub->recheck = true;
  pthread_mutex_unlock(&f->lock);
}

/* Opens the store if necessary. *ret_news: there may have been commits since the last check. */
static enum status check_store(struct feed *f, bool *ret_news, struct error *err) {
  bool opened = !f->store, news = false;
  f->deaf &= !opened;
  if (opened)
    TRY(open_store(f, &f->store, err));
  if (on_server(f))
    TRY(listen_to_server(f, opened, &news, err));
  else
    TRY(check_file(f, opened, &news, err));
  if (news)
    TRY(check_epoch(f, err));
  if (on_server(f) && (opened || db_sessions(store_db(f->store)) != f->session))
    note_session(f);
  if (news)
    f->looked = clock_ticks_us();
  *ret_news = news;
  return STATUS_OK;
}

/* ---- serving ---- */

struct delivery {
  struct feed *feed;
  struct feed_subscriber *sub;
  int64_t count;
};

static enum status deliver(void *arg, const struct event *e) {
  struct delivery *d = arg;
  pthread_mutex_lock(&d->feed->lock);
  bool gone = d->sub->gone || d->feed->stop;
  pthread_mutex_unlock(&d->feed->lock);
  if (gone)
    return STATUS_INTERRUPTED;
  d->sub->fn(d->sub->arg, e);
  pthread_mutex_lock(&d->feed->lock);
  d->sub->last = e->seq;
  d->sub->last_at = e->at;
  pthread_mutex_unlock(&d->feed->lock);
  d->count++;
  return STATUS_OK;
}

/* Moves a position that is unset or beyond the end of the log to the end. */
static enum status settle(struct feed *f, struct feed_subscriber *sub, int64_t *last, struct error *err) {
  int64_t end;
  TRY(events_end(f->store, team_of(sub), &end, err));
  pthread_mutex_lock(&f->lock);
  sub->unsure = false;
  if (*last < 0 || *last > end)
    sub->last = *last = end;
  pthread_mutex_unlock(&f->lock);
  return STATUS_OK;
}

/* Read events are committed asynchronously: a server that crashes may lose some that were delivered, and reuse their
 * sequence numbers. */
static enum status recheck_position(struct feed *f, struct feed_subscriber *sub, int64_t *last, struct error *err) {
  int64_t place = *last;
  TRY(events_position(f->store, team_of(sub), *last, sub->last_at, &place, err));
  pthread_mutex_lock(&f->lock);
  sub->recheck = false;
  sub->last = *last = place;
  pthread_mutex_unlock(&f->lock);
  return STATUS_OK;
}

/* Notifies the subscriber, once, that its token is no longer valid, so the stream is closed. */
static void end(struct feed *f, struct feed_subscriber *sub) {
  pthread_mutex_lock(&f->lock);
  bool told = sub->over || sub->gone;
  sub->over = true;
  pthread_mutex_unlock(&f->lock);
  if (!told)
    sub->fn(sub->arg, NULL);
}

/* Members of a subscriber, copied under the lock. */
struct served_from {
  int64_t last;
  bool unsure, recheck;
};

static enum status serve(struct feed *f, struct feed_subscriber *sub, struct served_from from, bool *ret_more,
                         struct error *err) {
  struct delivery d = {.feed = f, .sub = sub};
  bool over = false;
  f->serving = team_of(sub);
  f->secrets = NULL;
  *ret_more = false;
  TRY(db_team(store_db(f->store), team_of(sub), err));
  TRY(roles_bind(f->store, sub->who, team_of(sub), f->agent, clock_now(&f->clock), &over, err));
  if (over) {
    end(f, sub);
    return STATUS_OK;
  }
  if (from.recheck && sub->last_at && from.last > 0)
    TRY(recheck_position(f, sub, &from.last, err));
  if (from.last < 0 || from.unsure)
    TRY(settle(f, sub, &from.last, err));
  struct event_query q = {.team = team_of(sub), .since = from.last, .limit = BATCH};
  enum status s = events_walk(f->store, &q, deliver, &d, err);
  *ret_more = d.count == BATCH;
  return s == STATUS_INTERRUPTED ? STATUS_OK : s;
}

/* The due subscriber that was served least recently; called with the lock. */
static struct feed_subscriber *next_due(struct feed *f) {
  struct feed_subscriber *best = NULL;
  for (struct feed_subscriber *sub = f->list; sub; sub = sub->next)
    if (sub->due && !sub->gone && !sub->over && (!best || sub->turn < best->turn))
      best = sub;
  return best;
}

/* Tokens expire even if nothing is committed or the store cannot be read. Called with the lock, which it releases while
 * it calls subscribers. */
static void end_expired(struct feed *f) {
  int64_t now = clock_now(&f->clock);
  struct feed_subscriber *sub = f->list;
  while (sub && !f->stop) {
    if (!sub->who || !sub->who->expires_at || now < sub->who->expires_at || sub->over || sub->gone) {
      sub = sub->next;
      continue;
    }
    assert(!sub->serving);
    sub->serving = true;
    pthread_mutex_unlock(&f->lock);
    end(f, sub);
    pthread_mutex_lock(&f->lock);
    sub->serving = false;
    pthread_cond_broadcast(&f->served);
    sub = f->list; /* the list may have changed */
  }
}

/* Serves all due subscribers. Called with the lock, which it releases while it serves. */
static enum status serve_all(struct feed *f, struct error *err) {
  struct feed_subscriber *sub;
  enum status s = STATUS_OK;
  while (s == STATUS_OK && !f->stop && (sub = next_due(f))) {
    bool more;
    struct served_from from = {sub->last, sub->unsure, sub->recheck};
    assert(!sub->serving);
    sub->turn = ++f->turns;
    sub->serving = true;
    sub->due = false;
    pthread_mutex_unlock(&f->lock);
    s = serve(f, sub, from, &more, err);
    pthread_mutex_lock(&f->lock);
    sub->serving = false;
    sub->due |= more || s != STATUS_OK;
    pthread_cond_broadcast(&f->served);
  }
  return s;
}

/* Checks the log once and serves subscribers; returns the ms to wait before the next time. */
static int run_once(struct feed *f, int wait) {
  struct error err;
  bool news = false;
  end_expired(f);
  pthread_mutex_unlock(&f->lock);
  enum status s = check_store(f, &news, &err);
  pthread_mutex_lock(&f->lock);
  for (struct feed_subscriber *sub = f->list; news && sub; sub = sub->next)
    sub->due = true;
  if (s == STATUS_OK)
    s = serve_all(f, &err);
  if (s != STATUS_OK) {
    /* Missing, locked or damaged: start over with a new connection. */
    close_store(f);
    return RETRY_MS;
  }
  if (on_server(f) && !f->deaf)
    return 0; /* listen_to_server() waits */
  if (news)
    return POLL_FIRST_MS;
  wait += wait / 4;
  return wait < POLL_LAST_MS ? wait : POLL_LAST_MS;
}

static void *run(void *arg) {
  struct feed *f = arg;
  int wait = POLL_FIRST_MS;
  pthread_mutex_lock(&f->lock);
  while (!f->stop) {
    if (!f->list && on_server(f)) {
      close_store(f); /* stop listening */
      continue;
    }
    if (!f->list) {
      pthread_cond_wait(&f->wake, &f->lock);
      continue;
    }
    wait = run_once(f, wait);
    if (!f->stop && wait > 0)
      cond_wait_ms(&f->wake, &f->lock, wait);
  }
  pthread_mutex_unlock(&f->lock);
  close_store(f);
  key_ring_free(&f->vault.keys);
  return NULL;
}

static enum status start(struct feed *f, struct error *err) {
  int rc = thread_start(&f->thread, run, f);
  if (rc)
    return error_errno(err, rc, "cannot start the thread that follows the event log");
  f->started = true;
  return STATUS_OK;
}

/* ---- subscribers ---- */

static void subscriber_free(struct feed_subscriber *sub) {
  mem_free(sub->who);
  mem_free(sub);
}

int64_t feed_now(const struct feed *feed, struct str team) {
  struct error ignored;
  int64_t end;
  return end_of_log(feed, team, &end, &ignored) == STATUS_OK ? end : -1;
}

enum status feed_subscribe(struct feed *feed, const struct subscription *what, struct feed_subscriber **ret_subscriber,
                           struct error *err) {
  struct str team = what->team;
  struct feed_subscriber *sub = mem_zalloc(sizeof(*sub) + team.n + 1);
  struct principal *who = what->who ? principal_dup(what->who) : NULL;
  if (!sub || (what->who && !who)) {
    mem_free(who);
    mem_free(sub);
    return error_set(err, STATUS_NOMEM, "out of memory");
  }
  *sub = (struct feed_subscriber){
      .fn = what->fn, .arg = what->arg, .last = what->since, .due = true, .unsure = true, .who = who, .team_n = team.n};
  if (team.n)
    memcpy(sub->team, team.p, team.n);
  /* "New events" means from this moment, not from when the thread gets to it. If the store cannot be read now, the
   * thread looks up the end later. */
  if (what->since < 0)
    sub->last = feed_now(feed, team);
  pthread_mutex_lock(&feed->lock);
  enum status s = feed->started ? STATUS_OK : start(feed, err);
  if (s == STATUS_OK) {
    sub->turn = feed->turns;
    sub->next = feed->list;
    feed->list = sub;
    *ret_subscriber = sub;
    pthread_cond_signal(&feed->wake);
  }
  pthread_mutex_unlock(&feed->lock);
  if (s != STATUS_OK)
    subscriber_free(sub);
  return s;
}

void feed_unsubscribe(struct feed *feed, struct feed_subscriber **subscriber) {
  struct feed_subscriber *sub = *subscriber;
  if (!sub)
    return;
  pthread_mutex_lock(&feed->lock);
  sub->gone = true;
  while (sub->serving)
    pthread_cond_wait(&feed->served, &feed->lock);
  struct feed_subscriber **at = &feed->list;
  while (*at && *at != sub)
    at = &(*at)->next;
  assert(*at == sub);
  *at = sub->next;
  pthread_mutex_unlock(&feed->lock);
  subscriber_free(sub);
  *subscriber = NULL;
}

void feed_close(struct feed **feed) {
  struct feed *f = *feed;
  if (!f)
    return;
  pthread_mutex_lock(&f->lock);
  f->stop = true;
  pthread_cond_signal(&f->wake);
  pthread_mutex_unlock(&f->lock);
  if (f->started)
    pthread_join(f->thread, NULL);
  while (f->list) {
    struct feed_subscriber *sub = f->list;
    f->list = sub->next;
    subscriber_free(sub);
  }
  pthread_cond_destroy(&f->wake);
  pthread_cond_destroy(&f->served);
  pthread_mutex_destroy(&f->lock);
  mem_free(f);
  *feed = NULL;
}
