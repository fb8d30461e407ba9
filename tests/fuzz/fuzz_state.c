/* fuzz_state.c: sealed data that clients send back (cursors, the state of a question): arbitrary bytes are rejected,
 * sealed data opens, and one changed character is detected. */
#include <string.h>

#include "mcp/protocol/server.h"
#include "support/fuzz.h"

enum { NOW = 1000 };

static void check_round(const struct mcp_server *server, struct arena *a, struct str text) {
  struct str opened, sealed = state_seal(server, a, STR("default"), STR("tools"), text, NOW);
  FUZZ_CHECK(state_open(server, a, STR("default"), STR("tools"), sealed, NOW, &opened) && str_eq(opened, text));
  FUZZ_CHECK(!state_open(server, a, STR("default"), STR("tools"), sealed, NOW + 1, &opened));
  FUZZ_CHECK(!state_open(server, a, STR("default"), STR("prompts"), sealed, NOW, &opened));
  FUZZ_CHECK(!state_open(server, a, STR("default"), STR("tools"), str_slice(sealed, 0, sealed.n - 1), NOW, &opened));
  char *bent = arena_alloc(a, sealed.n);
  memcpy(bent, sealed.p, sealed.n);
  size_t at = text.n ? (uint8_t)text.p[0] % (sealed.n - 1) : 0; /* the last character may hold unused bits */
  bent[at] = bent[at] == 'A' ? 'B' : 'A';
  FUZZ_CHECK(!state_open(server, a, STR("default"), STR("tools"), (struct str){bent, sealed.n}, NOW, &opened));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct mcp_server server = {.secret = {1, 2, 3}};
  struct arena a;
  struct str text = {(const char *)data, size}, opened;
  arena_init(&a);
  FUZZ_CHECK(!state_open(&server, &a, STR("default"), STR("tools"), text, NOW, &opened));
  if (size < 4096)
    check_round(&server, &a, text);
  arena_release(&a);
  return 0;
}
