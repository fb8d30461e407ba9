/* peer.c: addresses of clients. */
#include "http/access/peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

_Static_assert((int)PEER_NETWORK_SIZE >= (int)INET6_ADDRSTRLEN, "PEER_NETWORK_SIZE is too small for an address");

static void network_v6(struct in6_addr a, char ret_network[PEER_NETWORK_SIZE]) {
  memset(a.s6_addr + 8, 0, 8);
  (void)inet_ntop(AF_INET6, &a, ret_network, PEER_NETWORK_SIZE);
}

static void peer_v4(const struct in_addr *a, int port, struct peer *p) {
  (void)inet_ntop(AF_INET, a, p->network, sizeof(p->network));
  snprintf(p->name, sizeof(p->name), "%s:%d", p->network, port);
  p->local = ntohl(a->s_addr) >> 24 == 127;
}

/* A dual-stack socket reports IPv4 addresses as IPv4-mapped IPv6. */
static void peer_v6(const struct in6_addr *a, int port, struct peer *p) {
  char text[INET6_ADDRSTRLEN] = "?";
  struct in_addr v4;
  if (IN6_IS_ADDR_V4MAPPED(a)) {
    memcpy(&v4, a->s6_addr + 12, sizeof(v4));
    peer_v4(&v4, port, p);
    return;
  }
  (void)inet_ntop(AF_INET6, a, text, sizeof(text));
  snprintf(p->name, sizeof(p->name), "[%s]:%d", text, port);
  network_v6(*a, p->network);
  p->local = IN6_IS_ADDR_LOOPBACK(a);
}

void peer_of(int fd, struct peer *ret_peer) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } a = {0};
  socklen_t n = sizeof(a), who_size = sizeof(struct ucred);
  struct ucred who = {0};
  *ret_peer = (struct peer){.name = "?", .network = "?"};
  if (getpeername(fd, &a.any, &n) != 0)
    return;
  if (a.any.sa_family == AF_INET) {
    peer_v4(&a.v4.sin_addr, ntohs(a.v4.sin_port), ret_peer);
  } else if (a.any.sa_family == AF_INET6) {
    peer_v6(&a.v6.sin6_addr, ntohs(a.v6.sin6_port), ret_peer);
  } else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size) == 0) {
    *ret_peer = (struct peer){.network = "unix", .local = true};
    snprintf(ret_peer->name, sizeof(ret_peer->name), "unix:%ld:%d", (long)who.pid, fd);
  }
}

/* "[v6]:port", "[v6]", "v4:port", or only the address. */
static struct str without_port(struct str s) {
  const char *end = s.n && s.p[0] == '[' ? memchr(s.p, ']', s.n) : NULL;
  if (end)
    return str_slice(s, 1, (size_t)(end - s.p));
  const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
  bool one = colon && !memchr(colon + 1, ':', s.n - (size_t)(colon - s.p) - 1);
  return one ? str_slice(s, 0, (size_t)(colon - s.p)) : s;
}

bool peer_network(struct str address, char ret_network[PEER_NETWORK_SIZE]) {
  struct str s = without_port(str_trim(address));
  char text[INET6_ADDRSTRLEN];
  struct in_addr v4;
  struct in6_addr v6;
  if (str_empty(s) || s.n >= sizeof(text) || memchr(s.p, 0, s.n))
    return false;
  memcpy(text, s.p, s.n);
  text[s.n] = 0;
  struct peer p;
  if (inet_pton(AF_INET, text, &v4) == 1)
    peer_v4(&v4, 0, &p);
  else if (inet_pton(AF_INET6, text, &v6) == 1)
    peer_v6(&v6, 0, &p);
  else
    return false;
  memcpy(ret_network, p.network, PEER_NETWORK_SIZE);
  return true;
}

bool peer_forwarded(struct str list, char ret_network[PEER_NETWORK_SIZE]) {
  size_t begin = list.n;
  while (begin > 0 && list.p[begin - 1] != ',')
    begin--;
  return peer_network(str_slice(list, begin, list.n), ret_network);
}
