/* server.h: the HTTP server. Listens on an address or a Unix socket, reads requests and hands them to workers.
 *
 * One libmicrohttpd thread does all network I/O and never runs a route that may block; a few workers run routes; one
 * more thread watches for clients that are gone, slow or silent. */
#pragma once

#include "http/http.h"
#include "http/tls/tls.h"

enum { HTTP_PORT = 7733, HTTP_ENGINES_MAX = 8, HTTP_WORKERS_MAX = 12 };

struct http_options {
  struct http_server shared; /* copied */
  const char *host;          /* NULL: 127.0.0.1 */
  bool exposed;              /* the host may be other than loopback: tokens are required, and travel encrypted */
  struct tls tls;            /* must stay valid until http_start() returns */
  struct tls_keeper *keeper; /* reloads certificates; NULL: `tls` is used throughout */
  int port;                  /* 0: the kernel chooses */
  const char *socket;        /* path of a Unix socket, instead of host and port; NULL: none */
  size_t workers;            /* 0: a few more than http_engines(). FAIR_RESERVED are added. */
  int64_t request_ms;        /* maximum time for a request to arrive; 0: 60 s */
  int64_t keep_alive_ms;     /* interval between keep-alives on a stream; 0: 15 s */
  /* Called after the socket is listening and before the first thread starts; may be NULL. */
  enum status (*listening)(void *arg, struct error *err);
  void *arg;
  size_t streams_max; /* 0: limited by file descriptors, at most 4,096 */
};

struct http_daemon;

/* Shared engines of the pool: the number of cores, at least 2, at most HTTP_ENGINES_MAX. */
size_t http_engines(void);

/* Refuses a host that other machines can reach unless `exposed` is set; http_start() also checks this. */
NODISCARD enum status http_check_host(const struct http_options *options, struct error *err);
NODISCARD enum status http_start(const struct http_options *options, struct http_daemon **ret_daemon,
                                 struct error *err);
/* "http://127.0.0.1:7733", "https://...", or the socket's path. */
const char *http_address(const struct http_daemon *d);
/* Stops accepting and waits at most `wait_ms` for running calls to finish; then cancels those that poll for it. Streams
 * stay open. */
void http_drain(struct http_daemon *d, int64_t wait_ms);
/* Waits for running calls, ends all streams, closes all connections and frees everything. Call http_drain() first. */
void http_stop(struct http_daemon **daemon);
