/* load.c: an HTTP load generator: keep-alive connections in one epoll set; responses must have a Content-Length. */
#include "support/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MAX = 1 << 20 };

struct connection {
  int fd;
  double began;
  char *request;
  size_t size, sent, have, need; /* need: size of the whole response, 0 until its headers are complete */
  char *answer;
};

static int dial(int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
    fail("cannot connect to port %d", port);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static void push(struct connection *c) {
  while (c->sent < c->size) {
    ssize_t n = send(c->fd, c->request + c->sent, c->size - c->sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN)
      return;
    if (n <= 0)
      fail("the server closed a connection: %s", strerror(errno));
    c->sent += (size_t)n;
  }
}

static void next(struct load *load, struct connection *c, long number) {
  size_t size;
  const char *request = load->request(load->arg, number, &size);
  c->request = realloc(c->request, size);
  if (!c->request)
    fail("out of memory");
  memcpy(c->request, request, size);
  c->size = size;
  c->sent = c->have = c->need = 0;
  c->began = now_us();
  push(c);
}

static void find_length(struct connection *c) {
  c->answer[c->have] = 0;
  char *end = strstr(c->answer, "\r\n\r\n"), *length = strcasestr(c->answer, "\r\nContent-Length:");
  if (end && (!length || length > end))
    fail("an answer without a length: %.200s", c->answer);
  if (end)
    c->need = (size_t)(end + 4 - c->answer) + strtoul(length + 17, NULL, 10);
  if (c->need >= ANSWER_MAX)
    fail("an answer of %zu bytes", c->need);
}

/* True if a response is complete. */
static int pull(struct connection *c) {
  for (;;) {
    ssize_t n = recv(c->fd, c->answer + c->have, ANSWER_MAX - 1 - c->have, 0);
    if (n < 0 && errno == EAGAIN)
      return 0;
    if (n <= 0)
      fail("the server closed a connection: %s", n < 0 ? strerror(errno) : "end");
    c->have += (size_t)n;
    if (c->need == 0)
      find_length(c);
    if (c->need && c->have >= c->need)
      return 1;
  }
}

static void judge(struct load *load, struct connection *c) {
  load->answers++;
  c->answer[c->have] = 0;
  if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0 || !strstr(c->answer, load->expect)) {
    if (load->errors++ == 0)
      fprintf(stderr, "bench: an answer that is wrong: %.600s\n", c->answer);
  }
  samples_add(&load->ms, (now_us() - c->began) / 1000);
}

void load_run(struct load *load) {
  struct connection *all = calloc((size_t)load->connections, sizeof(*all));
  int set = epoll_create1(EPOLL_CLOEXEC);
  long number = 0;
  load->answers = load->errors = 0;
  load->ms.n = 0;
  for (int i = 0; i < load->connections; i++) {
    struct connection *c = &all[i];
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    c->fd = dial(load->port);
    c->answer = malloc(ANSWER_MAX);
    if (!c->answer || epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &e) != 0)
      fail("out of memory");
    next(load, c, number++);
  }
  double until = now_us() + load->seconds * 1e6;
  while (now_us() < until) {
    struct epoll_event ready[64];
    int n = epoll_wait(set, ready, 64, 100);
    for (int i = 0; i < n; i++) {
      struct connection *c = ready[i].data.ptr;
      push(c);
      if (pull(c)) {
        judge(load, c);
        next(load, c, number++);
      }
    }
  }
  for (int i = 0; i < load->connections; i++) {
    close(all[i].fd);
    free(all[i].answer);
    free(all[i].request);
  }
  close(set);
  free(all);
}
