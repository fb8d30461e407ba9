/* fuzz_model.c: any bytes as a model file: rejected, or fully usable. */
#include <stdlib.h>

#include "embed/encoder/encoder.h"
#include "embed/encoder/model_layout.h"
#include "support/fuzz.h"

/* Reads every section completely and encodes a text, whatever the weights are. */
static void use(struct arena *a, const struct model *m) {
  FUZZ_CHECK(m->name[0]);
  FUZZ_CHECK(m->vocabulary.p + m->vocabulary.n <= m->bytes.p + m->bytes.n);
  if (m->shape.ffn > 512 || m->shape.hidden > 512)
    return;
  int32_t ids[2] = {0, m->shape.vocab - 1};
  struct encoder_text text = {.ids = ids, .n = 2};
  float *vector = arena_array(a, float, (size_t)m->shape.dims);
  struct error err = {0};
  FUZZ_CHECK(encoder_run(m, a, &(struct encoder_input){.texts = &text, .n = 1, .kernel = &kernel_scalar, .threads = 1},
                         vector, &err) == STATUS_OK);
}

static void try(struct arena *a, struct str bytes) {
  struct model m;
  struct error err = {0};
  enum status s = model_file_open(bytes, &m, &err);
  if (s == STATUS_OK)
    use(a, &m);
  else
    FUZZ_CHECK(s == STATUS_CORRUPT && err.message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  void *p = NULL;
  if (posix_memalign(&p, MODEL_ALIGN, size ? size : 1) != 0)
    return 0;
  char *bytes = p;
  struct arena a;
  arena_init(&a);
  if (size)
    memcpy(bytes, data, size);
  try(&a, (struct str){bytes, size});
  /* Try again with correct checksums, or the code after the checksum test would never run. */
  if (size >= MODEL_HEADER_SIZE) {
    uint64_t sum = model_checksum(bytes + MODEL_HEADER_SIZE, size - MODEL_HEADER_SIZE);
    memcpy(bytes + HEADER_PAYLOAD_CHECKSUM, &sum, 8);
    memset(bytes + HEADER_CHECKSUM, 0, 8);
    sum = model_checksum(bytes, MODEL_HEADER_SIZE);
    memcpy(bytes + HEADER_CHECKSUM, &sum, 8);
    try(&a, (struct str){bytes, size});
  }
  arena_release(&a);
  free(p);
  return 0;
}
