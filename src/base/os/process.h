/* process.h: whether a process is still running. Pids are reused, so a process is identified by pid and start time. */
#pragma once

#include "base/arena.h"

enum process_state {
  PROCESS_ALIVE,
  PROCESS_STOPPED, /* by a signal or a debugger */
  PROCESS_WAITING, /* in uninterruptible sleep; hung if it lasts */
  PROCESS_DEAD,    /* exited, or a zombie */
  PROCESS_REUSED,  /* the pid belongs to another process now */
  PROCESS_UNKNOWN, /* unknown: on another host, without a pid, or hidden from us */
};

/* Host name in lower case; absent if it has none. */
struct str process_host(struct arena *a);
/* Start time in ms since 1970, accurate to two seconds; false if there is no such process or it is hidden. */
bool process_started(int64_t pid, int64_t *ret_started);
/* State of the process with this host, pid and start time (0: unknown). `here` is process_host(). */
enum process_state process_check(struct str here, struct str host, int64_t pid, int64_t started);

/* Parses /proc/PID/stat: the state letter, and the start in clock ticks since boot. The process name in it may be
 * anything, even ") R 1". */
bool process_parse_stat(struct str line, char *ret_state, int64_t *ret_ticks);

/* For a process that holds keys: disables core dumps, and denies other processes of the user access to its memory. */
void process_protect_memory(void);
