/* stream.c: event streams: a bounded queue per client, and the connection that is suspended while it is empty. */
#include <assert.h>
#include <sodium.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "http/internal.h"
#include "http/server/sse.h"

enum { QUEUE_MAX = 4 << 20, QUEUE_FIRST = 512 };

/* The data may be a secret. */
static void free_data(struct http_stream *s) {
  if (s->data)
    sodium_memzero(s->data, s->room);
  mem_free(s->data);
  s->data = NULL;
}

static void unref(struct http_stream *s) {
  pthread_mutex_lock(&s->lock);
  assert(s->refs > 0);
  bool last = --s->refs == 0;
  pthread_mutex_unlock(&s->lock);
  if (!last)
    return;
  pthread_mutex_destroy(&s->lock);
  free_data(s);
  mem_free(s);
}

/* ---- under the stream's lock ---- */

static void wake(struct http_stream *s) {
  assert(mutex_is_locked(&s->lock));
  if (!s->suspended || !s->mhd)
    return;
  s->suspended = false;
  MHD_resume_connection(s->mhd);
}

/* The library waits until the client has read everything; it notices a shut-down connection at once. */
static void drop(struct http_stream *s) {
  s->gone = true;
  if (s->mhd)
    shutdown(s->fd, SHUT_RDWR);
  wake(s);
}

static bool add(struct http_stream *s, struct str text) {
  assert(mutex_is_locked(&s->lock) && s->from + s->n <= s->room);
  if (s->gone || s->ended || s->finished)
    return false;
  if (s->n + text.n > QUEUE_MAX) {
    drop(s);
    return false;
  }
  if (s->from + s->n + text.n > s->room) {
    size_t room = s->room ? s->room : QUEUE_FIRST;
    while (room < s->n + text.n)
      room *= 2;
    char *data = mem_alloc(room);
    if (!data) {
      drop(s);
      return false;
    }
    if (s->n)
      memcpy(data, s->data + s->from, s->n);
    free_data(s);
    s->data = data;
    s->room = room;
    s->from = 0;
  }
  assert(s->from + s->n + text.n <= s->room);
  memcpy(s->data + s->from + s->n, text.p, text.n);
  s->n += text.n;
  s->written = clock_ticks_us();
  wake(s);
  return true;
}

/* ---- the library's thread ---- */

static size_t take(struct http_stream *s, char *out, size_t max) {
  size_t n = s->n < max ? s->n : max;
  assert(n > 0 && s->from + s->n <= s->room);
  memcpy(out, s->data + s->from, n);
  s->from += n;
  s->n -= n;
  if (s->n == 0) { /* an idle stream uses no memory */
    if (s->drained)
      watch_wake(s->daemon);
    free_data(s);
    s->from = s->room = 0;
  }
  return n;
}

ssize_t stream_read(void *stream, uint64_t at, char *out, size_t max) {
  (void)at;
  struct http_stream *s = stream;
  ssize_t result = 0;
  pthread_mutex_lock(&s->lock);
  assert(s->mhd && !s->suspended); /* a suspended connection reads nothing */
  if (s->gone) {
    result = MHD_CONTENT_READER_END_WITH_ERROR;
  } else if (s->n) {
    result = (ssize_t)take(s, out, max);
  } else if (s->ended) {
    result = MHD_CONTENT_READER_END_OF_STREAM;
  } else {
    s->suspended = true;
    MHD_suspend_connection(s->mhd);
  }
  pthread_mutex_unlock(&s->lock);
  return result;
}

void stream_detach(struct http_stream *s) {
  struct http_daemon *d = s->daemon;
  pthread_mutex_lock(&s->lock);
  assert(!s->finished);
  s->mhd = NULL;
  s->fd = -1;
  s->gone = s->finished = true;
  pthread_mutex_unlock(&s->lock);
  watch_wake(d);
}

/* ---- the watcher's thread ---- */

void stream_hang_up(struct http_stream *s) {
  pthread_mutex_lock(&s->lock);
  drop(s);
  pthread_mutex_unlock(&s->lock);
}

void stream_keep_alive(struct http_stream *s, int64_t now) {
  pthread_mutex_lock(&s->lock);
  if (s->n == 0 && now - s->written >= s->daemon->keep_alive_us)
    add(s, STR(":\n\n"));
  pthread_mutex_unlock(&s->lock);
}

bool stream_is_drained(struct http_stream *s) {
  pthread_mutex_lock(&s->lock);
  bool drained = s->drained && s->n == 0 && !s->finished;
  pthread_mutex_unlock(&s->lock);
  return drained;
}

/* Only the watcher releases streams, and this runs on its thread. */
void stream_tell_drained(struct http_stream *s) {
  pthread_mutex_lock(&s->lock);
  void (*drained)(void *) = s->drained;
  s->drained = NULL;
  void *arg = s->drain_arg;
  pthread_mutex_unlock(&s->lock);
  if (drained)
    drained(arg);
}

