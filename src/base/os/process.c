/* process.c: state of processes, from /proc. */
#include "base/os/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Ticks are rounded, and the computed boot time changes a little when the clock is set. */
enum { TOLERANCE_MS = 2000, START_FIELD = 22 };

struct str process_host(struct arena *a) {
  char name[256];
  if (gethostname(name, sizeof(name)) != 0)
    return STR_NONE;
  name[sizeof(name) - 1] = 0;
  return name[0] ? arena_lower(a, str_from(name)) : STR_NONE;
}

/* Reads up to `size` bytes of a file. */
static bool read_prefix(const char *path, char *buffer, size_t size, struct str *ret_text) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  size_t n = 0;
  while (n < size) {
    ssize_t got = read(fd, buffer + n, size - n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    n += (size_t)got;
  }
  close(fd);
  *ret_text = (struct str){buffer, n};
  return n > 0;
}

bool process_parse_stat(struct str line, char *ret_state, int64_t *ret_ticks) {
  size_t close = line.n;
  while (close > 0 && line.p[close - 1] != ')')
    close--;
  if (close == 0)
    return false;
  struct str rest = str_trim(str_slice(line, close, line.n)), field;
  if (rest.n < 2 || rest.p[1] != ' ')
    return false;
  char state = rest.p[0];
  for (int number = 3; str_next(&rest, ' ', &field); number++)
    if (number == START_FIELD) {
      if (!str_int64(field, ret_ticks))
        return false;
      *ret_state = state;
      return true;
    }
  return false;
}

/* Boot time in ms since 1970: the difference of two clocks, which changes only when the time is set. */
static bool boot_time(int64_t *ret_ms) {
  struct timespec real, since;
  if (clock_gettime(CLOCK_REALTIME, &real) != 0 || clock_gettime(CLOCK_BOOTTIME, &since) != 0)
    return false;
  *ret_ms = ((int64_t)real.tv_sec - since.tv_sec) * 1000 + (real.tv_nsec - since.tv_nsec) / 1000000;
  return true;
}

static bool read_process(int64_t pid, char *ret_state, int64_t *ret_started) {
  assert(pid > 0);
  char path[64], buffer[2048];
  struct str line;
  int64_t ticks, boot;
  long rate = sysconf(_SC_CLK_TCK);
  snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
  if (rate <= 0 || !read_prefix(path, buffer, sizeof(buffer), &line) || !process_parse_stat(line, ret_state, &ticks) ||
      !boot_time(&boot))
    return false;
  *ret_started = boot + ticks * 1000 / rate;
  return true;
}

bool process_started(int64_t pid, int64_t *ret_started) {
  char state;
  int64_t started;
  if (pid <= 0 || !read_process(pid, &state, &started))
    return false;
  *ret_started = started;
  return true;
}

enum process_state process_check(struct str here, struct str host, int64_t pid, int64_t started) {
  char state = 'S';
  int64_t actual = 0;
  if (pid <= 0 || !host.p || !here.p || !str_ieq(here, host))
    return PROCESS_UNKNOWN;
  if (pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))
    return PROCESS_DEAD;
  /* It exists, but /proc hides its start time. */
  if (!read_process(pid, &state, &actual))
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? PROCESS_DEAD : PROCESS_UNKNOWN;
  if (started && (actual - started > TOLERANCE_MS || started - actual > TOLERANCE_MS))
    return PROCESS_REUSED;
  if (state == 'Z' || state == 'X' || state == 'x')
    return PROCESS_DEAD;
  if (state == 'T' || state == 't')
    return PROCESS_STOPPED;
  return state == 'D' ? PROCESS_WAITING : PROCESS_ALIVE;
}

void process_protect_memory(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
