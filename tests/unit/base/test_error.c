/* test_error.c: formatting of error messages. */
#include "base/error.h"

#include <errno.h>

#include "base/utf8.h"
#include "support/harness.h"

TEST(set_starts_a_new_error_and_returns_the_code) {
  struct error e = {0};
  CHECK_STATUS(error_set(&e, STATUS_REFUSED, "the %s is %d words", "headline", 30), STATUS_REFUSED);
  CHECK_STATUS(error_step(&e, "headline"), STATUS_REFUSED);
  CHECK_STATUS(error_fix(&e, "use at most %d", 20), STATUS_REFUSED);
  CHECK_STR(str_from(e.message), "the headline is 30 words");
  CHECK_STR(str_from(e.step), "headline");
  CHECK_STR(str_from(e.fix), "use at most 20");
  CHECK_STATUS(error_set(&e, STATUS_IO, "other"), STATUS_IO);
  CHECK(e.step == NULL);
  CHECK_STR(str_from(e.fix), "");
}

TEST(long_text_is_cut_between_characters) {
  struct error e;
  char text[2 * ERROR_FIX_MAX];
  for (size_t lead = 0; lead < 4; lead++) {
    memset(text, 'a', lead);
    for (size_t i = lead; i + 4 < sizeof(text); i += 4)
      memcpy(text + i, "\xf0\x9f\x99\x82", 5); /* U+1F642, four bytes */
    (void)error_set(&e, STATUS_IO, "%s", text);
    (void)error_fix(&e, "%s", text);
    struct str message = str_from(e.message), fix = str_from(e.fix);
    CHECK_INT(utf8_check(message), message.n);
    CHECK_INT(utf8_check(fix), fix.n);
    CHECK(message.n < ERROR_MESSAGE_MAX && message.n >= ERROR_MESSAGE_MAX - 4);
    CHECK(fix.n < ERROR_FIX_MAX && fix.n >= ERROR_FIX_MAX - 4);
    CHECK(str_starts(str_from(text), message));
  }
}

TEST(text_that_just_fits_is_kept_whole) {
  struct error e;
  char text[ERROR_MESSAGE_MAX];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  (void)error_set(&e, STATUS_IO, "%s", text);
  CHECK_STR(str_from(e.message), text);
}

TEST(an_error_can_be_built_from_itself) {
  struct error e;
  (void)error_set(&e, STATUS_NOT_FOUND, "no such file");
  (void)error_fix(&e, "create it");
  (void)error_set(&e, STATUS_IO, "cannot start: %s", e.message);
  CHECK_STR(str_from(e.message), "cannot start: no such file");
}

TEST(errno_is_translated) {
  static const struct {
    int number;
    enum status want;
  } cases[] = {
      {ENOENT, STATUS_NOT_FOUND}, {ENOTDIR, STATUS_NOT_FOUND}, {EACCES, STATUS_READONLY}, {EPERM, STATUS_READONLY},
      {EROFS, STATUS_READONLY},   {ENOSPC, STATUS_NO_SPACE},   {EDQUOT, STATUS_NO_SPACE}, {EIO, STATUS_IO},
      {EMFILE, STATUS_IO}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct error e;
    CHECK_STATUS(error_errno(&e, cases[i].number, "open %s", "x.db"), cases[i].want);
    CHECK(str_starts(str_from(e.message), STR("open x.db: ")));
  }
  struct error e;
  (void)error_errno(&e, ENOENT, "open");
  CHECK_STR(str_from(e.message), "open: No such file or directory");
}
