/* test_access_token.c: format of access tokens, and hash of their secret. */
#include "core/secrets/access_token.h"

#include <sodium.h>

#include "support/harness.h"

/* The bytes 0 to 31 in base64url, by RFC 4648. */
#define SECRET "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
#define GOOD "cairn_default.abcdefgh2345." SECRET

static struct arena arena;

static bool is_token(const char *text) {
  struct token_text t;
  return token_parse(str_from(text), &t);
}

TEST(a_token_has_team_id_and_secret) {
  struct token_text t;
  CHECK(token_parse(STR(GOOD), &t));
  CHECK_STR(t.team, "default");
  CHECK_STR(t.id, "abcdefgh2345");
  for (int i = 0; i < TOKEN_SECRET_BYTES; i++)
    CHECK_INT(t.secret[i], i);
  CHECK_STR(token_write(&arena, &t), GOOD);
  CHECK(is_token("cairn_a.zzzzzzzzzzzz.__________________________________________8"));
  CHECK(is_token("cairn_team_1-x.777777777777." SECRET));
}

TEST(malformed_tokens_are_refused) {
  static const char *const wrong[] = {
      "",
      "cairn_",
      "cairn_default",
      "cairn_default.abcdefgh2345",
      "cairn_default.abcdefgh2345.",
      "cairn_default.abcdefgh234." SECRET,   /* an id of 11 characters */
      "cairn_default.abcdefgh23455." SECRET, /* of 13 characters */
      "cairn_default.abcdefgh2341." SECRET,  /* 1 is not in the alphabet */
      "cairn_default.ABCDEFGH2345." SECRET,
      "cairn_.abcdefgh2345." SECRET,
      "cairn_Default.abcdefgh2345." SECRET,
      "cairn_de fault.abcdefgh2345." SECRET,
      "cairn_../x.abcdefgh2345." SECRET,
      "Cairn_default.abcdefgh2345." SECRET,
      "cairn-default.abcdefgh2345." SECRET,
      " " GOOD,
      GOOD " ",
      GOOD "\n",
      GOOD "=",
      GOOD ".",
      GOOD "A",
      "cairn_default.abcdefgh2345.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh",  /* too short */
      "cairn_default.abcdefgh2345.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9", /* nonzero bits after the last byte */
      "cairn_default.abcdefgh2345.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+",
      "cairn_default.abcdefgh2345.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdH h",
      "cairn_default..abcdefgh2345." SECRET,
      "cairn_default.abcdefgh2345.A\277\272\274\300wQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
  };
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    test_note("%s", wrong[i]);
    CHECK(!is_token(wrong[i]));
  }
  char long_team[] = "cairn_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.abcdefgh2345." SECRET;
  CHECK(!is_token(long_team)); /* 65 */
  struct token_text t;
  CHECK(!token_parse(STR_NONE, &t));
  CHECK(!token_parse(STR("cairn_default\0.abcdefgh2345." SECRET), &t));
}

/* From another implementation: python3 -c 'hashlib.blake2b(b"default.abcdefgh2345." + bytes(range(32)),
 * digest_size=32)'
 */
TEST(the_hash_is_blake2b_of_team_id_and_secret) {
  struct token_text t, other;
  uint8_t hash[TOKEN_HASH_BYTES], again[TOKEN_HASH_BYTES];
  char text[2 * TOKEN_HASH_BYTES + 1];
  CHECK(token_parse(STR(GOOD), &t));
  token_hash(&t, hash);
  sodium_bin2hex(text, sizeof(text), hash, sizeof(hash));
  CHECK_STR(str_from(text), "2b88bb9e6ed79332400a07dd58302317bc67502a7ccf7d57566f5c22c2522c3d");
  other = t;
  other.team = STR("other");
  token_hash(&other, again);
  CHECK(!token_hash_equal(hash, again));
  other = t;
  other.id = STR("abcdefgh2346");
  token_hash(&other, again);
  CHECK(!token_hash_equal(hash, again));
  other = t;
  other.secret[31] ^= 1;
  token_hash(&other, again);
  CHECK(!token_hash_equal(hash, again));
  token_hash(&t, again);
  CHECK(token_hash_equal(hash, again));
}

TEST(any_bytes_make_an_id) {
  uint8_t bytes[TOKEN_ID_CHARS];
  char id[TOKEN_ID_CHARS + 1];
  for (int i = 0; i < 256; i++) {
    memset(bytes, i, sizeof(bytes));
    token_id(bytes, id);
    CHECK(token_id_is_valid(str_from(id)));
  }
  memset(bytes, 0, sizeof(bytes));
  token_id(bytes, id);
  CHECK_STR(str_from(id), "aaaaaaaaaaaa");
  memset(bytes, 0xff, sizeof(bytes));
  token_id(bytes, id);
  CHECK_STR(str_from(id), "777777777777");
}
