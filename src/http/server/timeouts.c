/* timeouts.c: the watcher thread. It handles cases that the library does not: disconnected clients of idle streams,
 * requests that take too long to arrive, streams that need a keep-alive. */
#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "http/internal.h"

enum { TICK_MS = 1000, EVENTS = 64 };
#define CONNECTION_BIT (UINT64_C(1) << 63) /* tags connection numbers among stream numbers */

/* ---- connections ---- */

static void connection_begin(struct http_daemon *d, struct MHD_Connection *mhd, void **context) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
  struct connection *c = info ? mem_zalloc(sizeof(*c)) : NULL;
  if (!c)
    return;
  c->daemon = d;
  c->fd = info->connect_fd;
  atomic_init(&c->waiting_since, clock_ticks_us());
  peer_of(c->fd, &c->peer);
  if (d->keeper) {
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    c->pair = tls_keeper_acquire(d->keeper, info ? info->tls_session : NULL);
  }
  pthread_mutex_lock(&d->lock);
  c->number = ++d->connections_begun | CONNECTION_BIT;
  snprintf(c->name, sizeof(c->name), "http-%llx-%llu", (unsigned long long)d->shared.started,
           (unsigned long long)d->connections_begun);
  c->next = d->connections;
  if (c->next)
    c->next->prev = c;
  d->connections = c;
  pthread_mutex_unlock(&d->lock);
  *context = c;
  struct epoll_event e = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = c->number};
  (void)epoll_ctl(d->epoll, EPOLL_CTL_ADD, c->fd, &e);
}

void connection_notify(void *daemon, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code) {
  struct http_daemon *d = daemon;
  struct connection *c = *context;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    connection_begin(d, mhd, context);
    return;
  }
  if (!c)
    return;
  assert(code == MHD_CONNECTION_NOTIFY_CLOSED && c->daemon == d);
  pthread_mutex_lock(&d->lock);
  assert(c->prev ? c->prev->next == c : d->connections == c);
  if (c->prev)
    c->prev->next = c->next;
  else
    d->connections = c->next;
  if (c->next)
    c->next->prev = c->prev;
  pthread_mutex_unlock(&d->lock);
  if (d->keeper)
    tls_keeper_release(d->keeper, c->pair);
  mem_free(c);
  *context = NULL;
}

/* Looks up by number: events may arrive after the connection is gone. */
static void note_half_closed(struct http_daemon *d, uint64_t number) {
  pthread_mutex_lock(&d->lock);
  struct connection *c = d->connections;
  while (c && c->number != number)
    c = c->next;
  if (c)
    c->half_closed = true;
  pthread_mutex_unlock(&d->lock);
}

/* The library's timeout restarts with every byte, so a client that sends one now and then would never time out. Nor
 * does the library always notice that a client closed its sending side; an incomplete request then never completes. By
 * the time of this check, bytes sent before the close have been read. */
