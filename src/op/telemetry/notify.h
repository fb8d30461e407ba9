/* notify.h: desktop notifications for errors, with notify-send. A helper process starts it, because the sandbox does
 * not let the server start programs. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Forks the helper, which exits with this process or after notify_stop(); call it before threads are started. Returns
 * the descriptor for the other two functions; -1: no desktop, or the fork failed. */
int notify_start(void);
/* Does not block: drops the message if the pipe is full. */
void notify_tell(int helper, const char *tool, const char *message);
void notify_stop(int helper);

/* ---- in the helper ---- */

/* Initialise with zeros. For use by one thread. */
struct notify {
  int64_t last; /* ticks of the last notification; 0: none yet */
  pid_t child;  /* notify-send that may still run; 0: none */
};

/* Shows a notification, unless there is no desktop, the last one was less than a minute ago, or notify-send is still
 * running. The texts must be redacted. Does not block; runs no shell. */
void notify_error(struct notify *n, const char *tool, const char *message, int64_t now_ticks);
