/* server.h: the HTTP server: listens on an address or on a socket file, reads requests, hands them to workers.
 *
 * One thread of libmicrohttpd reads and writes all connections and never runs a route that may wait; a few workers do;
 * one more thread watches for clients that are gone, slow or silent. */
#pragma once

#include "http/http.h"
#include "http/tls/tls.h"

enum { HTTP_PORT = 7733, HTTP_ENGINES_MAX = 8, HTTP_WORKERS_MAX = 12 };

struct http_options {
  struct http_server shared; /* copied */
  const char *host;          /* NULL: 127.0.0.1 */
  bool exposed;              /* the host may be other than loopback: tokens are asked for, and travel encrypted */
  struct tls tls;            /* needed until http_start() returns */
  struct tls_keeper *keeper; /* of the certificates that connections get later; NULL: that of `tls` */
  int port;                  /* 0: the kernel chooses */
  const char *socket;        /* path of an AF_UNIX socket, instead of host and port; NULL: none */
  size_t workers;            /* 0: a few more than http_engines() */
  int64_t request_ms;        /* how long a request may take to arrive; 0: 60 s */
  int64_t keep_alive_ms;     /* between signs of life on a stream; 0: 15 s */
  /* Called once it listens, before the first thread; NULL: nothing is to be done then. */
  enum status (*listening)(void *arg, struct error *err);
  void *arg;
  size_t streams_max; /* 0: as many as there are file descriptors for, at most 4,096 */
};

struct http_daemon;

/* The size for the pool of engines: as many as there are cores, at least 2, at most HTTP_ENGINES_MAX. */
size_t http_engines(void);

/* Refuses a host that others reach, unless it is to be exposed; http_start() does so, too. */
NODISCARD enum status http_check_host(const struct http_options *options, struct error *err);
NODISCARD enum status http_start(const struct http_options *options, struct http_daemon **ret_daemon,
                                 struct error *err);
/* "http://127.0.0.1:7733", "https://...", or the path of the socket. */
const char *http_address(const struct http_daemon *d);
/* Accepts nothing more and waits until the calls under way are finished, `wait_ms` at most; those that look are told to
 * stop then. Streams stay open. */
void http_drain(struct http_daemon *d, int64_t wait_ms);
/* Waits for the calls, ends all streams, closes all connections and frees everything. After http_drain(). */
void http_stop(struct http_daemon **daemon);
