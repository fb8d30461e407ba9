/* libc.c: definitions that the linker finds before those of the C library; they make the system calls directly. */
#include "support/libc.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"))) /* shared libraries must use them, too */

static void (*_Atomic fsync_watcher)(int fd);

void libc_watch_fsync(void (*fn)(int fd)) { atomic_store(&fsync_watcher, fn); }

EXPORT int fsync(int fd) {
  void (*watcher)(int) = atomic_load(&fsync_watcher);
  if (watcher)
    watcher(fd);
  return (int)syscall(SYS_fsync, fd);
}

static atomic_long shift;

void libc_shift_time_of_day(long seconds) { atomic_store(&shift, seconds); }

EXPORT int clock_gettime(clockid_t clock_id, struct timespec *tp) {
  int failed = (int)syscall(SYS_clock_gettime, clock_id, tp);
  if (!failed && clock_id == CLOCK_REALTIME)
    tp->tv_sec += atomic_load(&shift);
  return failed;
}
