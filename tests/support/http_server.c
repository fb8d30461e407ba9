/* http_server.c: an embedding endpoint for tests. */
#include "support/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/os/clock.h"
#include "support/harness.h"

enum {
  DIMS = 8,
  SEEN_MAX = 64,
  CONNECTIONS_MAX = 16,
  REQUEST_MAX = 4 * 1024 * 1024,
  LIFE_SECONDS = 60,
  DRIP_MS = 20,
};

/* Memory shared by test and server. */
struct shared {
  atomic_int requests, connections;
  struct http_seen seen[SEEN_MAX];
};

struct http_server {
  pid_t pid;
  struct shared *shared;
  char url[64];
};

struct connection {
  int fd;
  char *p; /* bytes received so far */
  size_t n;
};

struct serving {
  const struct http_server_spec *spec;
  struct shared *shared;
  int listener;
  size_t step;
  int step_used;
  struct connection connections[CONNECTIONS_MAX];
  size_t nconnections;
};

struct request {
  struct str path, authorization;
  struct strs texts;
  bool openai;
  int dimensions;
};

void http_server_vector(struct str text, int dims, float *ret_vector) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < text.n; i++)
    h = (h ^ (unsigned char)text.p[i]) * UINT64_C(0x100000001b3);
  for (int d = 0; d < dims; d++) {
    uint64_t z = h + (uint64_t)(d + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    ret_vector[d] = (float)((double)(z >> 40) / (double)(1 << 23) - 1.0);
  }
}

/* ---- server process: responses ---- */

/* False if the client has disconnected. */
static bool send_all(int fd, struct str s) {
  while (s.n) {
    ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    s = str_slice(s, (size_t)n, s.n);
  }
  return true;
}

/* Waits; returns false at once if the client disconnects. */
static bool linger(int fd, int ms) {
  struct pollfd p = {.fd = fd, .events = POLLRDHUP};
  return ms <= 0 || poll(&p, 1, ms) == 0;
}

static void add_vector(struct buf *b, struct str text, int dims) {
  float *v = arena_array(b->a, float, (size_t)dims);
  http_server_vector(text, dims, v);
  buf_addc(b, '[');
  for (int d = 0; d < dims; d++)
    buf_addf(b, "%s%.9g", d ? "," : "", (double)v[d]);
  buf_addc(b, ']');
}

static struct str vectors_json(struct arena *a, const struct request *q, const struct http_step *step, int dims) {
  struct buf b = BUF(a);
  int count = (int)q->texts.n - step->missing;
  buf_adds(&b, q->openai ? "{\"object\":\"list\",\"data\":[" : "{\"model\":\"m\",\"embeddings\":[");
  for (int i = 0; i < count; i++) {
    size_t which = (size_t)(step->act == HTTP_ACT_SHUFFLED ? count - 1 - i : i);
    buf_adds(&b, i ? "," : "");
    if (q->openai && step->act == HTTP_ACT_BARE)
      buf_adds(&b, "{\"embedding\":");
    else if (q->openai)
      buf_addf(&b, "{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", which);
    add_vector(&b, which < q->texts.n ? q->texts.v[which] : STR("more"), dims);
    buf_adds(&b, q->openai ? "}" : "");
  }
  buf_adds(&b, "]}");
  return buf_str(&b);
}

static struct str header(struct arena *a, const struct http_step *step, int status, struct str body) {
  return arena_printf(a, "HTTP/1.1 %d Scripted\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
                      status, step->headers ? step->headers : "", body.n);
}

static void drip(int fd, struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!send_all(fd, str_slice(s, i, i + 1)) || !linger(fd, DRIP_MS))
      return;
}

static void endless(int fd) {
  char block[64 * 1024];
  memset(block, ' ', sizeof(block));
  if (!send_all(fd, STR("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{")))
    return;
  while (send_all(fd, (struct str){block, sizeof(block)}))
    ;
}

static struct str body_of(struct arena *a, const struct request *q, const struct http_step *step, int dims) {
  if (step->act == HTTP_ACT_ECHO_KEY)
    return arena_printf(a, "{\"error\":{\"message\":\"Who is \\\"%.*s\\\"?\"}}", STR_ARG(q->authorization));
  if (step->act == HTTP_ACT_FUSSY && q->dimensions)
    return STR("{\"error\":{\"message\":\"This model does not support specifying dimensions.\"}}");
  if (step->status || step->body)
    return str_from(step->body ? step->body : "{\"error\":\"scripted\"}");
  return vectors_json(a, q, step, step->dims ? step->dims : dims);
}

