/* fuzz_http_request.c: the request parts that Cairn parses itself: target, query, Host, Origin, event ids. */
#include "base/utf8.h"
#include "http/access/check.h"
#include "http/mcp/channel.h"
#include "http/server/sse.h"
#include "http/server/uri.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_target(struct arena *a, struct str text) {
  struct uri u;
  const struct http_pair *pairs;
  size_t n;
  struct str decoded;
  if (!uri_split(text, &u))
    return;
  FUZZ_CHECK(u.path.n && u.path.p[0] == '/');
  FUZZ_CHECK(u.path.n + u.query.n + u.host.n <= text.n + 1);
  if (uri_decode(a, u.path, false, &decoded)) {
    FUZZ_CHECK(decoded.n <= u.path.n);
    FUZZ_CHECK(utf8_check(decoded) == decoded.n && !memchr(decoded.p, 0, decoded.n));
  }
  if (!uri_queries(a, u.query, &pairs, &n))
    return;
  FUZZ_CHECK(n <= URI_QUERIES_MAX);
  for (size_t i = 0; i < n; i++)
    FUZZ_CHECK(utf8_check(pairs[i].name) == pairs[i].name.n && utf8_check(pairs[i].value) == pairs[i].value.n);
  (void)http_route_find(http_routes, STR("GET"), u.path);
}

/* An accepted host is one of the allowed names. */
static void check_names(struct str text) {
  static const struct strs none = {0};
  static const struct check_names here = {.hosts = &none, .local = true}, elsewhere = {.hosts = &none};
  FUZZ_CHECK(!check_host(text, &elsewhere) && !check_origin(text, text, &elsewhere));
  if (check_host(text, &here))
    FUZZ_CHECK(text.p[0] == '[' || text.p[0] == '1' || ascii_lower(text.p[0]) == 'l');
  if (check_origin(text, STR("localhost"), &here))
    FUZZ_CHECK(ascii_lower(text.p[0]) == 'h' && !check_host(text, &here));
}

/* No line break in the data can start a new field. */
static void check_frame(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  sse_event(&b, text, text, text);
  struct str rest = buf_str(&b), line;
  FUZZ_CHECK(str_ends(rest, STR("\n\n")) && str_find(rest, STR("\n\n"), 0) == rest.n - 2);
  size_t ids = 0, events = 0;
  while (str_next(&rest, '\n', &line)) {
    FUZZ_CHECK(line.n == 0 || str_starts(line, STR("id: ")) || str_starts(line, STR("event: ")) ||
               str_starts(line, STR("data: ")));
    ids += str_starts(line, STR("id: "));
    events += str_starts(line, STR("event: "));
  }
  FUZZ_CHECK(ids <= 1 && events <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  arena_init(&a);
  struct str text = {(const char *)data, size};
  uint64_t channel, message;
  check_target(&a, text);
  check_names(text);
  check_frame(&a, text);
  if (event_id_parse(text, &channel, &message))
    FUZZ_CHECK(text.n >= 3 && memchr(text.p, '-', text.n));
  arena_release(&a);
  return 0;
}
