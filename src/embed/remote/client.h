/* client.h: HTTP POST with limits on time and size, and reuse of connections. */
#pragma once

#include <pthread.h>

#include "base/error.h"
#include "base/str.h"

enum { HTTP_IDLE_MAX = 4, HTTP_DETAIL_SIZE = 256 };

/* Thread-safe: each call takes an idle handle or creates one. Zero it before http_client_init(). */
struct http_client {
  pthread_mutex_t lock;
  void *idle[HTTP_IDLE_MAX]; /* libcurl handles with their open connections */
  size_t nidle;
};

struct http_request {
  const char *url;
  const char *authorization; /* complete header line, or NULL; never copied */
  struct str body;           /* JSON */
  int64_t timeout_ms, connect_timeout_ms;
  size_t limit; /* maximum bytes of a response */
  bool direct;  /* ignore the proxy settings of the environment */
};

enum http_outcome {
  HTTP_ANSWERED,  /* with any status code */
  HTTP_NO_ANSWER, /* connection failed, broke or timed out; a retry may help */
  HTTP_BROKEN,    /* permanent failure, such as an invalid certificate */
  HTTP_TOO_LARGE,
  HTTP_NO_MEMORY,
};

struct http_reply {
  enum http_outcome outcome;
  int code;                      /* HTTP status, if HTTP_ANSWERED */
  int64_t retry_after_s;         /* from the Retry-After header; 0: none */
  char detail[HTTP_DETAIL_SIZE]; /* reason of a failure, or target of a redirect; untrusted */
  char *body;                    /* free with http_reply_release() */
  size_t n, cap, limit;
};

NODISCARD enum status http_client_init(struct http_client *c, struct error *err);
void http_client_release(struct http_client *c);

/* Does not follow redirects: the key and the text are only for the configured host. Does not allocate from an arena.
 * Zero *reply before the first call; it can be reused. Fails only if libcurl is unavailable or out of memory. */
NODISCARD enum status http_client_post(struct http_client *c, const struct http_request *request,
                                       struct http_reply *reply, struct error *err);
void http_reply_release(struct http_reply *reply);
static inline struct str http_reply_body(const struct http_reply *r) { return (struct str){r->body, r->n}; }
