/* proc.c: runs programs for black-box tests. */
#include "support/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/os/clock.h"
#include "support/harness.h"

enum { DEFAULT_TIMEOUT_MS = 10 * 1000, PIPE_CHUNK = 64 * 1024 };

struct proc {
  pid_t pid;
  int in, out, err; /* our ends of the pipes; -1 when closed */
  struct buf out_text, err_text;
  size_t line_from; /* start of the next line in out_text */
  int64_t started_us, limit_us;
  bool timed_out;
};

/* One arena per thread; a list holds them until the test's process ends. */
static struct arena *memory(void) {
  struct node {
    struct node *next;
    struct arena arena;
  };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct node *all;
  static _Thread_local struct node *own;
  if (!own) {
    own = mem_zalloc(sizeof(*own));
    if (!own)
      FAIL("out of memory");
    pthread_mutex_lock(&lock);
    own->next = all;
    all = own;
    pthread_mutex_unlock(&lock);
  }
  return &own->arena;
}

static _Noreturn void fail(const char *what) { FAIL("%s: %s", what, strerror(errno)); }

static struct str name_in(const char *assignment) { return (struct str){assignment, strcspn(assignment, "=")}; }

/* This process's environment with changes: "NAME=VALUE" sets, "NAME" removes; the last entry wins. */
static const char **changed_env(const char *const *changes) {
  LIST(const char *) env = {0};
  for (char **e = environ; *e; e++)
    list_push(memory(), &env, *e);
  for (; changes && *changes; changes++) {
    struct str name = name_in(*changes);
    size_t n = 0;
    for (size_t i = 0; i < env.n; i++)
      if (!str_eq(name_in(env.v[i]), name))
        env.v[n++] = env.v[i];
    env.n = n;
    if ((*changes)[name.n] == '=')
      list_push(memory(), &env, *changes);
  }
  list_push(memory(), &env, NULL);
  return env.v;
}

/* Shares the parent's memory until exec and must not write to it. A sanitizer's shadow makes the parent large, and
 * copying it would take longer than most calls. */
static _Noreturn void exec_child(const struct proc_spec *spec, const char **env, const char *dir, const int fds[3]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* kill it with the test */
  signal(SIGPIPE, SIG_DFL);
  if (chdir(dir) != 0 || dup2(fds[0], 0) < 0 || dup2(fds[1], 1) < 0 || dup2(fds[2], 2) < 0)
    _exit(126);
  /* execvpe does not change the strings; its prototype predates const. */
  execvpe(spec->argv[0], (char *const *)(uintptr_t)spec->argv, (char *const *)(uintptr_t)env);
  dprintf(2, "proc: cannot run %s: %s\n", spec->argv[0], strerror(errno));
  _exit(127);
}

struct proc *proc_start_spec(const struct proc_spec *spec) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
    fail("pipe");
  const char *dir = spec->dir ? spec->dir : test_dir();
  signal(SIGPIPE, SIG_IGN); /* the test decides about programs that stop reading */
  fflush(NULL);
  struct proc *p = arena_new(memory(), struct proc);
  *p = (struct proc){.in = in[1], .out = out[0], .err = err[0], .out_text = BUF(memory()), .err_text = BUF(memory())};
  p->started_us = clock_ticks_us();
  int timeout_ms = spec->timeout_ms ? spec->timeout_ms : DEFAULT_TIMEOUT_MS;
  p->limit_us = (int64_t)timeout_ms * 1000 * test_patience();
  const char **env = changed_env(spec->env);
  const int fds[3] = {in[0], out[1], spec->merge ? out[1] : err[1]};
  /* posix_spawn() cannot ask for a signal when the parent dies.
   * NOLINTNEXTLINE(bugprone-unsafe-functions,cert-msc24-c,cert-msc33-c,clang-analyzer-security.insecureAPI.vfork) */
  pid_t pid = vfork();
  if (pid < 0)
    fail("vfork");
  if (pid == 0)
    exec_child(spec, env, dir, fds); /* NOLINT(clang-analyzer-unix.Vfork) */
  p->pid = pid;
  close(in[0]);
  close(out[1]);
  close(err[1]);
  return p;
}

pid_t proc_pid(const struct proc *p) { return p->pid; }

