/* id.c: UUIDs and content hashes. */
#include "base/id.h"

#include <assert.h>
#include <sodium.h>

static void format_uuid(uint8_t b[16], int version, char out[UUID_SIZE]) {
  assert(version > 0 && version < 16);
  b[6] = (uint8_t)((b[6] & 0x0f) | version << 4);
  b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
  static const char hex[] = "0123456789abcdef";
  char *o = out;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *o++ = '-';
    *o++ = hex[b[i] >> 4];
    *o++ = hex[b[i] & 15];
  }
  assert(o == out + UUID_SIZE - 1);
  *o = 0;
}

void uuid7_new(int64_t now_ms, char out[UUID_SIZE]) {
  uint8_t b[16];
  randombytes_buf(b, sizeof(b));
  for (int i = 0; i < 6; i++)
    b[i] = (uint8_t)((uint64_t)now_ms >> (40 - 8 * i));
  format_uuid(b, 7, out);
}

void uuid8_from_hash(const uint8_t hash[HASH_BYTES], char out[UUID_SIZE]) {
  uint8_t b[16];
  memcpy(b, hash, sizeof(b));
  format_uuid(b, 8, out);
}

bool uuid_is_valid(struct str s) {
  if (s.n != UUID_SIZE - 1)
    return false;
  for (size_t i = 0; i < s.n; i++) {
    bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    char c = s.p[i];
    if (dash ? c != '-' : !(ascii_digit(c) || (c >= 'a' && c <= 'f')))
      return false;
  }
  return true;
}

void hash_bytes(struct str s, uint8_t out[HASH_BYTES]) {
  crypto_hash_sha256(out, (const unsigned char *)(s.p ? s.p : ""), s.n);
}

void hash_text(struct str s, char out[HASH_TEXT_SIZE]) {
  uint8_t h[HASH_BYTES];
  hash_bytes(s, h);
  sodium_bin2hex(out, HASH_TEXT_SIZE, h, sizeof(h));
}
