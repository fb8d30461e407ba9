/* notify.h: errors on the desktop of whoever runs the server: by notify-send, where there are a desktop and that
 * program. A helper process starts it, because the server itself gives up that it may start programs. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Starts the helper, which ends with this process or with notify_stop(); before there are threads. Returns what the
 * other two want; -1: there is no desktop, or no helper. */
int notify_start(void);
/* Waits for nobody: what the helper cannot take is lost. */
void notify_tell(int helper, const char *tool, const char *message);
void notify_stop(int helper);

/* ---- the helper's own ---- */

/* Zeroed at first. For one thread. */
struct notify {
  int64_t last; /* ticks of the last one; 0: none yet */
  pid_t child;  /* it may still run; 0: none does */
};

/* Shows it, or does nothing: without a desktop, when the last one is less than a minute ago, or when that one has not
 * ended. The texts are free of secrets already. Waits for nobody, runs no shell. */
void notify_error(struct notify *n, const char *tool, const char *message, int64_t now_ticks);
