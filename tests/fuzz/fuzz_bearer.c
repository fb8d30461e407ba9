/* fuzz_bearer.c: any bytes as an Authorization header, a query, a cookie, and X-Forwarded-For. */
#include "http/access/bearer.h"
#include "http/access/peer.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str text = {(const char *)data, size}, token = STR_NONE;
  struct http_pair fields[] = {{STR_INIT("authorization"), text}, {STR_INIT("cookie"), text}};
  struct http_pair query = {STR_INIT("q"), text};
  struct http_call call = {.fields = fields, .field_count = 2, .queries = &query, .query_count = 1};
  char network[PEER_NETWORK_SIZE], again[PEER_NETWORK_SIZE];
  if (bearer_read(&call, &token) == BEARER_TOKEN) {
    FUZZ_CHECK(token.n > 0 && token.n <= BEARER_MAX && token.n < text.n);
    for (size_t i = 0; i < token.n; i++)
      FUZZ_CHECK(token.p[i] > ' ' && token.p[i] < 127);
  } else {
    FUZZ_CHECK(!token.p);
  }
  if (bearer_is_misplaced(&call))
    FUZZ_CHECK(str_find(text, STR("cairn_"), 0) != SIZE_MAX || text.n >= 12);
  /* peer_network() of a network returns the same network. */
  if (peer_forwarded(text, network)) {
    FUZZ_CHECK(peer_network(str_from(network), again));
    FUZZ_CHECK(str_is(str_from(again), network));
  }
  return 0;
}
