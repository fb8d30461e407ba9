/* url.h: the address of an endpoint: what form it may have, and whether it stays on this machine. */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct http_url {
  struct str text; /* as given, without slashes at its end */
  bool https;
  bool loopback; /* localhost, 127.0.0.0/8 or [::1]: nothing leaves the machine */
};

/* http or https, host, optional port, optional path; no user, no query, no fragment. Narrower than the standard, so
 * that no two readers can take it for different hosts. STATUS_USAGE for anything else. */
NODISCARD enum status http_url_parse(struct str text, struct http_url *ret_url, struct error *err);
