/* client.c: HTTP POST with libcurl.
 *
 * libcurl is loaded when it is first needed. Linking it would load thirty libraries (TLS, Kerberos, LDAP, HTTP/2, ...)
 * at every start: measured, 6 ms more for each `cairn get` (docs/architecture.md), although most users never send a
 * text anywhere. Only its headers are needed to build. */
#include "embed/remote/client.h"

#include <assert.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/os/library.h"

enum { INITIAL_BODY = 64 * 1024 };

/* ---- libcurl ---- */

struct curl_api {
  CURLcode (*global_init)(long flags);
  CURL *(*easy_init)(void);
  void (*easy_reset)(CURL *handle);
  void (*easy_cleanup)(CURL *handle);
  CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
  CURLcode (*easy_perform)(CURL *handle);
  CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
  const char *(*easy_strerror)(CURLcode code);
};

/* Set once per process, then read-only. The library stays loaded. */
static struct curl_api curl;
static const char *curl_problem;

static bool look_up(void *library) {
  static const struct library_function functions[] = {
      {"curl_global_init", offsetof(struct curl_api, global_init)},
      {"curl_easy_init", offsetof(struct curl_api, easy_init)},
      {"curl_easy_reset", offsetof(struct curl_api, easy_reset)},
      {"curl_easy_cleanup", offsetof(struct curl_api, easy_cleanup)},
      {"curl_easy_setopt", offsetof(struct curl_api, easy_setopt)},
      {"curl_easy_perform", offsetof(struct curl_api, easy_perform)},
      {"curl_easy_getinfo", offsetof(struct curl_api, easy_getinfo)},
      {"curl_easy_strerror", offsetof(struct curl_api, easy_strerror)},
  };
  return library_resolve(library, functions, ARRAY_LEN(functions), &curl);
}

static void load_curl(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    curl_problem = "libcurl.so.4 cannot be loaded";
  else if (!look_up(library))
    curl_problem = "the installed libcurl lacks a function that Cairn needs";
  else if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    curl_problem = "libcurl could not be initialised";
}

static enum status open_curl(struct error *err) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_curl);
  if (!curl_problem)
    return STATUS_OK;
  error_set(err, STATUS_UNAVAILABLE, "an HTTP embedder needs libcurl: %s", curl_problem);
  return error_fix(err,
                   "Install it (Debian: apt install libcurl4), or use an embedder that needs no network. Restart a "
                   "server whose embedder was changed after it started: its sandbox loads no libraries.");
}

/* ---- handles ---- */

enum status http_client_init(struct http_client *c, struct error *err) {
  int failed = pthread_mutex_init(&c->lock, NULL);
  return failed ? error_errno(err, failed, "cannot create a mutex") : STATUS_OK;
}

void http_client_release(struct http_client *c) {
  for (size_t i = 0; i < c->nidle; i++)
    curl.easy_cleanup(c->idle[i]);
  c->nidle = 0;
  pthread_mutex_destroy(&c->lock);
}

void http_reply_release(struct http_reply *reply) {
  mem_free(reply->body);
  reply->body = NULL;
  reply->n = reply->cap = 0;
}

static CURL *take_handle(struct http_client *c) {
  pthread_mutex_lock(&c->lock);
  CURL *handle = c->nidle ? c->idle[--c->nidle] : NULL;
  pthread_mutex_unlock(&c->lock);
  if (!handle)
    return curl.easy_init();
  curl.easy_reset(handle); /* resets the options, but keeps connections and the DNS cache */
  return handle;
}

static void return_handle(struct http_client *c, CURL *handle) {
  assert(handle);
  pthread_mutex_lock(&c->lock);
  bool kept = c->nidle < HTTP_IDLE_MAX;
  if (kept)
    c->idle[c->nidle++] = handle;
  pthread_mutex_unlock(&c->lock);
  if (!kept)
    curl.easy_cleanup(handle);
}

/* ---- request ---- */

/* Called by libcurl for each piece of the body. It must not longjmp, so it does not use an arena. */
static size_t receive(char *p, size_t size, size_t count, void *context) {
  struct http_reply *r = context;
  size_t n = size * count;
  assert(r->n <= r->cap && r->n <= r->limit);
  if (n > r->limit - r->n) {
    r->outcome = HTTP_TOO_LARGE;
    return CURL_WRITEFUNC_ERROR;
  }
  if (n > r->cap - r->n) {
    size_t cap = r->cap ? r->cap : INITIAL_BODY;
    while (cap - r->n < n)
      cap *= 2;
    char *grown = mem_realloc(r->body, cap);
    if (!grown) {
      r->outcome = HTTP_NO_MEMORY;
      return CURL_WRITEFUNC_ERROR;
    }
    r->body = grown;
    r->cap = cap;
  }
  memcpy(r->body + r->n, p, n);
  r->n += n;
  return n;
}

/* Some libcurl structs have char * for text that is not modified. */
static char *unconst(const char *s) { return (char *)(uintptr_t)s; }

