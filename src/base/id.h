/* id.h: UUIDv7 for machines, and content hashes. */
#pragma once

#include "base/str.h"

enum { UUID_SIZE = 37, HASH_BYTES = 32, HASH_TEXT_SIZE = 65 };

/* A new UUIDv7 (RFC 9562) as lower-case text: time first, so ids sort by birth; the rest is random. */
void uuid7_new(int64_t now_ms, char out[UUID_SIZE]);
/* A UUIDv8 made from a hash: the same bytes give the same id, for imports that must not repeat themselves. */
void uuid8_from_hash(const uint8_t hash[HASH_BYTES], char out[UUID_SIZE]);
/* Canonical lower-case 8-4-4-4-12. */
bool uuid_valid(struct str s);

/* SHA-256. */
void hash_bytes(struct str s, uint8_t out[HASH_BYTES]);
void hash_text(struct str s, char out[HASH_TEXT_SIZE]);
