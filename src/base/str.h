/* str.h: non-owning (pointer, length) string slices. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

/* Slice of bytes. Not NUL-terminated unless documented. {NULL, 0} is empty, and means "absent" where that is allowed.
 */
struct str {
  const char *p;
  size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_INIT(literal) {"" literal, sizeof(literal) - 1}
#define STR_NONE ((struct str){NULL, 0})

/* printf("%.*s", STR_ARG(s)); truncated at INT_MAX bytes. */
#define STR_ARG(s) (int)((s).n > 0x7fffffff ? 0x7fffffff : (s).n), ((s).p ? (s).p : "")

static inline struct str str_from(const char *cstr) { return cstr ? (struct str){cstr, strlen(cstr)} : STR_NONE; }
static inline struct str str_slice(struct str s, size_t from, size_t to) {
  assert(from <= to && to <= s.n);
  return (struct str){s.p + from, to - from};
}
static inline bool str_empty(struct str s) { return s.n == 0; }
static inline bool str_eq(struct str a, struct str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
static inline bool str_is(struct str a, const char *cstr) { return str_eq(a, str_from(cstr)); }

/* Byte order like memcmp(); a prefix sorts first. */
int str_cmp(struct str a, struct str b);
/* Equal, ignoring the case of ASCII letters. */
bool str_ieq(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Offset of the first needle in s at or after `from`; SIZE_MAX if there is none. */
size_t str_find(struct str s, struct str needle, size_t from);
/* Removes ASCII white space at both ends. */
struct str str_trim(struct str s);
/* Splits the part before the next `sep` off *rest; false if *rest is empty. */
bool str_next(struct str *rest, char sep, struct str *ret_part);
/* Splits the next line off *rest, without its LF or CR LF; false if *rest is empty. */
bool str_line(struct str *rest, struct str *ret_line);
/* Parses the whole slice as a decimal integer with an optional sign; false if malformed or out of range. */
bool str_int64(struct str s, int64_t *ret_value);
/* Parses the whole slice as a finite decimal number ("1", "0.25", "1e-3"). */
bool str_double(struct str s, double *ret_value);

static inline bool ascii_alpha(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static inline bool ascii_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool ascii_alnum(char c) { return ascii_alpha(c) || ascii_digit(c); }
static inline bool ascii_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline char ascii_lower(char c) { return ascii_upper(c) ? (char)(c | 32) : c; }
int ascii_hex(char c);    /* value of a hex digit, -1 for other characters */
int ascii_base64(char c); /* same for the alphabets of base64 and base64url */
bool str_is_ascii(struct str s);

/* FNV-1a. Start with STR_HASH; pass the last result as `h` to continue. Same on all machines; not collision-resistant.
 */
#define STR_HASH UINT64_C(14695981039346656037)
uint64_t str_hash(uint64_t h, struct str s);
