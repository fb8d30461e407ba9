/* exchange.c: one request from its first line to its reply, shared by the network thread and a worker. */
#include <assert.h>
#include <poll.h>
#include <sodium.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "http/access/auth.h"
#include "http/access/check.h"
#include "http/internal.h"
#include "http/server/uri.h"

enum {
  FIELDS_MAX = 100,
  /* A body that is too large is read to its end, so the client sees the reply and not a reset connection; but only
   * up to this size. */
  SWALLOW_MAX = 64 << 20,
  STACK_BYTES = 16 * 1024, /* stack that may hold saved registers of functions that handled a secret */
};

static void release(struct http_exchange *x) {
  int before = atomic_fetch_sub(&x->refs, 1);
  assert(before > 0);
  if (before != 1)
    return;
  if (x->response)
    MHD_destroy_response(x->response);
  body_release(x);
  arena_release(&x->arena);
  mem_free(x);
}

static struct connection *connection_of(struct MHD_Connection *mhd) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* ---- reading ---- */

/* uri.c parses the query. The library would, too, into the memory of the connection: a few hundred parameters exhaust
 * it, and the client waits for an answer that never comes. So we empty the query in the library's copy of the target.
 */
static void empty_query(const char *target) {
  char *mark = strchr((char *)(uintptr_t)target, '?');
  if (mark)
    mark[1] = 0;
}

void *exchange_begin(void *daemon, const char *target, struct MHD_Connection *mhd) {
  struct http_exchange *x = mem_zalloc(sizeof(*x));
  if (!x)
    return NULL;
  x->daemon = daemon;
  x->connection = connection_of(mhd);
  x->mhd = mhd;
  x->fd = x->connection ? x->connection->fd : -1;
  if (x->connection) { /* the request timeout starts with the first line, not with the idle time before it */
    atomic_store(&x->connection->waiting_since, clock_ticks_us());
    atomic_store(&x->connection->begun, true);
  }
  atomic_init(&x->refs, 1);
  arena_init(&x->arena);
  x->arena.pieces = x->daemon->pieces;
  jmp_buf oom;
  if (ARENA_BOUNDARY(&x->arena, oom)) {
    x->arena.oom = NULL;
    release(x);
    return NULL;
  }
  x->target = arena_dup(&x->arena, str_from(target));
  empty_query(target);
  return x;
}

struct gathering {
  struct http_exchange *x;
  struct http_pair *fields;
  size_t count, hosts, lengths, codings;
  bool broken;
};

static enum MHD_Result gather(void *arg, enum MHD_ValueKind kind, const char *key, size_t key_size, const char *value,
                              size_t value_size) {
  (void)kind;
  struct gathering *g = arg;
  struct str name = {key, key_size}, text = str_trim((struct str){value, value ? value_size : 0});
  if (g->count == FIELDS_MAX || (text.n && memchr(text.p, 0, text.n))) {
    g->broken = true;
    return MHD_NO;
  }
  g->hosts += str_ieq(name, STR("host"));
  g->lengths += str_ieq(name, STR("content-length"));
  if (str_ieq(name, STR("transfer-encoding"))) {
    g->codings++;
    g->broken = g->broken || !str_ieq(text, STR("chunked"));
  }
  struct arena *a = &g->x->arena;
  g->fields[g->count++] = (struct http_pair){arena_dup(a, name), arena_dup(a, text)};
  return MHD_YES;
}

/* Rejects what the library accepts but no honest client sends: two hosts, two transfer codings or another one than
 * chunked, or a length with a transfer coding. A proxy could see another end of the body than we do. */
static bool read_fields(struct http_exchange *x) {
  struct gathering g = {.x = x, .fields = arena_array(&x->arena, struct http_pair, FIELDS_MAX)};
  MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, gather, &g);
  assert(g.count <= FIELDS_MAX);
  x->call.fields = g.fields;
  x->call.field_count = g.count;
  return !g.broken && g.hosts < 2 && g.lengths < 2 && g.codings < 2 && !(g.lengths && g.codings);
}

static void refuse(struct http_exchange *x, int status, const char *title, const char *detail) {
  http_reply_problem_status(&x->call, status, title, detail);
}

