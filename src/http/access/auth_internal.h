/* auth_internal.h: what auth.c, which decides, and auth_log.c, which writes down, share. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "http/access/auth.h"
#include "http/access/limit.h"

enum auth_result { AUTH_ACCEPTED, AUTH_REFUSED, AUTH_LOCKED, AUTH_LIMITED, AUTH_RESULTS };

struct auth {
  struct auth_options options;
  pthread_mutex_t lock; /* for all tables: none can be driven out by those of another */
  struct limits bearers, addresses;
  struct limits proven; /* access tokens that were right */
  struct limits tries;  /* of others, from addresses that are locked out */
  _Atomic int64_t counts[AUTH_RESULTS];
};

/* Writes down that a token was wrong; `locked`: and that its address has to wait now. Never fails a call. */
void auth_log_wrong(struct http_call *call, bool locked);
