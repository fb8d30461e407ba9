/* test_safetensors.c: the safetensors parser on generated files, valid and damaged. */
#include "embed/convert/safetensors.h"

#include <math.h>

#include "support/harness.h"
#include "support/tiny_model.h"

static struct arena a;

static struct str file(const char *header, struct str data) { return tensor_raw(&a, str_from(header), data); }

/* A copy that ends with its allocation, so a sanitizer detects reads after the end. */
static struct str tight(struct str s) {
  char *p = arena_alloc(&a, s.n);
  memcpy(p, s.p, s.n);
  return (struct str){p, s.n};
}

TEST(tensors_are_found_by_name) {
  struct safetensors list;
  struct error err = {0};
  struct str s = file("{\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[4,12]},"
                      "\"__metadata__\":{\"format\":\"pt\"},"
                      "\"a\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[0,4]}}   ",
                      STR("\1\0\0\0\0\0\x80\x3f\0\0\0\xc0"));
  CHECK_OK(safetensors_parse(&a, s, &list, &err), &err);
  CHECK_INT(list.n, 2);
  const struct safetensor *b = safetensors_find(&list, STR("b"));
  CHECK(b && b->dims == 2 && b->shape[0] == 2 && b->shape[1] == 1 && b->count == 2);
  CHECK_STR(safetensor_shape(&a, b), "[2, 1]");
  const float *v;
  CHECK_OK(safetensor_floats(&a, b, &v, &err), &err);
  CHECK(v[0] == 1.0F && v[1] == -2.0F);
  const struct safetensor *scalar = safetensors_find(&list, STR("a"));
  CHECK(scalar && scalar->dims == 0 && scalar->count == 1);
  CHECK_STATUS(safetensor_floats(&a, scalar, &v, &err), STATUS_USAGE);
  CHECK(strstr(err.message, "'a'") && strstr(err.message, "I32"));
  CHECK(!safetensors_find(&list, STR("c")) && !safetensors_find(&list, STR("")));
}

/* Bit patterns from the tables of the standard. */
TEST(half_precision) {
  static const struct {
    const char *bytes;
    float value;
  } known[] = {
      {"\x00\x3c", 1.0F},     {"\x00\xc0", -2.0F},        {"\xff\x7b", 65504.0F},        {"\x00\x04", 0x1p-14F},
      {"\x01\x00", 0x1p-24F}, {"\xff\x03", 0x1.ff8p-15F}, {"\x55\x35", 0.333251953125F}, {"\x00\x80", -0.0F},
      {"\x00\x7c", INFINITY}, {"\x00\xfc", -INFINITY}};
  struct error err = {0};
  for (size_t i = 0; i < ARRAY_LEN(known); i++) {
    struct safetensors list;
    const float *v;
    struct str s =
        file("{\"x\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}}", (struct str){known[i].bytes, 2});
    CHECK_OK(safetensors_parse(&a, s, &list, &err), &err);
    CHECK_OK(safetensor_floats(&a, &list.v[0], &v, &err), &err);
    CHECK(v[0] == known[i].value && signbit(v[0]) == signbit(known[i].value));
  }
  struct safetensors list;
  const float *v;
  CHECK_OK(safetensors_parse(&a,
                             file("{\"x\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}}", STR("\x01\x7c")),
                             &list, &err),
           &err);
  CHECK_OK(safetensor_floats(&a, &list.v[0], &v, &err), &err);
  CHECK(isnan(v[0]));
}

TEST(brain_floats_and_unaligned_floats) {
  struct safetensors list;
  struct error err = {0};
  const float *v;
  /* The header's length is odd, so the data is not aligned. */
  struct str s = file("{\"x\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                      "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
                      STR("\x80\x3f\x49\xc0\xdb\x0f\x49\x40"));
  for (int shift = 0; shift < 4; shift++) {
    char *p = arena_alloc(&a, s.n + 4);
    memcpy(p + shift, s.p, s.n);
    CHECK_OK(safetensors_parse(&a, (struct str){p + shift, s.n}, &list, &err), &err);
    CHECK_OK(safetensor_floats(&a, &list.v[0], &v, &err), &err);
    CHECK(v[0] == 1.0F && v[1] == -3.140625F);
    CHECK_OK(safetensor_floats(&a, &list.v[1], &v, &err), &err);
    CHECK(v[0] == 3.14159274101257324F);
  }
}

