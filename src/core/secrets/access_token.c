/* access_token.c: format of access tokens and hash of their secret. */
#include "core/secrets/access_token.h"

#include <assert.h>
#include <sodium.h>

#include "core/gate/gate.h"

#define PREFIX "cairn_"
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING
enum { SECRET_CHARS = sodium_base64_ENCODED_LEN(TOKEN_SECRET_BYTES, VARIANT) - 1 };

bool token_id_is_valid(struct str id) {
  for (size_t i = 0; i < id.n; i++)
    if (!(id.p[i] >= 'a' && id.p[i] <= 'z') && !(id.p[i] >= '2' && id.p[i] <= '7'))
      return false;
  return id.n == TOKEN_ID_CHARS;
}

void token_id(const uint8_t bytes[TOKEN_ID_CHARS], char out[TOKEN_ID_CHARS + 1]) {
  static const char letters[33] = "abcdefghijklmnopqrstuvwxyz234567";
  for (size_t i = 0; i < TOKEN_ID_CHARS; i++)
    out[i] = letters[bytes[i] & 31];
  out[TOKEN_ID_CHARS] = 0;
}

/* Requires ASCII: the decoder accepts some bytes above 127 as letters, so one secret would have several encodings. */
static bool read_secret(struct str text, uint8_t out[TOKEN_SECRET_BYTES]) {
  size_t n = 0;
  const char *end = NULL;
  return text.n == SECRET_CHARS && str_is_ascii(text) &&
         sodium_base642bin(out, TOKEN_SECRET_BYTES, text.p, text.n, NULL, &n, &end, VARIANT) == 0 &&
         n == TOKEN_SECRET_BYTES && end == text.p + text.n;
}

bool token_parse(struct str text, struct token_text *ret_token) {
  static const struct str prefix = STR_INIT(PREFIX);
  struct token_text t = {0};
  struct error ignored;
  if (!str_starts(text, prefix))
    return false;
  struct str rest = str_slice(text, prefix.n, text.n);
  if (!str_next(&rest, '.', &t.team) || gate_check_team(t.team, &ignored) != STATUS_OK ||
      !str_next(&rest, '.', &t.id) || !token_id_is_valid(t.id) || !read_secret(rest, t.secret))
    return false;
  *ret_token = t;
  sodium_memzero(t.secret, sizeof(t.secret));
  return true;
}

struct str token_write(struct arena *a, const struct token_text *t) {
  assert(t->team.n > 0 && t->team.n <= TEAM_BYTES && token_id_is_valid(t->id));
  char secret[SECRET_CHARS + 1];
  sodium_bin2base64(secret, sizeof(secret), t->secret, sizeof(t->secret), VARIANT);
  struct str text = arena_printf(a, PREFIX "%.*s.%.*s.%s", STR_ARG(t->team), STR_ARG(t->id), secret);
  sodium_memzero(secret, sizeof(secret));
  return text;
}

/* The dots are unambiguous separators: neither a team nor an id contains one. */
void token_hash(const struct token_text *t, uint8_t out[TOKEN_HASH_BYTES]) {
  assert(t->team.n > 0 && token_id_is_valid(t->id));
  crypto_generichash_state state;
  crypto_generichash_init(&state, NULL, 0, TOKEN_HASH_BYTES);
  crypto_generichash_update(&state, (const uint8_t *)t->team.p, t->team.n);
  crypto_generichash_update(&state, (const uint8_t *)".", 1);
  crypto_generichash_update(&state, (const uint8_t *)t->id.p, t->id.n);
  crypto_generichash_update(&state, (const uint8_t *)".", 1);
  crypto_generichash_update(&state, t->secret, sizeof(t->secret));
  crypto_generichash_final(&state, out, TOKEN_HASH_BYTES);
  sodium_memzero(&state, sizeof(state));
}

bool token_hash_equal(const uint8_t a[TOKEN_HASH_BYTES], const uint8_t b[TOKEN_HASH_BYTES]) {
  return sodium_memcmp(a, b, TOKEN_HASH_BYTES) == 0;
}
