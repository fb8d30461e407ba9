/* measure.c: samples, their median and spread, and the rows of the report. */
#include "support/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double now_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

double work_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

void samples_add(struct samples *s, double value) {
  if (s->n < SAMPLES_MAX)
    s->v[s->n++] = value;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double samples_at(struct samples *s, double q) {
  if (s->n == 0)
    return 0;
  qsort(s->v, s->n, sizeof(s->v[0]), by_value);
  return s->v[(size_t)(q * (double)(s->n - 1) + 0.5)];
}

static int digits(double value) { return value >= 100 ? 0 : value >= 10 ? 1 : 2; }

void report(const char *name, struct samples *s, const char *unit, const char *target) {
  double low = samples_at(s, 0.1), middle = samples_at(s, 0.5), high = samples_at(s, 0.9);
  printf("  %-52s %9.*f   %8.*f .. %-8.*f  %-4s %s\n", name, digits(middle), middle, digits(low), low, digits(high),
         high, unit, target);
  fflush(stdout);
}

void report_tail(const char *name, struct samples *s, const char *unit, const char *target) {
  double p50 = samples_at(s, 0.5), p95 = samples_at(s, 0.95), p99 = samples_at(s, 0.99);
  printf("  %-52s %9.*f   %8.*f .. %-8.*f  %-4s %s\n", name, digits(p50), p50, digits(p95), p95, digits(p99), p99, unit,
         target);
  fflush(stdout);
}

void report_text(const char *name, const char *fmt, ...) {
  printf("  %-52s ", name);
  va_list ap;
  va_start(ap, fmt);
  vprintf(fmt, ap);
  va_end(ap);
  printf("\n");
  fflush(stdout);
}

double run_command(const char *const *argv, long *ret_kb) {
  struct rusage usage;
  int status;
  double began = now_us();
  pid_t pid = fork();
  if (pid == 0) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, 0);
    dup2(null, 1);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
    fail("cannot run %s", argv[0]);
  double took = (now_us() - began) / 1000;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail("%s %s failed", argv[0], argv[1] && argv[2] && argv[3] ? argv[3] : "");
  if (ret_kb)
    *ret_kb = usage.ru_maxrss;
  return took;
}

void fail(const char *fmt, ...) {
  fprintf(stderr, "bench: ");
  va_list ap;
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fprintf(stderr, "\n");
  exit(1);
}

void remove_store(const char *path) {
  static const char *const parts[] = {"", "-wal", "-shm"};
  char name[4200];
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    snprintf(name, sizeof(name), "%s%s", path, parts[i]);
    if (unlink(name) != 0 && errno != ENOENT)
      fail("cannot remove %s: %s", name, strerror(errno));
  }
}

void copy_store(const char *from, const char *to) {
  static char block[1 << 20];
  remove_store(to);
  int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (in < 0 || out < 0)
    fail("cannot copy %s to %s: %s", from, to, strerror(errno));
  ssize_t n;
  while ((n = read(in, block, sizeof(block))) > 0)
    for (ssize_t done = 0, part; done < n; done += part)
      if ((part = write(out, block + done, (size_t)(n - done))) < 0)
        fail("cannot write %s: %s", to, strerror(errno));
  if (n < 0 || fsync(out) != 0)
    fail("cannot copy %s: %s", from, strerror(errno));
  close(in);
  close(out);
}
