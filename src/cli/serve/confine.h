/* confine.h: what a server needs of its machine, and the way into a sandbox that leaves it just that. */
#pragma once

#include "cli/context.h"
#include "op/telemetry/telemetry.h"

/* --sandbox, for the doors that have it. */
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
  struct telemetry *telemetry;    /* is told how it ended: health and doctor say it */
  const char *socket;             /* the file of its socket, which goes with it; NULL: none */
  const char *tls_cert, *tls_key; /* are read again when they change; NULL: none */
  bool at_once; /* a client waits: a database server that does not answer soon is not asked what it has configured */
};

/* Gathers what the settings and the store name, and enters the sandbox, unless it is switched off. Before the first
 * thread, and behind all that needs more: sockets that listen, helpers. What is configured later is not known here: it
 * takes a new start. */
NODISCARD enum status confine(const struct confine *c, struct error *err);
