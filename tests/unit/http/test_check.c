/* test_check.c: which hosts and origins are this machine. */
#include "http/check.h"

#include "support/harness.h"

TEST(hosts_of_this_machine_pass) {
  static const char *const hosts[] = {"localhost",  "LOCALHOST",       "localhost:7733", "127.0.0.1", "127.0.0.1:80",
                                      "127.8.9.10", "127.0.0.1:65535", "[::1]",          "[::1]:7733"};
  for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
    test_note("%s", hosts[i]);
    CHECK(check_host(str_from(hosts[i])));
  }
}

TEST(other_hosts_do_not) {
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
    CHECK(!check_host(str_from(hosts[i])));
  }
}

TEST(origins) {
  CHECK(check_origin(STR("http://localhost")));
  CHECK(check_origin(STR("http://localhost:3000")));
  CHECK(check_origin(STR("https://127.0.0.1:7733")));
  CHECK(check_origin(STR("http://[::1]:7733")));
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
    CHECK(!check_origin(str_from(foreign[i])));
  }
}
