/* bearer.c: the bearer token of a request. */
#include "http/access/bearer.h"

#include <assert.h>

/* "b64token" of RFC 6750: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=". */
static bool is_token(struct str s) {
  if (str_empty(s) || s.n > BEARER_MAX || s.p[0] == '=')
    return false;
  size_t end = s.n;
  while (s.p[end - 1] == '=')
    end--;
  assert(end > 0);
  for (size_t i = 0; i < end; i++)
    if (!ascii_alnum(s.p[i]) && !memchr("-._~+/", s.p[i], 6))
      return false;
  return true;
}

enum bearer bearer_read(const struct http_call *call, struct str *ret_token) {
  static const struct str scheme = STR_INIT("bearer ");
  struct str value = STR_NONE;
  for (size_t i = 0; i < call->field_count; i++)
    if (str_ieq(call->fields[i].name, STR("authorization"))) {
      if (value.p)
        return BEARER_WRONG;
      value = call->fields[i].value;
    }
  if (!value.p)
    return BEARER_NONE;
  if (value.n < scheme.n || !str_ieq(str_slice(value, 0, scheme.n), scheme))
    return BEARER_WRONG;
  struct str token = str_trim(str_slice(value, scheme.n, value.n));
  if (!is_token(token))
    return BEARER_WRONG;
  *ret_token = token;
  return BEARER_TOKEN;
}

/* cairn_TEAM.ID.SECRET */
static bool looks_like_ours(struct str s) {
  struct str part;
  size_t parts = 0;
  if (!str_starts(s, STR("cairn_")))
    return false;
  while (str_next(&s, '.', &part))
    parts += part.n > 0;
  return parts == 3;
}

bool bearer_is_misplaced(const struct http_call *call) {
  for (size_t i = 0; i < call->query_count; i++)
    if (str_ieq(call->queries[i].name, STR("access_token")) || looks_like_ours(call->queries[i].value))
      return true;
  for (size_t i = 0; i < call->field_count; i++) {
    struct str rest = call->fields[i].value, pair;
    while (str_ieq(call->fields[i].name, STR("cookie")) && str_next(&rest, ';', &pair)) {
      pair = str_trim(pair);
      const char *equals = pair.n ? memchr(pair.p, '=', pair.n) : NULL;
      size_t n = equals ? (size_t)(equals - pair.p) : pair.n;
      if (str_ieq(str_slice(pair, 0, n), STR("access_token")) ||
          (equals && looks_like_ours(str_slice(pair, n + 1, pair.n))))
        return true;
    }
  }
  return false;
}
