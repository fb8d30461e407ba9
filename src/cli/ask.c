/* ask.c: reads a line without echo from the terminal. */
#include "cli/ask.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "base/os/fs.h"

enum { LINE_MAX_BYTES = 4096, INTERRUPT = 3 };

static void close_terminal(void *fd) { close((int)(intptr_t)fd); }

/* Reads up to the line end; false if interrupted, too long, or the terminal is gone. */
static bool read_line(int fd, char *line, size_t *ret_n) {
  for (size_t n = 0; n < LINE_MAX_BYTES;) {
    ssize_t got = read(fd, line + n, 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0 || line[n] == INTERRUPT)
      return false;
    if (line[n] == '\n' || line[n] == '\r') {
      *ret_n = n;
      return true;
    }
    n++;
  }
  return false;
}

bool ask_hidden(void *arg UNUSED, const char *prompt, struct arena *a, struct str *ret_text) {
  struct termios was, hidden;
  size_t n = 0;
  char *line = arena_alloc(a, LINE_MAX_BYTES + 1);
  int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return false;
  arena_defer(a, close_terminal, (void *)(intptr_t)fd);
  if (tcgetattr(fd, &was) != 0)
    return false;
  hidden = was;
  /* Ctrl-C arrives as a character, so the terminal is never left without echo. */
  hidden.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
  hidden.c_cc[VEOL] = INTERRUPT;
  if (tcsetattr(fd, TCSAFLUSH, &hidden) != 0)
    return false;
  bool ok = fs_write_all(fd, str_from(prompt)) && read_line(fd, line, &n) && n > 0;
  tcsetattr(fd, TCSAFLUSH, &was);
  fs_write_all(fd, STR("\n"));
  assert(n < LINE_MAX_BYTES);
  line[n] = 0;
  if (ok)
    *ret_text = (struct str){line, n};
  return ok;
}