static void end_slow_requests(struct http_daemon *d, int64_t now) {
  static const char late[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  pthread_mutex_lock(&d->lock);
  for (struct connection *c = d->connections; c; c = c->next) {
    int64_t since = atomic_load(&c->waiting_since);
    bool half = c->half_closed && now - since > TICK_MS * 500;
    if (since == 0 || (!half && now - since < d->request_us))
      continue;
    /* A client that sent nothing gets no reply; and this thread cannot write to a TLS connection. */
    if (!half && atomic_load(&c->begun) && !d->tls)
      (void)!send(c->fd, late, sizeof(late) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(c->fd, SHUT_RDWR);
    atomic_store(&c->waiting_since, 0);
  }
  pthread_mutex_unlock(&d->lock);
}

/* ---- streams ---- */

/* Looks up by number: events may arrive after the stream is gone. */
static void hang_up(struct http_daemon *d, uint64_t number) {
  pthread_mutex_lock(&d->lock);
  struct http_stream *s = d->streams;
  while (s && s->number != number)
    s = s->next;
  if (s)
    stream_hang_up(s);
  pthread_mutex_unlock(&d->lock);
}

static void unlink_stream(struct http_daemon *d, struct http_stream *s) {
  pthread_mutex_lock(&d->lock);
  assert(s->prev ? s->prev->next == s : d->streams == s);
  if (s->prev)
    s->prev->next = s->next;
  else
    d->streams = s->next;
  if (s->next)
    s->next->prev = s->prev;
  pthread_mutex_unlock(&d->lock);
}

static bool is_finished(struct http_stream *s) {
  pthread_mutex_lock(&s->lock);
  bool finished = s->finished;
  pthread_mutex_unlock(&s->lock);
  return finished;
}

static struct http_stream *next_stream(struct http_daemon *d, bool (*wanted)(struct http_stream *)) {
  pthread_mutex_lock(&d->lock);
  struct http_stream *s = d->streams;
  while (s && !wanted(s))
    s = s->next;
  pthread_mutex_unlock(&d->lock);
  return s;
}

/* Only this thread removes streams from the list, so the one found stays valid. */
static void close_finished(struct http_daemon *d) {
  for (struct http_stream *s = next_stream(d, is_finished); s; s = next_stream(d, is_finished)) {
    unlink_stream(d, s);
    stream_close_finished(s);
    pthread_mutex_lock(&d->lock);
    assert(d->stream_count > 0);
    d->stream_count--;
    pthread_mutex_unlock(&d->lock);
  }
}

static void notify_drained(struct http_daemon *d) {
  for (struct http_stream *s = next_stream(d, stream_is_drained); s; s = next_stream(d, stream_is_drained))
    stream_tell_drained(s);
}

static void keep_alive(struct http_daemon *d, int64_t now) {
  pthread_mutex_lock(&d->lock);
  for (struct http_stream *s = d->streams; s; s = s->next)
    stream_keep_alive(s, now);
  pthread_mutex_unlock(&d->lock);
}

void watch_stream(struct http_daemon *d, struct http_stream *s) {
  assert(s->number && !(s->number & CONNECTION_BIT)); /* 0 is the eventfd */
  struct epoll_event e = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = s->number};
  /* If this fails, a client that disconnects silently is noticed at the next keep-alive. */
  if (epoll_ctl(d->epoll, EPOLL_CTL_MOD, s->fd, &e) != 0)
    (void)epoll_ctl(d->epoll, EPOLL_CTL_ADD, s->fd, &e);
}

/* ---- the thread ---- */

static void *watch_loop(void *arg) {
  struct http_daemon *d = arg;
  int64_t ticked = 0;
  while (!atomic_load(&d->watch_quit)) {
    struct epoll_event events[EVENTS];
    int n = epoll_wait(d->epoll, events, EVENTS, TICK_MS);
    for (int i = 0; i < n; i++) {
      uint64_t count;
      if (events[i].data.u64 == 0)
        (void)!read(d->wake, &count, sizeof(count));
      else if (events[i].data.u64 & CONNECTION_BIT)
        note_half_closed(d, events[i].data.u64);
      else
        hang_up(d, events[i].data.u64);
    }
    close_finished(d);
    notify_drained(d);
    int64_t now = clock_ticks_us();
    if (now - ticked < TICK_MS * 500)
      continue;
    ticked = now;
    end_slow_requests(d, now);
    keep_alive(d, now);
  }
  close_finished(d);
  return NULL;
}

void watch_wake(struct http_daemon *d) {
  uint64_t one = 1;
  (void)!write(d->wake, &one, sizeof(one));
}

enum status watch_start(struct http_daemon *d, struct error *err) {
  assert(d->epoll < 0 && d->wake < 0);
  d->epoll = epoll_create1(EPOLL_CLOEXEC);
  d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event e = {.events = EPOLLIN, .data.u64 = 0};
  if (d->epoll < 0 || d->wake < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->wake, &e) != 0)
    return error_errno(err, errno, "cannot watch connections");
  int failed = pthread_create(&d->watcher, NULL, watch_loop, d);
  if (failed)
    return error_errno(err, failed, "cannot start a thread");
  d->watching = true;
  return STATUS_OK;
}

void watch_stop(struct http_daemon *d) {
  if (d->watching) {
    atomic_store(&d->watch_quit, true);
    watch_wake(d);
    pthread_join(d->watcher, NULL);
  }
  if (d->epoll >= 0)
    close(d->epoll);
  if (d->wake >= 0)
    close(d->wake);
}
