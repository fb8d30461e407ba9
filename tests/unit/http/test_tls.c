/* test_tls.c: connections that never complete a TLS handshake are closed; out of memory while reading a pair. */
#include "http/tls/tls.h"

#include <sys/stat.h>

#include "base/alloc.h"
#include "http/server.h"
#include "support/certificate.h"
#include "support/serve.h"

static void quick(struct http_call *call) { http_reply_json(call, 200, STR("{}")); }

static const struct http_route routes[] = {{"GET", "/quick", quick, HTTP_AT_ONCE}, {0}};

TEST(a_handshake_has_the_timeout_of_a_request) {
  static struct arena a;
  struct error err;
  struct http_daemon *server;
  struct certificate c = certificate_make();
  struct http_options o = {.shared = {.routes = routes}, .workers = 2, .request_ms = 300};
  CHECK_OK(tls_load(&a, c.path, c.key, &o.tls, &err), &err);
  CHECK_OK(http_start(&o, &server, &err), &err);
  tls_forget(&o.tls);
  CHECK(!o.tls.key);
  CHECK(str_starts(str_from(http_address(server)), STR("https://")));
  int port = (int)strtol(strrchr(http_address(server), ':') + 1, NULL, 10);
  struct wire *silent = wire_to(port), *slow = wire_to(port), *plain = wire_to(port);
  wire_send(slow, STR("\x16\x03\x01\x02\x00\x01")); /* start of a ClientHello */
  wire_send(plain, request_text("GET", "/quick", NULL, STR_NONE));
  CHECK(wire_closed(silent, 5000));
  CHECK(wire_closed(slow, 5000));
  CHECK(wire_closed(plain, 5000));
  CHECK(silent->in.n == 0);                      /* in particular no plain-text reply */
  CHECK(slow->in.n == 0 || slow->in.p[0] == 21); /* a TLS alert */
  CHECK(plain->in.n == 0 || plain->in.p[0] == 21);
  wire_close(silent);
  wire_close(slow);
  wire_close(plain);
  http_stop(&server);
}

static enum status load_in(struct arena *own, const struct certificate *c, struct tls *tls) {
  struct error err;
  jmp_buf oom;
  if (ARENA_BOUNDARY(own, oom))
    return STATUS_NOMEM;
  return tls_load(own, c->path, c->key, tls, &err);
}

TEST(running_out_of_memory_leaves_no_pair_file_open) {
  enum { PADDING = 20000 }; /* the key needs a separate block */
  static struct arena a;
  struct certificate c = certificate_make();
  char *padding = arena_alloc(&a, PADDING);
  memset(padding, '\n', PADDING);
  file_write(c.key, arena_printf(&a, "%.*s%.*s", STR_ARG(file_read(c.key)), (int)PADDING, padding));
  CHECK(chmod(c.key, 0600) == 0);
  struct arena own;
  struct tls first = {0};
  arena_init(&own);
  CHECK_INT(load_in(&own, &c, &first), STATUS_OK); /* GnuTLS may keep descriptors open from now on */
  arena_release(&own);
  int before = open_descriptors(), failures = 0;
  bool failed = true;
  for (long n = 1; failed; n++) {
    struct tls tls = {0};
    test_note("allocation %ld", n);
    alloc_fail_at(n, 0);
    enum status s = load_in(&own, &c, &tls);
    failed = alloc_failures() > 0;
    alloc_fail_at(0, 0);
    CHECK_INT(s, failed ? STATUS_NOMEM : STATUS_OK);
    arena_release(&own);
    CHECK_INT(open_descriptors(), before);
    failures += failed;
  }
  CHECK(failures >= 2);
}
