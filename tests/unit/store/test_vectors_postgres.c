/* test_vectors_postgres.c: wire formats of vectors in PostgreSQL. */
#include "store/vectors/postgres.h"
#include "support/harness.h"

TEST(components_are_written_as_decimal_numbers) {
  static const int8_t v[] = {0, 1, -1, 9, 10, -10, 99, 100, 127, -127, -128};
  char text[HALFVEC_TEXT];
  CHECK_STR(halfvec_write(v, 11, text), "[0,1,-1,9,10,-10,99,100,127,-127,-128]");
  CHECK_STR(halfvec_write(v, 1, text), "[0]");
}

/* IEEE 754 half floats, most significant byte first, after the number of dimensions and two unused bytes. */
TEST(half_floats_are_read_as_int8) {
  int8_t v[6];
  static const char six[] = "\0\6\0\0\0\0\x3c\0\xbc\0\x57\xf0\xd8\0\x46\0"; /* 0, 1, -1, 127, -128, 6 */
  CHECK(halfvec_read((struct str){six, 16}, 6, v));
  static const int8_t want[] = {0, 1, -1, 127, -128, 6};
  CHECK(memcmp(v, want, 6) == 0);
  CHECK(halfvec_read((struct str){"\0\1\0\0\x80\0", 6}, 1, v)); /* minus zero */
  CHECK_INT(v[0], 0);
}

TEST(invalid_int8_vectors_are_refused) {
  int8_t v[2];
  CHECK(!halfvec_read((struct str){"\0\1\0\0\x38\0", 6}, 1, v));       /* 0.5 */
  CHECK(!halfvec_read((struct str){"\0\1\0\0\x3e\0", 6}, 1, v));       /* 1.5 */
  CHECK(!halfvec_read((struct str){"\0\1\0\0\x58\0", 6}, 1, v));       /* 128 */
  CHECK(!halfvec_read((struct str){"\0\1\0\0\xd8\x08", 6}, 1, v));     /* -129 */
  CHECK(!halfvec_read((struct str){"\0\1\0\0\x7c\0", 6}, 1, v));       /* infinity */
  CHECK(!halfvec_read((struct str){"\0\1\0\0\0\1", 6}, 1, v));         /* smallest number above zero */
  CHECK(!halfvec_read((struct str){"\0\2\0\0\x3c\0", 6}, 1, v));       /* claims two dimensions */
  CHECK(!halfvec_read((struct str){"\0\2\0\0\x3c\0\x3c", 7}, 2, v));   /* truncated */
  CHECK(!halfvec_read((struct str){"\0\1\0\0\x3c\0\x3c\0", 8}, 1, v)); /* too long */
  CHECK(!halfvec_read(STR_NONE, 1, v));
}
