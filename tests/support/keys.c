/* keys.c: generates fake credentials that look real. */
#include "support/keys.h"

#include <stdlib.h>

static const char *alphabet_of(char kind) {
  static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  switch (kind) {
  case 'h':
    return "0123456789abcdef";
  case 'd':
    return "0123456789";
  case 'l':
    return "abcdefghijklmnopqrstuvwxyz0123456789";
  case 'U':
    return upper;
  case 'a':
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  case 'b':
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  case 'u':
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  case '2':
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  case 'p':
    return "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!#%^*";
  default:
    return NULL;
  }
}

static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state >> 3;
}

struct str key_make(struct arena *a, const char *template, uint32_t seed) {
  struct buf out = BUF(a);
  uint32_t state = seed * 2654435761u + 12345u;
  for (const char *p = template; *p; p++) {
    const char *alphabet = p[0] == '<' && p[1] ? alphabet_of(p[1]) : NULL;
    if (!alphabet || p[2] < '0' || p[2] > '9') {
      buf_addc(&out, *p);
      continue;
    }
    char *end;
    size_t n = strtoul(p + 2, &end, 10), size = strlen(alphabet);
    while (n-- > 0)
      buf_addc(&out, alphabet[next_random(&state) % size]);
    /* A key from an alphabet with other characters ends in a letter, so the end of the hit is known. */
    if (!strchr("hdl2U", p[1]))
      out.p[out.n - 1] = 'k';
    p = end;
  }
  return buf_str(&out);
}
