/* tls.h: the certificate and the key of the server, judged before it listens. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* PEM texts that end with a NUL; NULL: no TLS. */
struct tls {
  char *certificate, *key;
};

struct gnutls_certificate_credentials_st; /* GnuTLS's */

/* Reads both files. They must belong together, and the key must be nobody's business: readable by its owner, and at
 * most by a group. */
NODISCARD enum status tls_load(struct arena *a, const char *certificate, const char *key, struct tls *ret_tls,
                               struct error *err);
/* The same, and what GnuTLS makes of them. */
NODISCARD enum status tls_read(struct arena *a, const char *certificate, const char *key, struct tls *ret_tls,
                               struct gnutls_certificate_credentials_st **ret_credentials, struct error *err);
/* When the server has taken them, or gives up. */
void tls_forget(struct tls *tls);
