/* fuzz_token.c: any text as a token; an accepted token is written back with the same bytes. */
#include "core/secrets/access_token.h"

#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct token_text t, again;
  uint8_t hash[TOKEN_HASH_BYTES];
  if (!token_parse((struct str){(const char *)data, size}, &t))
    return 0;
  struct arena a;
  arena_init(&a);
  struct str text = token_write(&a, &t);
  FUZZ_CHECK(text.n == size && memcmp(text.p, data, size) == 0);
  FUZZ_CHECK(token_parse(text, &again) && str_eq(again.team, t.team) && str_eq(again.id, t.id));
  FUZZ_CHECK(token_id_is_valid(t.id) && t.team.n >= 1 && t.team.n <= 64);
  token_hash(&t, hash);
  arena_release(&a);
  return 0;
}
