/* seal.h: the encryption of secrets: keys, and texts that only their key opens.
 *
 * A text is sealed with XChaCha20-Poly1305 under a key that is made from the master key for its team, with a random
 * nonce, and bound to its team, its name and the id of the master key: a sealed text that was copied to another name,
 * or changed in one bit, does not open. Functions over bytes: nothing is read, nothing is kept. */
#pragma once

#include "base/arena.h"

/* SEAL_BYTES: how much longer than the text its sealed form is. */
enum { MASTER_BYTES = 32, MASTER_ID_SIZE = 17, SALT_BYTES = 16, SEAL_BYTES = 1 + 24 + 16 };

/* A master key and its id, 16 hex digits that follow from the key: it names itself, wherever it comes from. */
struct master_key {
  uint8_t bytes[MASTER_BYTES];
  char id[MASTER_ID_SIZE];
};

/* How a master key is made from a passphrase, by Argon2id. */
struct stretch {
  uint8_t salt[SALT_BYTES];
  int64_t passes, memory; /* memory in bytes */
};

void master_of_bytes(const uint8_t bytes[MASTER_BYTES], struct master_key *ret_key);
void master_random(struct master_key *ret_key);
/* 64 hex digits, or base64 of 32 bytes; white space around it is ignored. */
bool master_parse(struct str text, struct master_key *ret_key);
/* A new salt, and as much work as this version asks for. */
void stretch_new(struct stretch *ret_how);
/* Half a second or more. False when there is not enough memory, or `how` asks for more work than any version did. */
bool master_stretch(struct str passphrase, const struct stretch *how, struct master_key *ret_key);

struct str seal(struct arena *a, const struct master_key *key, struct str team, struct str name, struct str text);
/* False when it was sealed with another key or for something else, or is damaged. */
bool unseal(struct arena *a, const struct master_key *key, struct str team, struct str name, struct str sealed,
            struct str *ret_text);
