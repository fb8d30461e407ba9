/* libc.c: definitions that the linker finds before those of the C library; the system is called directly. */
#include "support/libc.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"))) /* shared libraries call them, too */

static void (*_Atomic fsync_watcher)(int fd);

void libc_watch_fsync(void (*fn)(int fd)) { atomic_store(&fsync_watcher, fn); }

EXPORT int fsync(int fd) {
  void (*watcher)(int) = atomic_load(&fsync_watcher);
  if (watcher)
    watcher(fd);
  return (int)syscall(SYS_fsync, fd);
}
