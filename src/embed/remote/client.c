/* client.c: one POST by libcurl. */
#include "embed/remote/client.h"

#include <signal.h>
#include <stdio.h>

#include "base/alloc.h"
#include "embed/remote/curl.h"

enum { BODY_FIRST = 64 * 1024 };

enum status http_client_init(struct http_client *c, struct error *err) {
  int failed = pthread_mutex_init(&c->lock, NULL);
  return failed ? error_errno(err, failed, "cannot make a lock") : STATUS_OK;
}

void http_client_release(struct http_client *c) {
  const struct curl_api *api = NULL;
  struct error ignored;
  if (c->nidle && curl_api_open(&api, &ignored) == STATUS_OK)
    for (size_t i = 0; i < c->nidle; i++)
      api->easy_cleanup(c->idle[i]);
  c->nidle = 0;
  pthread_mutex_destroy(&c->lock);
}

void http_reply_release(struct http_reply *reply) {
  mem_free(reply->body);
  reply->body = NULL;
  reply->n = reply->cap = 0;
}

static CURL *take_handle(struct http_client *c, const struct curl_api *api) {
  pthread_mutex_lock(&c->lock);
  CURL *handle = c->nidle ? c->idle[--c->nidle] : NULL;
  pthread_mutex_unlock(&c->lock);
  if (!handle)
    return api->easy_init();
  api->easy_reset(handle); /* the options of the last call; connections and names stay */
  return handle;
}

static void give_back(struct http_client *c, const struct curl_api *api, CURL *handle) {
  pthread_mutex_lock(&c->lock);
  bool kept = c->nidle < HTTP_IDLE_MAX;
  if (kept)
    c->idle[c->nidle++] = handle;
  pthread_mutex_unlock(&c->lock);
  if (!kept)
    api->easy_cleanup(handle);
}

/* libcurl calls it for each piece of the body. It must not jump out, hence no arena. */
static size_t receive(char *p, size_t size, size_t count, void *context) {
  struct http_reply *r = context;
  size_t n = size * count;
  if (n > r->limit - r->n) {
    r->outcome = HTTP_TOO_LARGE;
    return CURL_WRITEFUNC_ERROR;
  }
  if (n > r->cap - r->n) {
    size_t cap = r->cap ? r->cap : BODY_FIRST;
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

/* libcurl's old prototypes take text that they do not change as char *. */
static char *unconst(const char *s) { return (char *)(uintptr_t)s; }

static CURLcode set_options(const struct curl_api *api, CURL *h, const struct http_request *q,
                            struct curl_slist *headers, struct http_reply *reply) {
  CURLcode code = CURLE_OK;
#define SET(option, value) (code = code == CURLE_OK ? api->easy_setopt(h, (option), (value)) : code)
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
  /* A look-up of a name that takes too long is left to end by itself: waiting for it would outlast the time limit. */
  (void)api->easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
  return code;
}

static enum http_outcome outcome_of(CURLcode code) {
  switch (code) { /* the rest is permanent */
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

/* A peer that hangs up while we write must not end the process: with CURLOPT_NOSIGNAL that is our business. */
static CURLcode perform(const struct curl_api *api, CURL *h) {
  sigset_t pipe_set, old, pending;
  sigemptyset(&pipe_set);
  sigaddset(&pipe_set, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
  CURLcode code = api->easy_perform(h);
  sigpending(&pending);
  if (!was_pending && sigismember(&pending, SIGPIPE) == 1)
    sigtimedwait(&pipe_set, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return code;
}

static void describe(const struct curl_api *api, CURL *h, CURLcode code, struct http_reply *reply) {
  if (reply->outcome == HTTP_TOO_LARGE || reply->outcome == HTTP_NO_MEMORY)
    return;
  reply->outcome = outcome_of(code);
  if (code != CURLE_OK && !reply->detail[0])
    snprintf(reply->detail, sizeof(reply->detail), "%s", api->easy_strerror(code));
  if (code != CURLE_OK)
    return;
  long status = 0;
  curl_off_t wait = 0;
  const char *location = NULL;
  (void)api->easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
  (void)api->easy_getinfo(h, CURLINFO_RETRY_AFTER, &wait);
  (void)api->easy_getinfo(h, CURLINFO_REDIRECT_URL, &location);
  reply->code = (int)status;
  reply->retry_after_s = wait > 0 ? (int64_t)wait : 0;
  snprintf(reply->detail, sizeof(reply->detail), "%s", location ? location : "");
}

enum status http_client_post(struct http_client *c, const struct http_request *request, struct http_reply *reply,
                             struct error *err) {
  _Static_assert(HTTP_DETAIL_SIZE >= CURL_ERROR_SIZE, "libcurl writes that much");
  const struct curl_api *api = NULL;
  TRY(curl_api_open(&api, err));
  CURL *h = take_handle(c, api);
  if (!h)
    return error_set(err, STATUS_NOMEM, "out of memory");
  *reply = (struct http_reply){.body = reply->body, .cap = reply->cap, .limit = request->limit};
  /* Built by hand, so that libcurl makes no copy of the key that outlives the call. "Expect:" takes out a header for
   * which a server may let us wait a second. */
  struct curl_slist headers[] = {{unconst("Content-Type: application/json"), &headers[1]},
                                 {unconst("Accept: application/json"), &headers[2]},
                                 {unconst("Expect:"), NULL},
                                 {unconst(request->authorization), NULL}};
  if (request->authorization)
    headers[2].next = &headers[3];
  CURLcode code = set_options(api, h, request, headers, reply);
  if (code == CURLE_OK)
    code = perform(api, h);
  describe(api, h, code, reply);
  api->easy_reset(h); /* nothing of this call is left behind: the headers lie on our stack */
  give_back(c, api, h);
  return STATUS_OK;
}
