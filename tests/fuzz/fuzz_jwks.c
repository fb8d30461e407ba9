/* fuzz_jwks.c: any bytes as the key set of an issuer: accepted keys are usable, others are rejected with a message. */
#include "http/access/jwt.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct str token = STR_INIT("eyJhbGciOiJFUzI1NiIsImtpZCI6ImUifQ.e30.AAAA");
  struct arena a;
  struct jwks keys;
  struct error err = {0};
  struct jwt_rules rules = {.issuer = STR("i"), .audience = STR("a"), .now = INT64_C(1772366400000)};
  arena_init(&a);
  if (jwks_read(&a, (struct str){(const char *)data, size}, &keys, &err) == STATUS_OK) {
    FUZZ_CHECK(keys.n > 0 && keys.n <= JWKS_MAX);
    FUZZ_CHECK(!jwt_read(&a, &keys, &rules, token, NULL));
  } else {
    FUZZ_CHECK(err.message[0] && err.fix[0]);
  }
  arena_release(&a);
  return 0;
}
