/* test_jwt.c: access tokens signed with real keys, each wrong in one way. */
#include "http/access/jwt.h"

#include "support/cli.h"
#include "support/issuer.h"

enum { MANY = 600 }; /* every 128th r or s starts with a zero byte */

static struct arena a;
static struct jwks keys;

#define ISS "https://id.example"
#define AUD "https://memory.example/mcp"
#define NOW 1772366400 /* 2026-03-01T12:00:00Z */
#define GOOD "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"alice\",\"exp\":1772370000}"

static void load(void) {
  struct error err;
  CHECK_OK(jwks_read(&a, str_from(issuer_jwks()), &keys, &err), &err);
  CHECK_INT(keys.n, 3); /* not the weak key */
}

static yyjson_val *verified_at(int64_t seconds, const char *token) {
  struct jwt_rules rules = {.issuer = STR(ISS), .audience = STR(AUD), .now = seconds * 1000};
  return jwt_read(&a, &keys, &rules, str_from(token), NULL);
}

static yyjson_val *verified(const char *token) { return verified_at(NOW, token); }

TEST(each_algorithm_is_read) {
  load();
  for (int k = ISSUER_RSA; k <= ISSUER_ED; k++) {
    test_note("key %d", k);
    yyjson_val *claims = verified(issuer_token((enum issuer_key)k, GOOD));
    CHECK(claims);
    CHECK_STR(json_str(claims, "sub"), "alice");
  }
}

TEST(es256_numbers_may_start_with_zeros) {
  load();
  for (int i = 0; i < MANY; i++) {
    test_note("token %d", i);
    CHECK(verified(issuer_token(ISSUER_EC, GOOD)));
  }
}

TEST(invalid_headers_are_refused) {
  static const char *const heads[] = {
      "{\"alg\":\"none\",\"kid\":\"ec\"}",
      "{\"alg\":\"NONE\",\"kid\":\"ec\"}",
      "{\"alg\":\"HS256\",\"kid\":\"ec\"}",
      "{\"alg\":\"RS256\",\"kid\":\"ec\"}",
      "{\"alg\":\"ES384\",\"kid\":\"ec\"}",
      "{\"alg\":\"es256\",\"kid\":\"ec\"}",
      "{\"kid\":\"ec\"}",
      "{\"alg\":\"ES256\"}",
      "{\"alg\":\"ES256\",\"kid\":\"\"}",
      "{\"alg\":\"ES256\",\"kid\":\"another\"}",
      "{\"alg\":\"ES256\",\"kid\":7}",
      "{\"alg\":\"ES256\",\"kid\":\"ec\",\"typ\":\"logout+jwt\"}",
      "{\"alg\":\"ES256\",\"kid\":\"ec\",\"typ\":\"dpop+jwt\"}",
      "{\"alg\":\"ES256\",\"kid\":\"ec\",\"typ\":7}",
      "{\"alg\":\"ES256\",\"kid\":\"ec\",\"crit\":[\"exp\"]}",
      "{\"alg\":\"ES256\",\"kid\":\"ec\",\"crit\":[]}",
      "{\"alg\":\"ES256\",\"alg\":\"ES256\",\"kid\":\"ec\"}",
      "{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"ec\"}",
      "{\"alg\":\"ES256\",\"kid\":\"ec\",\"k\\u0069d\":\"ec\"}",
      "[]",
      "{\"alg\":\"ES256\",\"kid\":\"ec\"} x",
  };
  load();
  CHECK(verified(issuer_sign(ISSUER_EC, "{\"alg\":\"ES256\",\"kid\":\"ec\"}", GOOD)));
  CHECK(verified(issuer_sign(ISSUER_EC, "{\"alg\":\"ES256\",\"kid\":\"ec\",\"typ\":\"JWT\"}", GOOD)));
  for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
    test_note("%s", heads[i]);
    CHECK(!verified(issuer_sign(ISSUER_EC, heads[i], GOOD)));
  }
}

TEST(invalid_claims_are_refused) {
  static const char *const claims[] = {
      "{\"iss\":\"https://id.evil\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "/\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1772370000}",
      "{\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":\"https://other.example/mcp\",\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":[\"https://other.example/mcp\"],\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":[],\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":{\"" AUD "\":1},\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"sub\":\"a\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\"}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":\"1772370000\"}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":null}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1e300}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1772370000,\"nbf\":\"now\"}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1772370000,\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"sub\":\"b\",\"exp\":1772370000}",
      "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"sub\":\"a\",\"exp\":1772370000,\"cnf\":{\"jkt\":\"x\"}}",
      "\"" ISS "\"",
      "{}",
  };
  load();
  CHECK(verified(issuer_token(ISSUER_EC, "{\"iss\":\"" ISS "\",\"aud\":[\"x\",\"" AUD "\"],\"exp\":1772370000}")));
  for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
    test_note("%s", claims[i]);
    CHECK(!verified(issuer_token(ISSUER_EC, claims[i])));
  }
}

TEST(tokens_expire_with_a_minute_of_leeway) {
  load();
  const char *token =
      issuer_token(ISSUER_ED, "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"nbf\":1772366400,\"exp\":1772370000}");
  CHECK(!verified_at(1772366400 - 61, token));
  CHECK(verified_at(1772366400 - 60, token));
  CHECK(verified_at(1772370000 + 59, token));
  CHECK(!verified_at(1772370000 + 60, token));
}

