/* test_id.c: UUIDs (RFC 9562) and SHA-256 (FIPS 180-4). */
#include "base/id.h"

#include "support/harness.h"

TEST(uuid7_layout) {
  /* RFC 9562, appendix A.6: 0x017F22E279B0 ms is 2022-02-22 14:22:22.00 -05:00. */
  char text[UUID_SIZE];
  for (int i = 0; i < 200; i++) {
    uuid7_new(INT64_C(0x017f22e279b0), text);
    CHECK_INT(strlen(text), 36);
    CHECK(str_starts(str_from(text), STR("017f22e2-79b0-7")));
    CHECK(strchr("89ab", text[19]) != NULL); /* variant 10xx */
    CHECK(uuid_is_valid(str_from(text)));
  }
}

TEST(uuid7_sorts_by_time_and_does_not_repeat) {
  char before[UUID_SIZE], after[UUID_SIZE], twin[UUID_SIZE];
  for (int64_t ms = 1; ms < INT64_C(1) << 47; ms *= 3) {
    uuid7_new(ms, before);
    uuid7_new(ms + 1, after);
    uuid7_new(ms, twin);
    CHECK(strcmp(before, after) < 0);
    CHECK(strcmp(before, twin) != 0);
  }
}

TEST(uuid8_comes_from_the_hash) {
  uint8_t hash[HASH_BYTES];
  for (int i = 0; i < HASH_BYTES; i++)
    hash[i] = (uint8_t)(i * 17);
  char text[UUID_SIZE];
  uuid8_from_hash(hash, text);
  /* 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff with version 8 in 66 and variant 10 in 88. */
  CHECK_STR(str_from(text), "00112233-4455-8677-8899-aabbccddeeff");
  memset(hash, 0xff, sizeof(hash));
  uuid8_from_hash(hash, text);
  CHECK_STR(str_from(text), "ffffffff-ffff-8fff-bfff-ffffffffffff");
  CHECK(uuid_is_valid(str_from(text)));
}

TEST(uuid_text_is_checked) {
  CHECK(uuid_is_valid(STR("00112233-4455-8677-8899-aabbccddeeff")));
  CHECK(!uuid_is_valid(STR("00112233-4455-8677-8899-aabbccddeef")));
  CHECK(!uuid_is_valid(STR("00112233-4455-8677-8899-aabbccddeeff0")));
  CHECK(!uuid_is_valid(STR("00112233-4455-8677-8899-AABBCCDDEEFF")));
  CHECK(!uuid_is_valid(STR("0011223304455-8677-8899-aabbccddeeff")));
  CHECK(!uuid_is_valid(STR("00112233-4455-8677-8899-aabbccddeefg")));
  CHECK(!uuid_is_valid(STR("001122334455-8677-8899-aabb-ccddeeff")));
  CHECK(!uuid_is_valid(STR("")));
  CHECK(!uuid_is_valid(STR_NONE));
}

TEST(sha256_vectors) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
       "u",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char text[HASH_TEXT_SIZE];
    hash_text(str_from(cases[i].text), text);
    CHECK_STR(str_from(text), cases[i].want);
  }
  char none[HASH_TEXT_SIZE];
  hash_text(STR_NONE, none);
  CHECK_STR(str_from(none), cases[0].want);
}

TEST(sha256_of_a_million_a) {
  static char text[1000 * 1000];
  memset(text, 'a', sizeof(text));
  char got[HASH_TEXT_SIZE];
  hash_text((struct str){text, sizeof(text)}, got);
  CHECK_STR(str_from(got), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  uint8_t raw[HASH_BYTES];
  hash_bytes((struct str){text, sizeof(text)}, raw);
  CHECK(raw[0] == 0xcd && raw[1] == 0xc7 && raw[31] == 0xd0);
}
