/* internal.h: what the files of the server share: the daemon, its connections, exchanges and streams.
 *
 * Who owns what: a connection lives from accept to close; an exchange from its request line until the reply has been
 * sent and the worker is done, whichever is later; a stream until its client has gone and http_stream_end() was called.
 * Locks are taken in the order daemon, stream. */
#pragma once

#include <microhttpd.h>
#include <stdatomic.h>

#include "http/access/peer.h"
#include "http/server.h"
#include "http/tls/keeper.h"

struct connection {
  struct http_daemon *daemon;
  struct connection *prev, *next;
  int fd;
  uint64_t number;
  bool half_closed;              /* the client sends nothing more; of the watch, under the daemon's lock */
  _Atomic int64_t waiting_since; /* for (the rest of) a request, in ticks; 0: one is being answered */
  _Atomic bool begun;            /* there is a request, or a part of one */
  struct peer peer;
  struct tls_pair *pair; /* what it got of the keeper */
  char name[48];         /* of this connection and no other, ever: ports are used again */
};

enum phase { PHASE_HEAD, PHASE_BODY, PHASE_WORK, PHASE_ANSWERED };

/* The bytes of a body, in memory for secrets as far as they may be one: see body.c. */
struct http_body {
  char *p;
  size_t room;
  enum { BODY_NONE, BODY_PIECE, BODY_SECRET, BODY_PLAIN } kind;
};

struct http_exchange {
  struct http_daemon *daemon;
  struct connection *connection; /* for the thread of the library */
  struct MHD_Connection *mhd;
  struct http_exchange *next; /* in the queue of work */
  _Atomic int refs;           /* one of the library, one of the worker */
  struct arena arena;
  struct http_call call;
  struct str target;
  enum phase phase;
  bool head;  /* HEAD: no body is sent */
  bool close; /* the connection is not to be used again */
  int fd;     /* valid while the library does not answer */
  struct http_body body;
  size_t received; /* may be more than is kept: too large */
  int status;      /* of the response: the call is the worker's alone while it streams */
  struct MHD_Response *response;
  struct http_stream *stream;
};

struct http_stream {
  struct http_daemon *daemon;
  struct http_stream *prev, *next;
  uint64_t number;
  pthread_mutex_t lock;
  struct MHD_Connection *mhd; /* NULL: the library has let go of it */
  int fd;
  bool suspended, ended, gone;
  bool finished; /* mhd is NULL for good: `closed` is to be run */
  bool told;     /* it has been run */
  int refs;
  char *data; /* what waits to be written */
  size_t from, n, room;
  int64_t written; /* ticks of the last sign of life */
  void (*closed)(void *arg);
  void *arg;
  void (*drained)(void *arg); /* wanted; NULL: not */
  void *drain_arg;
};

struct http_daemon {
  struct http_server shared;
  struct MHD_Daemon *mhd;
  struct secret_pool *pieces; /* of locked memory, for bodies and for calls about secrets */
  int listener;
  char *socket; /* to be removed at the end */
  char address[256];
  bool tls;
  struct tls_keeper *keeper; /* NULL: the library has the certificate */
  int64_t request_us, keep_alive_us;
  size_t streams_max;
  _Atomic bool stopping, hurry;
  _Atomic int answering; /* exchanges that have been read and not yet answered in full */

  pthread_mutex_t lock;
  struct connection *connections;
  struct http_stream *streams;
  size_t stream_count;
  uint64_t streams_begun, connections_begun;

  /* The queue of work. */
  pthread_mutex_t work_lock;
  pthread_cond_t work, spare_work, idle;
  struct http_exchange *first, *last;
  size_t waiting, busy, workers, numbered;
  size_t regular;                  /* workers; the others are spare */
  int64_t began[HTTP_WORKERS_MAX]; /* ticks, for each worker; 0: it rests */
  int64_t worked;                  /* ticks when the last work was done */
  bool looking;                    /* a spare worker looks whether calls last */
  bool quit;
  pthread_t threads[HTTP_WORKERS_MAX];

  /* The watch. */
  pthread_t watcher;
  bool watching;
  int epoll, wake;
  _Atomic bool watch_quit;
};

/* exchange.c: from a request to its reply. */
void *exchange_begin(void *daemon, const char *target, struct MHD_Connection *mhd);
enum MHD_Result exchange_step(void *daemon, struct MHD_Connection *mhd, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state);
void exchange_completed(void *daemon, struct MHD_Connection *mhd, void **state, enum MHD_RequestTerminationCode how);
void exchange_run(struct http_exchange *x); /* on a worker; gives its reference up */
/* A response with the call's headers; `body` NULL: of call->reply. NULL when there is no memory. */
struct MHD_Response *exchange_response(struct http_exchange *x, MHD_ContentReaderCallback body, void *arg);

/* body.c: what a client sends. */
bool body_add(struct http_exchange *x, const char *data, size_t n); /* false: no memory */
void body_release(struct http_exchange *x);

/* work.c: the queue and the workers. */
NODISCARD enum status work_start(struct http_daemon *d, size_t workers, struct error *err);
bool work_push(struct http_daemon *d, struct http_exchange *x); /* false: too much waits already */
bool work_wait_idle(struct http_daemon *d, int64_t wait_ms);
void work_stop(struct http_daemon *d);

/* stream.c */
ssize_t stream_read(void *stream, uint64_t at, char *out, size_t max);
void stream_detach(struct http_stream *s); /* the library is done with the connection */
void stream_hang_up(struct http_stream *s);
void stream_sign_of_life(struct http_stream *s, int64_t now);
bool stream_is_drained(struct http_stream *s); /* and somebody wants to know */
void stream_tell_drained(struct http_stream *s);
bool stream_close_finished(struct http_stream *s); /* runs `closed`; false when it is not finished */
void streams_end_all(struct http_daemon *d);

/* watch.c */
NODISCARD enum status watch_start(struct http_daemon *d, struct error *err);
void watch_stream(struct http_daemon *d, struct http_stream *s);
void watch_wake(struct http_daemon *d);
void watch_stop(struct http_daemon *d);
void connection_notify(void *daemon, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code);

/* listen.c: a socket that listens. */
NODISCARD enum status listen_open(const struct http_options *o, struct http_daemon *d, struct error *err);
