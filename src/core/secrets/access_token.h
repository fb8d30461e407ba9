/* access_token.h: format of access tokens, cairn_TEAM.ID.SECRET, and hash of their secret.
 *
 * TEAM and ID identify a row of the store and are not secret. SECRET is 32 random bytes; only a hash of it is
 * stored. The secret cannot be guessed, so one pass of a fast hash is enough. The hash includes team and id, so it
 * is useless in another row. */
#pragma once

#include "base/arena.h"

enum { TOKEN_ID_CHARS = 12, TOKEN_SECRET_BYTES = 32, TOKEN_HASH_BYTES = 32 };

struct token_text {
  struct str team, id; /* after parsing: slices of the text */
  uint8_t secret[TOKEN_SECRET_BYTES];
};

/* Accepts only text that token_write() writes. */
bool token_parse(struct str text, struct token_text *ret_token);
struct str token_write(struct arena *a, const struct token_text *token);

/* Encodes random bytes as an ID of letters and digits. */
void token_id(const uint8_t bytes[TOKEN_ID_CHARS], char out[TOKEN_ID_CHARS + 1]);
bool token_id_is_valid(struct str id);

void token_hash(const struct token_text *token, uint8_t out[TOKEN_HASH_BYTES]);
/* Compares in constant time. */
bool token_hash_equal(const uint8_t a[TOKEN_HASH_BYTES], const uint8_t b[TOKEN_HASH_BYTES]);
