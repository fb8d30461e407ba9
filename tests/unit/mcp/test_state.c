/* test_state.c: sealed state: every change by a client is detected. */
#include <sodium.h>

#include "mcp/protocol/server.h"
#include "support/cli.h"

static struct arena a;

static struct mcp_server *server_of(uint8_t byte) {
  struct mcp_server *s = arena_new(&a, struct mcp_server);
  memset(s->secret, byte, sizeof(s->secret));
  CHECK(sodium_init() >= 0);
  return s;
}

TEST(state_round_trips) {
  struct mcp_server *s = server_of(1);
  static const struct str payloads[] = {STR_INIT(""), STR_INIT("cairn://skill/x"), STR_INIT("a\0b")};
  for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
    struct str out, sealed = state_seal(s, &a, STR("default"), STR("list"), payloads[i], 0);
    CHECK(state_open(s, &a, STR("default"), STR("list"), sealed, 99, &out));
    CHECK(str_eq(out, payloads[i]));
  }
}

TEST(state_tampered_is_refused) {
  struct mcp_server *s = server_of(1);
  struct str out, sealed = state_seal(s, &a, STR("default"), STR("list"), STR("payload"), 1000);
  for (size_t i = 0; i < sealed.n; i++) {
    struct str copy = arena_dup(&a, sealed);
    char *p = (char *)(uintptr_t)copy.p;
    p[i] = p[i] == 'A' ? 'B' : 'A';
    test_note("byte %zu", i);
    /* The last character of base64 has unused bits: it may decode to the same bytes, or be invalid. */
    if (state_open(s, &a, STR("default"), STR("list"), copy, 0, &out))
      CHECK(i == sealed.n - 1 && str_eq(out, STR("payload")));
  }
  for (size_t n = 0; n < sealed.n; n++)
    CHECK(!state_open(s, &a, STR("default"), STR("list"), str_slice(sealed, 0, n), 0, &out));
  CHECK(!state_open(s, &a, STR("default"), STR("list"), arena_printf(&a, "%s-TAMPERED", sealed.p), 0, &out));
  CHECK(!state_open(s, &a, STR("default"), STR("list"), arena_printf(&a, "%s=", sealed.p), 0, &out));
  CHECK(!state_open(s, &a, STR("default"), STR("list"), STR("not base64 !"), 0, &out));
}

/* A cursor of one list is invalid for another, and purpose and body cannot be shifted into each other. */
TEST(state_belongs_to_its_purpose) {
  struct mcp_server *s = server_of(1);
  struct str out, sealed = state_seal(s, &a, STR("default"), STR("tools"), STR("x"), 0);
  CHECK(!state_open(s, &a, STR("default"), STR("prompts"), sealed, 0, &out));
  CHECK(!state_open(s, &a, STR("default"), STR("tool"), sealed, 0, &out));
  CHECK(!state_open(server_of(2), &a, STR("default"), STR("tools"), sealed, 0, &out));
}

TEST(state_expires) {
  struct mcp_server *s = server_of(1);
  struct str out, sealed = state_seal(s, &a, STR("default"), STR("input"), STR("x"), 1000);
  CHECK(state_open(s, &a, STR("default"), STR("input"), sealed, 1000, &out));
  CHECK(!state_open(s, &a, STR("default"), STR("input"), sealed, 1001, &out));
}
