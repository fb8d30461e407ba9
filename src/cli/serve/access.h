/* access.h: access to `cairn serve`: from options and settings to the server's configuration. */
#pragma once

#include "cli/context.h"
#include "http/access/auth.h"
#include "http/server.h"

struct access {
  bool require_token, behind_proxy;
  bool foreign;      /* reachable from other machines */
  bool socket;       /* Unix socket instead of an address */
  const char *agent; /* agent that the process is bound to, which disables tokens; NULL: none */
  struct oauth *oauth;
  const char *issuer;
  const char *tls_cert, *tls_key; /* file paths; NULL: no TLS */
};

/* Reads host, names and TLS from the command line; needs no store. */
NODISCARD enum status access_options(struct arena *a, const struct cli_args *args, struct access *access,
                                     struct http_options *options, struct error *err);
/* Reads the rest from settings and tokens of the open store; sets shared.auth. */
NODISCARD enum status access_open(struct arena *a, const struct context *context, struct access *access,
                                  struct http_options *options, struct error *err);
void access_close(struct access *access, struct http_options *options);

/* The address with a name that clients can use: an allowed one if the server listens on all addresses, and without the
 * port, by https, if it is behind a proxy. */
struct str access_base_url(struct arena *a, const struct access *access, const struct http_options *options,
                           struct str address);
/* Accepted credentials: a sentence, and identifiers for programs. */
struct str access_summary(struct arena *a, const struct access *access);
struct strs access_kinds(struct arena *a, const struct access *access);
