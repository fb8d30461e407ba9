/* url.h: parser for the URL of an endpoint. */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct http_url {
  struct str text; /* without trailing slashes */
  bool https;
  bool loopback; /* localhost, 127.0.0.0/8 or [::1]: nothing leaves the machine */
};

/* Accepts http or https, host, optional port and optional path; no user, query or fragment. Stricter than the standard,
 * so that no two parsers can see different hosts. STATUS_USAGE for anything else. */
NODISCARD enum status http_url_parse(struct str text, struct http_url *ret_url, struct error *err);
