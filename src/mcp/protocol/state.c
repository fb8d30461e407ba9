/* state.c: sealed state that clients return (cursors, the state of a question), authenticated by a MAC that only
 * servers of this store can make.
 *
 * The key is loaded each time: calls are rare, and the store may have been replaced. If the store is unavailable or
 * read-only, the process uses its own random key, which is valid until it ends. */
#include <assert.h>
#include <sodium.h>

#include "mcp/protocol/server.h"
#include "store/tables/seal_key.h"

/* MAC, time of expiry, payload */
enum { EXPIRES_SIZE = 8, SEALED_MAX = 64 * 1024 };

_Static_assert(MCP_SECRET_SIZE == crypto_auth_KEYBYTES, "the process key is a MAC key");
_Static_assert(STATE_KEY_SIZE == crypto_auth_KEYBYTES, "the store's key is a MAC key");

static bool store_key(const struct mcp_server *server, struct str team, uint8_t ret_key[STATE_KEY_SIZE]) {
  struct error err;
  struct engine *engine;
  if (!server->options.pool || pool_acquire(server->options.pool, &engine, &err) != STATUS_OK)
    return false;
  enum status s = engine_lock_team(engine, team, &err);
  if (s == STATUS_OK)
    s = state_key_load(engine->store, ret_key, &err);
  s = engine_unlock_team(engine, s, &err);
  pool_release(server->options.pool, engine);
  return s == STATUS_OK;
}

static void make_mac(const uint8_t key[STATE_KEY_SIZE], struct arena *a, struct str purpose, struct str body,
                     uint8_t out[crypto_auth_BYTES]) {
  struct buf b = BUF(a);
  buf_addf(&b, "%zu:", purpose.n); /* length prefix: no two pairs of purpose and body collide */
  buf_add(&b, purpose);
  buf_add(&b, body);
  crypto_auth(out, (const uint8_t *)b.p, b.n, key);
}

struct str state_seal(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                      struct str payload, int64_t expires) {
  uint8_t code[crypto_auth_BYTES], key[STATE_KEY_SIZE];
  struct buf body = BUF(a), all = BUF(a);
  assert(team.n > 0 && purpose.n > 0 && expires >= 0);
  for (int i = 0; i < EXPIRES_SIZE; i++)
    buf_addc(&body, (char)((uint64_t)expires >> (8 * i)));
  buf_add(&body, payload);
  bool kept = store_key(server, team, key);
  make_mac(kept ? key : server->secret, a, purpose, buf_str(&body), code);
  sodium_memzero(key, sizeof(key));
  buf_add(&all, (struct str){(const char *)code, sizeof(code)});
  buf_add(&all, buf_str(&body));
  const int form = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  size_t size = sodium_base64_encoded_len(all.n, form);
  char *text = arena_alloc(a, size);
  sodium_bin2base64(text, size, (const uint8_t *)all.p, all.n, form);
  return (struct str){text, size - 1};
}

/* Made with the store's key, or with that of the process. */
static bool is_authentic(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                         struct str body, const uint8_t *given) {
  uint8_t code[crypto_auth_BYTES], key[STATE_KEY_SIZE];
  make_mac(server->secret, a, purpose, body, code);
  bool ours = sodium_memcmp(code, given, sizeof(code)) == 0;
  if (!ours && store_key(server, team, key)) {
    make_mac(key, a, purpose, body, code);
    ours = sodium_memcmp(code, given, sizeof(code)) == 0;
  }
  sodium_memzero(key, sizeof(key));
  return ours;
}

bool state_open(const struct mcp_server *server, struct arena *a, struct str team, struct str purpose,
                struct str sealed, int64_t now, struct str *ret_payload) {
  if (sealed.n == 0 || sealed.n > SEALED_MAX)
    return false;
  enum { CODE_SIZE = crypto_auth_BYTES };
  uint8_t *bytes = arena_alloc(a, sealed.n);
  size_t n = 0;
  const char *end = NULL;
  if (sodium_base642bin(bytes, sealed.n, sealed.p, sealed.n, NULL, &n, &end,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      end != sealed.p + sealed.n || n < CODE_SIZE + EXPIRES_SIZE)
    return false;
  assert(n <= sealed.n);
  struct str body = {(const char *)bytes + CODE_SIZE, n - CODE_SIZE};
  if (!is_authentic(server, a, team, purpose, body, bytes))
    return false;
  uint64_t expires = 0;
  for (int i = 0; i < EXPIRES_SIZE; i++)
    expires |= (uint64_t)(uint8_t)body.p[i] << (8 * i);
  if (expires && now > (int64_t)expires)
    return false;
  *ret_payload = str_slice(body, EXPIRES_SIZE, body.n);
  return true;
}
