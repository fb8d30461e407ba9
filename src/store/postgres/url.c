/* url.c: URLs without secrets, for messages. */
#include "base/alloc.h"
#include "store/postgres/internal.h"

/* Removing shorter passwords would garble every message, and they are easily guessed anyway. */
enum { SECRET_MIN = 4 };

/* Position of the password in "postgresql://user:password@host/...". A malformed one (with an unescaped '@' or '/')
 * must be hidden too: it extends to the last '@' before the options. */
static struct str password_in(const char *url) {
  const char *from = strstr(url, "://");
  if (!from)
    return STR_NONE;
  from += 3;
  const char *end = from + strcspn(from, "?"), *colon = memchr(from, ':', (size_t)(end - from)), *at = end;
  while (at > from && *at != '@')
    at--;
  return colon && at > colon ? (struct str){colon, (size_t)(at - colon)} : STR_NONE;
}

static bool is_secret_option(struct str option) {
  return str_starts(option, STR("password=")) || str_starts(option, STR("sslpassword="));
}

char *pg_url_path(const char *url) {
  size_t n = strlen(url);
  char *out = mem_alloc(n + 1);
  if (!out)
    return NULL;
  struct str password = password_in(url), rest = {url, strcspn(url, "?")}, option;
  size_t to = 0, before = password.p ? (size_t)(password.p - url) : 0;
  memcpy(out, url, before);
  to = before;
  memcpy(out + to, url + before + password.n, rest.n - before - password.n);
  to += rest.n - before - password.n;
  rest = str_slice((struct str){url, n}, rest.n, n);
  if (rest.n > 0)
    rest = str_slice(rest, 1, rest.n);
  for (char sep = '?'; str_next(&rest, '&', &option);)
    if (!is_secret_option(option)) {
      out[to++] = sep;
      memcpy(out + to, option.p, option.n);
      to += option.n;
      sep = '&';
    }
  out[to] = 0;
  return out;
}

static void blank(char *text, struct str secret) {
  if (secret.n < SECRET_MIN)
    return;
  struct str all = str_from(text);
  for (size_t at = 0; (at = str_find(all, secret, at)) != SIZE_MAX; at += secret.n)
    memset(text + at, '*', secret.n);
}

void pg_url_scrub(const struct libpq *pq, const char *url, char *text) {
  struct str raw = password_in(url), rest = str_from(strchr(url, '?')), option;
  if (raw.n > 0)
    blank(text, str_slice(raw, 1, raw.n));
  if (rest.n > 0)
    rest = str_slice(rest, 1, rest.n);
  while (str_next(&rest, '&', &option))
    if (is_secret_option(option))
      blank(text, str_slice(option, str_find(option, STR("="), 0) + 1, option.n));
  PQconninfoOption *options = pq->conninfoParse(url, NULL);
  for (PQconninfoOption *o = options; o && o->keyword; o++)
    if (o->val && (strcmp(o->keyword, "password") == 0 || strcmp(o->keyword, "sslpassword") == 0))
      blank(text, str_from(o->val));
  if (options)
    pq->conninfoFree(options);
}
