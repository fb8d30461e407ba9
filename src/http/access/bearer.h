/* bearer.h: the bearer token of a request, and tokens in places where they must not be (RFC 6750). Pure. */
#pragma once

#include "http/http.h"

enum { BEARER_MAX = 8192 }; /* maximum bytes of a token */

enum bearer {
  BEARER_NONE,  /* no Authorization header */
  BEARER_TOKEN, /* a well-formed token */
  BEARER_WRONG, /* another scheme, no token, two headers, or invalid bytes */
};
/* Reads the Authorization header; sets ret_token only with BEARER_TOKEN. */
enum bearer bearer_read(const struct http_call *call, struct str *ret_token);
/* True if a token is in the URL or a cookie, where logs, histories and browsers would keep it. */
bool bearer_is_misplaced(const struct http_call *call);