static void refused(struct str bytes, const char *message) {
  struct safetensors list = {0};
  struct error err = {0};
  CHECK_STATUS(safetensors_parse(&a, tight(bytes), &list, &err), STATUS_USAGE);
  if (!strstr(err.message, message) || !err.fix[0])
    FAIL("'%s' (fix '%s') does not say '%s'", err.message, err.fix, message);
  CHECK(list.v == NULL && list.n == 0);
}

#define X "{\"x\":{\"dtype\":\"F32\",\"shape\":"
#define REFUSED_HEADER(header, data, message) refused(file(header, STR(data)), message)

TEST(invalid_files_are_rejected) {
  refused(STR(""), "too short");
  refused(STR("\x08\0\0"), "too short");
  refused(STR("\x08\0\0\0\0\0\0\0{}"), "header");
  refused(STR("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "header");
  /* A pickled checkpoint is a zip file. */
  refused(STR("PK\3\4\0\0\0\0\0\0\0\0\0\0"), "header");
  REFUSED_HEADER("{", "", "not JSON");
  REFUSED_HEADER("[1]", "", "not a JSON object");
  REFUSED_HEADER("{}", "", "no tensor");
  REFUSED_HEADER("{\"x\":1}", "", "'x'");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0,4],\"more\":1}}", "1234", "'x'");
  REFUSED_HEADER("{\"x\":{\"dtype\":\"Q4\",\"shape\":[1],\"data_offsets\":[0,4]}}", "1234", "type");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0,8]}}", "1234", "outside");
  REFUSED_HEADER(X "[1],\"data_offsets\":[4,0]}}", "1234", "outside");
  REFUSED_HEADER(X "[1],\"data_offsets\":[-4,0]}}", "1234", "no valid offsets");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0]}}", "1234", "no valid offsets");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0,4.0]}}", "1234", "no valid offsets");
  REFUSED_HEADER(X "[2],\"data_offsets\":[0,4]}}", "1234", "does not match");
  REFUSED_HEADER(X "[-1],\"data_offsets\":[0,4]}}", "1234", "no valid shape");
  REFUSED_HEADER(X "[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", "1234", "no valid shape");
  /* Products that overflow 64 bits, by the shape and by the size of an element. */
  REFUSED_HEADER(X "[4294967296,4294967296],\"data_offsets\":[0,4]}}", "1234", "no valid shape");
  REFUSED_HEADER(X "[4611686018427387905],\"data_offsets\":[0,4]}}", "1234", "does not match");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0,4]}}", "12345", "after its last tensor");
  REFUSED_HEADER(X "[1],\"data_offsets\":[1,5]}}", "12345", "gap");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0,4]},\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                 "1234", "overlaps");
  REFUSED_HEADER(X "[1],\"data_offsets\":[0,4]},\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
                 "12345678", "twice");
}

TEST(every_truncation_is_rejected) {
  struct str whole = tiny_weights(&a, &(struct tiny_spec){0});
  struct safetensors list;
  struct error err = {0};
  CHECK_OK(safetensors_parse(&a, whole, &list, &err), &err);
  CHECK_INT(list.n, 5 + TINY_LAYERS * 16 + 2);
  for (size_t n = 0; n < whole.n; n += n < 4000 ? 61 : 997)
    CHECK_STATUS(safetensors_parse(&a, str_slice(whole, 0, n), &list, &err), STATUS_USAGE);
}

TEST(empty_tensors) {
  struct safetensors list;
  struct error err = {0};
  struct str s = file("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                      "\"b\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[0,0]},"
                      "\"c\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}}",
                      STR("\0\0\0\0"));
  CHECK_OK(safetensors_parse(&a, s, &list, &err), &err);
  CHECK_INT(list.n, 3);
}
