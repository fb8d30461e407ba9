/* test_peer.c: client networks from addresses as proxies write them. */
#include "http/access/peer.h"

#include "support/harness.h"

static void is(const char *text, const char *network) {
  char got[PEER_NETWORK_SIZE] = "";
  test_note("%s", text);
  CHECK_INT(peer_forwarded(str_from(text), got), network != NULL);
  if (network)
    CHECK_STR(str_from(got), network);
}

TEST(addresses_have_networks) {
  is("203.0.113.9", "203.0.113.9");
  is("203.0.113.9:4711", "203.0.113.9");
  is("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
  is("2001:db8:1:2:ffff::1", "2001:db8:1:2::");
  is("[2001:db8:1:2::7]:443", "2001:db8:1:2::");
  is("[2001:db8::7]", "2001:db8::");
  is("::ffff:203.0.113.9", "203.0.113.9");
}

TEST(the_last_forwarded_address_counts) {
  is("10.0.0.1, 203.0.113.9", "203.0.113.9");
  is("1.1.1.1,2.2.2.2 , 3.3.3.3 ", "3.3.3.3");
  is("203.0.113.9, nonsense", NULL);
}

TEST(invalid_addresses_have_no_network) {
  static const char *const texts[] = {
      "",         ",", "unknown", "_hidden", "203.0.113", "203.0.113.256", "example.org", "[::1", "2001:db8::1::2",
      "1.2.3.4, "};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    is(texts[i], NULL);
}
