/* peer.h: the address of a client, and whether it is on this machine. */
#pragma once

#include "base/str.h"

enum { PEER_NETWORK_SIZE = 48 };

struct peer {
  char name[64]; /* "127.0.0.1:40212", "[::1]:40212", "unix:81:7" */
  /* Unit for rate limits: an IPv4 address, the first 64 bits of an IPv6 address, "unix". */
  char network[PEER_NETWORK_SIZE];
  bool local; /* loopback or Unix socket */
};

void peer_of(int fd, struct peer *ret_peer);
/* The network of an address as proxies write it, with or without a port; false if invalid. Pure. */
bool peer_network(struct str address, char ret_network[PEER_NETWORK_SIZE]);
/* The last address of X-Forwarded-For, which our proxy added; the others are unverified. Pure. */
bool peer_forwarded(struct str list, char ret_network[PEER_NETWORK_SIZE]);
