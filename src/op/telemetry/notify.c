/* notify.c: desktop notifications for errors, sent by a helper process with notify-send. */
#include "op/telemetry/notify.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/utf8.h"

enum { INTERVAL_US = 60 * 1000 * 1000, BODY_BYTES = 300 };

/* Message to the helper; less than PIPE_BUF, so writes are atomic. */
struct note {
  char tool[65], message[BODY_BYTES + 1];
};
static_assert(sizeof(struct note) <= PIPE_BUF, "a message must be written atomically");

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && value[0];
}

static bool has_desktop(void) { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"); }

/* Some desktops interpret the text as markup. */
static void escape(char *out, size_t room, const char *text) {
  struct str s = utf8_cut(str_from(text), BODY_BYTES);
  size_t n = 0;
  for (size_t i = 0; i < s.n && n + 8 < room; i++) {
    const char *as = s.p[i] == '&' ? "&amp;" : s.p[i] == '<' ? "&lt;" : s.p[i] == '>' ? "&gt;" : NULL;
    if (as)
      n += (size_t)snprintf(out + n, room - n, "%s", as);
    else
      out[n++] = s.p[i];
  }
  out[n] = 0;
}

/* Starts a program with no blocked signals and with /dev/null as stdin, stdout and stderr. */
static bool start(char *const argv[], pid_t *ret_child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  sigset_t none;
  sigemptyset(&none);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attr);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&files, 0, 1);
  posix_spawn_file_actions_adddup2(&files, 0, 2);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attr, &none);
  bool ok = posix_spawnp(ret_child, argv[0], &files, &attr, argv, environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attr);
  return ok;
}

void notify_error(struct notify *n, const char *tool, const char *message, int64_t now_ticks) {
  if (n->child && waitpid(n->child, NULL, WNOHANG) != 0)
    n->child = 0;
  if (n->child || (n->last && now_ticks - n->last < INTERVAL_US))
    return;
  if (!has_desktop())
    return;
  char program[] = "notify-send", name[] = "--app-name=Cairn", urgency[] = "--urgency=normal", end[] = "--";
  char title[96], body[2 * BODY_BYTES];
  snprintf(title, sizeof(title), "Cairn: %.64s failed", tool);
  escape(body, sizeof(body), message);
  char *argv[] = {program, name, urgency, end, title, body, NULL};
  n->last = now_ticks;
  if (!start(argv, &n->child))
    n->child = 0;
}

/* ---- the helper ---- */

/* Closes all inherited descriptors but the pipe: the store, and connections that clients wait on. */
static _Noreturn void run_helper(int end) {
  struct notify n = {0};
  struct note note;
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd < 3; fd++)
    dup2(null, fd);
  dup2(end, 3);
  close_range(4, ~0U, 0);
  while (read(3, &note, sizeof(note)) == (ssize_t)sizeof(note)) {
    note.tool[sizeof(note.tool) - 1] = note.message[sizeof(note.message) - 1] = 0;
    notify_error(&n, note.tool, note.message, clock_ticks_us());
  }
  _exit(0);
}

int notify_start(void) {
  int ends[2];
  if (!has_desktop() || pipe2(ends, O_CLOEXEC) != 0)
    return -1;
  pid_t helper = fork();
  if (helper == 0)
    run_helper(ends[0]);
  close(ends[0]);
  if (helper > 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    return ends[1];
  close(ends[1]);
  return -1;
}

void notify_tell(int helper, const char *tool, const char *message) {
  struct note note = {0};
  if (helper < 0)
    return;
  snprintf(note.tool, sizeof(note.tool), "%s", tool);
  snprintf(note.message, sizeof(note.message), "%s", message);
  (void)!write(helper, &note, sizeof(note));
}

void notify_stop(int helper) {
  if (helper >= 0)
    close(helper);
}
