/* uri.h: parsing of request targets: path, query, percent-encoding. Pure. */
#pragma once

#include "http/http.h"

enum { URI_QUERIES_MAX = 64 };

struct uri {
  struct str host; /* host of an absolute URL; absent otherwise */
  struct str path; /* starts with a slash; still encoded */
  struct str query;
};

/* False unless it is a path or an absolute http URL. "*" becomes the path "/". */
bool uri_split(struct str target, struct uri *ret_uri);
/* Percent-decodes into the arena; with `plus`, + decodes to a space. False for a broken escape, a NUL or invalid UTF-8.
 */
bool uri_decode(struct arena *a, struct str s, bool plus, struct str *ret_text);
/* Appends the text percent-encoded: all but letters, digits and -._~ */
void uri_encode(struct buf *b, struct str s);
/* Decodes name=value pairs; false if one is malformed or there are too many. */
bool uri_queries(struct arena *a, struct str query, const struct http_pair **ret_pairs, size_t *ret_count);
