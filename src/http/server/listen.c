/* listen.c: the listening socket: TCP or Unix. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "http/access/check.h"
#include "http/internal.h"

enum { BACKLOG = 1024 };

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un file;
};

enum status http_check_host(const struct http_options *o, struct error *err) {
  if (!o->host || o->exposed || check_loopback(str_from(o->host)))
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "without TLS, tokens sent to '%s' could be read on the network", o->host);
  return error_fix(
      err,
      "--tls-cert FILE --tls-key FILE; or --behind-proxy if a proxy terminates TLS; or --host 127.0.0.1 and, "
      "from another machine, ssh -L %d:127.0.0.1:%d",
      HTTP_PORT, HTTP_PORT);
}

static enum status refuse_host(const char *host, struct error *err) {
  error_set(err, STATUS_USAGE, "'%s' is not an address of a network interface", host);
  return error_fix(err,
                   "--host 192.0.2.7, or --host 0.0.0.0 for all; set the name that clients use with --allow-host NAME");
}

/* Accepts the brackets that an IPv6 address has in a URL. */
static bool parse_v6(const char *host, struct in6_addr *ret_address) {
  char text[INET6_ADDRSTRLEN];
  struct str s = str_from(host);
  if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']')
    s = str_slice(s, 1, s.n - 1);
  if (s.n >= sizeof(text))
    return false;
  memcpy(text, s.p, s.n);
  text[s.n] = 0;
  return inet_pton(AF_INET6, text, ret_address) == 1;
}

static enum status tcp_address(const struct http_options *o, const char *host, union address *ret_address,
                               socklen_t *ret_size, struct error *err) {
  TRY(http_check_host(o, err));
  union address a = {0};
  struct in6_addr v6;
  in_port_t port = htons((uint16_t)o->port);
  if (parse_v6(host, &v6)) {
    a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = v6};
    *ret_size = sizeof(a.v6);
  } else {
    a.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
    *ret_size = sizeof(a.v4);
    if (inet_pton(AF_INET, host, &a.v4.sin_addr) != 1) {
      if (!check_loopback(str_from(host)))
        return refuse_host(host, err);
      a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* localhost */
    }
  }
  *ret_address = a;
  return STATUS_OK;
}

static void set_address(struct http_daemon *d, int fd) {
  union address a = {0};
  socklen_t n = sizeof(a);
  char text[INET6_ADDRSTRLEN] = "?";
  const char *scheme = d->tls ? "https" : "http";
  if (getsockname(fd, &a.any, &n) != 0)
    return;
  if (a.any.sa_family == AF_INET6) {
    (void)inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text));
    snprintf(d->address, sizeof(d->address), "%s://[%s]:%d", scheme, text, ntohs(a.v6.sin6_port));
    return;
  }
  (void)inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text));
  snprintf(d->address, sizeof(d->address), "%s://%s:%d", scheme, text, ntohs(a.v4.sin_port));
}

static enum status bind_failed(const struct http_options *o, const char *host, int errnum, struct error *err) {
  if (errnum == EADDRINUSE) {
    error_set(err, STATUS_CONFLICT, "port %d of %s is in use, perhaps by another cairn serve", o->port, host);
    return error_fix(err, "--port 0 takes any free port; 'ss -ltnp sport = :%d' shows who has it", o->port);
  }
  error_errno(err, errnum, "the server cannot listen on port %d of %s", o->port, host);
  return errnum == EACCES ? error_fix(err, "choose a port above 1023: --port %d", HTTP_PORT) : err->code;
}

static enum status open_tcp(const struct http_options *o, struct http_daemon *d, struct error *err) {
  const char *host = o->host ? o->host : "127.0.0.1";
  union address a;
  socklen_t size;
  TRY(tcp_address(o, host, &a, &size, err));
  int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
  if (fd < 0)
    return error_errno(err, errno, "cannot open a socket");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (bind(fd, &a.any, size) != 0 || listen(fd, BACKLOG) != 0) {
    int errnum = errno;
    close(fd);
    return bind_failed(o, host, errnum, err);
  }
  set_address(d, fd);
  d->listener = fd;
  return STATUS_OK;
}

/* A socket file without a server refuses connections; one that accepts is in use. */
static bool socket_answers(const union address *a) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool answers = fd >= 0 && connect(fd, &a->any, sizeof(a->file)) == 0;
  if (fd >= 0)
    close(fd);
  return answers;
}

static enum status remove_stale_socket(const char *path, const union address *a, struct error *err) {
  struct stat st;
  if (lstat(path, &st) != 0)
    return STATUS_OK;
  if (!S_ISSOCK(st.st_mode)) {
    error_set(err, STATUS_CONFLICT, "'%s' exists and is not a socket", path);
    return error_fix(err, "use another path");
  }
  if (socket_answers(a)) {
    error_set(err, STATUS_CONFLICT, "another server listens on '%s'", path);
    return error_fix(err, "use another path, or stop that server");
  }
  return unlink(path) == 0 ? STATUS_OK : error_errno(err, errno, "the old socket '%s' cannot be removed", path);
}

static enum status open_file(const char *path, struct http_daemon *d, struct error *err) {
  union address a = {0};
  size_t n = strlen(path);
  a.file.sun_family = AF_UNIX;
  if (n == 0 || n >= sizeof(a.file.sun_path)) {
    error_set(err, STATUS_USAGE, "a socket path must have 1 to %zu bytes", sizeof(a.file.sun_path) - 1);
    return error_fix(err, "use a shorter path: --socket /run/user/1000/cairn.sock");
  }
  memcpy(a.file.sun_path, path, n);
  TRY(remove_stale_socket(path, &a, err));
  char *copy = mem_zalloc(n + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  /* bind() creates the file with the umask applied, so it is private from the start. */
  mode_t mask = umask(0177);
  bool ok = copy && fd >= 0 && bind(fd, &a.any, sizeof(a.file)) == 0 && listen(fd, BACKLOG) == 0;
  int errnum = errno;
  umask(mask);
  if (!ok) {
    if (fd >= 0)
      close(fd);
    mem_free(copy);
    return error_errno(err, errnum, "the server cannot listen on '%s'", path);
  }
  memcpy(copy, path, n);
  d->socket = copy;
  d->listener = fd;
  snprintf(d->address, sizeof(d->address), "%s", path);
  return STATUS_OK;
}

enum status listen_open(const struct http_options *o, struct http_daemon *d, struct error *err) {
  assert(d->listener < 0 && !d->socket);
  assert(o->port >= 0 && o->port <= UINT16_MAX);
  return o->socket ? open_file(o->socket, d, err) : open_tcp(o, d, err);
}
