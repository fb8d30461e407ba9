/* fuzz_vault_key.c: any text as a file of master keys: the id of an accepted key matches the key. */
#include <sodium.h>

#include "file/key_file.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct master_keys keys = {0};
  struct error err;
  arena_init(&a);
  FUZZ_CHECK(sodium_init() >= 0);
  if (key_file_parse(&a, (struct str){(const char *)data, size}, "keys", &keys, &err) != STATUS_OK)
    FUZZ_CHECK(err.message[0] && err.fix[0]);
  for (size_t i = 0; i < keys.n; i++) {
    struct master_key again;
    master_of_bytes(keys.v[i].bytes, &again);
    FUZZ_CHECK(strcmp(again.id, keys.v[i].id) == 0);
  }
  arena_release(&a);
  return 0;
}
