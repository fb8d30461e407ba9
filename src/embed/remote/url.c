/* url.c: parser for the URL of an endpoint. */
#include "embed/remote/url.h"

#include <arpa/inet.h>
#include <assert.h>

enum { URL_MAX = 1024, HOST_MAX = 255 };

static bool is_loopback(struct str host) {
  if (str_ieq(host, STR("localhost")) || str_is(host, "[::1]"))
    return true;
  /* Only the dotted form counts, not "127.1" or "0x7f.0.0.1". */
  char name[HOST_MAX + 1];
  struct in_addr address;
  assert(host.n <= HOST_MAX);
  memcpy(name, host.p, host.n);
  name[host.n] = 0;
  return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* Length of the host at the start of s; 0 if there is none. */
static size_t host_length(struct str s) {
  size_t n = 0;
  if (s.n && s.p[0] == '[') { /* an IPv6 address */
    for (n = 1; n < s.n && (ascii_digit(s.p[n]) || s.p[n] == ':' || s.p[n] == '.' || strchr("abcdef", s.p[n] | 32));
         n++)
      ;
    return n > 2 && n < s.n && s.p[n] == ']' ? n + 1 : 0;
  }
  while (n < s.n && (ascii_alnum(s.p[n]) || s.p[n] == '.' || s.p[n] == '-' || s.p[n] == '_'))
    n++;
  return n;
}

static bool is_path(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!ascii_alnum(s.p[i]) && !memchr("/-._~!$&'()*+,;=:%", s.p[i], 18))
      return false;
  return true;
}

static bool is_port(struct str s) {
  int64_t port = 0;
  return s.n >= 1 && s.n <= 5 && ascii_digit(s.p[0]) && str_int64(s, &port) && port >= 1 && port <= 65535;
}

static bool parse(struct str text, struct http_url *url) {
  struct str rest = str_trim(text);
  while (rest.n && rest.p[rest.n - 1] == '/')
    rest.n--;
  url->text = rest;
  size_t scheme = str_find(rest, STR("://"), 0);
  if (scheme == SIZE_MAX || rest.n > URL_MAX)
    return false;
  url->https = str_ieq(str_slice(rest, 0, scheme), STR("https"));
  if (!url->https && !str_ieq(str_slice(rest, 0, scheme), STR("http")))
    return false;
  rest = str_slice(rest, scheme + 3, rest.n);
  size_t host = host_length(rest);
  if (host == 0 || host > HOST_MAX)
    return false;
  url->loopback = is_loopback(str_slice(rest, 0, host));
  rest = str_slice(rest, host, rest.n);
  size_t path = 0;
  while (path < rest.n && rest.p[path] != '/')
    path++;
  if (path && (rest.p[0] != ':' || !is_port(str_slice(rest, 1, path))))
    return false;
  return is_path(str_slice(rest, path, rest.n));
}

enum status http_url_parse(struct str text, struct http_url *ret_url, struct error *err) {
  struct http_url url = {0};
  if (!parse(text, &url)) {
    /* The message does not quote the URL, because it may contain a key. */
    error_set(err, STATUS_USAGE,
              "the address of the embedding endpoint is not of the form http(s)://host[:port][/path]");
    return error_fix(err,
                     "Set it to something like https://api.openai.com/v1 or http://127.0.0.1:11434. Put a key into "
                     "an environment variable, never into the address.");
  }
  *ret_url = url;
  return STATUS_OK;
}