bool stream_close_finished(struct http_stream *s) {
  pthread_mutex_lock(&s->lock);
  bool finished = s->finished;
  assert(!s->told && (!finished || !s->mhd));
  s->told = finished;
  void (*closed)(void *) = finished ? s->closed : NULL;
  void *arg = s->arg;
  s->closed = finished ? NULL : s->closed;
  pthread_mutex_unlock(&s->lock);
  if (closed)
    closed(arg);
  if (finished)
    unref(s);
  return finished;
}

void streams_end_all(struct http_daemon *d) {
  pthread_mutex_lock(&d->lock);
  for (struct http_stream *s = d->streams; s; s = s->next) {
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    wake(s);
    pthread_mutex_unlock(&s->lock);
  }
  pthread_mutex_unlock(&d->lock);
}

/* ---- for routes ---- */

static struct http_stream *stream_new(struct http_exchange *x) {
  struct http_daemon *d = x->daemon;
  assert(!x->stream && x->phase == PHASE_WORK); /* the connection is suspended */
  struct http_stream *s = mem_zalloc(sizeof(*s));
  if (!s)
    return NULL;
  s->daemon = d;
  s->mhd = x->mhd;
  s->fd = x->fd;
  s->refs = 2;
  s->ended = x->head;
  s->written = clock_ticks_us();
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_lock(&d->lock);
  bool room = d->stream_count < d->streams_max && !atomic_load(&d->stopping);
  if (room) {
    d->stream_count++;
    s->number = ++d->streams_begun;
    s->next = d->streams;
    if (s->next)
      s->next->prev = s;
    d->streams = s;
  }
  pthread_mutex_unlock(&d->lock);
  if (room)
    return s;
  pthread_mutex_destroy(&s->lock);
  mem_free(s);
  return NULL;
}

struct http_stream *http_stream_begin(struct http_call *call) {
  struct http_exchange *x = call->exchange;
  assert(!call->stream);
  call->type = "text/event-stream";
  http_add_header(call, "X-Accel-Buffering", STR("no"));
  struct http_stream *s = x ? stream_new(x) : NULL;
  if (!s) {
    http_reply_problem_status(call, 503, "Service Unavailable", "too many streams are open");
    return NULL;
  }
  call->status = 200;
  call->stream = x->stream = s;
  /* For HEAD, the library would still send the end of a body. */
  x->response = exchange_response(x, x->head ? NULL : stream_read, s);
  /* The first bytes make the library send the head. */
  pthread_mutex_lock(&s->lock);
  add(s, STR(":\n\n"));
  pthread_mutex_unlock(&s->lock);
  watch_stream(x->daemon, s);
  MHD_resume_connection(x->mhd);
  return s;
}

bool http_stream_send(struct http_stream *stream, struct str id, struct str event, struct str data) {
  struct arena scratch;
  arena_init(&scratch);
  jmp_buf oom;
  volatile bool sent = false;
  if (!ARENA_BOUNDARY(&scratch, oom)) {
    struct buf b = BUF(&scratch);
    sse_event(&b, id, event, data);
    pthread_mutex_lock(&stream->lock);
    sent = add(stream, buf_str(&b));
    pthread_mutex_unlock(&stream->lock);
  }
  arena_guard(&scratch); /* may be a secret: wiped now, as free_data() does */
  arena_release(&scratch);
  return sent;
}

bool http_stream_gone(struct http_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  bool gone = stream->gone;
  pthread_mutex_unlock(&stream->lock);
  return gone;
}

size_t http_stream_pending(struct http_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  size_t n = stream->n;
  pthread_mutex_unlock(&stream->lock);
  return n;
}

void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *arg), void *arg) {
  assert(drained);
  pthread_mutex_lock(&stream->lock);
  stream->drained = drained;
  stream->drain_arg = arg;
  bool now = stream->n == 0;
  pthread_mutex_unlock(&stream->lock);
  if (now)
    watch_wake(stream->daemon);
}

void http_stream_on_close(struct http_stream *stream, void (*closed)(void *arg), void *arg) {
  pthread_mutex_lock(&stream->lock);
  assert(closed && !stream->closed);
  bool late = stream->told;
  if (!late) {
    stream->closed = closed;
    stream->arg = arg;
  }
  pthread_mutex_unlock(&stream->lock);
  if (late)
    closed(arg);
}

void http_stream_finish(struct http_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  stream->ended = true;
  wake(stream);
  pthread_mutex_unlock(&stream->lock);
}

void http_stream_end(struct http_stream *stream) {
  http_stream_finish(stream);
  unref(stream);
}
