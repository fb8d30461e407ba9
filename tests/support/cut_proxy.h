/* cut_proxy.h: a proxy that cuts the connection when the client sends a given string. */
#pragma once

#include <sys/types.h>

enum cut {
  CUT_BEFORE,  /* before the server gets the string */
  CUT_AFTER,   /* after the server's answer, which the client does not get */
  CUT_FOR_EVER /* like CUT_BEFORE, and later connections fail, too */
};

/* Each string cuts once; later connections pass. Ends with the test. Returns the local port. */
int cut_proxy_start(const char *host, const char *port, const char *word, enum cut cut, pid_t *ret_pid);
