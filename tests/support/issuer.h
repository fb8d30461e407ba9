/* issuer.h: an issuer of access tokens: keys, the JWK set of their public keys, and signed tokens.
 *
 * The keys are generated on first use and live as long as the test. */
#pragma once

#include "base/str.h"

enum issuer_key {
  ISSUER_RSA,   /* kid "rsa" */
  ISSUER_EC,    /* kid "ec" */
  ISSUER_ED,    /* kid "ed" */
  ISSUER_WEAK,  /* RSA of 1,024 bits, kid "weak"; in the set, but must be rejected */
  ISSUER_OTHER, /* P-256 key of another issuer: not in the set */
  ISSUER_KEYS,
};

/* JSON of the set, and of one key. */
const char *issuer_jwks(void);
const char *issuer_jwk(enum issuer_key key);
/* With the default header of that key: its algorithm, its kid, at+jwt. */
const char *issuer_token(enum issuer_key key, const char *claims);
/* With any header, signed with that key's algorithm even if the header names another. */
const char *issuer_sign(enum issuer_key key, const char *head, const char *claims);
/* Signed by HMAC-SHA256, with the text of the public RSA key as the secret. */
const char *issuer_sign_hmac(const char *head, const char *claims);
/* base64url without padding. */
const char *issuer_encode(struct str bytes);
