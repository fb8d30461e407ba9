/* keeper.h: the certificate for new connections. Its files are reread when they change, so renewing one needs no
 * restart; open connections keep the certificate they started with. */
#pragma once

#include "base/error.h"

struct tls_keeper;
struct tls_pair; /* a certificate and its key */

/* The paths must outlive it. */
NODISCARD enum status tls_keeper_new(const char *certificate, const char *key, struct tls_keeper **ret_keeper,
                                     struct error *err);
/* Call it after all connections are closed. */
void tls_keeper_free(struct tls_keeper **keeper);

/* Assigns the current certificate to a new GnuTLS `session`, before its handshake, and references it until
 * tls_keeper_release(). NULL: the session is unchanged. */
struct tls_pair *tls_keeper_acquire(struct tls_keeper *k, void *session);
void tls_keeper_release(struct tls_keeper *k, struct tls_pair *pair);

/* Checks the files; call it periodically, from one thread at a time. An invalid pair changes nothing and is reported
 * (`err`) once, if it is still there at the next check: the two files are replaced one after the other. */
enum tls_change { TLS_UNCHANGED, TLS_RENEWED, TLS_BROKEN };
enum tls_change tls_keeper_check(struct tls_keeper *k, struct error *err);
