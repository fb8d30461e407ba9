/* recorder.c: forwards the bytes between the program and the server, and parses the messages. */
#include "support/recorder.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/thread.h"
#include "support/measure.h"

enum { PREPARED = 1024, WAITING = 4096, HEAD = 5, SETTLE_US = 20000 };

/* Bytes of one direction that are not a complete message yet. */
struct stream {
  char *p;
  size_t n, cap;
};

struct prepared {
  char name[40];
  struct str sql;
  Oid types[RECORDED_VALUES];
  int n;
};

struct recorder {
  int listener, port, server_port;
  char host[64];
  pthread_t thread;
  pthread_mutex_t lock;

  /* protected by the lock */
  struct arena names; /* of prepared statements; live as long as the recorder */
  struct arena *a;    /* NULL: not recording */
  struct recording kept;
};

/* One client connection. */
struct passage {
  struct recorder *r;
  int client;
  struct prepared prepared[PREPARED];
  size_t prepared_count;
  size_t waiting[WAITING]; /* indexes in `kept` of the statements without an answer yet; SIZE_MAX: not recorded */
  size_t first, last;
  size_t answering;
  bool server_last; /* the last message was the server's */
};

/* ---- messages ---- */

static uint32_t number32(const char *p) {
  uint32_t n;
  memcpy(&n, p, 4);
  return ntohl(n);
}
static int number16(const char *p) {
  uint16_t n;
  memcpy(&n, p, 2);
  return ntohs(n);
}

static struct prepared *find_prepared(struct passage *c, const char *name) {
  for (size_t i = 0; i < c->prepared_count; i++)
    if (strcmp(c->prepared[i].name, name) == 0)
      return &c->prepared[i];
  return NULL;
}

static void on_parse(struct passage *c, const char *p) {
  const char *name = p, *sql = p + strlen(p) + 1, *types = sql + strlen(sql) + 1;
  struct prepared *s = find_prepared(c, name);
  if (!s && c->prepared_count == PREPARED)
    fail("too many statements to record");
  if (!s)
    s = &c->prepared[c->prepared_count++];
  snprintf(s->name, sizeof(s->name), "%s", name);
  s->sql = arena_dup(&c->r->names, str_from(sql));
  s->n = number16(types);
  for (int i = 0; i < s->n && i < RECORDED_VALUES; i++)
    s->types[i] = number32(types + 2 + 4 * i);
}

static void keep(struct passage *c, const char *p) {
  struct recorder *r = c->r;
  const char *name = p + strlen(p) + 1;
  const struct prepared *s = find_prepared(c, name);
  if (!s || s->n > RECORDED_VALUES)
    fail("a statement that cannot be recorded: %s", s ? s->sql.p : name);
  struct recorded one = {.sql = s->sql, .n = s->n, .trip = r->kept.trips};
  memcpy(one.types, s->types, sizeof(one.types));
  p = name + strlen(name) + 1;
  int forms = number16(p);
  const char *form = p + 2;
  p = form + 2 * forms;
  int n = number16(p);
  p += 2;
  for (int i = 0; i < n; i++) {
    int32_t size = (int32_t)number32(p);
    p += 4;
    struct recorded_value *v = &one.values[i];
    v->null = size < 0;
    v->binary = forms > 0 && number16(form + (forms > 1 ? 2 * i : 0)) == 1;
    if (size >= 0) {
      v->bytes = arena_dup(r->a, (struct str){p, (size_t)size});
      p += size;
    }
  }
  list_push(r->a, &r->kept, one);
}

static void on_bind(struct passage *c, const char *p) {
  struct recorder *r = c->r;
  if (r->a) {
    if (c->server_last || r->kept.trips == 0)
      r->kept.trips++;
    keep(c, p);
  }
  c->server_last = false;
  c->waiting[c->last++ % WAITING] = r->a ? r->kept.n - 1 : SIZE_MAX;
}

/* A complete client message: type, length, payload. */
static void on_client(struct passage *c, const char *p) {
  if (p[0] == 'P')
    on_parse(c, p + HEAD);
  if (p[0] == 'B')
    on_bind(c, p + HEAD);
}

/* Stores the first value of the first row, if it is a bigint. */
static void on_row(struct passage *c, const char *p) {
  struct recorder *r = c->r;
  if (!r->a || c->answering >= r->kept.n)
    return;
  struct recorded *one = &r->kept.v[c->answering];
  if (one->answered || number16(p) < 1 || number32(p + 2) != 8)
    return;
  one->answered = true;
  one->answer = (int64_t)((uint64_t)number32(p + 6) << 32 | number32(p + 10));
}

