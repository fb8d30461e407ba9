/* test_seal.c: a sealed text opens only with its key, team and name. */
#include "store/tables/seal.h"

#include <sodium.h>

#include "support/harness.h"

static struct arena a;

static struct master_key key_of(uint8_t first) {
  uint8_t bytes[MASTER_BYTES];
  struct master_key key;
  CHECK(sodium_init() >= 0);
  for (size_t i = 0; i < sizeof(bytes); i++)
    bytes[i] = (uint8_t)(first + i);
  master_of_bytes(bytes, &key);
  return key;
}

/* Made with another implementation of BLAKE2b and XChaCha20-Poly1305, following seal.h and seal.c. Guards the format:
 * secrets of older versions must stay readable. */
TEST(a_text_sealed_by_another_implementation_can_be_opened) {
  struct master_key key = key_of(0);
  CHECK_STR(str_from(key.id), "7d8af3923ad33eb0");
  static const char hex[] = "016465666768696a6b6c6d6e6f707172737475767778797a7bd1a7cf3f284e83d4de4a7955764f1d0a1a4f11"
                            "183191a3f249cda2204700e4f5765394a85f14e0870af47000";
  uint8_t bytes[sizeof(hex) / 2];
  size_t n;
  CHECK_INT(sodium_hex2bin(bytes, sizeof(bytes), hex, sizeof(hex) - 1, NULL, &n, NULL), 0);
  struct str text;
  CHECK(unseal(&a, &key, STR("acme"), STR("db:password"), (struct str){(const char *)bytes, n}, &text));
  CHECK_STR(text, "correct horse battery staple");
}

TEST(texts_of_all_lengths_round_trip) {
  struct master_key key = key_of(0);
  char text[300];
  memset(text, 'x', sizeof(text));
  for (size_t n = 0; n <= sizeof(text); n++) {
    struct str got, sealed = seal(&a, &key, STR("t"), STR("k"), (struct str){text, n});
    CHECK_INT(sealed.n, n + SEAL_BYTES);
    CHECK(unseal(&a, &key, STR("t"), STR("k"), sealed, &got));
    CHECK(str_eq(got, (struct str){text, n}));
  }
}

TEST(sealing_a_text_twice_gives_different_results) {
  struct master_key key = key_of(0);
  struct str one = seal(&a, &key, STR("t"), STR("k"), STR("same")),
             two = seal(&a, &key, STR("t"), STR("k"), STR("same"));
  CHECK(!str_eq(one, two));
  CHECK(str_find(one, STR("same"), 0) == SIZE_MAX);
}

TEST(it_does_not_open_for_another_key_team_or_name) {
  struct master_key key = key_of(0), other = key_of(1);
  struct str got = STR("untouched"), sealed = seal(&a, &key, STR("team"), STR("name"), STR("text"));
  CHECK(!unseal(&a, &other, STR("team"), STR("name"), sealed, &got));
  CHECK(!unseal(&a, &key, STR("tea"), STR("mname"), sealed, &got));
  CHECK(!unseal(&a, &key, STR("other"), STR("name"), sealed, &got));
  CHECK(!unseal(&a, &key, STR("team"), STR("names"), sealed, &got));
  CHECK(!unseal(&a, &key, STR("team"), STR(""), sealed, &got));
  CHECK_STR(got, "untouched");
}

TEST(a_changed_bit_or_truncation_is_detected) {
  struct master_key key = key_of(0);
  struct str got, sealed = seal(&a, &key, STR("t"), STR("k"), STR("text"));
  for (size_t bit = 0; bit < sealed.n * 8; bit++) {
    char *bytes = arena_cstr(&a, sealed);
    bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    CHECK(!unseal(&a, &key, STR("t"), STR("k"), (struct str){bytes, sealed.n}, &got));
  }
  for (size_t n = 0; n < sealed.n; n++)
    CHECK(!unseal(&a, &key, STR("t"), STR("k"), str_slice(sealed, 0, n), &got));
}

TEST(keys_are_read_as_hex_and_as_base64) {
  struct master_key want = key_of(0), got;
  const char *const same[] = {
      "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
      "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"};
  for (size_t i = 0; i < ARRAY_LEN(same); i++) {
    test_note("%s", same[i]);
    CHECK(master_parse(str_from(same[i]), &got));
    CHECK_STR(str_from(got.id), want.id);
    CHECK(memcmp(got.bytes, want.bytes, MASTER_BYTES) == 0);
  }
  const char *const none[] = {"",
                              "00",
                              "password",
                              "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1",
                              "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g",
                              "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00",
                              "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
                              "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"};
  for (size_t i = 0; i < ARRAY_LEN(none); i++) {
    test_note("%s", none[i]);
    CHECK(!master_parse(str_from(none[i]), &got));
  }
  CHECK(!master_parse(STR_NONE, &got));
}

TEST(a_passphrase_makes_the_same_key_with_the_same_salt) {
  struct stretch how = {.passes = 1, .memory = 8192};
  struct master_key one, two;
  CHECK(sodium_init() >= 0);
  CHECK(master_stretch(STR("some words"), &how, &one) && master_stretch(STR("some words"), &how, &two));
  CHECK_STR(str_from(one.id), two.id);
  CHECK(master_stretch(STR("some wordz"), &how, &two));
  CHECK(strcmp(one.id, two.id) != 0);
  how.salt[15] = 1;
  CHECK(master_stretch(STR("some words"), &how, &two));
  CHECK(strcmp(one.id, two.id) != 0);
}

TEST(excessive_costs_are_refused) {
  struct master_key key;
  struct stretch how = {.passes = 1, .memory = INT64_C(1) << 40};
  CHECK(!master_stretch(STR("x"), &how, &key));
  how = (struct stretch){.passes = 1000000, .memory = 8192};
  CHECK(!master_stretch(STR("x"), &how, &key));
  how = (struct stretch){.passes = -1, .memory = -1};
  CHECK(!master_stretch(STR("x"), &how, &key));
  stretch_new(&how);
  CHECK(how.memory >= 64 << 20 && how.passes >= 3); /* the least that RFC 9106 recommends */
}
