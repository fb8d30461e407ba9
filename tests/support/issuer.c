/* issuer.c: an issuer of access tokens, based on GnuTLS. */
#include "support/issuer.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <sodium.h>

#include "support/cli.h"

static const struct {
  const char *id, *algorithm;
  gnutls_pk_algorithm_t kind;
  unsigned bits;
  gnutls_sign_algorithm_t sign;
} kinds[ISSUER_KEYS] = {
    [ISSUER_RSA] = {"rsa", "RS256", GNUTLS_PK_RSA, 2048, GNUTLS_SIGN_RSA_SHA256},
    [ISSUER_EC] = {"ec", "ES256", GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                   GNUTLS_SIGN_ECDSA_SHA256},
    [ISSUER_ED] = {"ed", "EdDSA", GNUTLS_PK_EDDSA_ED25519, 256, GNUTLS_SIGN_EDDSA_ED25519},
    [ISSUER_WEAK] = {"weak", "RS256", GNUTLS_PK_RSA, 1024, GNUTLS_SIGN_RSA_SHA256},
    [ISSUER_OTHER] = {"ec", "ES256", GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                      GNUTLS_SIGN_ECDSA_SHA256},
};

static gnutls_privkey_t keys[ISSUER_KEYS];

static gnutls_privkey_t private_key(enum issuer_key k) {
  if (!keys[k]) {
    CHECK_INT(gnutls_privkey_init(&keys[k]), 0);
    CHECK_INT(gnutls_privkey_generate(keys[k], kinds[k].kind, kinds[k].bits, 0), 0);
  }
  return keys[k];
}

static gnutls_pubkey_t public_key(enum issuer_key k) {
  gnutls_pubkey_t key;
  CHECK_INT(gnutls_pubkey_init(&key), 0);
  CHECK_INT(gnutls_pubkey_import_privkey(key, private_key(k), 0, 0), 0);
  return key;
}

static struct str bytes_of(const gnutls_datum_t *d) { return (struct str){(const char *)d->data, d->size}; }

const char *issuer_encode(struct str bytes) {
  static struct arena memory;
  size_t room = sodium_base64_ENCODED_LEN(bytes.n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  return sodium_bin2base64(arena_alloc(&memory, room), room, (const uint8_t *)bytes.p, bytes.n,
                           sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* ---- keys ---- */

const char *issuer_jwk(enum issuer_key k) {
  gnutls_pubkey_t key = public_key(k);
  gnutls_datum_t x = {0}, y = {0};
  gnutls_ecc_curve_t curve;
  const char *text;
  if (kinds[k].kind == GNUTLS_PK_RSA) {
    CHECK_INT(gnutls_pubkey_export_rsa_raw2(key, &x, &y, GNUTLS_EXPORT_FLAG_NO_LZ), 0);
    text = textf("{\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",\"kid\":\"%s\",\"n\":\"%s\",\"e\":\"%s\"}",
                 kinds[k].id, issuer_encode(bytes_of(&x)), issuer_encode(bytes_of(&y)));
  } else {
    CHECK_INT(gnutls_pubkey_export_ecc_raw2(key, &curve, &x, &y, 0), 0);
    bool ed = kinds[k].kind == GNUTLS_PK_EDDSA_ED25519;
    text = textf("{\"kty\":\"%s\",\"crv\":\"%s\",\"kid\":\"%s\",\"x\":\"%s\"%s}", ed ? "OKP" : "EC",
                 ed ? "Ed25519" : "P-256", kinds[k].id, issuer_encode(bytes_of(&x)),
                 ed ? "" : textf(",\"y\":\"%s\"", issuer_encode(bytes_of(&y))));
  }
  gnutls_free(x.data);
  gnutls_free(y.data);
  gnutls_pubkey_deinit(key);
  return text;
}

const char *issuer_jwks(void) {
  return textf("{\"keys\":[%s,%s,%s,%s]}", issuer_jwk(ISSUER_RSA), issuer_jwk(ISSUER_EC), issuer_jwk(ISSUER_ED),
               issuer_jwk(ISSUER_WEAK));
}

/* ---- tokens ---- */

/* Pads a number to 32 bytes with leading zeros. */
static void put_half(const gnutls_datum_t *number, uint8_t out[32]) {
  size_t skip = number->size > 32 ? number->size - 32 : 0, n = number->size - skip;
  memset(out, 0, 32);
  memcpy(out + 32 - n, number->data + skip, n);
}

static const char *encode_signature(enum issuer_key k, const gnutls_datum_t *signature) {
  gnutls_datum_t r, s;
  uint8_t both[64];
  if (kinds[k].kind != GNUTLS_PK_ECDSA)
    return issuer_encode(bytes_of(signature));
  CHECK_INT(gnutls_decode_rs_value(signature, &r, &s), 0);
  put_half(&r, both);
  put_half(&s, both + 32);
  gnutls_free(r.data);
  gnutls_free(s.data);
  return issuer_encode((struct str){(const char *)both, sizeof(both)});
}

static const char *text_to_sign(const char *head, const char *claims) {
  return textf("%s.%s", issuer_encode(str_from(head)), issuer_encode(str_from(claims)));
}

const char *issuer_sign(enum issuer_key k, const char *head, const char *claims) {
  const char *text = text_to_sign(head, claims);
  gnutls_datum_t data = {(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)}, signature;
  CHECK_INT(gnutls_privkey_sign_data2(private_key(k), kinds[k].sign, 0, &data, &signature), 0);
  const char *token = textf("%s.%s", text, encode_signature(k, &signature));
  gnutls_free(signature.data);
  return token;
}

const char *issuer_token(enum issuer_key k, const char *claims) {
  const char *head = textf("{\"alg\":\"%s\",\"typ\":\"at+jwt\",\"kid\":\"%s\"}", kinds[k].algorithm, kinds[k].id);
  return issuer_sign(k, head, claims);
}

const char *issuer_sign_hmac(const char *head, const char *claims) {
  const char *text = text_to_sign(head, claims);
  gnutls_pubkey_t key = public_key(ISSUER_RSA);
  gnutls_datum_t pem;
  uint8_t mac[crypto_auth_hmacsha256_BYTES];
  crypto_auth_hmacsha256_state state;
  CHECK_INT(gnutls_pubkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
  crypto_auth_hmacsha256_init(&state, pem.data, pem.size);
  crypto_auth_hmacsha256_update(&state, (const uint8_t *)text, strlen(text));
  crypto_auth_hmacsha256_final(&state, mac);
  gnutls_free(pem.data);
  gnutls_pubkey_deinit(key);
  return textf("%s.%s", text, issuer_encode((struct str){(const char *)mac, sizeof(mac)}));
}
