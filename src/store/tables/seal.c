/* seal.c: encryption of secrets with libsodium. */
#include "store/tables/seal.h"

#include <assert.h>
#include <sodium.h>

#include "base/buf.h"

_Static_assert(MASTER_BYTES == crypto_generichash_KEYBYTES, "size of the key that derives others");
_Static_assert(MASTER_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "size of derived keys");
_Static_assert(SALT_BYTES == crypto_pwhash_SALTBYTES, "size of the Argon2id salt");

enum {
  FORM = 1, /* first byte of a sealed text: format version */
  NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
  TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
  ID_BYTES = (MASTER_ID_SIZE - 1) / 2,
};
_Static_assert(SEAL_BYTES == 1 + NONCE_BYTES + TAG_BYTES, "form, nonce, tag");

/* ---- keys ---- */

/* Derives a key or id. Hashing the purpose keeps the uses of a master key apart. */
static void derive(const uint8_t bytes[MASTER_BYTES], struct str purpose, struct str of, uint8_t *out, size_t n) {
  assert(n >= crypto_generichash_BYTES_MIN && n <= crypto_generichash_BYTES_MAX);
  crypto_generichash_state st;
  crypto_generichash_init(&st, bytes, MASTER_BYTES, n);
  crypto_generichash_update(&st, (const uint8_t *)purpose.p, purpose.n);
  crypto_generichash_update(&st, (const uint8_t *)of.p, of.n);
  crypto_generichash_final(&st, out, n);
  sodium_memzero(&st, sizeof(st));
}

void master_of_bytes(const uint8_t bytes[MASTER_BYTES], struct master_key *ret_key) {
  uint8_t hash[crypto_generichash_BYTES_MIN];
  memmove(ret_key->bytes, bytes, MASTER_BYTES);
  derive(ret_key->bytes, STR("cairn vault id"), STR(""), hash, sizeof(hash));
  sodium_bin2hex(ret_key->id, MASTER_ID_SIZE, hash, ID_BYTES);
}

void master_random(struct master_key *ret_key) {
  randombytes_buf(ret_key->bytes, MASTER_BYTES);
  master_of_bytes(ret_key->bytes, ret_key);
}

bool master_parse(struct str text, struct master_key *ret_key) {
  uint8_t bytes[MASTER_BYTES];
  size_t n = 0;
  const char *end = NULL;
  text = str_trim(text);
  bool hex = text.n == 2 * MASTER_BYTES;
  int failed = hex ? sodium_hex2bin(bytes, sizeof(bytes), text.p, text.n, NULL, &n, &end)
                   : sodium_base642bin(bytes, sizeof(bytes), text.p ? text.p : "", text.n, NULL, &n, &end,
                                       sodium_base64_VARIANT_ORIGINAL);
  bool ok = failed == 0 && n == MASTER_BYTES && end == text.p + text.n;
  if (ok)
    master_of_bytes(bytes, ret_key);
  sodium_memzero(bytes, sizeof(bytes));
  return ok;
}

void stretch_new(struct stretch *ret_how) {
  randombytes_buf(ret_how->salt, SALT_BYTES);
  ret_how->passes = (int64_t)crypto_pwhash_OPSLIMIT_MODERATE;
  ret_how->memory = (int64_t)crypto_pwhash_MEMLIMIT_MODERATE;
}

bool master_stretch(struct str passphrase, const struct stretch *how, struct master_key *ret_key) {
  uint8_t bytes[MASTER_BYTES];
  /* A tampered store must not make us allocate all memory. */
  bool ok =
      how->passes >= (int64_t)crypto_pwhash_OPSLIMIT_MIN && how->passes <= (int64_t)crypto_pwhash_OPSLIMIT_SENSITIVE &&
      how->memory >= (int64_t)crypto_pwhash_MEMLIMIT_MIN && how->memory <= (int64_t)crypto_pwhash_MEMLIMIT_SENSITIVE &&
      crypto_pwhash(bytes, sizeof(bytes), passphrase.p ? passphrase.p : "", passphrase.n, how->salt,
                    (unsigned long long)how->passes, (size_t)how->memory, crypto_pwhash_ALG_ARGON2ID13) == 0;
  if (ok)
    master_of_bytes(bytes, ret_key);
  sodium_memzero(bytes, sizeof(bytes));
  return ok;
}

/* ---- texts ---- */

/* Associated data: format, key id, team, name. Unambiguous, since the id has a fixed length and a team has no NUL. */
static struct str associated_data(struct arena *a, const struct master_key *key, struct str team, struct str name) {
  struct buf b = BUF(a);
  buf_addc(&b, FORM);
  buf_adds(&b, key->id);
  buf_add(&b, team);
  buf_addc(&b, 0);
  buf_add(&b, name);
  return buf_str(&b);
}

struct str seal(struct arena *a, const struct master_key *key, struct str team, struct str name, struct str text) {
  uint8_t own[MASTER_BYTES], *out = arena_alloc(a, text.n + SEAL_BYTES);
  struct str bound = associated_data(a, key, team, name);
  derive(key->bytes, STR("cairn vault team "), team, own, sizeof(own));
  out[0] = FORM;
  randombytes_buf(out + 1, NONCE_BYTES);
  crypto_aead_xchacha20poly1305_ietf_encrypt(out + 1 + NONCE_BYTES, NULL, (const uint8_t *)text.p, text.n,
                                             (const uint8_t *)bound.p, bound.n, NULL, out + 1, own);
  sodium_memzero(own, sizeof(own));
  return (struct str){(const char *)out, text.n + SEAL_BYTES};
}

bool unseal(struct arena *a, const struct master_key *key, struct str team, struct str name, struct str sealed,
            struct str *ret_text) {
  if (sealed.n < SEAL_BYTES || sealed.p[0] != FORM)
    return false;
  uint8_t own[MASTER_BYTES];
  const uint8_t *in = (const uint8_t *)sealed.p;
  struct str bound = associated_data(a, key, team, name);
  size_t n = sealed.n - SEAL_BYTES;
  char *text = arena_alloc(a, n + 1);
  derive(key->bytes, STR("cairn vault team "), team, own, sizeof(own));
  bool ok = crypto_aead_xchacha20poly1305_ietf_decrypt((uint8_t *)text, NULL, NULL, in + 1 + NONCE_BYTES,
                                                       sealed.n - 1 - NONCE_BYTES, (const uint8_t *)bound.p, bound.n,
                                                       in + 1, own) == 0;
  sodium_memzero(own, sizeof(own));
  text[ok ? n : 0] = 0;
  if (ok)
    *ret_text = (struct str){text, n};
  return ok;
}
