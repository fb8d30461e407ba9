/* check.c: Host and Origin of a request. */
#include "http/access/check.h"

/* 127.0.0.0/8 in dotted form. Other spellings (127.1, 0x7f000001) are not accepted. */
static bool is_loopback_v4(struct str s) {
  struct str part;
  int count = 0;
  if (s.n == 0 || s.p[s.n - 1] == '.')
    return false;
  while (str_next(&s, '.', &part)) {
    int value = 0;
    if (part.n == 0 || part.n > 3)
      return false;
    for (size_t i = 0; i < part.n; i++) {
      if (!ascii_digit(part.p[i]))
        return false;
      value = value * 10 + (part.p[i] - '0');
    }
    if (value > 255 || (count == 0 && value != 127))
      return false;
    count++;
  }
  return count == 4;
}

bool check_loopback(struct str name) {
  return str_ieq(name, STR("localhost")) || str_is(name, "::1") || str_is(name, "[::1]") || is_loopback_v4(name);
}

static bool is_port(struct str s) {
  if (s.n == 0 || s.n > 5)
    return false;
  for (size_t i = 0; i < s.n; i++)
    if (!ascii_digit(s.p[i]))
      return false;
  return true;
}

static bool is_own_name(struct str name, const struct check_names *names) {
  for (size_t i = 0; i < names->hosts->n; i++)
    if (str_ieq(names->hosts->v[i], name))
      return true;
  return names->local && check_loopback(name);
}

/* Splits NAME:PORT; the port is empty if there is none. */
static bool split_port(struct str host, struct str *ret_name, struct str *ret_port) {
  size_t end;
  if (host.n == 0)
    return false;
  if (host.p[0] == '[') {
    const char *close = memchr(host.p, ']', host.n);
    if (!close)
      return false;
    end = (size_t)(close - host.p) + 1;
  } else {
    const char *colon = memchr(host.p, ':', host.n);
    end = colon ? (size_t)(colon - host.p) : host.n;
  }
  struct str rest = str_slice(host, end, host.n);
  *ret_name = str_slice(host, 0, end);
  *ret_port = rest.n ? str_slice(rest, 1, rest.n) : STR("");
  return rest.n == 0 || (rest.p[0] == ':' && is_port(*ret_port));
}

bool check_host(struct str host, const struct check_names *names) {
  struct str name, port;
  return split_port(host, &name, &port) && is_own_name(name, names);
}

bool check_origin(struct str origin, struct str host, const struct check_names *names) {
  static const struct {
    struct str prefix, port;
  } schemes[] = {{STR_INIT("http://"), STR_INIT("80")}, {STR_INIT("https://"), STR_INIT("443")}};
  for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
    struct str prefix = schemes[i].prefix, name, port, host_name, host_port;
    if (origin.n <= prefix.n || !str_ieq(str_slice(origin, 0, prefix.n), prefix))
      continue;
    if (!split_port(str_slice(origin, prefix.n, origin.n), &name, &port) || !is_own_name(name, names) ||
        !split_port(host, &host_name, &host_port))
      return false;
    return !check_loopback(name) || str_eq(port.n ? port : schemes[i].port, host_port.n ? host_port : schemes[i].port);
  }
  return false;
}

bool check_fetch_site(struct str site) {
  return !site.p || str_ieq(site, STR("same-origin")) || str_ieq(site, STR("none"));
}

bool check_name(struct str name) {
  bool v6 = name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']';
  struct str inner = v6 ? str_slice(name, 1, name.n - 1) : name;
  for (size_t i = 0; i < inner.n; i++)
    if (!ascii_alnum(inner.p[i]) && inner.p[i] != '.' && inner.p[i] != (v6 ? ':' : '-'))
      return false;
  return inner.n > 0 && name.n <= 255;
}
