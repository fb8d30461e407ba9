/* test_ask.c: hidden input is read and not echoed. */
#include "cli/ask.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "support/harness.h"

/* A child process whose terminal the test controls: it prompts, and exits with 0 if it read this answer, with 1 if
 * there was none. */
static pid_t ask_on(const char *terminal, const char *want) {
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid > 0)
    return pid;
  struct arena a;
  struct str text;
  struct termios now;
  setsid();
  int fd = open(terminal, O_RDWR); /* the first terminal that a session opens becomes its controlling terminal */
  arena_init(&a);
  bool asked = fd >= 0 && ask_hidden(NULL, "Word: ", &a, &text);
  bool echoes = tcgetattr(fd, &now) == 0 && (now.c_lflag & ECHO) && (now.c_lflag & ISIG);
  _exit(!echoes ? 3 : !asked ? 1 : str_is(text, want) ? 0 : 2);
}

/* Appends what the terminal shows. */
static void read_shown(int master, char *shown, size_t size) {
  size_t n = strlen(shown);
  ssize_t got = read(master, shown + n, size - 1 - n);
  CHECK(got > 0);
  shown[n + (size_t)got] = 0;
}

static void check_typed(const char *typed, const char *want, int code) {
  enum { QUIET_MS = 200 };
  char shown[400] = "";
  int master = posix_openpt(O_RDWR | O_NOCTTY), status;
  CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  int held = open(ptsname(master), O_RDWR | O_NOCTTY); /* a terminal that closes may lose what nobody has read yet */
  CHECK(held >= 0);
  pid_t pid = ask_on(ptsname(master), want);
  while (!strstr(shown, "Word: "))
    read_shown(master, shown, sizeof(shown));
  CHECK(write(master, typed, strlen(typed)) == (ssize_t)strlen(typed));
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  CHECK_INT(WEXITSTATUS(status), code);
  for (struct pollfd p = {master, POLLIN, 0}; poll(&p, 1, QUIET_MS) > 0;)
    read_shown(master, shown, sizeof(shown));
  CHECK_STR(str_from(shown), "Word: \r\n");
  close(held);
  close(master);
}

TEST(a_line_is_read_without_echo) {
  check_typed("correct horse\n", "correct horse", 0);
  check_typed("\xc3\xa9t\xc3\xa9\n", "\xc3\xa9t\xc3\xa9", 0);
}

TEST(empty_input_counts_as_no_answer) { check_typed("\n", "", 1); }

TEST(an_interrupt_restores_the_terminal) { check_typed("corr\x03", "", 1); }
