/* str.c: comparing, searching, splitting and parsing slices. */
#include "base/str.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

int str_cmp(struct str a, struct str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n ? memcmp(a.p, b.p, n) : 0;
  return c ? c : (a.n > b.n) - (a.n < b.n);
}

int ascii_hex(char c) {
  if (ascii_digit(c))
    return c - '0';
  c = ascii_lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int ascii_base64(char c) {
  if (ascii_alpha(c))
    return ascii_upper(c) ? c - 'A' : c - 'a' + 26;
  if (ascii_digit(c))
    return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool str_is_ascii(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] >= 0x80)
      return false;
  return true;
}

bool str_ieq(struct str a, struct str b) {
  if (a.n != b.n)
    return false;
  for (size_t i = 0; i < a.n; i++)
    if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
      return false;
  return true;
}

bool str_starts(struct str s, struct str prefix) {
  return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(struct str s, struct str suffix) {
  return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

size_t str_find(struct str s, struct str needle, size_t from) {
  if (needle.n == 0)
    return from <= s.n ? from : SIZE_MAX;
  if (from >= s.n || s.n - from < needle.n)
    return SIZE_MAX;
  const char *hit = memmem(s.p + from, s.n - from, needle.p, needle.n);
  return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

struct str str_trim(struct str s) {
  while (s.n && ascii_space(s.p[0])) {
    s.p++;
    s.n--;
  }
  while (s.n && ascii_space(s.p[s.n - 1]))
    s.n--;
  return s;
}

bool str_next(struct str *rest, char sep, struct str *ret_part) {
  if (rest->n == 0)
    return false;
  const char *hit = memchr(rest->p, sep, rest->n);
  size_t n = hit ? (size_t)(hit - rest->p) : rest->n;
  *ret_part = (struct str){rest->p, n};
  size_t skip = n + (hit != NULL);
  rest->p += skip;
  rest->n -= skip;
  return true;
}

bool str_line(struct str *rest, struct str *ret_line) {
  if (!str_next(rest, '\n', ret_line))
    return false;
  if (ret_line->n && ret_line->p[ret_line->n - 1] == '\r')
    ret_line->n--;
  return true;
}

bool str_int64(struct str s, int64_t *ret_value) {
  size_t i = 0;
  bool negative = s.n && s.p[0] == '-';
  if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
    i++;
  if (i == s.n)
    return false;
  int64_t value = 0;
  for (; i < s.n; i++) {
    if (!ascii_digit(s.p[i]))
      return false;
    int digit = s.p[i] - '0';
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, negative ? -digit : digit, &value))
      return false;
  }
  *ret_value = value;
  return true;
}

bool str_double(struct str s, double *ret_value) {
  char text[64];
  if (s.n == 0 || s.n >= sizeof(text))
    return false;
  for (size_t i = 0; i < s.n; i++)
    if (!ascii_digit(s.p[i]) && (s.p[i] == 0 || !strchr("+-.eE", s.p[i])))
      return false;
  memcpy(text, s.p, s.n);
  text[s.n] = 0;
  /* The process locale may write "0,25". glibc returns its built-in "C" locale without allocating. */
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  char *end;
  double value = strtod_l(text, &end, c);
  freelocale(c);
  if (end != text + s.n || !isfinite(value))
    return false;
  *ret_value = value;
  return true;
}

uint64_t str_hash(uint64_t h, struct str s) {
  for (size_t i = 0; i < s.n; i++)
    h = (h ^ (unsigned char)s.p[i]) * UINT64_C(1099511628211);
  return h;
}
