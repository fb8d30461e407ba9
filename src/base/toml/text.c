/* text.c: the four kinds of TOML strings. */
#include <assert.h>

#include "base/toml/internal.h"
#include "base/utf8.h"

/* Reads the digits of \u0041 or \U00000041. */
static enum status read_code(struct toml_reader *r, size_t digits, size_t begin, struct buf *b) {
  uint32_t cp = 0;
  char bytes[4];
  for (size_t i = 0; i < digits; i++, r->at++) {
    int digit = r->at < r->text.n ? ascii_hex(r->text.p[r->at]) : -1;
    if (digit < 0)
      return toml_fail(r, begin, "too few digits in a Unicode escape", "write \\uXXXX or \\UXXXXXXXX");
    cp = cp << 4 | (uint32_t)digit;
  }
  if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
    return toml_fail(r, begin, "not a Unicode code point", "write the character itself");
  buf_add(b, (struct str){bytes, utf8_put(cp, bytes)});
  return STATUS_OK;
}

/* A backslash at the end of a line removes the line end and all white space after it. */
static bool skip_joined_lines(struct toml_reader *r) {
  size_t from = r->at;
  toml_skip_blanks(r);
  if (!toml_skip_newline(r)) {
    r->at = from;
    return false;
  }
  do
    toml_skip_blanks(r);
  while (toml_skip_newline(r));
  return true;
}

static enum status read_escape(struct toml_reader *r, bool long_one, struct buf *b) {
  static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
  size_t begin = r->at++;
  assert(r->text.p[begin] == '\\');
  if (long_one && skip_joined_lines(r))
    return STATUS_OK;
  int c = toml_peek(r);
  const char *known = c > 0 ? strchr(letters, c) : NULL;
  if (!known && c != 'u' && c != 'U')
    return toml_fail(r, begin, "unknown escape sequence",
                     "use \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX or \\UXXXXXXXX, or put the string in 'single quotes'");
  r->at++;
  if (!known)
    return read_code(r, c == 'u' ? 4 : 8, begin, b);
  buf_addc(b, meant[known - letters]);
  return STATUS_OK;
}

/* Reads quotes in a multi-line string; true if they close it. One or two quotes are content, also directly before the
 * closing three. */
static bool close_long(struct toml_reader *r, char quote, struct buf *b) {
  size_t n = 0;
  while (n < 5 && r->at + n < r->text.n && r->text.p[r->at + n] == quote)
    n++;
  r->at += n;
  for (size_t i = n >= 3 ? 3 : 0; i < n; i++)
    buf_addc(b, quote);
  return n >= 3;
}

static enum status unclosed(struct toml_reader *r, size_t begin, bool long_one) {
  return toml_fail(r, begin, "unterminated string",
                   long_one ? "close it with three quotes" : "close it with the same quote on the same line");
}

enum status toml_text(struct toml_reader *r, bool many, struct str *ret_text) {
  struct buf b = BUF(r->a);
  size_t begin = r->at;
  char quote = r->text.p[begin];
  assert(quote == '"' || quote == '\'');
  bool long_one = many && toml_looking_at(r, quote == '"' ? STR("\"\"\"") : STR("'''"));
  r->at += long_one ? 3 : 1;
  if (long_one)
    toml_skip_newline(r);
  for (;;) {
    int c = toml_peek(r);
    if (c == -1)
      return unclosed(r, begin, long_one);
    if (c == quote && !long_one) {
      r->at++;
      break;
    }
    if (c == quote && long_one) {
      if (close_long(r, quote, &b))
        break;
    } else if (c == '\\' && quote == '"')
      TRY(read_escape(r, long_one, &b));
    else if (c == '\n' || toml_looking_at(r, STR("\r\n"))) {
      if (!long_one)
        return unclosed(r, begin, false);
      toml_skip_newline(r);
      buf_addc(&b, '\n');
    } else if ((c < 0x20 && c != '\t') || c == 0x7f)
      return toml_fail(r, r->at, "control character in a string", "write it as \\uXXXX in \"double quotes\"");
    else {
      buf_addc(&b, (char)c);
      r->at++;
    }
  }
  *ret_text = arena_dup(r->a, buf_str(&b));
  return STATUS_OK;
}
