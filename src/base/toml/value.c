/* value.c: TOML values: numbers, booleans, arrays, inline tables. */
#include "base/toml/internal.h"

#include <assert.h>

/* ---- numbers ---- */

static int digit_value(char c) {
  if (ascii_digit(c))
    return c - '0';
  return ascii_alpha(c) ? ascii_lower(c) - 'a' + 10 : 99;
}

/* Copies digits from s.p[*at] on into b, without the single '_' allowed between them; false if there are no digits or a
 * '_' is misplaced. */
static bool take_digits(struct str s, size_t *at, int base, struct buf *b) {
  bool digit = false;
  for (; *at < s.n; ++*at) {
    char c = s.p[*at];
    if (c == '_') {
      if (!digit)
        return false;
      digit = false;
    } else if (digit_value(c) < base) {
      buf_addc(b, c);
      digit = true;
    } else {
      break;
    }
  }
  return digit;
}

/* False if the value does not fit into an int64. */
static bool parse_integer(struct str digits, int base, bool negative, int64_t *ret_value) {
  uint64_t value = 0, max = (uint64_t)INT64_MAX + negative;
  for (size_t i = 0; i < digits.n; i++) {
    uint64_t digit = (uint64_t)digit_value(digits.p[i]);
    assert(digit < (uint64_t)base);
    if (value > (max - digit) / (uint64_t)base)
      return false;
    value = value * (uint64_t)base + digit;
  }
  *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
  return true;
}

enum number { NO_NUMBER, TOO_LARGE, NUMBER };

static enum number set_integer(struct toml_reader *r, struct str digits, int base, bool negative, struct toml *v) {
  if (!parse_integer(digits, base, negative, &v->integer))
    return TOO_LARGE;
  v->form = TOML_INTEGER;
  v->text = arena_printf(r->a, "%lld", (long long)v->integer);
  return NUMBER;
}

/* 0xff, 0o17 or 0b1 */
static enum number read_prefixed(struct toml_reader *r, struct str word, struct toml *v) {
  assert(word.n > 2);
  struct buf b = BUF(r->a);
  size_t at = 2;
  int base = word.p[1] == 'x' ? 16 : word.p[1] == 'o' ? 8 : 2;
  if (!take_digits(word, &at, base, &b) || at != word.n)
    return NO_NUMBER;
  return set_integer(r, buf_str(&b), base, false, v);
}

/* Copies the part after the integer digits (.5, e10, .5e-3) into b; false if malformed. */
static bool take_fraction(struct str word, size_t *at, struct buf *b) {
  if (*at < word.n && word.p[*at] == '.') {
    buf_addc(b, '.');
    ++*at;
    if (!take_digits(word, at, 10, b))
      return false;
  }
  if (*at < word.n && ascii_lower(word.p[*at]) == 'e') {
    buf_addc(b, 'e');
    ++*at;
    if (*at < word.n && (word.p[*at] == '-' || word.p[*at] == '+'))
      buf_addc(b, word.p[(*at)++]);
    if (!take_digits(word, at, 10, b))
      return false;
  }
  return *at == word.n;
}

static enum number read_number(struct toml_reader *r, struct str word, struct toml *v) {
  assert(word.n > 0);
  struct buf b = BUF(r->a);
  size_t at = 0;
  bool negative = word.p[0] == '-', sign = negative || word.p[0] == '+';
  if (!sign && word.n > 2 && word.p[0] == '0' && (word.p[1] == 'x' || word.p[1] == 'o' || word.p[1] == 'b'))
    return read_prefixed(r, word, v);
  if (negative)
    buf_addc(&b, '-');
  at = sign;
  struct str rest = str_slice(word, at, word.n);
  if (str_is(rest, "inf") || str_is(rest, "nan")) {
    buf_add(&b, rest);
    v->form = TOML_FLOAT;
    v->text = buf_str(&b);
    return NUMBER;
  }
  size_t digits = b.n;
  if (!take_digits(word, &at, 10, &b) || (b.p[digits] == '0' && b.n - digits > 1))
    return NO_NUMBER;
  if (at == word.n)
    return set_integer(r, str_slice(buf_str(&b), digits, b.n), 10, negative, v);
  if (!take_fraction(word, &at, &b))
    return NO_NUMBER;
  v->form = TOML_FLOAT;
  v->text = buf_str(&b);
  return NUMBER;
}

