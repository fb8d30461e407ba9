/* client.h: one POST over HTTP, bounded in time and size, with connections that are kept for the next. */
#pragma once

#include <pthread.h>

#include "base/error.h"
#include "base/str.h"

enum { HTTP_IDLE_MAX = 4, HTTP_DETAIL_SIZE = 256 };

/* Any number of threads may post at once; each takes an idle handle or makes one. Zeroed by its owner, then
 * http_client_init(). */
struct http_client {
  pthread_mutex_t lock;
  void *idle[HTTP_IDLE_MAX]; /* handles of libcurl, each with its open connection */
  size_t nidle;
};

struct http_request {
  const char *url;
  const char *authorization; /* the whole header line, NULL for none; never copied */
  struct str body;           /* JSON */
  int64_t timeout_ms, connect_timeout_ms;
  size_t limit; /* bytes of an answer that are taken */
  bool direct;  /* no proxy, whatever the environment says */
};

enum http_outcome {
  HTTP_ANSWERED,  /* with any status code */
  HTTP_NO_ANSWER, /* no connection, or it broke, or time was up: another try may help */
  HTTP_BROKEN,    /* nothing that another try would change: a certificate that is not valid, ... */
  HTTP_TOO_LARGE,
  HTTP_NO_MEMORY,
};

struct http_reply {
  enum http_outcome outcome;
  int code;                      /* of HTTP, when it answered */
  int64_t retry_after_s;         /* what the server asked for; 0: nothing */
  char detail[HTTP_DETAIL_SIZE]; /* no answer: why. A redirect: to where. From outside: to be shown with care */
  char *body;                    /* mem_alloc'd; http_reply_release() */
  size_t n, cap, limit;
};

NODISCARD enum status http_client_init(struct http_client *c, struct error *err);
void http_client_release(struct http_client *c);

/* Redirects are not followed: the key and the text are for the host that was named. Never allocates from an arena.
 * *reply is zeroed by the caller before the first call, and can be used again. Fails only when libcurl cannot be had.
 */
NODISCARD enum status http_client_post(struct http_client *c, const struct http_request *request,
                                       struct http_reply *reply, struct error *err);
void http_reply_release(struct http_reply *reply);
static inline struct str http_reply_body(const struct http_reply *r) { return (struct str){r->body, r->n}; }
