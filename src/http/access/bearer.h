/* bearer.h: where a request carries a token, and where it must not (RFC 6750). Pure. */
#pragma once

#include "http/http.h"

enum { BEARER_MAX = 8192 }; /* bytes of a token */

enum bearer {
  BEARER_NONE,  /* the request says nothing of who sends it */
  BEARER_TOKEN, /* and here is what it says */
  BEARER_WRONG, /* another scheme, no token, two of them, or bytes that no token has */
};
/* By the Authorization header; ret_token only with BEARER_TOKEN. */
enum bearer bearer_read(const struct http_call *call, struct str *ret_token);
/* A token in the address or in a cookie: there it would be kept by logs, histories and browsers. */
bool bearer_astray(const struct http_call *call);
