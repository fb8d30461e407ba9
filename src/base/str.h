/* str.h: text as (pointer, length) slices that own nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

/* A slice of bytes. Not NUL-terminated unless its maker says so; {NULL, 0} is the empty one and means "absent"
 * where absence is allowed. */
struct str {
  const char *p;
  size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_INIT(literal) {"" literal, sizeof(literal) - 1}
#define STR_NONE ((struct str){NULL, 0})

/* printf("%.*s", STR_ARG(s)): lengths over INT_MAX are cut, they only appear in messages. */
#define STR_ARG(s) (int)((s).n > 0x7fffffff ? 0x7fffffff : (s).n), ((s).p ? (s).p : "")

static inline struct str str_from(const char *cstr) { return cstr ? (struct str){cstr, strlen(cstr)} : STR_NONE; }
static inline struct str str_slice(struct str s, size_t from, size_t to) { return (struct str){s.p + from, to - from}; }
static inline bool str_empty(struct str s) { return s.n == 0; }
static inline bool str_eq(struct str a, struct str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
static inline bool str_is(struct str a, const char *cstr) { return str_eq(a, str_from(cstr)); }

/* Byte order, as memcmp; a prefix sorts first. */
int str_cmp(struct str a, struct str b);
/* Equal when ASCII letters are compared without case. */
bool str_ieq(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Offset of needle in s at or after `from`; SIZE_MAX when it is not there. */
size_t str_find(struct str s, struct str needle, size_t from);
/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);
/* Cuts the part before the next `sep` off *rest; false when nothing is left. */
bool str_next(struct str *rest, char sep, struct str *ret_part);
/* The next line of *rest without its line end (LF or CR LF); false at the end. */
bool str_line(struct str *rest, struct str *ret_line);
/* Decimal integer with an optional sign, the whole slice; false when it is anything else or overflows. */
bool str_int64(struct str s, int64_t *ret_value);
/* Decimal number ("1", "0.25", "1e-3"), the whole slice; finite only. */
bool str_double(struct str s, double *ret_value);

static inline bool ascii_alpha(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static inline bool ascii_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool ascii_alnum(char c) { return ascii_alpha(c) || ascii_digit(c); }
static inline bool ascii_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline char ascii_lower(char c) { return ascii_upper(c) ? (char)(c | 32) : c; }
bool str_is_ascii(struct str s);

/* FNV-1a: goes on from `h`, and begins with STR_HASH. The same everywhere; not for what an enemy chooses. */
#define STR_HASH UINT64_C(14695981039346656037)
uint64_t str_hash(uint64_t h, struct str s);
