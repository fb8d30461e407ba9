/* peer.h: who is at the other end of a connection: its address, and whether that is this machine. */
#pragma once

#include "base/str.h"

enum { PEER_NETWORK_SIZE = 48 };

struct peer {
  char name[64]; /* "127.0.0.1:40212", "[::1]:40212", "unix:81:7" */
  /* Whoever has one address of it has all: an IPv4 address, the first 64 bits of an IPv6 address, "unix". */
  char network[PEER_NETWORK_SIZE];
  bool local; /* loopback, or a socket file */
};

void peer_of(int fd, struct peer *ret_peer);
/* The network of an address as proxies write it, with or without a port; false when it is none. Pure. */
bool peer_network(struct str address, char ret_network[PEER_NETWORK_SIZE]);
/* Of X-Forwarded-For: the last address is what the proxy saw, the others are what it was told. Pure. */
bool peer_forwarded(struct str list, char ret_network[PEER_NETWORK_SIZE]);
