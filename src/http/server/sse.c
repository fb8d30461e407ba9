/* sse.c: encoding of server-sent events. */
#include "http/server/sse.h"

static size_t line_length(struct str s) {
  size_t n = 0;
  while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
    n++;
  return n;
}

static void add_field(struct buf *out, const char *name, struct str value) {
  buf_adds(out, name);
  buf_add(out, value);
  buf_addc(out, '\n');
}

void sse_event(struct buf *out, struct str id, struct str event, struct str data) {
  /* Clients ignore an id with a NUL. */
  if (id.p && !(id.n && memchr(id.p, 0, id.n)))
    add_field(out, "id: ", str_slice(id, 0, line_length(id)));
  if (event.p)
    add_field(out, "event: ", str_slice(event, 0, line_length(event)));
  for (;;) {
    size_t n = line_length(data);
    add_field(out, "data: ", str_slice(data, 0, n));
    if (n == data.n)
      break;
    bool pair = data.p[n] == '\r' && n + 1 < data.n && data.p[n + 1] == '\n';
    data = str_slice(data, n + (pair ? 2 : 1), data.n);
  }
  buf_addc(out, '\n');
}
