/* error.h: says in words what an endpoint did wrong, without giving away the key. */
#pragma once

#include "embed/remote/client.h"
#include "embed/remote/http.h"

enum { HTTP_QUOTE_SIZE = 201 };

/* Text from outside, fit for a message: cut to size - 1 bytes, control characters and bytes that are not UTF-8 taken
 * out, and "[key]" in the place of anything that looks like a part of the key: servers echo what they were sent.
 * The key is printable ASCII. */
void http_quote(struct str text, struct str key, char *ret_quote, size_t size);

struct http_place {
  enum http_api api;
  const char *url;
  struct str model, key;
};

/* The error for a reply that was not a success: STATUS_UNAVAILABLE, or STATUS_NOMEM. */
enum status http_error(const struct http_place *at, const struct http_reply *reply, int tries, struct error *err);
/* For an answer that the parser refused: says who sent it; err holds why. `body` is quoted when it is not JSON. */
enum status http_error_parse(const struct http_place *at, struct str body, struct error *err);
