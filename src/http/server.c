/* server.c: starting and stopping the HTTP server. */
#include "http/server.h"

#include <assert.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "base/secret_pool.h"
#include "http/internal.h"

enum {
  STREAMS_MAX = 4096,
  OTHERS_MAX = 512,      /* connections that are not streams */
  FILES_SPARE = 128,     /* descriptors for stores, logs and libraries */
  HEAD_BYTES = 16 << 10, /* request head, and I/O buffer */
  SILENCE_SECONDS = 60,  /* idle timeout of a connection */
  REQUEST_MS = 60000,
  KEEP_ALIVE_MS = 15000,
  SPARE_WORKERS = HTTP_WORKERS_MAX - HTTP_ENGINES_MAX, /* stand in for long calls */
  CLOSE_MS = 2000,                                     /* time for clients to read the end of their streams */
};

size_t http_engines(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores < 2)
    return 2;
  return cores > HTTP_ENGINES_MAX ? HTTP_ENGINES_MAX : (size_t)cores;
}

/* Every connection needs a descriptor. The usual soft limit of 1,024 exists for programs that use select(). */
static size_t raise_file_limit(size_t wanted) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 256;
  if (limit.rlim_cur < wanted) {
    struct rlimit more = limit;
    more.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &more) == 0)
      limit = more;
  }
  return limit.rlim_cur < wanted ? (size_t)limit.rlim_cur : wanted;
}

/* Targets stay encoded: uri.c decodes them segment by segment. */
static size_t leave_encoded(void *cls, struct MHD_Connection *mhd, char *text) {
  (void)cls, (void)mhd;
  return strlen(text);
}

static enum status start_library(struct http_daemon *d, const struct tls *tls, size_t connections, struct error *err) {
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (d->tls ? MHD_USE_TLS : 0);
  char priorities[] = TLS_PRIORITIES;
  struct MHD_OptionItem more[] = {{d->tls ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, tls->certificate},
                                  {MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key},
                                  {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
                                  {MHD_OPTION_END, 0, NULL}};
  d->mhd = MHD_start_daemon(
      flags, 0, NULL, NULL, exchange_step, d, MHD_OPTION_LISTEN_SOCKET, d->listener, MHD_OPTION_URI_LOG_CALLBACK,
      exchange_begin, d, MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL, MHD_OPTION_NOTIFY_COMPLETED,
      exchange_completed, d, MHD_OPTION_NOTIFY_CONNECTION, connection_notify, d, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_SECONDS,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
  return d->mhd ? STATUS_OK : error_errno(err, errno, "the HTTP server could not be started");
}

static struct http_daemon *daemon_new(const struct http_options *o) {
  struct http_daemon *d = mem_zalloc(sizeof(*d));
  if (!d)
    return NULL;
  d->shared = o->shared;
  d->pieces = secret_pool_new();
  d->tls = o->tls.key != NULL;
  d->keeper = o->keeper;
  d->listener = d->epoll = d->wake = -1;
  d->regular = http_engines();
  d->request_us = (o->request_ms ? o->request_ms : REQUEST_MS) * 1000;
  d->keep_alive_us = (o->keep_alive_ms ? o->keep_alive_ms : KEEP_ALIVE_MS) * 1000;
  pthread_mutex_init(&d->lock, NULL);
  pthread_mutex_init(&d->work_lock, NULL);
  cond_init(&d->work);
  cond_init(&d->spare_work);
  cond_init(&d->idle);
  return d;
}

/* Stops accepting. The descriptor is closed later, in daemon_free(), because the library's thread may be about to use
 * it. */
static void close_listener(struct http_daemon *d) {
  if (d->listener >= 0)
    shutdown(d->listener, SHUT_RDWR);
  if (d->socket)
    unlink(d->socket);
  mem_free(d->socket);
  d->socket = NULL;
}

static void daemon_free(struct http_daemon *d) {
  assert(!d->connections && !d->streams && d->stream_count == 0 && d->workers == 0);
  close_listener(d);
  if (d->listener >= 0)
    close(d->listener);
  pthread_mutex_destroy(&d->lock);
  pthread_mutex_destroy(&d->work_lock);
  pthread_cond_destroy(&d->work);
  pthread_cond_destroy(&d->spare_work);
  pthread_cond_destroy(&d->idle);
  secret_pool_free(&d->pieces);
  mem_free(d);
}

static enum status start_parts(const struct http_options *o, struct http_daemon *d, size_t workers, size_t connections,
                               struct error *err) {
  TRY(listen_open(o, d, err));
  if (o->listening)
    TRY(o->listening(o->arg, err));
  TRY(watch_start(d, err));
  TRY(work_start(d, workers, err));
  return start_library(d, &o->tls, connections, err);
}

enum status http_start(const struct http_options *o, struct http_daemon **ret_daemon, struct error *err) {
  assert(!o->tls.key == !o->tls.certificate && (o->tls.key || !o->keeper));
  struct http_daemon *d = daemon_new(o);
  if (!d)
    return error_set(err, STATUS_NOMEM, "out of memory");
  size_t files = raise_file_limit(STREAMS_MAX + OTHERS_MAX + FILES_SPARE);
  size_t connections = files > 2 * FILES_SPARE ? files - FILES_SPARE : files / 2;
  size_t others = connections > 2 * OTHERS_MAX ? OTHERS_MAX : connections / 2;
  d->streams_max = o->streams_max ? o->streams_max : connections - others;
  size_t workers = o->workers && o->workers <= HTTP_WORKERS_MAX ? o->workers : http_engines() + SPARE_WORKERS;
  enum status s = start_parts(o, d, workers, connections, err);
  if (s != STATUS_OK) {
    work_stop(d);
    watch_stop(d);
    daemon_free(d);
    return s;
  }
  *ret_daemon = d;
  return STATUS_OK;
}

const char *http_address(const struct http_daemon *d) { return d->address; }

void http_drain(struct http_daemon *d, int64_t wait_ms) {
  MHD_quiesce_daemon(d->mhd);
  close_listener(d);
  atomic_store(&d->stopping, true);
  if (!work_wait_idle(d, wait_ms))
    atomic_store(&d->hurry, true);
}

/* Waits until every reply is sent and every stream closed; clients that do not read are cut off. */
static void wait_for_clients(struct http_daemon *d, int64_t wait_ms) {
  for (int64_t waited = 0; atomic_load(&d->answering) > 0 && waited < wait_ms; waited += 5)
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  pthread_mutex_lock(&d->lock);
  for (struct http_stream *s = d->streams; s; s = s->next)
    stream_hang_up(s);
  pthread_mutex_unlock(&d->lock);
}

void http_stop(struct http_daemon **daemon) {
  struct http_daemon *d = *daemon;
  if (!d)
    return;
  if (!atomic_load(&d->stopping))
    http_drain(d, 0);
  work_stop(d);
  streams_end_all(d);
  wait_for_clients(d, CLOSE_MS);
  MHD_stop_daemon(d->mhd);
  assert(atomic_load(&d->answering) == 0);
  watch_stop(d);
  daemon_free(d);
  *daemon = NULL;
}
