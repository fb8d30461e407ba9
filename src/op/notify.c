/* notify.c: notify-send, as a process of its own. */
#include "op/notify.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

enum { INTERVAL_US = 60 * 1000 * 1000, BODY_BYTES = 300 };

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && value[0];
}

/* Some desktops read the text as markup. */
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

/* With no signals blocked, and nothing of this program's input and output. */
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
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
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
