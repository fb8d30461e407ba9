/* child.c: starts a program with pipes, sends it requests, ends it. */
#include "support/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/measure.h"

static void become(const char *const *argv, int in, int out) {
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(in, 0);
  dup2(out, 1);
  dup2(null, 2);
  execv(argv[0], (char *const *)(uintptr_t)argv);
  _exit(127);
}

void child_start(struct child *c, const char *const *argv) {
  int in[2], out[2];
  signal(SIGPIPE, SIG_IGN);
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
    fail("no pipes");
  fflush(stdout);
  *c = (struct child){.pid = fork()};
  if (c->pid == 0)
    become(argv, in[0], out[1]);
  close(in[0]);
  close(out[1]);
  c->to = fdopen(in[1], "w");
  c->from = fdopen(out[0], "r");
  if (c->pid < 0 || !c->to || !c->from)
    fail("cannot start %s", argv[0]);
}

const char *child_line(struct child *c) {
  if (getline(&c->line, &c->room, c->from) <= 0)
    fail("the program ended before it answered");
  return c->line;
}

void child_tell(struct child *c, const char *message) {
  if (fputs(message, c->to) < 0 || fputc('\n', c->to) < 0 || fflush(c->to) != 0)
    fail("the program does not read");
}

/* A response has the id; a notification has a method. */
static int answers(const char *line, long id) {
  char with[40], with_blank[40];
  snprintf(with, sizeof(with), "\"id\":%ld", id);
  snprintf(with_blank, sizeof(with_blank), "\"id\": %ld", id);
  return (strstr(line, with) || strstr(line, with_blank)) && !strstr(line, "\"method\":");
}

const char *child_ask(struct child *c, const char *message, long id) {
  child_tell(c, message);
  for (;;)
    if (answers(child_line(c), id))
      return c->line;
}

void child_end(struct child *c) {
  enum { PATIENCE = 200 };
  int status;
  fclose(c->to);
  for (int i = 0; i < PATIENCE && waitpid(c->pid, &status, WNOHANG) == 0; i++) {
    if (i == PATIENCE / 2)
      kill(c->pid, SIGTERM);
    if (i == PATIENCE - 1) {
      kill(c->pid, SIGKILL);
      waitpid(c->pid, &status, 0);
    }
    usleep(10000);
  }
  fclose(c->from);
  free(c->line);
}

double child_memory(pid_t pid) {
  char path[64], line[200];
  double kb = 0;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof(line), f))
    if (strncmp(line, "VmRSS:", 6) == 0)
      kb = strtod(line + 6, NULL);
  if (f)
    fclose(f);
  return kb / 1024;
}
