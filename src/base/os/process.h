/* process.h: is a process of this machine still there, and is it still the same one?
 *
 * A pid alone names nobody for long: it is given to another process soon after. A pid with the moment at which the
 * process began does. */
#pragma once

#include "base/arena.h"

enum process_state {
  PROCESS_ALIVE,
  PROCESS_STOPPED,   /* by a signal or a debugger: it is there and does nothing */
  PROCESS_WAITING,   /* in a system call that nothing interrupts: hung, when it lasts */
  PROCESS_DEAD,      /* ended, or a zombie */
  PROCESS_REUSED,    /* the pid belongs to another process now */
  PROCESS_ELSEWHERE, /* of another host, or without a pid: nothing can be said */
};

/* This machine's name in lower case; absent when it has none. */
struct str process_host(struct arena *a);
/* When the process began, ms since 1970, within two seconds; false when there is none, or nothing is known of it. */
bool process_started(int64_t pid, int64_t *ret_started);
/* What has become of the process that `host`, `pid` and `started` (0: unknown) name; `here` is process_host(). */
enum process_state process_look(struct str here, struct str host, int64_t pid, int64_t started);

/* One line of /proc/PID/stat: the letter of the state, and the start in ticks since the machine began. The name in it
 * may be anything, also ") R 1". */
bool process_parse_stat(struct str line, char *ret_state, int64_t *ret_ticks);

/* For a process that holds keys, from now on: it leaves no core dump, and other processes of its user cannot look into
 * its memory. */
void process_conceal(void);