static void close_end(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

void proc_close(struct proc *p) { close_end(&p->in); }

void proc_kill(struct proc *p, int number) {
  if (p->pid > 0)
    kill(p->pid, number);
}

static void take(int *fd, struct buf *text) {
  char chunk[PIPE_CHUNK];
  ssize_t n = read(*fd, chunk, sizeof(chunk));
  if (n > 0)
    buf_add(text, (struct str){chunk, (size_t)n});
  else if (n == 0 || errno != EINTR)
    close_end(fd);
}

/* Moves data once in all directions: writes some of `rest`, and reads everything that has arrived. Waits until
 * `until_us`; false on timeout. */
static bool pump(struct proc *p, struct str *rest, int64_t until_us) {
  int64_t left_us = until_us - clock_ticks_us();
  if (left_us <= 0)
    return false;
  bool writing = rest && rest->n && p->in >= 0;
  struct pollfd fds[3] = {{p->out, POLLIN, 0}, {p->err, POLLIN, 0}, {writing ? p->in : -1, POLLOUT, 0}};
  int n = poll(fds, 3, (int)(left_us / 1000 + 1));
  if (n < 0 && errno != EINTR)
    fail("poll");
  if (n <= 0)
    return clock_ticks_us() < until_us;
  if (fds[0].revents)
    take(&p->out, &p->out_text);
  if (fds[1].revents)
    take(&p->err, &p->err_text);
  if (writing && fds[2].revents) {
    /* Small enough to write without blocking if the pipe has space. */
    ssize_t sent = write(p->in, rest->p, rest->n < 4096 ? rest->n : 4096);
    if (sent < 0) {
      close_end(&p->in);
    } else {
      rest->p += sent;
      rest->n -= (size_t)sent;
    }
  }
  return true;
}

bool proc_send(struct proc *p, struct str text) {
  while (text.n && p->in >= 0)
    if (!pump(p, &text, p->started_us + p->limit_us))
      return false;
  return text.n == 0;
}

bool proc_line(struct proc *p, int timeout_ms, struct str *ret_line) {
  int64_t until_us = clock_ticks_us() + (int64_t)timeout_ms * 1000 * test_patience();
  for (;;) {
    struct str rest = str_slice(buf_str(&p->out_text), p->line_from, p->out_text.n);
    const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
    if (end || (rest.n && p->out < 0)) {
      size_t n = end ? (size_t)(end - rest.p) : rest.n;
      *ret_line = arena_dup(memory(), (struct str){rest.p, n});
      p->line_from += n + (end != NULL);
      return true;
    }
    if (p->out < 0 || !pump(p, NULL, until_us))
      return false;
  }
}

static void collect(struct proc *p, struct str *input) {
  int64_t until_us = p->started_us + p->limit_us;
  if (!input->n)
    close_end(&p->in);
  while (p->out >= 0 || p->err >= 0) {
    if (!pump(p, input, until_us)) {
      p->timed_out = true;
      proc_kill(p, SIGKILL);
      return;
    }
    if (!input->n)
      close_end(&p->in);
  }
}

/* Applies the same time limit: a program may close its output and keep running. */
static int wait_exit(struct proc *p) {
  int status = 0;
  while (waitpid(p->pid, &status, p->timed_out ? 0 : WNOHANG) == 0) {
    if (clock_ticks_us() - p->started_us > p->limit_us) {
      p->timed_out = true;
      proc_kill(p, SIGKILL);
    }
    usleep(200);
  }
  p->pid = -1;
  return status;
}

static struct run finish(struct proc *p, struct str input) {
  collect(p, &input);
  int status = wait_exit(p);
  close_end(&p->in);
  close_end(&p->out);
  close_end(&p->err);
  return (struct run){.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                      .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                      .timed_out = p->timed_out,
                      .out = buf_str(&p->out_text),
                      .err = buf_str(&p->err_text),
                      .elapsed_us = clock_ticks_us() - p->started_us};
}

struct run proc_wait(struct proc *p) { return finish(p, STR_NONE); }

struct run proc_run_spec(const struct proc_spec *spec) { return finish(proc_start_spec(spec), spec->input); }

int open_descriptors(void) {
  int n = 0;
  DIR *dir = opendir("/proc/self/fd");
  while (dir && readdir(dir))
    n++;
  if (dir)
    closedir(dir);
  return n;
}

struct str file_read(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    fail(path);
  struct buf text = BUF(memory());
  while (fd >= 0)
    take(&fd, &text);
  return buf_str(&text);
}

void file_write(const char *path, struct str text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    fail(path);
  while (text.n) {
    ssize_t n = write(fd, text.p, text.n);
    if (n < 0)
      fail(path);
    text = str_slice(text, (size_t)n, text.n);
  }
  if (close(fd) != 0)
    fail(path);
}

const char *path_join(const char *dir, const char *name) {
  return arena_printf(memory(), "%s/%s", dir ? dir : test_dir(), name).p;
}
