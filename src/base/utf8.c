/* utf8.c: UTF-8 with the tables of utf8proc. */
#include "base/utf8.h"

#include <assert.h>
#include <utf8proc.h>

#include "base/buf.h"

/* Length of the valid sequence at p; 0 if invalid. */
static size_t sequence(const unsigned char *p, size_t n) {
  unsigned char c = p[0];
  if (c < 0x80)
    return 1;
  if (c < 0xc2)
    return 0;
  size_t len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
  if (len == 0 || n < len)
    return 0;
  for (size_t i = 1; i < len; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) || (c == 0xf0 && p[1] < 0x90) ||
      (c == 0xf4 && p[1] > 0x8f))
    return 0;
  return len;
}

size_t utf8_check(struct str s) {
  size_t i = 0;
  while (i < s.n) {
    size_t len = sequence((const unsigned char *)s.p + i, s.n - i);
    if (len == 0)
      return i;
    i += len;
  }
  return s.n;
}

struct str utf8_repair(struct arena *a, struct str s, size_t max_bad) {
  struct buf out = BUF(a);
  size_t bad = 0;
  for (struct str rest = s;;) {
    size_t valid = utf8_check(rest);
    if (valid == s.n)
      return s;
    buf_add(&out, str_slice(rest, 0, valid));
    if (valid == rest.n)
      return buf_str(&out);
    if (++bad > max_bad)
      return STR_NONE;
    buf_adds(&out, "\xef\xbf\xbd");
    rest = str_slice(rest, valid + 1, rest.n);
  }
}

uint32_t utf8_next(struct str s, size_t *pos) {
  assert(*pos < s.n);
  const unsigned char *p = (const unsigned char *)s.p + *pos;
  if (p[0] < 0x80) {
    (*pos)++;
    return p[0];
  }
  size_t len = sequence(p, s.n - *pos);
  *pos += len ? len : 1;
  assert(*pos <= s.n);
  switch (len) {
  case 2:
    return ((uint32_t)p[0] & 0x1f) << 6 | (p[1] & 0x3f);
  case 3:
    return ((uint32_t)p[0] & 0x0f) << 12 | ((uint32_t)p[1] & 0x3f) << 6 | (p[2] & 0x3f);
  case 4:
    return ((uint32_t)p[0] & 0x07) << 18 | ((uint32_t)p[1] & 0x3f) << 12 | ((uint32_t)p[2] & 0x3f) << 6 | (p[3] & 0x3f);
  default:
    return 0xfffd;
  }
}

size_t utf8_put(uint32_t cp, char out[4]) {
  if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
    cp = 0xfffd;
  size_t n = (size_t)utf8proc_encode_char((utf8proc_int32_t)cp, (utf8proc_uint8_t *)out);
  assert(n >= 1 && n <= 4);
  return n;
}

struct str utf8_cut(struct str s, size_t max) {
  if (s.n <= max)
    return s;
  /* At most three steps back: a longer run of continuation bytes is invalid anyway. */
  for (size_t back = 0; back <= 3 && back <= max; back++)
    if (((unsigned char)s.p[max - back] & 0xc0) != 0x80)
      return (struct str){s.p, max - back};
  return (struct str){s.p, max};
}

struct str utf8_one_line(struct arena *a, struct str s, size_t max) {
  struct str copy = arena_dup(a, utf8_cut(s, max));
  char *p = (char *)(uintptr_t)copy.p;
  for (size_t i = 0; i < copy.n; i++)
    if ((unsigned char)p[i] < ' ' || p[i] == 0x7f)
      p[i] = ' ';
  return copy;
}

size_t utf8_length(struct str s) {
  size_t count = 0;
  for (size_t i = 0; i < s.n; i++)
    count += ((unsigned char)s.p[i] & 0xc0) != 0x80;
  return count;
}

static utf8proc_category_t category(uint32_t cp) { return utf8proc_category((utf8proc_int32_t)cp); }

