/* state.c: sealed texts: what a client carries back to us (cursors, the state of a question) is checked by a code that
 * only this process can make. */
#include <sodium.h>

#include "mcp/server.h"

/* code, time of expiry, payload */
enum { EXPIRES_SIZE = 8, SEALED_MAX = 64 * 1024 };

_Static_assert(MCP_SECRET_SIZE == crypto_auth_KEYBYTES, "the secret is the key of the code");

static void code_of(const struct mcp_server *server, struct arena *a, struct str purpose, struct str body,
                    uint8_t out[crypto_auth_BYTES]) {
  struct buf b = BUF(a);
  buf_addf(&b, "%zu:", purpose.n); /* so that no two pairs of texts look the same */
  buf_add(&b, purpose);
  buf_add(&b, body);
  crypto_auth(out, (const uint8_t *)b.p, b.n, server->secret);
}

struct str state_seal(const struct mcp_server *server, struct arena *a, struct str purpose, struct str payload,
                      int64_t expires) {
  uint8_t code[crypto_auth_BYTES];
  struct buf body = BUF(a), all = BUF(a);
  for (int i = 0; i < EXPIRES_SIZE; i++)
    buf_addc(&body, (char)((uint64_t)expires >> (8 * i)));
  buf_add(&body, payload);
  code_of(server, a, purpose, buf_str(&body), code);
  buf_add(&all, (struct str){(const char *)code, sizeof(code)});
  buf_add(&all, buf_str(&body));
  const int form = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  size_t size = sodium_base64_encoded_len(all.n, form);
  char *text = arena_alloc(a, size);
  sodium_bin2base64(text, size, (const uint8_t *)all.p, all.n, form);
  return (struct str){text, size - 1};
}

bool state_open(const struct mcp_server *server, struct arena *a, struct str purpose, struct str sealed, int64_t now,
                struct str *ret_payload) {
  if (sealed.n == 0 || sealed.n > SEALED_MAX)
    return false;
  uint8_t code[crypto_auth_BYTES];
  uint8_t *bytes = arena_alloc(a, sealed.n);
  size_t n = 0;
  const char *end = NULL;
  if (sodium_base642bin(bytes, sealed.n, sealed.p, sealed.n, NULL, &n, &end,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      end != sealed.p + sealed.n || n < sizeof(code) + EXPIRES_SIZE)
    return false;
  struct str body = {(const char *)bytes + sizeof(code), n - sizeof(code)};
  code_of(server, a, purpose, body, code);
  if (sodium_memcmp(code, bytes, sizeof(code)) != 0)
    return false;
  uint64_t expires = 0;
  for (int i = 0; i < EXPIRES_SIZE; i++)
    expires |= (uint64_t)(uint8_t)body.p[i] << (8 * i);
  if (expires && now > (int64_t)expires)
    return false;
  *ret_payload = str_slice(body, EXPIRES_SIZE, body.n);
  return true;
}
