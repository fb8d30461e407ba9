/* test_status.c: table of status codes; names and codes must not change. */
#include "base/status.h"

#include "support/harness.h"

static const enum status all[] = {
#define X(name, json, exit, http, text) STATUS_##name,
    STATUS_LIST(X)
#undef X
};

TEST(names_are_unique_and_lower_case) {
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    const char *name = status_name(all[i]);
    CHECK(name[0] != 0);
    for (const char *c = name; *c; c++)
      CHECK((*c >= 'a' && *c <= 'z') || *c == '_');
    for (size_t k = 0; k < i; k++)
      CHECK(strcmp(name, status_name(all[k])) != 0);
  }
}

TEST(only_ok_has_success_codes) {
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    bool ok = all[i] == STATUS_OK;
    CHECK_INT(status_exit_code(all[i]) == 0, ok);
    CHECK(status_exit_code(all[i]) >= 0 && status_exit_code(all[i]) <= 255);
    CHECK(ok ? status_http(all[i]) == 200 : status_http(all[i]) >= 400 && status_http(all[i]) <= 599);
    CHECK(status_text(all[i])[0] != 0);
  }
}

TEST(names_and_codes_do_not_change) {
  CHECK_INT(STATUS_OK, 0);
  CHECK_STR(str_from(status_name(STATUS_NOT_FOUND)), "not_found");
  CHECK_INT(status_http(STATUS_NOT_FOUND), 404);
  CHECK_INT(status_exit_code(STATUS_USAGE), 2);
  CHECK_INT(status_exit_code(STATUS_INTERRUPTED), 130); /* 128 + SIGINT, as in shells */
}
