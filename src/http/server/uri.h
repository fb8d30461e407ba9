/* uri.h: the target of a request: path, query, percent-encoding. Pure: what a client sends, judged before anything uses
 * it.
 */
#pragma once

#include "http/http.h"

enum { URI_QUERIES_MAX = 64 };

struct uri {
  struct str host; /* of http://host/path; absent otherwise */
  struct str path; /* begins with a slash; still encoded */
  struct str query;
};

/* False when it is neither a path nor an absolute http address. "*" becomes the path "/". */
bool uri_split(struct str target, struct uri *ret_uri);
/* Percent-decoded into the arena; `plus` stands for a blank where it may. False for a broken escape, a NUL, or what is
 * not UTF-8. */
bool uri_decode(struct arena *a, struct str s, bool plus, struct str *ret_text);
/* name=value pairs, decoded; false when one is broken, or there are too many. */
bool uri_queries(struct arena *a, struct str query, const struct http_pair **ret_pairs, size_t *ret_count);
