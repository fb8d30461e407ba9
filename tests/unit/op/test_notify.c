/* test_notify.c: desktop notifications, with a substitute for notify-send that records its arguments. */
#include "op/telemetry/notify.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "op/telemetry/telemetry.h"
#include "support/harness.h"
#include "support/proc.h"

static struct error err;
static struct arena a; /* lives as long as the test */

/* Writes each argument on a line, the whole file at once. */
static const char *fake(void) {
  const char *folder = path_join(NULL, "bin"), *seen = path_join(NULL, "seen");
  CHECK_OK(fs_mkdirs(folder, &err), &err);
  CHECK_OK(fs_write(path_join(folder, "notify-send"),
                    arena_printf(&a, "#!/bin/sh\nprintf '%%s\\n' \"$@\" >>%s.part\nmv %s.part %s\n", seen, seen, seen),
                    0700, &err),
           &err);
  setenv("PATH", arena_printf(&a, "%s:%s", folder, getenv("PATH")).p, 1);
  setenv("DISPLAY", ":9", 1);
  unsetenv("WAYLAND_DISPLAY");
  return seen;
}

static struct str wait_for(const char *path) {
  struct str text;
  while (access(path, F_OK) != 0)
    usleep(1000); /* up to the test's time limit */
  CHECK_OK(fs_read(&a, path, 10000, &text, &err), &err);
  return text;
}

TEST(an_error_is_shown_without_a_shell_and_as_plain_text) {
  const char *seen = fake();
  struct notify n = {0};
  notify_error(&n, "memory_search", "-x; <b>$(id)</b> & more", 1000);
  CHECK_STR(wait_for(seen), "--app-name=Cairn\n--urgency=normal\n--\nCairn: memory_search failed\n"
                            "-x; &lt;b&gt;$(id)&lt;/b&gt; &amp; more\n");
  CHECK(waitpid(n.child, NULL, 0) == n.child);
}

TEST(at_most_one_notification_a_minute) {
  const char *seen = fake();
  struct notify n = {0};
  notify_error(&n, "one", "m", 1000);
  wait_for(seen);
  CHECK(waitpid(n.child, NULL, 0) == n.child);
  CHECK(unlink(seen) == 0);
  notify_error(&n, "two", "m", 1000 + 59999999);
  CHECK_INT(n.child, 0);
  notify_error(&n, "three", "m", 1000 + 60000000);
  CHECK(str_find(wait_for(seen), STR("three"), 0) != SIZE_MAX);
  CHECK(waitpid(n.child, NULL, 0) == n.child);
}

TEST(without_a_desktop_or_the_program_nothing_happens) {
  fake();
  struct notify n = {0};
  unsetenv("DISPLAY");
  notify_error(&n, "one", "m", 1000);
  CHECK_INT(n.child, 0);
  CHECK_INT(n.last, 0);
  setenv("WAYLAND_DISPLAY", "wayland-0", 1);
  setenv("PATH", path_join(NULL, "empty"), 1);
  notify_error(&n, "one", "m", 1000);
  CHECK_INT(n.child, 0);
}

static void note(struct telemetry *t, enum status code, const char *name) {
  struct error bad;
  error_set(&bad, code, "what happened");
  struct telemetry_call call = {.name = str_from(name),
                                .op = STR("op"),
                                .team = STR("default"),
                                .at = 1763208000000,
                                .duration_us = 1,
                                .error = &bad};
  telemetry_note(t, &call);
}

TEST(a_server_reports_its_own_errors_and_not_those_of_callers) {
  const char *seen = fake();
  struct telemetry *silent = NULL, *tele = NULL;
  CHECK_OK(telemetry_new(NULL, &tele, &err), &err);
  telemetry_notify(tele);
  CHECK_OK(telemetry_new(path_join(NULL, "log"), &silent, &err), &err);
  note(silent, STATUS_CORRUPT, "silent"); /* notifications are off */
  wait_for(path_join(NULL, "log/calls.jsonl"));
  telemetry_close(&silent);
  note(tele, STATUS_NOT_FOUND, "mistake");
  note(tele, STATUS_USAGE, "mistake");
  note(tele, STATUS_CORRUPT, "broken");
  struct str shown = wait_for(seen);
  CHECK(str_find(shown, STR("Cairn: broken failed\nwhat happened\n"), 0) != SIZE_MAX);
  CHECK(str_find(shown, STR("silent"), 0) == SIZE_MAX);
  telemetry_close(&tele);
  CHECK(waitpid(-1, NULL, 0) > 0); /* the helper exits */
}

TEST(there_is_no_helper_without_a_desktop) {
  fake();
  unsetenv("DISPLAY");
  CHECK_INT(notify_start(), -1);
  CHECK(waitpid(-1, NULL, 0) < 0);
}

TEST(a_helper_inherits_nothing_from_its_server) {
  const char *seen = fake();
  CHECK_OK(fs_write(path_join(path_join(NULL, "bin"), "notify-send"),
                    arena_printf(&a, "#!/bin/sh\nls -l /proc/$PPID/fd >%s.part\nmv %s.part %s\n", seen, seen, seen),
                    0700, &err),
           &err);
  CHECK_OK(fs_write(path_join(NULL, "store.db"), STR("x"), 0600, &err), &err);
  CHECK(open(path_join(NULL, "store.db"), O_RDONLY) >= 0);
  int helper = notify_start();
  CHECK(helper >= 0);
  notify_tell(helper, "one", "m");
  struct str files = wait_for(seen);
  CHECK(str_find(files, STR("store.db"), 0) == SIZE_MAX);
  CHECK(str_find(files, STR("pipe:"), 0) != SIZE_MAX);
  notify_stop(helper);
  CHECK(waitpid(-1, NULL, 0) > 0);
}
