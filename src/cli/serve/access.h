/* access.h: who may reach `cairn serve`, and how: from its options and settings to what the server needs. */
#pragma once

#include "cli/context.h"
#include "http/access/auth.h"
#include "http/server.h"

struct access {
  bool require_token, behind_proxy;
  bool foreign;      /* other machines reach it */
  bool socket;       /* it has a file instead of an address */
  const char *agent; /* that the process is bound to, so that it takes no tokens; NULL: none */
  struct oauth *oauth;
  const char *issuer;
  const char *tls_cert, *tls_key; /* their files; NULL: no TLS */
};

/* What the command line says of host, names and TLS; no store is needed for it. */
NODISCARD enum status access_options(struct arena *a, const struct cli_args *args, struct access *access,
                                     struct http_options *options, struct error *err);
/* The rest, by the settings and tokens of the store that is open now; sets shared.auth. */
NODISCARD enum status access_open(struct arena *a, const struct context *context, struct access *access,
                                  struct http_options *options, struct error *err);
void access_close(struct access *access, struct http_options *options);

/* What the server accepts, in a sentence, and as words for programs. */
struct str access_sentence(struct arena *a, const struct access *access);
struct strs access_words(struct arena *a, const struct access *access);
