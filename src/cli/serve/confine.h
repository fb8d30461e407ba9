/* confine.h: collects the resources that a server needs, and enters a sandbox that permits only those. */
#pragma once

#include "cli/context.h"
#include "op/telemetry/telemetry.h"

/* --sandbox, for the commands that support it. */
extern const char *const sandbox_modes[];
#define SANDBOX_PARAM                                                                                                  \
  {"sandbox",                                                                                                          \
   PARAM_TEXT,                                                                                                         \
   0,                                                                                                                  \
   NULL,                                                                                                               \
   NULL,                                                                                                               \
   sandbox_modes,                                                                                                      \
   "block access to other files, network and programs (default: the setting sandbox, else on)"}

struct confine {
  struct arena *a;
  const struct cli_args *args;
  const struct context *context;
  struct telemetry *telemetry;    /* records the result, for health and doctor */
  const char *socket;             /* socket file, which is removed at shutdown; NULL: none */
  const char *tls_cert, *tls_key; /* reread when they change; NULL: none */
  bool at_once;                   /* a client is waiting: do not wait long for a database server to read its settings */
};

/* Collects the paths in settings and store, and enters the sandbox unless it is disabled. Call it before the first
 * thread starts, and after everything that needs more rights, such as opening sockets. Later changes of the
 * configuration need a restart. */
NODISCARD enum status confine(const struct confine *c, struct error *err);
