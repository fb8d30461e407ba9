/* escape.c: reader of character escapes. */
#include "core/text/escape.h"

bool escape_hex(struct str s, size_t pos, size_t digits, uint32_t *ret) {
  uint32_t n = 0;
  if (s.n < pos + digits)
    return false;
  for (size_t i = 0; i < digits; i++) {
    int d = ascii_hex(s.p[pos + i]);
    if (d < 0)
      return false;
    n = n << 4 | (uint32_t)d;
  }
  *ret = n;
  return true;
}

/* Reads the HTML entity at pos. Returns its end; pos if there is none. */
static size_t read_entity(struct str s, size_t pos, uint32_t *ret) {
  enum { LONGEST = 8 };
  size_t i = pos + 2;
  bool hex = i < s.n && ascii_lower(s.p[i]) == 'x';
  uint32_t n = 0;
  if (!str_starts(str_slice(s, pos, s.n), STR("&#")))
    return pos;
  i += hex;
  size_t from = i;
  for (; i < s.n && i - from < LONGEST && s.p[i] != ';'; i++) {
    int d = ascii_hex(s.p[i]);
    if (d < 0 || (!hex && d > 9))
      return pos;
    n = n * (hex ? 16 : 10) + (uint32_t)d;
  }
  if (i == from || i >= s.n || s.p[i] != ';')
    return pos;
  *ret = n;
  return i + 1;
}

size_t escape_read(struct str s, size_t pos, uint32_t *ret, bool *ret_byte) {
  *ret_byte = s.p[pos] == '%';
  if (*ret_byte && escape_hex(s, pos + 1, 2, ret))
    return pos + 3;
  if (s.p[pos] == '\\' && pos + 1 < s.n) {
    if (s.p[pos + 1] == 'u' && escape_hex(s, pos + 2, 4, ret))
      return pos + 6;
    if (s.p[pos + 1] == 'x' && escape_hex(s, pos + 2, 2, ret))
      return pos + 4;
  }
  return s.p[pos] == '&' ? read_entity(s, pos, ret) : pos;
}
