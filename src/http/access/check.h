/* check.h: may this request come in? Host and Origin against rebinding and foreign pages, and addresses to listen on.
 * Pure.
 */
#pragma once

#include "base/buf.h"

/* localhost, 127.0.0.0/8, ::1: names that no foreign page can point at us. */
bool check_loopback(struct str name);
/* What a server may be called. Names of loopback pass on connections from this machine alone: elsewhere they mean
 * another one. */
struct check_names {
  const struct strs *hosts; /* others; of IPv6 addresses with brackets */
  bool local;               /* the connection is from this machine */
};
/* The value of Host: one of the names with any port, or none; a port forwarded from elsewhere has another number. */
bool check_host(struct str host, const struct check_names *names);
/* The value of Origin: http or https on one of the names. "null", and everything else, is refused. */
bool check_origin(struct str origin, const struct check_names *names);
/* Can this be such a name: of a host, without a port, or an address? */
bool check_name(struct str name);
