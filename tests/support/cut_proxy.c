/* cut_proxy.c: one process that serves one connection at a time. */
#include "support/cut_proxy.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/harness.h"

enum { ROOM = 1 << 16, SETTLE_MS = 300 };

static int dial(const char *host, const char *port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, port, &hints, &found) != 0)
    return -1;
  int fd = -1;
  for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  return fd;
}

static bool pass_on(int to, const char *p, ssize_t n) {
  while (n > 0) {
    ssize_t sent = send(to, p, (size_t)n, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    p += sent;
    n -= sent;
  }
  return true;
}

/* Reads and discards the server's answer. */
static void swallow(int server) {
  static char text[ROOM];
  struct pollfd p = {.fd = server, .events = POLLIN};
  while (poll(&p, 1, SETTLE_MS) > 0 && recv(server, text, sizeof(text), 0) > 0)
    continue;
}

/* True if the connection was cut. */
static bool relay(int client, int server, const char *word, enum cut cut) {
  static char text[ROOM];
  struct pollfd p[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
  while (poll(p, 2, -1) > 0)
    for (int i = 0; i < 2; i++) {
      if (!p[i].revents)
        continue;
      ssize_t n = recv(p[i].fd, text, sizeof(text), 0);
      if (n <= 0)
        return false;
      bool hit = i == 0 && word && memmem(text, (size_t)n, word, strlen(word));
      if (hit && cut != CUT_AFTER)
        return true;
      if (!pass_on(p[1 - i].fd, text, n))
        return false;
      if (hit) {
        swallow(server);
        return true;
      }
    }
  return false;
}

static _Noreturn void serve(int listener, const char *host, const char *port, const char *word, enum cut cut) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    int client = accept(listener, NULL, NULL);
    int server = client < 0 ? -1 : dial(host, port);
    if (server < 0)
      _exit(1);
    bool was_cut = relay(client, server, word, cut);
    if (was_cut)
      word = NULL;
    if (was_cut && cut == CUT_FOR_EVER)
      _exit(0);
    close(client);
    close(server);
  }
}

int cut_proxy_start(const char *host, const char *port, const char *word, enum cut cut, pid_t *ret_pid) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(at);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 8) == 0);
  CHECK(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
  fflush(NULL);
  *ret_pid = fork();
  CHECK(*ret_pid >= 0);
  if (*ret_pid == 0)
    serve(listener, host, port, word, cut);
  close(listener);
  return ntohs(at.sin_port);
}