static CURLcode set_options(CURL *h, const struct http_request *q, struct curl_slist *headers,
                            struct http_reply *reply) {
  CURLcode code = CURLE_OK;
#define SET(option, value) (code = code == CURLE_OK ? curl.easy_setopt(h, (option), (value)) : code)
  SET(CURLOPT_URL, q->url);
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_SSL_VERIFYPEER, 1L);
  SET(CURLOPT_SSL_VERIFYHOST, 2L);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_NOPROGRESS, 1L);
  SET(CURLOPT_TIMEOUT_MS, (long)q->timeout_ms);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(q->connect_timeout_ms < q->timeout_ms ? q->connect_timeout_ms : q->timeout_ms));
  SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)q->limit);
  SET(CURLOPT_USERAGENT, "cairn/" CAIRN_VERSION);
  SET(CURLOPT_HTTPHEADER, headers);
  SET(CURLOPT_POST, 1L);
  SET(CURLOPT_POSTFIELDS, q->body.p);
  SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
  SET(CURLOPT_WRITEFUNCTION, receive);
  SET(CURLOPT_WRITEDATA, reply);
  SET(CURLOPT_ERRORBUFFER, reply->detail);
  if (q->direct)
    SET(CURLOPT_PROXY, "");
#undef SET
  /* Do not wait for a DNS lookup that exceeds the time limit; its thread ends by itself. */
  (void)curl.easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
  return code;
}

static enum http_outcome outcome_of(CURLcode code) {
  switch (code) {
  case CURLE_OK:
    return HTTP_ANSWERED;
  case CURLE_COULDNT_RESOLVE_PROXY:
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
  case CURLE_OPERATION_TIMEDOUT:
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_PARTIAL_FILE:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM:
    return HTTP_NO_ANSWER;
  case CURLE_FILESIZE_EXCEEDED:
    return HTTP_TOO_LARGE;
  case CURLE_OUT_OF_MEMORY:
    return HTTP_NO_MEMORY;
  default:
    return HTTP_BROKEN;
  }
}

/* With CURLOPT_NOSIGNAL libcurl does not ignore SIGPIPE, which a peer that hangs up would raise. */
static CURLcode perform(CURL *h) {
  sigset_t pipe_set, old, pending;
  sigemptyset(&pipe_set);
  sigaddset(&pipe_set, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
  CURLcode code = curl.easy_perform(h);
  sigpending(&pending);
  if (!was_pending && sigismember(&pending, SIGPIPE) == 1)
    sigtimedwait(&pipe_set, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return code;
}

static void fill_reply(CURL *h, CURLcode code, struct http_reply *reply) {
  if (reply->outcome == HTTP_TOO_LARGE || reply->outcome == HTTP_NO_MEMORY)
    return;
  reply->outcome = outcome_of(code);
  if (code != CURLE_OK && !reply->detail[0])
    snprintf(reply->detail, sizeof(reply->detail), "%s", curl.easy_strerror(code));
  if (code != CURLE_OK)
    return;
  long status = 0;
  curl_off_t wait = 0;
  const char *location = NULL;
  (void)curl.easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
  (void)curl.easy_getinfo(h, CURLINFO_RETRY_AFTER, &wait);
  (void)curl.easy_getinfo(h, CURLINFO_REDIRECT_URL, &location);
  reply->code = (int)status;
  reply->retry_after_s = wait > 0 ? (int64_t)wait : 0;
  snprintf(reply->detail, sizeof(reply->detail), "%s", location ? location : "");
}

enum status http_client_post(struct http_client *c, const struct http_request *request, struct http_reply *reply,
                             struct error *err) {
  _Static_assert(HTTP_DETAIL_SIZE >= CURL_ERROR_SIZE, "detail is libcurl's error buffer");
  assert(request->timeout_ms > 0 && request->limit > 0); /* 0 would mean no limit */
  TRY(open_curl(err));
  CURL *h = take_handle(c);
  if (!h)
    return error_set(err, STATUS_NOMEM, "out of memory");
  *reply = (struct http_reply){.body = reply->body, .cap = reply->cap, .limit = request->limit};
  /* Not built with curl_slist_append(), so libcurl has no copy of the key that outlives the call. "Expect:"
   * removes a header that can make the server delay its answer by a second. */
  struct curl_slist headers[] = {{unconst("Content-Type: application/json"), &headers[1]},
                                 {unconst("Accept: application/json"), &headers[2]},
                                 {unconst("Expect:"), NULL},
                                 {unconst(request->authorization), NULL}};
  if (request->authorization)
    headers[2].next = &headers[3];
  CURLcode code = set_options(h, request, headers, reply);
  if (code == CURLE_OK)
    code = perform(h);
  fill_reply(h, code, reply);
  curl.easy_reset(h); /* the handle must not refer to the headers on our stack */
  return_handle(c, h);
  return STATUS_OK;
}