/* Responds as the step says; false if the connection must be closed. */
static bool answer(struct arena *a, int fd, const struct request *q, const struct http_step *step, int dims) {
  struct str body = body_of(a, q, step, dims);
  int status = step->status ? step->status : step->act == HTTP_ACT_FUSSY && q->dimensions ? 400 : 200;
  struct str head = header(a, step, status, body);
  if (!linger(fd, step->delay_ms))
    return false;
  switch (step->act) {
  case HTTP_ACT_DRIP:
    drip(fd, arena_printf(a, "%.*s%.*s", STR_ARG(head), STR_ARG(body)));
    return false;
  case HTTP_ACT_CUT:
    send_all(fd, head);
    send_all(fd, str_slice(body, 0, body.n / 2));
    return false;
  case HTTP_ACT_HANG_UP:
    return false;
  case HTTP_ACT_ENDLESS:
    endless(fd);
    return false;
  case HTTP_ACT_ANSWER:
  case HTTP_ACT_SHUFFLED:
  case HTTP_ACT_BARE:
  case HTTP_ACT_ECHO_KEY:
  case HTTP_ACT_FUSSY:
    break;
  }
  return send_all(fd, head) && send_all(fd, body);
}

/* ---- server process: requests ---- */

static const struct http_step *next_step(struct serving *v) {
  static const struct http_step right = {0};
  if (v->spec->nsteps == 0)
    return &right;
  const struct http_step *step = &v->spec->steps[v->step];
  v->step_used++;
  if (v->step + 1 < v->spec->nsteps && v->step_used >= (step->times ? step->times : 1)) {
    v->step++;
    v->step_used = 0;
  }
  return step;
}

static void copy(char *out, size_t size, struct str s) { snprintf(out, size, "%.*s", STR_ARG(s)); }

static struct request read_request(struct serving *v, struct arena *a, struct str head, struct str body) {
  struct request q = {0};
  struct str line = {0}, rest = head;
  if (str_line(&rest, &line) && str_next(&line, ' ', &q.path)) /* the method */
    (void)str_next(&line, ' ', &q.path);
  while (str_line(&rest, &line))
    if (line.n > 15 && str_ieq(str_slice(line, 0, 14), STR("authorization:")))
      q.authorization = str_trim(str_slice(line, 14, line.n));
  struct error err;
  yyjson_val *root = NULL;
  struct http_seen seen = {0};
  if (json_read(a, body, &root, &err) == STATUS_OK) {
    json_strs(a, root, "input", &q.texts);
    q.dimensions = (int)json_int(root, "dimensions", 0);
    copy(seen.model, sizeof(seen.model), json_str(root, "model"));
    seen.float_format = str_is(json_str(root, "encoding_format"), "float");
  }
  q.openai = str_ends(q.path, STR("/embeddings"));
  for (size_t i = 0; i < q.texts.n; i++)
    seen.text_bytes += q.texts.v[i].n;
  seen.inputs = q.texts.n;
  seen.dimensions = q.dimensions;
  copy(seen.path, sizeof(seen.path), q.path);
  copy(seen.authorization, sizeof(seen.authorization), q.authorization);
  copy(seen.first, sizeof(seen.first), q.texts.n ? q.texts.v[0] : STR_NONE);
  int nth = atomic_load(&v->shared->requests);
  if (nth < SEEN_MAX)
    v->shared->seen[nth] = seen;
  atomic_store(&v->shared->requests, nth + 1);
  return q;
}

static size_t content_length(struct str head) {
  struct str line = {0};
  int64_t n = 0;
  while (str_line(&head, &line))
    if (line.n > 16 && str_ieq(str_slice(line, 0, 15), STR("content-length:")))
      (void)str_int64(str_trim(str_slice(line, 15, line.n)), &n);
  return n < 0 || n > REQUEST_MAX ? 0 : (size_t)n;
}

