/* check.h: may this request come in? Host and Origin against rebinding and foreign pages, and addresses to listen on.
 * Pure.
 */
#ifndef CAIRN_HTTP_CHECK_H
#define CAIRN_HTTP_CHECK_H

#include "base/str.h"

/* localhost, 127.0.0.0/8, ::1: names that no foreign page can point at us. */
bool check_loopback(struct str name);
/* The value of Host: a loopback name with any port, or none; a port forwarded from elsewhere has another number. */
bool check_host(struct str host);
/* The value of Origin: http or https on a loopback name. "null", and everything else, is refused. */
bool check_origin(struct str origin);

#endif
