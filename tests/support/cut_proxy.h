/* cut_proxy.h: stands between a client and a server and cuts their connection at a chosen word of the client. */
#pragma once

#include <sys/types.h>

enum cut {
  CUT_BEFORE,  /* the server never sees the word */
  CUT_AFTER,   /* the server has answered it, the client never sees that */
  CUT_FOR_EVER /* as before, and nobody gets through any more */
};

/* Each word cuts once, later connections pass. Ends with the test. Returns the port on this machine. */
int cut_proxy_start(const char *host, const char *port, const char *word, enum cut cut, pid_t *ret_pid);