static void check_host_and_origin(struct http_exchange *x, const struct uri *uri) {
  struct str host = http_header(&x->call, "host"), origin = http_header(&x->call, "origin");
  struct check_names names = {.hosts = &x->daemon->shared.hosts, .local = x->call.local};
  if (!check_host(host, &names) || (uri->host.p && !check_host(uri->host, &names)))
    refuse(x, 403, "Forbidden",
           "the Host header does not name this server: use localhost or 127.0.0.1 on its machine, and a name given "
           "with --allow-host from elsewhere");
  else if (origin.p && !check_origin(origin, host, &names))
    refuse(x, 403, "Forbidden", "the Origin header names another site: only same-origin requests are accepted");
  else if (!check_fetch_site(http_header(&x->call, "sec-fetch-site")))
    refuse(x, 403, "Forbidden",
           "another site made the browser send this request: enter the address in the browser, or use a page of this "
           "server");
}

/* Host and Origin are checked first: a foreign request learns nothing, not even which paths exist. */
static void check_request(struct http_exchange *x) {
  struct http_call *call = &x->call;
  struct uri uri = {0};
  bool target = uri_split(x->target, &uri), fields = read_fields(x);
  check_host_and_origin(x, &uri);
  if (call->status)
    return;
  if (!fields) {
    refuse(x, 400, "Bad Request", "the request headers contradict each other");
    x->close = true;
    return;
  }
  if (!target || !uri_queries(call->arena, uri.query, &call->queries, &call->query_count)) {
    refuse(x, 400, "Bad Request", "malformed URL: a broken escape, a NUL, invalid UTF-8, or too many query parameters");
    return;
  }
  call->path = uri.path;
  if (atomic_load(&x->daemon->stopping))
    refuse(x, 503, "Service Unavailable", "the server is shutting down");
  else
    auth_read(call);
}

static void fill_call(struct http_exchange *x, const char *method) {
  struct http_call *call = &x->call;
  call->server = &x->daemon->shared;
  call->arena = &x->arena;
  call->exchange = x;
  call->method = arena_dup(&x->arena, str_from(method));
  call->began = clock_ticks_us();
  x->head = str_is(call->method, "HEAD");
  call->peer = call->network = STR("?");
  if (x->connection) {
    call->peer = arena_dup(&x->arena, str_from(x->connection->peer.name));
    call->network = arena_dup(&x->arena, str_from(x->connection->peer.network));
    call->local = x->connection->peer.local;
  }
  call->caller = x->daemon->shared.caller;
  if (str_empty(call->caller.source))
    call->caller.source = STR("http");
  if (call->caller.origin)
    call->origin = *call->caller.origin;
  /* Identifies the sessions that start on this connection. A closed connection means nothing: clients reconnect at
   * will. */
  call->origin.connection = x->connection ? arena_dup(&x->arena, str_from(x->connection->name)) : STR_NONE;
  call->origin.client = http_header(call, "user-agent");
  call->caller.origin = &call->origin;
}

/* The request has arrived, or is answered early. */
static void start_answering(struct http_exchange *x, enum phase phase) {
  assert(phase >= PHASE_WORK && x->phase < phase);
  if (x->phase < PHASE_WORK)
    atomic_fetch_add(&x->daemon->answering, 1);
  x->phase = phase;
  if (x->connection)
    atomic_store(&x->connection->waiting_since, 0);
}

static enum MHD_Result answer(struct http_exchange *x) {
  if (!x->response)
    x->response = exchange_response(x, NULL, NULL);
  start_answering(x, PHASE_ANSWERED);
  if (!x->response)
    return MHD_NO;
  assert(x->status >= 200 && x->status < 600);
  return MHD_queue_response(x->mhd, (unsigned)x->status, x->response);
}

static enum MHD_Result take_head(struct http_exchange *x, const char *method) {
  x->phase = PHASE_BODY;
  fill_call(x, method);
  check_request(x);
  struct str expect = http_header(&x->call, "expect"), length = http_header(&x->call, "content-length");
  int64_t n = 0;
  if (!x->call.status && length.p && str_int64(length, &n) && n > HTTP_BODY_MAX)
    refuse(x, 413, "Content Too Large", "a request body is limited to 10 MB");
  /* A client that sent Expect gets its answer before it sends the body. Headers that contradict each other may leave
   * the end of the body unknown. */
  if (x->call.status && (expect.p || n > SWALLOW_MAX || x->close)) {
    x->close = true;
    return answer(x);
  }
  return MHD_YES;
}

