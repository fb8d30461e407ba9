/* uri.c: parsing of request targets. */
#include "http/server/uri.h"

#include <assert.h>

#include "base/utf8.h"

bool uri_split(struct str target, struct uri *ret_uri) {
  struct uri u = {0};
  struct str rest = target;
  if (str_is(target, "*")) {
    rest = STR("/");
  } else if (target.n > 7 && str_ieq(str_slice(target, 0, 7), STR("http://"))) {
    rest = str_slice(target, 7, target.n);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
      n++;
    u.host = str_slice(rest, 0, n);
    rest = str_slice(rest, n, rest.n);
    if (str_empty(u.host))
      return false;
  }
  const char *mark = rest.n ? memchr(rest.p, '?', rest.n) : NULL;
  u.path = mark ? str_slice(rest, 0, (size_t)(mark - rest.p)) : rest;
  u.query = mark ? str_slice(rest, (size_t)(mark - rest.p) + 1, rest.n) : STR("");
  if (u.host.p && str_empty(u.path))
    u.path = STR("/");
  if (str_empty(u.path) || u.path.p[0] != '/')
    return false;
  assert(u.query.p); /* "" without one */
  *ret_uri = u;
  return true;
}

bool uri_decode(struct arena *a, struct str s, bool plus, struct str *ret_text) {
  char *out = arena_alloc(a, s.n + 1);
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (c == '%') {
      int high = s.n - i > 2 ? ascii_hex(s.p[i + 1]) : -1, low = s.n - i > 2 ? ascii_hex(s.p[i + 2]) : -1;
      if (high < 0 || low < 0)
        return false;
      c = (char)(high << 4 | low);
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    if (c == 0)
      return false;
    out[n++] = c;
  }
  assert(n <= s.n);
  out[n] = 0;
  struct str text = {out, n};
  if (utf8_check(text) != n)
    return false;
  *ret_text = text;
  return true;
}

void uri_encode(struct buf *b, struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (ascii_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
      buf_addc(b, c);
    else
      buf_addf(b, "%%%02X", (unsigned)(unsigned char)c);
  }
}

bool uri_queries(struct arena *a, struct str query, const struct http_pair **ret_pairs, size_t *ret_count) {
  LIST(struct http_pair) list = {0};
  struct str part;
  while (str_next(&query, '&', &part)) {
    if (str_empty(part))
      continue;
    const char *equals = memchr(part.p, '=', part.n);
    size_t n = equals ? (size_t)(equals - part.p) : part.n;
    struct http_pair pair;
    if (list.n == URI_QUERIES_MAX || !uri_decode(a, str_slice(part, 0, n), true, &pair.name) ||
        !uri_decode(a, equals ? str_slice(part, n + 1, part.n) : STR(""), true, &pair.value))
      return false;
    list_push(a, &list, pair);
  }
  assert(list.n <= URI_QUERIES_MAX);
  *ret_pairs = list.v;
  *ret_count = list.n;
  return true;
}
