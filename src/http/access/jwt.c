/* jwt.c: verifies keys and signatures with GnuTLS, and claims against rules. */
#include "http/access/jwt.h"

#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <sodium.h>

#include "base/os/clock.h"

#define END_OF_TIME 253402300800.0 /* year 10000 */

enum { RSA_BITS = 2048, ES256_HALF = 32, ED25519_SIZE = 32, MEMBERS_MAX = 100, PARTS = 3 };

/* The key determines the algorithm, not the token. "none" and shared secrets are not supported. */
static const struct algorithm {
  const char *name, *type, *curve;
  gnutls_sign_algorithm_t sign;
} algorithms[] = {
    {"RS256", "RSA", NULL, GNUTLS_SIGN_RSA_SHA256},
    {"ES256", "EC", "P-256", GNUTLS_SIGN_ECDSA_SHA256},
    {"EdDSA", "OKP", "Ed25519", GNUTLS_SIGN_EDDSA_ED25519},
};

struct jwk {
  struct str id;
  const struct algorithm *algorithm;
  gnutls_pubkey_t key;
};

/* ---- parts ---- */

/* Strict base64url without padding: one encoding per value. libsodium accepts some bytes above 127 as letters. */
static bool decode(struct arena *a, struct str text, struct str *ret_bytes) {
  if (str_empty(text) || !str_is_ascii(text))
    return false;
  size_t room = text.n / 4 * 3 + 3, n = 0;
  char *bytes = arena_alloc(a, room);
  const char *end = NULL;
  if (sodium_base642bin((uint8_t *)bytes, room, text.p, text.n, NULL, &n, &end,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      end != text.p + text.n)
    return false;
  assert(n <= room);
  *ret_bytes = (struct str){bytes, n};
  return true;
}

/* Duplicate members are refused: parsers disagree about which one counts. */
static bool is_plain_object(yyjson_val *v) {
  size_t i, n, k, m;
  yyjson_val *key, *value, *other, *ignored;
  if (!yyjson_is_obj(v) || yyjson_obj_size(v) > MEMBERS_MAX)
    return false;
  yyjson_obj_foreach(v, i, n, key, value) {
    yyjson_obj_foreach(v, k, m, other, ignored) {
      if (k < i && str_eq(json_val_str(key), json_val_str(other)))
        return false;
    }
  }
  return true;
}

static yyjson_val *read_object(struct arena *a, struct str text) {
  struct error ignored;
  yyjson_val *v;
  return json_read(a, text, &v, &ignored) == STATUS_OK && is_plain_object(v) ? v : NULL;
}

static gnutls_datum_t datum(struct str s) {
  return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)s.p, .size = (unsigned)s.n};
}

/* ---- keys ---- */

static void free_key(void *key) { gnutls_pubkey_deinit(key); }

static bool import_key(struct arena *a, yyjson_val *v, const struct algorithm *algorithm, gnutls_pubkey_t key) {
  struct str x, y;
  unsigned bits = 0;
  if (strcmp(algorithm->type, "RSA") == 0) {
    if (!decode(a, json_str(v, "n"), &x) || !decode(a, json_str(v, "e"), &y))
      return false;
    gnutls_datum_t modulus = datum(x), exponent = datum(y);
    return gnutls_pubkey_import_rsa_raw(key, &modulus, &exponent) == 0 &&
           gnutls_pubkey_get_pk_algorithm(key, &bits) == GNUTLS_PK_RSA && bits >= RSA_BITS;
  }
  if (!decode(a, json_str(v, "x"), &x))
    return false;
  gnutls_datum_t first = datum(x);
  if (strcmp(algorithm->type, "OKP") == 0)
    return x.n == ED25519_SIZE && gnutls_pubkey_import_ecc_raw(key, GNUTLS_ECC_CURVE_ED25519, &first, NULL) == 0;
  assert(strcmp(algorithm->type, "EC") == 0);
  if (!decode(a, json_str(v, "y"), &y))
    return false;
  gnutls_datum_t second = datum(y);
  return gnutls_pubkey_import_ecc_raw(key, GNUTLS_ECC_CURVE_SECP256R1, &first, &second) == 0;
}

