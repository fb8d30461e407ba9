/* fuzz_place.c: any text as the address of a store: messages never show its password. */
#include <string.h>

#include "base/alloc.h"
#include "store/db/place.h"
#include "store/postgres/internal.h"
#include "support/fuzz.h"

#define PASSWORD "s3cr3t-w0rd"

/* Checks an address; `secret` is its password, or NULL. */
static void check(const char *address, const char *secret) {
  char shown[PLACE_MAX];
  place_public(address, shown);
  FUZZ_CHECK(strlen(shown) < PLACE_MAX);
  (void)place_is_broken(address);
  if (!db_is_url(address))
    return;
  char *path = pg_url_path(address);
  FUZZ_CHECK(path && strlen(path) <= strlen(address));
  if (secret)
    FUZZ_CHECK(!strstr(shown, secret) && !strstr(path, secret));
  mem_free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[512], address[2200];
  size_t n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
  memcpy(text, data, n);
  text[n] = 0;
  check(text, NULL);
  snprintf(address, sizeof(address), "postgresql://%s", text);
  check(address, NULL);
  if (strstr(text, PASSWORD) || strcspn(text, "@?:/&#") != strlen(text))
    return 0;
  snprintf(address, sizeof(address), "postgresql://%s:" PASSWORD "@host/%s?a=%s", text, text, text);
  check(address, PASSWORD);
  snprintf(address, sizeof(address), "postgresql://%s@host/%s?a=%s&password=" PASSWORD "&b=%s", text, text, text, text);
  check(address, PASSWORD);
  return 0;
}
