/* access_token.h: the text of a token, cairn_TEAM.ID.SECRET, and what is kept of its secret.
 *
 * TEAM and ID name a row of the store and are no secret; SECRET is 32 random bytes, of which only a hash is kept. As
 * the secret cannot be guessed, one pass of a fast hash is enough; team and id go into it, so that a hash is worth
 * nothing in another row. */
#pragma once

#include "base/arena.h"

enum { TOKEN_ID_CHARS = 12, TOKEN_SECRET_BYTES = 32, TOKEN_HASH_BYTES = 32 };

struct token_text {
  struct str team, id; /* slices of the text, or what it is to be made of */
  uint8_t secret[TOKEN_SECRET_BYTES];
};

/* False for everything that token_write() does not write. */
bool token_parse(struct str text, struct token_text *ret_token);
struct str token_write(struct arena *a, const struct token_text *token);

/* ID as letters and digits, from any bytes. */
void token_id(const uint8_t bytes[TOKEN_ID_CHARS], char out[TOKEN_ID_CHARS + 1]);
bool token_id_ok(struct str id);

void token_hash(const struct token_text *token, uint8_t out[TOKEN_HASH_BYTES]);
/* In a time that does not tell how much of the two is the same. */
bool token_hash_same(const uint8_t a[TOKEN_HASH_BYTES], const uint8_t b[TOKEN_HASH_BYTES]);
