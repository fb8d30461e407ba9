/* fuzz_safetensors.c: any bytes as a safetensors file; tensors of an accepted file lie within it, and are converted
 * or rejected with a reason. */
#include "embed/convert/safetensors.h"

#include "embed/convert/convert.h"
#include "support/fuzz.h"

static void check_tensor(struct arena *a, struct str bytes, const struct safetensors *list,
                         const struct safetensor *t) {
  struct error err;
  const float *v;
  FUZZ_CHECK(t->data.p >= bytes.p && t->data.p + t->data.n <= bytes.p + bytes.n);
  FUZZ_CHECK(safetensors_find(list, t->name) == t);
  FUZZ_CHECK(safetensor_shape(a, t).n >= 2);
  if (safetensor_floats(a, t, &v, &err) == STATUS_OK && t->count) {
    volatile float ends = v[0] + v[t->count - 1];
    (void)ends;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str bytes = {(const char *)data, size};
  struct arena a;
  struct safetensors list;
  struct error err = {0};
  arena_init(&a);
  enum status s = safetensors_parse(&a, bytes, &list, &err);
  FUZZ_CHECK(s == STATUS_OK || (s == STATUS_USAGE && err.message[0] && err.fix[0]));
  size_t covered = 0;
  for (size_t i = 0; s == STATUS_OK && i < list.n; i++) {
    check_tensor(&a, bytes, &list, &list.v[i]);
    covered += list.v[i].data.n;
  }
  FUZZ_CHECK(s != STATUS_OK || covered < size);
  struct convert_files files = {.weights = bytes, .vocab = STR("[PAD]\n[UNK]\n[CLS]\n[SEP]\n")};
  struct convert_options options = {.name = STR("x"), .pooling = "mean", .heads = 1};
  struct buf out = BUF(&a);
  if (model_convert(&a, &files, &options, &out, &err) != STATUS_OK)
    FUZZ_CHECK(err.message[0] && out.n == 0);
  arena_release(&a);
  return 0;
}
