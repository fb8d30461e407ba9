/* fuzz_seal.c: any bytes as a ciphertext, a key, and a plaintext: forged ciphertexts are rejected, and sealed texts
 * open unchanged. */
#include <sodium.h>

#include "store/tables/seal.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct str in = {(const char *)data, size}, text;
  struct master_key key, parsed;
  uint8_t bytes[MASTER_BYTES] = {7};
  arena_init(&a);
  FUZZ_CHECK(sodium_init() >= 0);
  master_of_bytes(bytes, &key);
  FUZZ_CHECK(!unseal(&a, &key, STR("team"), STR("name"), in, &text));
  struct str sealed = seal(&a, &key, STR("team"), in, in);
  FUZZ_CHECK(unseal(&a, &key, STR("team"), in, sealed, &text) && str_eq(text, in));
  if (master_parse(in, &parsed))
    FUZZ_CHECK(strlen(parsed.id) == MASTER_ID_SIZE - 1 && str_trim(in).n >= 43);
  arena_release(&a);
  return 0;
}