static enum MHD_Result take_body(struct http_exchange *x, const char *data, size_t n) {
  x->received += n;
  if (x->received > SWALLOW_MAX)
    return MHD_NO;
  if (x->received > HTTP_BODY_MAX && !x->call.status)
    refuse(x, 413, "Content Too Large", "a request body is limited to 10 MB");
  if (x->call.status)
    return MHD_YES;
  return body_add(x, data, n) ? MHD_YES : MHD_NO;
}

/* ---- running ---- */

static void dispatch(struct http_exchange *x) {
  jmp_buf oom;
  if (ARENA_BOUNDARY(&x->arena, oom)) {
    x->call.header_count = 0;
    http_reply_text(&x->call, 503, "application/problem+json",
                    STR("{\"type\":\"about:blank\",\"title\":\"Out of memory\",\"status\":503}"));
    return;
  }
  if (http_stopping(&x->call)) { /* it was queued when the time for running calls ended */
    refuse(x, 503, "Service Unavailable", "the server is shutting down");
  } else if (auth_verify(&x->call)) {
    work_identify(x);
    http_dispatch(&x->call);
  }
}

/* A stream stays open for hours, and locked memory is scarce. */
static void free_body(struct http_exchange *x) {
  x->call.body = STR("");
  body_release(x);
}

void exchange_run(struct http_exchange *x) {
  assert(x->phase == PHASE_WORK && !x->response && !x->stream);
  int64_t cpu = thread_cpu_us();
  dispatch(x);
  auth_charge(&x->call, thread_cpu_us() - cpu);
  free_body(x);
  if (!x->call.stream) {
    x->response = exchange_response(x, NULL, NULL);
    MHD_resume_connection(x->mhd);
  }
  bool secret = x->arena.guarded;
  release(x);
  if (secret)
    sodium_stackzero(STACK_BYTES);
}

/* Allocates nothing: the connection is suspended, and an out-of-memory jump would leave it so for good. */
static void refuse_queued(struct http_exchange *x, enum work_pushed why) {
  struct http_call *call = &x->call;
  bool limited = why == WORK_LIMITED;
  http_reply_text(call, limited ? 429 : 503, "application/problem+json",
                  limited ? STR("{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,"
                                "\"code\":\"limited\",\"detail\":\"too many requests of this token or its team are in "
                                "progress: retry in a second\"}")
                          : STR("{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
                                "\"detail\":\"too many requests are queued: retry in a second\"}"));
  assert(call->header_count < HTTP_HEADERS_MAX);
  call->headers[call->header_count++] = (struct http_pair){STR("Retry-After"), STR("1")};
}

static enum MHD_Result submit(struct http_exchange *x) {
  assert(x->phase == PHASE_BODY);
  if (x->call.status)
    return answer(x);
  x->call.body = (struct str){x->body.p ? x->body.p : "", x->received};
  const struct http_route *route = http_route_find(http_routes_of(&x->call), x->call.method, x->call.path);
  if ((!route || (route->flags & HTTP_AT_ONCE)) && !x->call.token.p) {
    http_dispatch(&x->call);
    return answer(x);
  }
  start_answering(x, PHASE_WORK);
  atomic_fetch_add(&x->refs, 1);
  MHD_suspend_connection(x->mhd);
  enum work_pushed pushed = work_push(x->daemon, x);
  if (pushed == WORK_PUSHED)
    return MHD_YES;
  atomic_fetch_sub(&x->refs, 1);
  if (pushed == WORK_LIMITED)
    auth_count_refused(x->daemon->shared.auth);
  refuse_queued(x, pushed);
  MHD_resume_connection(x->mhd);
  return MHD_YES;
}

enum MHD_Result exchange_step(void *daemon, struct MHD_Connection *mhd, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
  (void)daemon, (void)mhd, (void)url, (void)version; /* without assertions, the first two are unused */
  struct http_exchange *x = *state;
  if (!x)
    return MHD_NO;
  assert(x->daemon == daemon && x->mhd == mhd && x->phase != PHASE_ANSWERED);
  if (x->phase == PHASE_WORK)
    return answer(x); /* the worker's ARENA_BOUNDARY is gone, but nothing is allocated any more */
  jmp_buf oom;
  if (ARENA_BOUNDARY(&x->arena, oom))
    return MHD_NO;
  if (x->phase == PHASE_HEAD)
    return take_head(x, method);
  if (*upload_size == 0)
    return submit(x);
  size_t n = *upload_size;
  *upload_size = 0;
  enum MHD_Result result = take_body(x, upload, n);
  sodium_memzero((char *)(uintptr_t)upload, n); /* the library's buffer, which it no longer needs */
  return result;
}

