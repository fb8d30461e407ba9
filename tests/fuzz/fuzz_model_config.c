/* fuzz_model_config.c: any text as one of the JSON configuration files of a model. */
#include "embed/convert/config.h"
#include "support/fuzz.h"

/* The first byte selects the file type. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  struct convert_files f = {0};
  struct str *const texts[] = {&f.config, &f.tokenizer, &f.modules, &f.pooling, &f.sentence, &f.prompts};
  struct arena a;
  struct error err = {0};
  struct convert_config c;
  arena_init(&a);
  *texts[data[0] % ARRAY_LEN(texts)] = (struct str){(const char *)data + 1, size - 1};
  struct convert_options o = {.name = STR("x"), .heads = data[0] & 64 ? 2 : 0, .pooling = data[0] & 128 ? "cls" : NULL};
  enum status s = convert_config_read(&a, &f, &o, &c, &err);
  if (s == STATUS_OK)
    FUZZ_CHECK(c.heads > 0 && c.max_tokens >= 0 && c.layers >= 0);
  else
    FUZZ_CHECK(s == STATUS_USAGE && err.message[0] && err.fix[0]);
  arena_release(&a);
  return 0;
}