static void on_server(struct passage *c, const char *p) {
  c->server_last = true;
  if (p[0] == '2' && c->first < c->last)
    c->answering = c->waiting[c->first++ % WAITING];
  if (p[0] == 'D')
    on_row(c, p + HEAD);
}

/* ---- forwarding ---- */

static void add_bytes(struct stream *s, const char *p, size_t n) {
  if (s->n + n > s->cap) {
    s->cap = (s->n + n) * 2;
    s->p = realloc(s->p, s->cap);
    if (!s->p)
      fail("out of memory");
  }
  memcpy(s->p + s->n, p, n);
  s->n += n;
}

static void take_messages(struct passage *c, struct stream *s, void (*on)(struct passage *, const char *)) {
  size_t at = 0;
  pthread_mutex_lock(&c->r->lock);
  while (s->n - at >= HEAD) {
    size_t size = (size_t)number32(s->p + at + 1) + 1;
    if (s->n - at < size)
      break;
    on(c, s->p + at);
    at += size;
  }
  pthread_mutex_unlock(&c->r->lock);
  memmove(s->p, s->p + at, s->n - at);
  s->n -= at;
}

static bool send_all(int fd, const char *p, size_t n) {
  while (n > 0) {
    ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    p += sent;
    n -= (size_t)sent;
  }
  return true;
}

static int to_server(struct recorder *r) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)r->server_port)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  if (inet_pton(AF_INET, r->host, &a.sin_addr) != 1 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
    fail("cannot connect to %s:%d", r->host, r->server_port);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

/* The first message of a client has no type byte. */
static bool pass_greeting(int client, int server) {
  char head[4], rest[2000];
  if (recv(client, head, 4, MSG_WAITALL) != 4)
    return false;
  size_t n = number32(head) - 4;
  if (n > sizeof(rest) || recv(client, rest, n, MSG_WAITALL) != (ssize_t)n)
    return false;
  return send_all(server, head, 4) && send_all(server, rest, n);
}

static void *serve(void *arg) {
  struct passage *c = arg;
  char block[1 << 14];
  struct stream up = {0}, down = {0};
  int client = c->client, server = to_server(c->r), on = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  struct pollfd p[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
  bool open = pass_greeting(client, server);
  while (open && poll(p, 2, -1) > 0)
    for (int i = 0; open && i < 2; i++) {
      if (!p[i].revents)
        continue;
      ssize_t n = recv(p[i].fd, block, sizeof(block), 0);
      if (n <= 0) {
        open = false;
        break;
      }
      struct stream *s = i ? &down : &up;
      add_bytes(s, block, (size_t)n);
      take_messages(c, s, i ? on_server : on_client);
      open = send_all(p[!i].fd, block, (size_t)n);
    }
  free(up.p);
  free(down.p);
  close(server);
  close(client);
  free(c);
  return NULL;
}

static void *listen_on(void *arg) {
  struct recorder *r = arg;
  for (;;) {
    int client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
      return NULL;
    struct passage *c = calloc(1, sizeof(*c));
    pthread_t thread;
    if (!c)
      fail("out of memory");
    c->r = r;
    c->client = client;
    c->answering = SIZE_MAX;
    if (thread_start(&thread, serve, c) != 0)
      fail("cannot start a thread");
    pthread_detach(thread);
  }
}

struct recorder *recorder_start(const char *host, int port) {
  struct recorder *r = calloc(1, sizeof(*r));
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof(a);
  if (!r)
    fail("out of memory");
  snprintf(r->host, sizeof(r->host), "%s", host);
  r->server_port = port;
  pthread_mutex_init(&r->lock, NULL);
  r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(r->listener, (struct sockaddr *)&a, n) != 0 || listen(r->listener, 8) != 0 ||
      getsockname(r->listener, (struct sockaddr *)&a, &n) != 0)
    fail("cannot listen");
  r->port = ntohs(a.sin_port);
  if (thread_start(&r->thread, listen_on, r) != 0)
    fail("cannot start a thread");
  return r;
}

int recorder_port(const struct recorder *r) { return r->port; }

/* The last bytes may not have arrived yet. */
static void settle(void) { usleep(SETTLE_US); }

void recorder_begin(struct recorder *r, struct arena *a) {
  settle();
  pthread_mutex_lock(&r->lock);
  r->a = a;
  r->kept = (struct recording){0};
  pthread_mutex_unlock(&r->lock);
}

struct recording recorder_end(struct recorder *r) {
  settle();
  pthread_mutex_lock(&r->lock);
  struct recording kept = r->kept;
  r->a = NULL;
  pthread_mutex_unlock(&r->lock);
  return kept;
}