/* The algorithm for the key's type and curve; NULL if "use" or "alg" says otherwise. */
static const struct algorithm *algorithm_of(yyjson_val *v) {
  struct str use = json_str(v, "use"), named = json_str(v, "alg");
  for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
    const struct algorithm *g = &algorithms[i];
    if (str_is(json_str(v, "kty"), g->type) && (!g->curve || str_is(json_str(v, "crv"), g->curve)))
      return (!use.p || str_is(use, "sig")) && (!named.p || str_is(named, g->name)) ? g : NULL;
  }
  return NULL;
}

static bool read_key(struct arena *a, yyjson_val *v, struct jwk *ret_key) {
  struct jwk k = {.id = json_str(v, "kid"), .algorithm = is_plain_object(v) ? algorithm_of(v) : NULL};
  if (!k.algorithm || str_empty(k.id) || gnutls_pubkey_init(&k.key) != 0)
    return false;
  arena_defer(a, free_key, k.key);
  if (!import_key(a, v, k.algorithm, k.key))
    return false;
  *ret_key = k;
  return true;
}

static const struct jwk *find_key(const struct jwks *keys, struct str id, struct str algorithm) {
  for (size_t i = 0; i < keys->n; i++)
    if (str_eq(keys->v[i].id, id) && str_is(algorithm, keys->v[i].algorithm->name))
      return &keys->v[i];
  return NULL;
}

enum status jwks_read(struct arena *a, struct str json, struct jwks *ret_keys, struct error *err) {
  yyjson_val *root = read_object(a, json), *list = yyjson_obj_get(root, "keys"), *v;
  struct jwks keys = {.v = arena_array(a, struct jwk, JWKS_MAX)};
  size_t i, n;
  if (!yyjson_is_arr(list) || yyjson_arr_size(list) > JWKS_MAX) {
    error_set(err, STATUS_USAGE, "not a key set: expected a JSON object with \"keys\", at most %d", (int)JWKS_MAX);
    return error_fix(err, "save the document at the issuer's jwks_uri");
  }
  yyjson_arr_foreach(list, i, n, v) {
    struct jwk k;
    if (!read_key(a, v, &k))
      continue;
    if (find_key(&keys, k.id, str_from(k.algorithm->name))) {
      error_set(err, STATUS_USAGE, "two keys in the set have the kid '%.*s'", STR_ARG(k.id));
      return error_fix(err, "remove the key that the issuer does not use");
    }
    assert(keys.n < JWKS_MAX);
    keys.v[keys.n++] = k;
  }
  if (keys.n == 0) {
    error_set(err, STATUS_USAGE, "the set has no usable key");
    return error_fix(err, "a key needs a kid and the type RSA (at least 2,048 bits), EC on P-256 or OKP on Ed25519");
  }
  assert(keys.n <= yyjson_arr_size(list));
  *ret_keys = keys;
  return STATUS_OK;
}

/* ---- signatures ---- */

/* JWS stores r and s concatenated; GnuTLS wants DER. */
static bool verify_es256(const struct jwk *k, gnutls_datum_t text, struct str signature) {
  assert(signature.n == 2 * (size_t)ES256_HALF);
  gnutls_datum_t r = datum(str_slice(signature, 0, ES256_HALF)), s, both = {0};
  s = datum(str_slice(signature, ES256_HALF, signature.n));
  if (gnutls_encode_rs_value(&both, &r, &s) != 0)
    return false;
  int result = gnutls_pubkey_verify_data2(k->key, k->algorithm->sign, 0, &text, &both);
  gnutls_free(both.data);
  return result >= 0;
}

static bool verify(const struct jwk *k, struct str text, struct str signature) {
  if (k->algorithm->sign == GNUTLS_SIGN_ECDSA_SHA256)
    return signature.n == 2 * (size_t)ES256_HALF && verify_es256(k, datum(text), signature);
  gnutls_datum_t data = datum(text), sign = datum(signature);
  return gnutls_pubkey_verify_data2(k->key, k->algorithm->sign, 0, &data, &sign) >= 0;
}

/* ---- rules ---- */

