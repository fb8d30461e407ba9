/* demo.c: tests that fail in every possible way; scripts/check-harness checks how the harness reports them. */
#include <signal.h>
#include <unistd.h>

#include "support/harness.h"

TEST(good) { CHECK(1 + 1 == 2); }

TEST(good_uses_folder, .slow = true) {
  char path[600];
  snprintf(path, sizeof(path), "%s/file", test_dir());
  FILE *f = fopen(path, "w");
  CHECK(f && fclose(f) == 0);
}

TEST(bad_check) {
  printf("some output\n");
  CHECK(1 + 1 == 3);
}

TEST(bad_int) { CHECK_INT(40 + 2, 43); }

TEST(bad_str) { CHECK_STR(STR("got\n"), "want"); }

TEST(bad_near) { CHECK_NEAR(__builtin_nan(""), 0, 1); }

TEST(bad_status) {
  struct error e;
  CHECK_OK(error_set(&e, STATUS_BUSY, "it is locked"), &e);
}

TEST(bad_crash) {
  test_note("near the end");
  raise(11);
}

TEST(bad_exit) { _exit(3); }

TEST(bad_slow, .seconds = 1) {
  if (fork() == 0) /* a child of the test must be killed with it */
    execlp("sleep", "sleep", "4242.4242", (char *)0);
  for (;;)
    pause();
}
