/* tls.h: certificate and key of the server, validated before it listens. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* PEM, NUL-terminated; NULL: no TLS */
struct tls {
  char *certificate, *key;
};

struct gnutls_certificate_credentials_st; /* from GnuTLS */

/* Reads both files. They must match, and the key must be readable only by its owner and at most a group. */
NODISCARD enum status tls_load(struct arena *a, const char *certificate, const char *key, struct tls *ret_tls,
                               struct error *err);
/* Also returns the GnuTLS credentials. */
NODISCARD enum status tls_read(struct arena *a, const char *certificate, const char *key, struct tls *ret_tls,
                               struct gnutls_certificate_credentials_st **ret_credentials, struct error *err);
/* Wipes the key. Call it after the server has copied it, or on failure. */
void tls_forget(struct tls *tls);
