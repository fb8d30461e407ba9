/* test_http_url.c: URLs of endpoints: accepted forms, and loopback addresses. */
#include "embed/remote/url.h"

#include "support/harness.h"

TEST(accepted_urls) {
  static const struct {
    const char *text, *kept;
    bool https, loopback;
  } cases[] = {
      {"https://api.openai.com/v1", "https://api.openai.com/v1", true, false},
      {"HTTPS://api.openai.com/v1///", "HTTPS://api.openai.com/v1", true, false},
      {"http://127.0.0.1:11434", "http://127.0.0.1:11434", false, true},
      {" http://LocalHost:80/ ", "http://LocalHost:80", false, true},
      {"http://127.255.0.3", "http://127.255.0.3", false, true},
      {"http://[::1]:8080/v1", "http://[::1]:8080/v1", false, true},
      {"https://[2001:db8::1]", "https://[2001:db8::1]", true, false},
      {"http://10.0.0.1", "http://10.0.0.1", false, false},
      {"http://my_host-1.local:65535/a/b-c_d~e%20f", "http://my_host-1.local:65535/a/b-c_d~e%20f", false, false},
      /* Not loopback, although they look like it. */
      {"http://127.example.com", "http://127.example.com", false, false},
      {"http://127.0.0.1.example.com", "http://127.0.0.1.example.com", false, false},
      {"http://localhost.example.com", "http://localhost.example.com", false, false},
      {"http://127.1", "http://127.1", false, false},
      {"http://0x7f.0.0.1", "http://0x7f.0.0.1", false, false},
      {"http://[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]", false, false},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct http_url url = {0};
    struct error err = {0};
    test_note("%s", cases[i].text);
    CHECK_OK(http_url_parse(str_from(cases[i].text), &url, &err), &err);
    CHECK_STR(url.text, cases[i].kept);
    CHECK_INT(url.https, cases[i].https);
    CHECK_INT(url.loopback, cases[i].loopback);
  }
}

TEST(rejected_urls) {
  static const char *const cases[] = {
      "",
      "localhost",
      "//host",
      "http:/host",
      "http://",
      "http:///v1",
      "ftp://host",
      "file:///etc/passwd",
      "https//host",
      "http://user@host",
      "http://user:pass@host",
      "http://127.0.0.1@evil.example",
      "http://127.0.0.1\\@evil.example",
      "http://host:",
      "http://host:0",
      "http://host:65536",
      "http://host:+80",
      "http://host:8o",
      "http://host:99999999",
      "http://host?x=1",
      "http://host/v1?key=abc",
      "http://host#f",
      "http://host/a b",
      "http://host/\r\nX: y",
      "http://ho st",
      "http://h\xc3\xb6st",
      "http://[::1",
      "http://[]",
      "http://[::1]x",
      "http://[g::]",
      "http://:80",
  };
  char lengthy[2000];
  memset(lengthy, 'a', sizeof(lengthy));
  memcpy(lengthy, "http://", 7);
  for (size_t i = 0; i <= ARRAY_LEN(cases); i++) {
    struct http_url url = {.https = true};
    struct error err = {0};
    struct str text = i < ARRAY_LEN(cases) ? str_from(cases[i]) : (struct str){lengthy, sizeof(lengthy)};
    test_note("case %zu", i);
    CHECK_STATUS(http_url_parse(text, &url, &err), STATUS_USAGE);
    CHECK(url.https && url.text.p == NULL); /* untouched */
    CHECK(err.fix[0] != 0);
    CHECK(strstr(err.message, "pass") == NULL && strstr(err.message, "abc") == NULL);
  }
}