/* ---- unquoted values ---- */

/* 2026-01-31, 07:32:00: digits, then '-' or ':'. */
static bool looks_like_time(struct str word) {
  size_t n = 0;
  while (n < word.n && ascii_digit(word.p[n]))
    n++;
  return (n == 4 && n < word.n && word.p[n] == '-') || (n == 2 && n < word.n && word.p[n] == ':');
}

static enum status read_word(struct toml_reader *r, struct toml *v) {
  size_t from = r->at, to = from;
  while (to < r->text.n && (ascii_alnum(r->text.p[to]) || strchr("+-._:", r->text.p[to])) && r->text.p[to])
    to++;
  struct str word = str_slice(r->text, from, to);
  if (str_is(word, "true") || str_is(word, "false")) {
    v->form = TOML_BOOL;
    v->integer = word.n == 4;
    v->text = word;
    r->at = to;
    return STATUS_OK;
  }
  if (looks_like_time(word))
    return toml_fail(r, from, "dates and times are not supported", "write it as a string in quotes");
  switch (word.n ? read_number(r, word, v) : NO_NUMBER) {
  case NUMBER:
    r->at = to;
    return STATUS_OK;
  case TOO_LARGE:
    return toml_fail(r, from, "the number is too large", "use a number that fits into 64 bits");
  case NO_NUMBER:
    break;
  }
  return toml_fail(r, from, word.n ? "not a valid value" : "the value is missing",
                   "write a string in quotes, a number such as 10, 0.5 or 1e6, or true or false");
}

/* ---- arrays and tables ---- */

/* Skips blanks, line ends and comments, which are allowed in an array. */
static enum status skip_lines(struct toml_reader *r) {
  do {
    toml_skip_blanks(r);
    TRY(toml_skip_comment(r));
  } while (toml_skip_newline(r));
  return STATUS_OK;
}

static enum status read_array(struct toml_reader *r, struct toml *v) {
  assert(toml_peek(r) == '[');
  size_t begin = r->at++;
  v->form = TOML_ARRAY;
  for (;;) {
    TRY(skip_lines(r));
    if (toml_peek(r) == ']')
      break;
    if (toml_peek(r) == -1)
      return toml_fail(r, begin, "the array is not closed", "close it with ]");
    struct toml *element = arena_new(r->a, struct toml);
    toml_place(r, r->at, &element->line, &element->column);
    element->how = MADE_VALUE;
    toml_append(v, element);
    TRY(toml_value(r, element));
    TRY(skip_lines(r));
    if (toml_peek(r) == ',')
      r->at++;
    else if (toml_peek(r) != ']' && toml_peek(r) != -1)
      return toml_fail(r, r->at, "',' or ']' is missing in the array", "write [1, 2, 3]");
  }
  r->at++;
  return STATUS_OK;
}

static enum status read_pairs(struct toml_reader *r, struct toml *v) {
  toml_skip_blanks(r);
  if (toml_peek(r) == '}')
    return STATUS_OK;
  for (;;) {
    TRY(toml_pair(r, v));
    toml_skip_blanks(r);
    if (toml_peek(r) == '}')
      return STATUS_OK;
    if (toml_peek(r) != ',')
      return toml_fail(r, r->at, "',' or '}' is missing in the inline table",
                       "write { a = 1, b = 2 } on one line, without a trailing comma");
    r->at++;
  }
}

static enum status read_inline(struct toml_reader *r, struct toml *v) {
  int outer = r->section;
  assert(toml_peek(r) == '{');
  r->at++;
  r->section = ++r->sections;
  v->form = TOML_TABLE;
  enum status s = read_pairs(r, v);
  v->how = MADE_INLINE;
  r->section = outer;
  r->at++;
  return s;
}

enum status toml_value(struct toml_reader *r, struct toml *v) {
  int c = toml_peek(r);
  if (c == '"' || c == '\'') {
    v->form = TOML_TEXT;
    return toml_text(r, true, &v->text);
  }
  if (c != '[' && c != '{')
    return read_word(r, v);
  if (++r->depth > TOML_DEPTH)
    return toml_fail(r, r->at, "arrays and tables are nested too deeply", "use fewer levels");
  enum status s = c == '[' ? read_array(r, v) : read_inline(r, v);
  assert(r->depth > 0);
  r->depth--;
  return s;
}
