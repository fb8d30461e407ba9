/* listen.c: the socket that the server listens on: an address, or a file. */
#include <arpa/inet.h>
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
  error_set(err, STATUS_USAGE, "on '%s' others could read tokens on their way", o->host);
  return error_fix(err,
                   "--tls-cert FILE --tls-key FILE; or --behind-proxy, when a proxy before it ends TLS; or --host "
                   "127.0.0.1 and, from another machine, ssh -L %d:127.0.0.1:%d",
                   HTTP_PORT, HTTP_PORT);
}

static enum status refuse_name(const char *host, struct error *err) {
  error_set(err, STATUS_USAGE, "'%s' is no address of a network interface", host);
  return error_fix(err, "--host 192.0.2.7, or --host 0.0.0.0 for all; --allow-host NAME is what clients call it");
}

/* Without the brackets that an IPv6 address has in a URL. */
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
        return refuse_name(host, err);
      a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* a name of it */
    }
  }
  *ret_address = a;
  return STATUS_OK;
}

static void name_address(struct http_daemon *d, int fd) {
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
  if (tcp_address(o, host, &a, &size, err) != STATUS_OK)
    return err->code;
  int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
  if (fd < 0)
    return error_errno(err, errno, "no socket could be opened");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (bind(fd, &a.any, size) != 0 || listen(fd, BACKLOG) != 0) {
    int errnum = errno;
    close(fd);
    return bind_failed(o, host, errnum, err);
  }
  name_address(d, fd);
  d->listener = fd;
  return STATUS_OK;
}

/* A socket file whose server is gone refuses connections; one that answers belongs to somebody. */
static bool socket_answers(const union address *a) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool answers = fd >= 0 && connect(fd, &a->any, sizeof(a->file)) == 0;
  if (fd >= 0)
    close(fd);
  return answers;
}

static enum status clear_place(const char *path, const union address *a, struct error *err) {
  struct stat st;
  if (lstat(path, &st) != 0)
    return STATUS_OK;
  if (!S_ISSOCK(st.st_mode)) {
    error_set(err, STATUS_CONFLICT, "'%s' exists and is no socket", path);
    return error_fix(err, "give another path");
  }
  if (socket_answers(a)) {
    error_set(err, STATUS_CONFLICT, "another server listens on '%s'", path);
    return error_fix(err, "give another path, or stop that server");
  }
  return unlink(path) == 0 ? STATUS_OK : error_errno(err, errno, "the old socket '%s' cannot be removed", path);
}

static enum status open_file(const char *path, struct http_daemon *d, struct error *err) {
  union address a = {0};
  size_t n = strlen(path);
  a.file.sun_family = AF_UNIX;
  if (n == 0 || n >= sizeof(a.file.sun_path)) {
    error_set(err, STATUS_USAGE, "the path of a socket has 1 to %zu bytes", sizeof(a.file.sun_path) - 1);
    return error_fix(err, "a shorter path: --socket /run/user/1000/cairn.sock");
  }
  memcpy(a.file.sun_path, path, n);
  if (clear_place(path, &a, err) != STATUS_OK)
    return err->code;
  char *copy = mem_zalloc(n + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  /* Private from its first moment: bind() makes the file by the mask. */
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
  return o->socket ? open_file(o->socket, d, err) : open_tcp(o, d, err);
}
