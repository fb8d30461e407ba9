/* internal.h: structures shared by the server's files: daemon, connections, exchanges, streams.
 *
 * Lifetimes: a connection lives from accept to close; an exchange from its request line until the reply is sent and the
 * worker is done, whichever is later; a stream until its client has disconnected and http_stream_end() was called. Lock
 * order: daemon, stream. */
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
  bool half_closed; /* the client closed its sending side; set by the watcher, under the daemon's lock */
  _Atomic int64_t
      waiting_since;  /* ticks since when (the rest of) a request is awaited; 0: a request is being answered */
  _Atomic bool begun; /* a request has started to arrive */
  struct peer peer;
  struct tls_pair *pair; /* certificate acquired from the keeper */
  char name[48];         /* unique for the lifetime of the server; ports are reused */
};

enum phase { PHASE_HEAD, PHASE_BODY, PHASE_WORK, PHASE_ANSWERED };

/* Body bytes, in locked memory if small enough to hold a secret: see body.c. */
struct http_body {
  char *p;
  size_t room;
  enum { BODY_NONE, BODY_PIECE, BODY_SECRET, BODY_PLAIN } kind;
};

struct http_exchange {
  struct http_daemon *daemon;
  struct connection *connection; /* for the network thread */
  struct MHD_Connection *mhd;
  struct http_exchange *next; /* in the work queue */
  struct fair_id who;         /* for the work queue */
  size_t worker;              /* that runs it */
  _Atomic int refs;           /* one for the library, one for the worker */
  struct arena arena;
  struct http_call call;
  struct str target;
  enum phase phase;
  bool head;  /* HEAD request: no body is sent */
  bool close; /* close the connection after the reply */
  int fd;     /* valid until the library sends the reply */
  struct http_body body;
  size_t received; /* bytes received; may exceed what is stored if the body is too large */
  int status;      /* response status; `call` belongs to the worker while it streams */
  struct MHD_Response *response;
  struct http_stream *stream;
};

struct http_stream {
  struct http_daemon *daemon;
  struct http_stream *prev, *next;
  uint64_t number;
  pthread_mutex_t lock;
  struct MHD_Connection *mhd; /* NULL: released by the library */
  int fd;
  bool suspended, ended, gone;
  bool finished; /* mhd is NULL for good: `closed` must run */
  bool told;     /* `closed` has run */
  int refs;
  char *data; /* queued bytes */
  size_t from, n, room;
  int64_t written; /* ticks of the last data or keep-alive */
  void (*closed)(void *arg);
  void *arg;
  void (*drained)(void *arg); /* NULL: not requested */
  void *drain_arg;
};

enum { WORK_TEAMS = 64, WORK_TEAM_SIZE = 65, WORK_THREADS_MAX = HTTP_WORKERS_MAX + FAIR_RESERVED };

struct http_daemon {
  struct http_server shared;
  struct MHD_Daemon *mhd;
  struct secret_pool *pieces; /* locked memory for bodies and for calls that handle secrets */
  int listener;
  char *socket; /* socket file, removed at shutdown */
  char address[256];
  bool tls;
  struct tls_keeper *keeper; /* NULL: the library holds the certificate */
  int64_t request_us, keep_alive_us;
  size_t streams_max;
  _Atomic bool stopping, hurry;
  _Atomic int answering; /* exchanges read but not completely answered */

  pthread_mutex_t lock;
  struct connection *connections;
  struct http_stream *streams;
  size_t stream_count;
  uint64_t streams_begun, connections_begun;

  /* The work queue. */
  pthread_mutex_t work_lock;
  pthread_cond_t work, spare_work, idle;
  struct http_exchange *first, *last;
  size_t waiting, busy, workers, numbered;
  size_t regular;                           /* regular workers; the others are spare or reserved (fair.h) */
  int64_t began[WORK_THREADS_MAX];          /* start of the current call in ticks, per worker; 0: idle */
  struct fair_id running[WORK_THREADS_MAX]; /* callers of the current calls */
  struct fair fair;
  struct fair_id teams[256];                     /* teams of verified tokens, by the hash of the token */
  char active_teams[WORK_TEAMS][WORK_TEAM_SIZE]; /* the latest teams of tokens, for background work */
  size_t active_next;                            /* slot of the next new one */
  int64_t worked;                                /* ticks when the last call ended */
  bool looking;                                  /* a spare worker is checking for long calls */
  bool quit;
  pthread_t threads[WORK_THREADS_MAX];

  /* The watcher. */
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
void exchange_run(struct http_exchange *x); /* runs on a worker; consumes its reference */
/* A response with the call's headers. If `body` is NULL, the body is call->reply. Returns NULL on out of memory. */
struct MHD_Response *exchange_response(struct http_exchange *x, MHD_ContentReaderCallback body, void *arg);

/* body.c: request bodies. */
bool body_add(struct http_exchange *x, const char *data, size_t n); /* false on out of memory */
void body_release(struct http_exchange *x);

/* work.c: the work queue and its workers. */
NODISCARD enum status work_start(struct http_daemon *d, size_t workers, struct error *err);
/* WORK_LIMITED: too many requests of this token or its team. */
enum work_pushed { WORK_PUSHED, WORK_FULL, WORK_LIMITED };
enum work_pushed work_push(struct http_daemon *d, struct http_exchange *x);
/* Learns the team of the exchange's token after it was verified. */
void work_identify(struct http_exchange *x);
bool work_wait_idle(struct http_daemon *d, int64_t wait_ms);
void work_stop(struct http_daemon *d);

/* stream.c */
ssize_t stream_read(void *stream, uint64_t at, char *out, size_t max);
void stream_detach(struct http_stream *s); /* the library is done with the connection. */
void stream_hang_up(struct http_stream *s);
void stream_keep_alive(struct http_stream *s, int64_t now);
bool stream_is_drained(struct http_stream *s); /* true if a `drained` callback is due */
void stream_tell_drained(struct http_stream *s);
bool stream_close_finished(struct http_stream *s); /* runs `closed`; false if it is not finished */
void streams_end_all(struct http_daemon *d);

/* timeouts.c */
NODISCARD enum status watch_start(struct http_daemon *d, struct error *err);
void watch_stream(struct http_daemon *d, struct http_stream *s);
void watch_wake(struct http_daemon *d);
void watch_stop(struct http_daemon *d);
void connection_notify(void *daemon, struct MHD_Connection *mhd, void **context,
                       enum MHD_ConnectionNotificationCode code);

/* listen.c: the listening socket. */
NODISCARD enum status listen_open(const struct http_options *o, struct http_daemon *d, struct error *err);
