/* id.h: UUIDs and SHA-256 content hashes. */
#pragma once

#include "base/str.h"

enum { UUID_SIZE = 37, HASH_BYTES = 32, HASH_TEXT_SIZE = 65 };

/* New UUIDv7 (RFC 9562) in lower case. It starts with the time, so ids sort by creation; the rest is random. */
void uuid7_new(int64_t now_ms, char out[UUID_SIZE]);
/* UUIDv8 derived from a hash, so repeated imports get the same id. */
void uuid8_from_hash(const uint8_t hash[HASH_BYTES], char out[UUID_SIZE]);
/* Canonical lower-case 8-4-4-4-12. */
bool uuid_is_valid(struct str s);

/* SHA-256, binary or in lower-case hex. */
void hash_bytes(struct str s, uint8_t out[HASH_BYTES]);
void hash_text(struct str s, char out[HASH_TEXT_SIZE]);
