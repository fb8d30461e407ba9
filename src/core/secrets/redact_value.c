/* redact_value.c: reader of the value after a separator: quoted, escaped or bare. */
#include <assert.h>

#include "core/secrets/redact_scan.h"

/* Bytes of a value read before deciding whether it is a secret. Only secrets are read to their end, which keeps the
 * scan linear. */
enum { BARE_BYTES = 160, QUOTED_BYTES = 512 };

static size_t skip_blanks(struct str text, size_t at) {
  assert(at <= text.n);
  size_t end = text.n - at > 8 ? at + 8 : text.n;
  while (at < end && (text.p[at] == ' ' || text.p[at] == '\t'))
    at++;
  return at;
}

static const struct quote {
  struct str open, close;
} quotes[] = {
    {STR_INIT("\""), STR_INIT("\"")}, {STR_INIT("'"), STR_INIT("'")}, {STR_INIT("`"), STR_INIT("`")},
    {STR_INIT("“"), STR_INIT("”")},   {STR_INIT("‘"), STR_INIT("’")}, {STR_INIT("«"), STR_INIT("»")},
    {STR_INIT("„"), STR_INIT("“")},
};

static const struct quote *quote_at(struct str text, size_t at) {
  struct str rest = str_slice(text, at, text.n);
  for (size_t i = 0; i < ARRAY_LEN(quotes); i++)
    if (str_starts(rest, quotes[i].open))
      return &quotes[i];
  return NULL;
}

/* Position of the closing quote of a value that starts at `at`, on the same line; SIZE_MAX if there is none. In JSON
 * nested in a JSON string (`escaped`), the quote has a backslash. */
static size_t closing_quote(struct str text, size_t at, const struct quote *q, bool escaped) {
  assert(at <= text.n);
  size_t end = text.n - at > QUOTED_BYTES ? at + QUOTED_BYTES : text.n;
  for (size_t i = at; i < end && text.p[i] != '\n'; i++) {
    if (text.p[i] == q->close.p[0] && str_starts(str_slice(text, i, text.n), q->close))
      return i;
    if (text.p[i] != '\\')
      continue;
    if (escaped && i + 1 < text.n && text.p[i + 1] == q->close.p[0])
      return i;
    i++;
  }
  return SIZE_MAX;
}

/* True if an unquoted value ends at this byte of IN_BARE_STOP. */
static bool is_bare_end(struct str text, size_t at) {
  char c = text.p[at];
  switch (c) {
  case '\\':
    return at + 1 == text.n || redact_one_of(text.p[at + 1], "nrt\"'\\");
  case '[':
    return redact_marker(text, at) > 0;
  case '&':
  case ',': { /* the next field of a query or a list, but not the middle of a password */
    size_t name = redact_run(text, at + 1, IN_WORD, 32);
    return name > 0 && (redact_at(text, at + 1 + name, "=") || (c == ',' && redact_at(text, at + 1 + name, ":")));
  }
  default: /* also typographic and CJK punctuation */
    return (unsigned char)c < 0x80 || redact_at(text, at, "\xe2\x80") || redact_at(text, at, "\xe3\x80") ||
           redact_at(text, at, "\xef\xbc");
  }
}

static size_t bare_end(struct str text, size_t at, size_t limit) {
  assert(at <= text.n);
  size_t end = text.n - at > limit ? at + limit : text.n, i = at;
  while (i < end && !(redact_in(text.p[i], IN_BARE_STOP) && is_bare_end(text, i)))
    i++;
  /* The limit may be inside a character. */
  while (i > at && i < text.n && ((unsigned char)text.p[i] & 0xc0) == 0x80)
    i--;
  return i;
}

static size_t trimmed_end(struct str text, size_t at, size_t end) {
  while (end > at && redact_one_of(text.p[end - 1], ".,:)]}*"))
    end--;
  return end;
}

/* Code that reads a value: read_token(...), tokens[0], $self->token, Config::token. */
static bool is_code(struct str text, size_t at) {
  at += redact_at(text, at, "$") || redact_at(text, at, "&");
  size_t n = redact_run(text, at, IN_WORD | IN_DOT, BARE_BYTES), end = at + n;
  return n >= 2 && (redact_at(text, end, "(") || redact_at(text, end, "[") || redact_at(text, end, "->") ||
                    redact_at(text, end, "^.") || redact_at(text, end, "::"));
}

static bool read_bare(struct str text, size_t at, struct redact_value *ret) {
  size_t stop = bare_end(text, at, BARE_BYTES), end = trimmed_end(text, at, stop);
  if (redact_marker(text, stop) || is_code(text, at) || redact_at(text, at, "("))
    return false;
  bool prose = end == stop && redact_at(text, stop, " ") && redact_has_word_after(text, stop + 1);
  *ret = (struct redact_value){.start = at, .end = end, .prose = prose};
  return end > at;
}

static bool has_marker(struct str value) {
  size_t at = str_find(value, STR("[REDACTED:"), 0);
  return at != SIZE_MAX && redact_marker(value, at) > 0;
}

bool redact_read_value(struct str text, size_t at, struct redact_value *ret) {
  size_t i = skip_blanks(text, at);
  i += redact_at(text, i, "**") ? 2u : redact_at(text, i, "*"); /* **Password:** in Markdown */
  i = skip_blanks(text, i);
  if (i + 1 < text.n && redact_one_of(text.p[i], "bfru@$") && redact_one_of(text.p[i + 1], "\"'"))
    i++;
  bool escaped = i + 1 < text.n && text.p[i] == '\\' && redact_one_of(text.p[i + 1], "\"'");
  i += escaped;
  if (i >= text.n)
    return false;
  const struct quote *q = quote_at(text, i);
  if (!q)
    return read_bare(text, i, ret);
  i += q->open.n;
  if (redact_at(text, i, "\"\"") || redact_at(text, i, "''"))
    i += 2;
  size_t close = closing_quote(text, i, q, escaped);
  if (close == SIZE_MAX)
    return i < text.n && read_bare(text, i, ret);
  *ret = (struct redact_value){.start = i, .end = close, .quoted = true};
  /* In "password=" + password + ";" the text between the quotes is code. */
  return close > i && text.p[i] != ' ' && !has_marker(str_slice(text, i, close));
}

size_t redact_value_end(struct str text, const struct redact_value *value) {
  if (value->quoted)
    return value->end;
  return trimmed_end(text, value->start, bare_end(text, value->start, SIZE_MAX));
}
