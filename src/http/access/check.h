/* check.h: checks Host and Origin against DNS rebinding and cross-site requests, and names of hosts. Pure. */
#pragma once

#include "base/buf.h"

/* localhost, 127.0.0.0/8, ::1: names that a foreign page cannot point at us. */
bool check_loopback(struct str name);
/* Names of the server. Loopback names are accepted only on connections from this machine: on another machine they name
 * that machine. */
struct check_names {
  const struct strs *hosts; /* other names; IPv6 addresses in brackets */
  bool local;               /* connection from this machine */
};
/* Host header: one of the names, with any port or none; a forwarded port may differ from ours. */
bool check_host(struct str host, const struct check_names *names);
/* Origin header: http or https on one of the names. On a loopback name it must also have the port of `host`, the Host
 * header: on another port of this machine is another program. Everything else is refused, including "null". */
bool check_origin(struct str origin, struct str host, const struct check_names *names);
/* Sec-Fetch-Site header: browsers send it with every request. Only those of our own pages, and those that the user
 * typed, pass; absent passes, too. */
bool check_fetch_site(struct str site);
/* True for a valid host name or address without a port. */
bool check_name(struct str name);