/* Serves complete requests; false if the connection must be closed. */
static bool serve(struct serving *v, struct connection *c) {
  struct str all = {c->p, c->n};
  size_t end = str_find(all, STR("\r\n\r\n"), 0);
  if (end == SIZE_MAX)
    return true;
  struct str head = str_slice(all, 0, end);
  size_t length = content_length(head);
  if (c->n - end - 4 < length)
    return true;
  struct arena a;
  arena_init(&a);
  struct request q = read_request(v, &a, head, str_slice(all, end + 4, end + 4 + length));
  bool open = answer(&a, c->fd, &q, next_step(v), v->spec->dims ? v->spec->dims : DIMS);
  arena_release(&a);
  c->n -= end + 4 + length;
  memmove(c->p, c->p + end + 4 + length, c->n);
  return open;
}

static bool receive(struct serving *v, struct connection *c) {
  char block[64 * 1024];
  ssize_t n = recv(c->fd, block, sizeof(block), 0);
  if (n <= 0 || c->n + (size_t)n > REQUEST_MAX)
    return false;
  c->p = mem_realloc(c->p, c->n + (size_t)n);
  if (!c->p)
    _exit(1);
  memcpy(c->p + c->n, block, (size_t)n);
  c->n += (size_t)n;
  return serve(v, c);
}

static void accept_one(struct serving *v) {
  int fd = accept(v->listener, NULL, NULL);
  if (fd < 0)
    return;
  if (v->nconnections == CONNECTIONS_MAX) {
    close(fd);
    return;
  }
  atomic_fetch_add(&v->shared->connections, 1);
  v->connections[v->nconnections++] = (struct connection){.fd = fd};
}

static _Noreturn void run(struct serving *v) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGALRM, SIG_DFL);
  alarm(LIFE_SECONDS);
  for (;;) {
    struct pollfd p[CONNECTIONS_MAX + 1] = {{.fd = v->listener, .events = POLLIN}};
    for (size_t i = 0; i < v->nconnections; i++)
      p[i + 1] = (struct pollfd){.fd = v->connections[i].fd, .events = POLLIN};
    size_t n = v->nconnections;
    if (poll(p, n + 1, -1) < 0)
      continue;
    for (size_t i = n; i > 0; i--) /* backwards: the last connection replaces a closed one */
      if (p[i].revents && !receive(v, &v->connections[i - 1])) {
        close(v->connections[i - 1].fd);
        mem_free(v->connections[i - 1].p);
        v->connections[i - 1] = v->connections[--v->nconnections];
      }
    if (p[0].revents)
      accept_one(v);
  }
}

/* ---- test process ---- */

static int listen_somewhere(int *ret_port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 16) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &size) != 0)
    FAIL("no server on the loopback: %s", strerror(errno));
  *ret_port = ntohs(address.sin_port);
  return fd;
}

struct http_server *http_server_start_spec(const struct http_server_spec *spec) {
  int port = 0, listener = listen_somewhere(&port);
  struct http_server *s = mem_zalloc(sizeof(*s));
  void *shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!s || shared == MAP_FAILED)
    FAIL("out of memory");
  s->shared = shared;
  snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", port);
  fflush(NULL);
  s->pid = fork();
  if (s->pid < 0)
    FAIL("fork: %s", strerror(errno));
  if (s->pid == 0)
    run(&(struct serving){.spec = spec, .shared = shared, .listener = listener});
  close(listener);
  return s;
}

void http_server_stop(struct http_server *s) {
  kill(s->pid, SIGKILL);
  waitpid(s->pid, NULL, 0);
  munmap(s->shared, sizeof(*s->shared));
  mem_free(s);
}

const char *http_server_url(const struct http_server *s) { return s->url; }

/* Texts that live as long as the test's process. */
static struct arena kept;

const char *http_server_env(const struct http_server *s, const char *name) {
  return arena_printf(&kept, "%s=%s", name, s->url).p;
}

const char *http_server_nobody(void) {
  int port = 0;
  close(listen_somewhere(&port));
  return arena_printf(&kept, "http://127.0.0.1:%d", port).p;
}

int http_server_requests(const struct http_server *s) { return atomic_load(&s->shared->requests); }

int http_server_connections(const struct http_server *s) { return atomic_load(&s->shared->connections); }

const struct http_seen *http_server_seen(const struct http_server *s, int nth) {
  if (nth < 0 || nth >= SEEN_MAX || nth >= http_server_requests(s))
    FAIL("the server saw no request %d", nth);
  return &s->shared->seen[nth];
}
