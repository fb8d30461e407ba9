/* error.h: error messages about an endpoint, which never contain the key. */
#pragma once

#include "embed/remote/client.h"
#include "embed/remote/http.h"

enum { HTTP_QUOTE_SIZE = 201 };

/* Makes untrusted text safe for a message: truncates it to size - 1 bytes, removes control characters and invalid
 * UTF-8, and replaces anything that looks like a part of the key by "[key]", because servers echo what they receive.
 * The key is printable ASCII. */
void http_quote(struct str text, struct str key, char *ret_quote, size_t size);

struct http_endpoint {
  enum http_api api;
  const char *url;
  struct str model, key;
};

/* Sets the error for a failed request: STATUS_UNAVAILABLE or STATUS_NOMEM. */
enum status http_error(const struct http_endpoint *endpoint, const struct http_reply *reply, int tries,
                       struct error *err);
/* Adds the endpoint to the parser's error in *err. `body` is quoted if it is not JSON. */
enum status http_error_parse(const struct http_endpoint *endpoint, struct str body, struct error *err);
