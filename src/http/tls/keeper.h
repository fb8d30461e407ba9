/* keeper.h: the certificate that new connections get. Its files are read again when they change, so that a renewed
 * one needs no new start; connections that are open go on with the one that they began with. */
#pragma once

#include "base/error.h"

struct tls_keeper;
struct tls_pair; /* a certificate and its key */

/* The paths must outlive it. */
NODISCARD enum status tls_keeper_new(const char *certificate, const char *key, struct tls_keeper **ret_keeper,
                                     struct error *err);
/* When no connection is left. */
void tls_keeper_free(struct tls_keeper **keeper);

/* For a connection that begins, before its handshake: what it gets, until it is given back. `session` is GnuTLS's.
 * NULL: the session stays as it is. */
struct tls_pair *tls_keeper_lend(struct tls_keeper *k, void *session);
void tls_keeper_take_back(struct tls_keeper *k, struct tls_pair *pair);

/* Looks at the files, from one thread at a time; now and then. A pair that cannot be used changes nothing, and is told
 * of (`err`) once, when it is still there at the next look: those who replace two files do so one after the other. */
enum tls_news { TLS_NO_NEWS, TLS_RENEWED, TLS_BROKEN };
enum tls_news tls_keeper_look(struct tls_keeper *k, struct error *err);
