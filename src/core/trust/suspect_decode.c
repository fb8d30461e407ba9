/* suspect_decode.c: decoders of escapes, hex, rot13, reversed text and split words. */
#include "core/trust/suspect_decode.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "core/text/escape.h"

/* ---- escapes ---- */

static struct str decode_escapes(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  bool any = false;
  for (size_t i = 0; i < s.n;) {
    uint32_t c = 0;
    bool byte = false;
    size_t end = strchr("%\\&", s.p[i]) && s.p[i] ? escape_read(s, i, &c, &byte) : i;
    if (end == i) {
      buf_addc(&b, s.p[i++]);
      continue;
    }
    char out[4];
    if (byte)
      buf_addc(&b, (char)c);
    else
      buf_add(&b, (struct str){out, utf8_put(c, out)});
    any = true;
    i = end;
  }
  return any ? buf_str(&b) : STR_NONE;
}

/* ---- hex ---- */

/* Decodes long runs of hex digits that encode text. */
static struct str decode_hex(struct arena *a, struct str s) {
  enum { LEAST = 24 };
  struct buf b = BUF(a);
  bool any = false;
  for (size_t i = 0, end; i < s.n; i = end) {
    for (end = i; end < s.n && ascii_hex(s.p[end]) >= 0; end++)
      ;
    size_t from = b.n;
    bool text = end - i >= LEAST && (end - i) % 2 == 0;
    for (size_t k = i; text && k < end; k += 2) {
      uint32_t c = 0;
      text = escape_hex(s, k, 2, &c) && (c >= ' ' || c == '\n' || c == '\t');
      buf_addc(&b, (char)c);
    }
    any |= text;
    if (!text) {
      b.n = from;
      end = end > i ? end : i + 1;
      buf_add(&b, str_slice(s, i, end));
    }
  }
  return any ? buf_str(&b) : STR_NONE;
}

/* ---- rot13 and reversed text ---- */

static struct str decode_rot13(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i], first = ascii_upper(c) ? 'A' : 'a';
    buf_addc(&b, ascii_alpha(c) ? (char)(first + (c - first + 13) % 26) : c);
  }
  return s.n ? buf_str(&b) : STR_NONE;
}

static struct str decode_reversed(struct arena *a, struct str s) {
  char *out = arena_alloc(a, s.n + 1);
  size_t at = s.n;
  for (size_t i = 0, from = 0; i < s.n; from = i) {
    (void)utf8_next(s, &i);
    at -= i - from;
    memcpy(out + at, s.p + from, i - from);
  }
  return s.n ? (struct str){out + at, s.n - at} : STR_NONE;
}

/* ---- split words ---- */

static bool is_letter(struct str s, size_t pos) {
  return pos < s.n && (ascii_alpha(s.p[pos]) || (unsigned char)s.p[pos] >= 0x80);
}

/* End of a split at pos: "' + '", or a hyphen between letters, perhaps at the end of a line; pos if there is none. */
static size_t read_split(struct str s, size_t pos) {
  size_t i = pos;
  if (s.p[i] == '-') {
    i++;
    while (i < s.n && (s.p[i] == '\n' || s.p[i] == '\r'))
      i++;
    return pos > 0 && is_letter(s, pos - 1) && is_letter(s, i) ? i : pos;
  }
  char quote = s.p[i++];
  while (i < s.n && s.p[i] == ' ')
    i++;
  if (i >= s.n || !strchr("+.&", s.p[i]) || !s.p[i])
    return pos;
  i++;
  while (i < s.n && s.p[i] == ' ')
    i++;
  return i < s.n && s.p[i] == quote ? i + 1 : pos;
}

static struct str decode_split(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  bool any = false;
  for (size_t i = 0; i < s.n;) {
    bool may_split = s.p[i] == '-' || s.p[i] == '\'' || s.p[i] == '"';
    size_t end = may_split ? read_split(s, i) : i;
    any |= end > i;
    if (end == i)
      buf_addc(&b, s.p[i++]);
    else
      i = end;
  }
  return any ? buf_str(&b) : STR_NONE;
}

const struct decoder suspect_decoders[] = {
    {decode_escapes, 2}, {decode_hex, 2}, {decode_split, 3}, {decode_rot13, 3}, {decode_reversed, 3}};
const size_t suspect_decoder_count = ARRAY_LEN(suspect_decoders);
