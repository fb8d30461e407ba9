/* seal.h: encryption of secrets: master keys, and sealing of texts.
 *
 * A text is sealed with XChaCha20-Poly1305, a random nonce and a key derived from the master key for its team. Team,
 * name and the id of the master key are authenticated with it, so a sealed text that was modified or copied to another
 * name does not open. Pure functions: no I/O, no state. */
#pragma once

#include "base/arena.h"

/* SEAL_BYTES: overhead of a sealed text. */
enum { MASTER_BYTES = 32, MASTER_ID_SIZE = 17, SALT_BYTES = 16, SEAL_BYTES = 1 + 24 + 16 };

/* A master key and its id: 16 hex digits derived from the key. */
struct master_key {
  uint8_t bytes[MASTER_BYTES];
  char id[MASTER_ID_SIZE];
};

/* Argon2id parameters that derive a master key from a passphrase. */
struct stretch {
  uint8_t salt[SALT_BYTES];
  int64_t passes, memory; /* memory in bytes */
};

void master_of_bytes(const uint8_t bytes[MASTER_BYTES], struct master_key *ret_key);
void master_random(struct master_key *ret_key);
/* Accepts 64 hex digits or base64 of 32 bytes; ignores surrounding white space. */
bool master_parse(struct str text, struct master_key *ret_key);
/* A new salt and the default cost. */
void stretch_new(struct stretch *ret_how);
/* Takes half a second or more. False if memory is short or the cost in `how` is out of range. */
bool master_stretch(struct str passphrase, const struct stretch *how, struct master_key *ret_key);

struct str seal(struct arena *a, const struct master_key *key, struct str team, struct str name, struct str text);
/* False if the key, team or name differs, or the text is damaged. */
bool unseal(struct arena *a, const struct master_key *key, struct str team, struct str name, struct str sealed,
            struct str *ret_text);