void exchange_completed(void *daemon, struct MHD_Connection *mhd, void **state, enum MHD_RequestTerminationCode how) {
  (void)daemon, (void)mhd, (void)how;
  struct http_exchange *x = *state;
  if (!x)
    return;
  *state = NULL;
  if (x->phase >= PHASE_WORK) {
    int before = atomic_fetch_sub(&x->daemon->answering, 1);
    assert(before > 0);
    (void)before;
  }
  if (x->connection) {
    atomic_store(&x->connection->begun, false);
    atomic_store(&x->connection->waiting_since, clock_ticks_us());
  }
  if (x->stream)
    stream_detach(x->stream);
  release(x);
}

/* ---- replying ---- */

static void add_header(struct MHD_Response *r, const char *name, const char *value) {
  (void)MHD_add_response_header(r, name, value);
}

/* Counts a request that was refused before a call was recorded: a foreign Host or Origin, an unknown path, a wrong
 * token, too many requests, a body that is too large. It has no row in the store, which anyone could fill, and the log
 * has only some of a client that is refused all the time. */
static void note_refusal(struct http_exchange *x) {
  struct http_call *call = &x->call;
  if (call->status < 400 || call->recorded || !x->daemon->shared.pool)
    return;
  call->recorded = true;
  if (call->refusal.code == STATUS_OK)
    error_set(&call->refusal, call->status == 503 ? STATUS_BUSY : STATUS_INTERNAL, "refused with status %d",
              call->status);
  call->caller.tool = STR("http");
  struct str who = call->account.p ? call->account : call->network;
  pool_note_refusal(x->daemon->shared.pool, &call->caller, who, STR("http"), call->began, &call->refusal);
}

struct MHD_Response *exchange_response(struct http_exchange *x, MHD_ContentReaderCallback body, void *arg) {
  struct http_call *call = &x->call;
  struct MHD_Response *r = NULL;
  assert(call->status && call->header_count <= HTTP_HEADERS_MAX);
  note_refusal(x);
  if (body) {
    r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, body, arg, NULL);
  } else {
    char *text = (char *)(uintptr_t)(call->reply.p ? call->reply.p : "");
    r = MHD_create_response_from_buffer(call->reply.n, text, MHD_RESPMEM_PERSISTENT);
  }
  if (!r)
    return NULL;
  x->status = call->status ? call->status : 500;
  if (call->type)
    add_header(r, "Content-Type", call->type);
  bool cached = false;
  for (size_t i = 0; i < call->header_count; i++) {
    /* Names are literals, values come from arena_dup(); a trimmed value may lack the NUL. */
    char value[4096];
    struct str v = call->headers[i].value;
    size_t n = v.n < sizeof(value) - 1 ? v.n : sizeof(value) - 1;
    memcpy(value, v.p ? v.p : "", n);
    value[n] = 0;
    add_header(r, call->headers[i].name.p, value);
    cached = cached || str_ieq(call->headers[i].name, STR("cache-control"));
  }
  if (!cached)
    add_header(r, "Cache-Control", body ? "no-cache" : "no-store");
  add_header(r, "X-Content-Type-Options", "nosniff");
  add_header(r, "Cross-Origin-Resource-Policy", "same-origin");
  if (x->close || atomic_load(&x->daemon->stopping))
    add_header(r, "Connection", "close");
  return r;
}

bool http_stopping(const struct http_call *call) {
  return call->exchange && atomic_load(&call->exchange->daemon->hurry);
}

bool http_client_gone(const struct http_call *call) {
  const struct http_exchange *x = call->exchange;
  if (!x)
    return false;
  if (http_stopping(call))
    return true;
  if (call->stream)
    return http_stream_gone(call->stream);
  struct pollfd p = {.fd = x->fd, .events = POLLRDHUP};
  return x->fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}