/* "typ" is optional, but must say access token if present. */
static bool type_fits(yyjson_val *head) {
  static const struct str types[] = {STR_INIT("at+jwt"), STR_INIT("application/at+jwt"), STR_INIT("JWT")};
  yyjson_val *type = yyjson_obj_get(head, "typ");
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (str_ieq(json_val_str(type), types[i]))
      return true;
  return !type;
}

static bool audience_fits(yyjson_val *audience, struct str wanted) {
  size_t i, n;
  yyjson_val *one;
  yyjson_arr_foreach(audience, i, n, one) {
    if (str_eq(json_val_str(one), wanted))
      return true;
  }
  return yyjson_is_str(audience) && str_eq(json_val_str(audience), wanted);
}

/* "exp" is required, and must be a number before the year 10000. */
static const char *time_fault(yyjson_val *claims, int64_t now) {
  yyjson_val *end = yyjson_obj_get(claims, "exp"), *begin = yyjson_obj_get(claims, "nbf");
  double seconds = (double)now / MS_PER_SECOND, leeway = (double)JWT_LEEWAY;
  if (!yyjson_is_num(end) || !(yyjson_get_num(end) < END_OF_TIME))
    return "it has no valid expiry (exp)";
  if (!(yyjson_get_num(end) + leeway > seconds))
    return "it has expired (exp)";
  if (begin && !(yyjson_is_num(begin) && yyjson_get_num(begin) - leeway <= seconds))
    return "it is not valid yet (nbf)";
  return NULL;
}

/* "crit" names extensions that must be understood; we support none. */
static const char *head_fault(yyjson_val *head) {
  return !head                          ? "its header is malformed"
         : !type_fits(head)             ? "it is not an access token (typ)"
         : yyjson_obj_get(head, "crit") ? "it requires an extension (crit)"
                                        : NULL;
}

/* "cnf" binds a token to a key that the client must prove; we do not support that. */
static const char *claims_fault(yyjson_val *claims, const struct jwt_rules *rules) {
  if (!claims)
    return "its claims are malformed";
  if (!str_eq(json_str(claims, "iss"), rules->issuer))
    return "it is of another issuer (iss)";
  const char *why = time_fault(claims, rules->now);
  if (why)
    return why;
  return !audience_fits(yyjson_obj_get(claims, "aud"), rules->audience) ? "it is for another audience (aud)"
         : yyjson_obj_get(claims, "cnf")                                ? "it is bound to a key of its client (cnf)"
                                                                        : NULL;
}

static bool split(struct str token, struct str ret_parts[PARTS]) {
  struct str rest = token;
  size_t n = 0;
  for (struct str part; str_next(&rest, '.', &part); n++) {
    if (n == PARTS || str_empty(part))
      return false;
    ret_parts[n] = part;
  }
  return n == PARTS && token.p[token.n - 1] != '.';
}

/* Claims are read only after the signature was verified. */
static const char *read_claims(struct arena *a, const struct jwks *keys, struct str token, yyjson_val **ret_claims) {
  struct str part[PARTS], head_text, claims_text, signature;
  if (!split(token, part) || !decode(a, part[0], &head_text) || !decode(a, part[2], &signature))
    return "it is not a signed token";
  yyjson_val *head = read_object(a, head_text);
  const char *why = head_fault(head);
  if (why)
    return why;
  const struct jwk *key = find_key(keys, json_str(head, "kid"), json_str(head, "alg"));
  if (!key)
    return "the issuer has no such key for this algorithm (kid, alg)";
  if (!verify(key, (struct str){token.p, part[0].n + 1 + part[1].n}, signature))
    return "its signature is wrong";
  *ret_claims = decode(a, part[1], &claims_text) ? read_object(a, claims_text) : NULL;
  return NULL;
}

yyjson_val *jwt_read(struct arena *a, const struct jwks *keys, const struct jwt_rules *rules, struct str token,
                     const char **ret_why) {
  yyjson_val *claims = NULL;
  const char *why = read_claims(a, keys, token, &claims);
  if (!why)
    why = claims_fault(claims, rules);
  if (ret_why)
    *ret_why = why;
  return why ? NULL : claims;
}