bool utf8_is_letter(uint32_t cp) {
  if (cp < 0x80)
    return ascii_alpha((char)cp);
  utf8proc_category_t c = category(cp);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool utf8_is_alnum(uint32_t cp) {
  if (cp < 0x80)
    return ascii_alnum((char)cp);
  utf8proc_category_t c = category(cp);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO;
}

bool utf8_is_upper(uint32_t cp) {
  if (cp < 0x80)
    return ascii_upper((char)cp);
  utf8proc_category_t c = category(cp);
  return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT;
}

bool utf8_is_space(uint32_t cp) {
  if (cp < 0x80)
    return ascii_space((char)cp);
  utf8proc_category_t c = category(cp);
  return c >= UTF8PROC_CATEGORY_ZS && c <= UTF8PROC_CATEGORY_ZP;
}

bool utf8_is_unspaced(uint32_t cp) {
  if (cp < 0x0e00)
    return false;
  return cp <= 0x0eff ||                   /* Thai, Lao */
         (cp >= 0x1000 && cp <= 0x109f) || /* Myanmar */
         (cp >= 0x1780 && cp <= 0x17ff) || /* Khmer */
         (cp >= 0x3040 && cp <= 0x30ff) || /* Hiragana, Katakana */
         (cp >= 0x3400 && cp <= 0x4dbf) || /* Han, extension A */
         (cp >= 0x4e00 && cp <= 0x9fff) || /* Han */
         (cp >= 0xac00 && cp <= 0xd7af) || /* Hangul */
         (cp >= 0xf900 && cp <= 0xfaff) || /* Han, compatibility */
         (cp >= 0x20000 && cp <= 0x3ffff); /* Han, further extensions */
}

/* True for accents, which folding removes. Other combining marks are kept because they change the word: the vowel signs
 * of Thai, Devanagari and Arabic, and the stroke that distinguishes U+2260 (not equal) from "=". */
static bool is_accent(int32_t cp) {
  return (cp >= 0x0300 && cp <= 0x036f && !(cp >= 0x0334 && cp <= 0x0338)) || (cp >= 0x1ab0 && cp <= 0x1aff) ||
         (cp >= 0x1dc0 && cp <= 0x1dff) || (cp >= 0x20d0 && cp <= 0x20ff) || (cp >= 0xfe20 && cp <= 0xfe2f);
}

struct code_points {
  int32_t *v;
  size_t n, cap;
};

static void push_decomposed(struct arena *a, struct code_points *list, uint32_t cp) {
  enum { PARTS_MAX = 32 }; /* the longest decomposition has 18 */
  utf8proc_int32_t parts[PARTS_MAX];
  int boundary = 0;
  utf8proc_ssize_t n =
      utf8proc_decompose_char((utf8proc_int32_t)cp, parts, PARTS_MAX,
                              UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE, &boundary);
  assert(n >= 0 && n <= PARTS_MAX);
  for (utf8proc_ssize_t i = 0; i < n && i < PARTS_MAX; i++)
    if (!is_accent(parts[i]))
      list_push(a, list, parts[i]);
}

/* Sorts marks into canonical order, by combining class. Looks back over at most 32 marks, more than any language needs,
 * so that text made of marks does not take quadratic time. */
static void order_marks(struct code_points *list) {
  for (size_t i = 1; i < list->n; i++) {
    int32_t mark = list->v[i];
    int class = utf8proc_get_property(mark)->combining_class;
    size_t to = i;
    while (class && to > 0 && i - to < 32 && utf8proc_get_property(list->v[to - 1])->combining_class > class) {
      list->v[to] = list->v[to - 1];
      to--;
    }
    list->v[to] = mark;
  }
}

static void fold_run(struct arena *a, struct buf *out, struct str run) {
  struct code_points list = {0};
  for (size_t i = 0; i < run.n;)
    push_decomposed(a, &list, utf8_next(run, &i));
  if (list.n == 0)
    return;
  order_marks(&list);
  utf8proc_ssize_t n = utf8proc_normalize_utf32(list.v, (utf8proc_ssize_t)list.n, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  assert(n >= 0 && (size_t)n <= list.n);
  for (utf8proc_ssize_t i = 0; i < n; i++) {
    char bytes[4];
    buf_add(out, (struct str){bytes, utf8_put((uint32_t)list.v[i], bytes)});
  }
}

/* ASCII that no combining mark follows takes a fast path. */
static bool is_plain(struct str s, size_t i) {
  return (unsigned char)s.p[i] < 0x80 && (i + 1 == s.n || (unsigned char)s.p[i + 1] < 0x80);
}

struct str utf8_fold(struct arena *a, struct str s) {
  struct buf out = BUF(a);
  for (size_t i = 0; i < s.n;) {
    if (is_plain(s, i)) {
      buf_addc(&out, ascii_lower(s.p[i++]));
      continue;
    }
    size_t from = i;
    while (i < s.n && !is_plain(s, i))
      i++;
    fold_run(a, &out, str_slice(s, from, i));
  }
  return buf_str(&out);
}

bool utf8_list_has(struct arena *a, const struct strs *list, struct str s) {
  struct str folded = utf8_fold(a, s);
  for (size_t i = 0; i < list->n; i++)
    if (str_eq(utf8_fold(a, list->v[i]), folded))
      return true;
  return false;
}

void utf8_list_merge(struct arena *a, struct strs *list, const struct strs *more) {
  struct strs folded = {0};
  for (size_t i = 0; i < list->n; i++)
    strs_push(a, &folded, utf8_fold(a, list->v[i]));
  for (size_t i = 0; i < more->n; i++) {
    struct str s = utf8_fold(a, more->v[i]);
    if (strs_has(&folded, s))
      continue;
    strs_push(a, &folded, s);
    strs_push(a, list, more->v[i]);
  }
}
