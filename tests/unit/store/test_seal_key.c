/* test_seal_key.c: the store's key for signing client state. */
#include "store/tables/seal_key.h"

#include "fixture.h"

static struct error err;

TEST(all_handles_of_a_store_get_the_same_key) {
  uint8_t first[STATE_KEY_SIZE], again[STATE_KEY_SIZE], other[STATE_KEY_SIZE], elsewhere[STATE_KEY_SIZE];
  struct store *one = fixture_open("one.db"), *two = fixture_open("one.db"), *apart = fixture_open("two.db");
  CHECK_OK(state_key_load(one, first, &err), &err);
  CHECK_OK(state_key_load(one, again, &err), &err);
  CHECK_OK(state_key_load(two, other, &err), &err);
  CHECK_OK(state_key_load(apart, elsewhere, &err), &err);
  CHECK(memcmp(first, again, sizeof(first)) == 0);
  CHECK(memcmp(first, other, sizeof(first)) == 0);
  CHECK(memcmp(first, elsewhere, sizeof(first)) != 0);
  store_close(&one);
  store_close(&two);
  store_close(&apart);
  one = fixture_open("one.db");
  CHECK_OK(state_key_load(one, again, &err), &err);
  CHECK(memcmp(first, again, sizeof(first)) == 0);
  store_close(&one);
}

/* Fail rather than use a guessable key. */
TEST(a_damaged_key_is_not_used) {
  static const char *const values[] = {"", "00ff",
                                       "not hex at all, but as long as a key would be, which is 64 letters."};
  uint8_t key[STATE_KEY_SIZE], before[STATE_KEY_SIZE];
  struct store *st = fixture_open("one.db");
  CHECK_OK(state_key_load(st, before, &err), &err);
  for (size_t i = 0; i < ARRAY_LEN(values); i++) {
    memcpy(key, before, sizeof(key));
    CHECK_OK(store_set_meta(st, "door_key", str_from(values[i]), &err), &err);
    CHECK_STATUS(state_key_load(st, key, &err), STATUS_CORRUPT);
    CHECK(memcmp(key, before, sizeof(key)) == 0);
  }
  store_close(&st);
}
