/* notify.h: errors on the desktop of whoever runs the server: by notify-send, where there are a desktop and that
 * program. */
#ifndef CAIRN_OP_NOTIFY_H
#define CAIRN_OP_NOTIFY_H

#include <stdint.h>
#include <sys/types.h>

/* Zeroed at first. For one thread. */
struct notify {
  int64_t last; /* ticks of the last one; 0: none yet */
  pid_t child;  /* it may still run; 0: none does */
};

/* Shows it, or does nothing: without a desktop, when the last one is less than a minute ago, or when that one has not
 * ended. The texts are free of secrets already. Waits for nobody, runs no shell. */
void notify_error(struct notify *n, const char *tool, const char *message, int64_t now_ticks);

#endif
