/* issuer.h: an issuer of access tokens: keys, the set of their public halves, and tokens that they sign.
 *
 * The keys are made when they are first needed, and live as long as the test. */
#pragma once

#include "base/str.h"

enum issuer_key {
  ISSUER_RSA,   /* kid "rsa" */
  ISSUER_EC,    /* kid "ec" */
  ISSUER_ED,    /* kid "ed" */
  ISSUER_WEAK,  /* RSA of 1,024 bits, kid "weak"; in the set, where nobody should use it */
  ISSUER_OTHER, /* on P-256, of somebody else: not in the set */
  ISSUER_KEYS,
};

/* The JSON of the set, and of one key. */
const char *issuer_jwks(void);
const char *issuer_jwk(enum issuer_key key);
/* With the usual head of that key: its algorithm, its kid, at+jwt. */
const char *issuer_token(enum issuer_key key, const char *claims);
/* With any head, signed by that key's algorithm, whatever the head says. */
const char *issuer_sign(enum issuer_key key, const char *head, const char *claims);
/* The same by HMAC-SHA256, with the text of the public RSA key as the secret. */
const char *issuer_sign_hmac(const char *head, const char *claims);
/* base64url without padding. */
const char *issuer_encode(struct str bytes);
