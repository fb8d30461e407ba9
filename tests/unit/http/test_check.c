/* test_check.c: Host and Origin checks. */
#include "http/access/check.h"

#include "support/harness.h"

static struct str given[] = {STR_INIT("memory.example.org"), STR_INIT("192.0.2.7"), STR_INIT("[2001:db8::7]")};
static const struct strs none = {0}, some = {.v = given, .n = ARRAY_LEN(given)};
static const struct check_names here = {.hosts = &none, .local = true}, elsewhere = {.hosts = &some, .local = false};

TEST(hosts_of_this_machine_pass) {
  static const char *const hosts[] = {"localhost",  "LOCALHOST",       "localhost:7733", "127.0.0.1", "127.0.0.1:80",
                                      "127.8.9.10", "127.0.0.1:65535", "[::1]",          "[::1]:7733"};
  for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
    test_note("%s", hosts[i]);
    CHECK(check_host(str_from(hosts[i]), &here));
  }
}

TEST(other_hosts_are_refused) {
  static const char *const hosts[] = {"",
                                      "evil.example",
                                      "localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "127.0.0.1@evil.example",
                                      "localhost:",
                                      "localhost:12x",
                                      "localhost:123456",
                                      "127.0.0",
                                      "127.0.0.256",
                                      "127.0.0.1.",
                                      "128.0.0.1",
                                      "0.0.0.0",
                                      "10.0.0.1",
                                      "[::]",
                                      "::1:80",
                                      "[::1",
                                      "[::1]x",
                                      "localhost, localhost",
                                      "localhost evil",
                                      "127.0.0.1:80:80",
                                      "1127.0.0.1",
                                      "127..0.1",
                                      "notlocalhost",
                                      "2130706433"};
  for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
    test_note("%s", hosts[i]);
    CHECK(!check_host(str_from(hosts[i]), &here));
  }
}

TEST(origins) {
  CHECK(check_origin(STR("http://localhost"), STR("localhost"), &here));
  CHECK(check_origin(STR("http://localhost"), STR("localhost:80"), &here));
  CHECK(check_origin(STR("https://127.0.0.1:443"), STR("127.0.0.1"), &here));
  CHECK(check_origin(STR("https://127.0.0.1:7733"), STR("127.0.0.1:7733"), &here));
  CHECK(check_origin(STR("http://[::1]:7733"), STR("[::1]:7733"), &here));
  CHECK(check_origin(STR("http://localhost:7733"), STR("127.0.0.1:7733"), &here));
  /* another program of this machine */
  CHECK(!check_origin(STR("http://localhost:3000"), STR("localhost:7733"), &here));
  CHECK(!check_origin(STR("http://localhost"), STR("localhost:7733"), &here));
  CHECK(!check_origin(STR("http://[::1]:80"), STR("[::1]:7733"), &here));
  CHECK(!check_origin(STR("http://localhost:3000"), STR(""), &here));
  static const char *const foreign[] = {"null",
                                        "",
                                        "http://",
                                        "localhost",
                                        "http://evil.example",
                                        "http://localhost.evil.example",
                                        "http://localhost@evil.example",
                                        "http://localhost/",
                                        "file://",
                                        "file://localhost",
                                        "ftp://localhost",
                                        "http://192.168.1.10",
                                        "chrome-extension://abcdef"};
  for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
    test_note("%s", foreign[i]);
    CHECK(!check_origin(str_from(foreign[i]), STR("localhost"), &here));
  }
}

TEST(only_requests_of_our_own_pages_pass) {
  CHECK(check_fetch_site(STR_NONE) && check_fetch_site(STR("same-origin")) && check_fetch_site(STR("none")));
  CHECK(!check_fetch_site(STR("cross-site")) && !check_fetch_site(STR("same-site")) && !check_fetch_site(STR("")));
}

TEST(allowed_names_pass_for_remote_clients) {
  static const char *const hosts[] = {"memory.example.org", "MEMORY.Example.ORG:443", "192.0.2.7:7733",
                                      "[2001:db8::7]:7733"};
  for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
    test_note("%s", hosts[i]);
    CHECK(check_host(str_from(hosts[i]), &elsewhere));
    CHECK(!check_host(str_from(hosts[i]), &here));
  }
  CHECK(check_origin(STR("https://memory.example.org"), STR("memory.example.org"), &elsewhere));
  /* A proxy may drop the port, or send another name of ours. */
  CHECK(check_origin(STR("https://memory.example.org:8443"), STR("192.0.2.7"), &elsewhere));
  CHECK(!check_origin(STR("https://memory.example.org.evil"), STR("memory.example.org"), &elsewhere));
  CHECK(!check_host(STR("2001:db8::7"), &elsewhere));
}

/* For a remote client, localhost is another machine, or a forged name. */
TEST(loopback_names_pass_only_locally) {
  CHECK(!check_host(STR("localhost"), &elsewhere));
  CHECK(!check_host(STR("127.0.0.1:7733"), &elsewhere));
  CHECK(!check_origin(STR("http://localhost:7733"), STR("localhost:7733"), &elsewhere));
  struct check_names both = {.hosts = &some, .local = true};
  CHECK(check_host(STR("localhost"), &both));
  CHECK(check_host(STR("memory.example.org"), &both));
}

TEST(host_names_are_validated) {
  static const char *const good[] = {"localhost", "memory.example.org", "192.0.2.7", "[2001:db8::7]", "a-b"};
  static const char *const bad[] = {"",    "[]",   "https://a",   "a:80", "a b", "*",
                                    "a/b", "[::1", "2001:db8::7", "a@b",  "a,b"};
  for (size_t i = 0; i < ARRAY_LEN(good); i++)
    CHECK(check_name(str_from(good[i])));
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    CHECK(!check_name(str_from(bad[i])));
  }
}