TEST(another_key_is_refused) {
  load();
  CHECK(!verified(issuer_token(ISSUER_OTHER, GOOD)));
  CHECK(!verified(issuer_token(ISSUER_WEAK, GOOD)));
  CHECK(!verified(issuer_sign_hmac("{\"alg\":\"HS256\",\"kid\":\"rsa\"}", GOOD)));
  CHECK(!verified(issuer_sign_hmac("{\"alg\":\"RS256\",\"kid\":\"rsa\"}", GOOD)));
  /* A key in the token's own header is not trusted. */
  CHECK(!verified(issuer_sign(ISSUER_OTHER,
                              textf("{\"alg\":\"ES256\",\"kid\":\"x\",\"jwk\":%s}", issuer_jwk(ISSUER_OTHER)), GOOD)));
}

/* Changing any byte makes the token invalid. */
TEST(a_changed_token_is_refused) {
  load();
  for (int k = ISSUER_RSA; k <= ISSUER_ED; k++) {
    const char *token = issuer_token((enum issuer_key)k, GOOD);
    size_t n = strlen(token);
    char *changed = arena_cstr(&a, str_from(token));
    for (size_t i = 0; i < n; i++) {
      test_note("key %d, byte %zu", k, i);
      changed[i] = token[i] == 'A' ? 'B' : 'A';
      CHECK(!verified(changed));
      changed[i] = token[i];
    }
    CHECK(verified(changed));
  }
}

TEST(malformed_jwts_are_refused) {
  load();
  const char *token = issuer_token(ISSUER_EC, GOOD);
  const char *body = strchr(token, '.') + 1, *sign = strchr(body, '.') + 1;
  const char *const bad[] = {"",
                             ".",
                             "..",
                             "...",
                             "a.b.c",
                             "null",
                             textf("%s.", token),
                             textf(".%s", token),
                             textf("%s.x", token),
                             textf("%s=", token),
                             textf("%s\n", token),
                             textf(" %s", token),
                             textf("%.*s", (int)(sign - token), token),
                             textf("%.*s", (int)(sign - token - 1), token),
                             textf("%.*s%s", (int)(body - token), token, sign),
                             textf("%.*s", (int)strlen(token) - 2, token),
                             textf("%sAA", token)};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    CHECK(!verified(bad[i]));
  }
}

/* ---- keys ---- */

static size_t count_keys(const char *json) {
  struct jwks found = {0};
  struct error err;
  enum status s = jwks_read(&a, str_from(json), &found, &err);
  if (s == STATUS_OK)
    return found.n;
  CHECK_INT(s, STATUS_USAGE);
  CHECK(err.fix[0]);
  return 0;
}

TEST(unusable_keys_are_skipped) {
  const char *good = issuer_jwk(ISSUER_ED);
  static const char *const others[] = {
      "{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\"}",
      "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"a\",\"x\":\"AAAA\",\"y\":\"AAAA\"}", /* not on the curve */
      "{\"kty\":\"EC\",\"crv\":\"P-384\",\"kid\":\"a\",\"x\":\"AAAA\",\"y\":\"AAAA\"}",
      "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"x\":\"AAAA\"}",
      "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"kid\":\"a\",\"x\":\"AAAA\"}",
      "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
      "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"!\",\"e\":\"AQAB\"}",
      "{\"kid\":\"a\"}",
      "7",
      "null",
  };
  CHECK_INT(count_keys(textf("{\"keys\":[%s]}", good)), 1);
  for (size_t i = 0; i < ARRAY_LEN(others); i++) {
    test_note("%s", others[i]);
    CHECK_INT(count_keys(textf("{\"keys\":[%s]}", others[i])), 0);
    CHECK_INT(count_keys(textf("{\"keys\":[%s,%s]}", others[i], good)), 1);
  }
  CHECK_INT(count_keys(textf("{\"keys\":[%s]}", issuer_jwk(ISSUER_WEAK))), 0);
}

TEST(keys_for_other_uses_are_skipped) {
  const char *key = issuer_jwk(ISSUER_ED); /* has neither use nor alg */
  const char *inner = textf("%.*s", (int)strlen(key) - 1, key);
  CHECK_INT(count_keys(textf("{\"keys\":[%s,\"use\":\"sig\",\"alg\":\"EdDSA\"}]}", inner)), 1);
  CHECK_INT(count_keys(textf("{\"keys\":[%s,\"use\":\"enc\"}]}", inner)), 0);
  CHECK_INT(count_keys(textf("{\"keys\":[%s,\"alg\":\"ES256\"}]}", inner)), 0);
  CHECK_INT(count_keys(textf("{\"keys\":[%s,\"kid\":\"ed\"}]}", inner)), 0); /* duplicate member */
}

TEST(invalid_key_sets_are_refused) {
  static const char *const sets[] = {"", "{}", "[]", "{\"keys\":{}}", "{\"keys\":[]}", "{\"keys\":[]} x", "\xff"};
  for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
    test_note("%s", sets[i]);
    CHECK_INT(count_keys(sets[i]), 0);
  }
  CHECK_INT(count_keys(textf("{\"keys\":[%s,%s]}", issuer_jwk(ISSUER_EC), issuer_jwk(ISSUER_OTHER))), 0);
}
