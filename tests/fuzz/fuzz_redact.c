/* fuzz_redact.c: secrets in any text: hits are in order, in range and at character boundaries. Redacted text is
 * valid, has no more hits, and has no encoding of a known value. */
#include "core/secrets/redact.h"

#include "base/utf8.h"
#include "support/fuzz.h"

/* Everything up to the first 0x1e byte, if there is one, is a known value; the rest is the text. */
static struct str split(struct str input, struct str *ret_known) {
  size_t at = str_find(input, STR("\x1e"), 0);
  *ret_known = at == SIZE_MAX ? STR_NONE : str_slice(input, 0, at);
  return at == SIZE_MAX ? input : str_slice(input, at + 1, input.n);
}

static bool between_characters(struct str text, size_t at) {
  return at == text.n || ((unsigned char)text.p[at] & 0xc0) != 0x80;
}

static void check_hits(struct arena *a, struct str text, const struct secret_hits *hits) {
  size_t end = 0;
  for (size_t i = 0; i < hits->n; i++) {
    const struct secret_hit *h = &hits->v[i];
    FUZZ_CHECK(h->len > 0 && h->start >= end && h->start <= text.n && h->len <= text.n - h->start);
    end = h->start + h->len;
    FUZZ_CHECK(between_characters(text, h->start) && between_characters(text, end));
    struct str preview = redact_preview(a, text, h);
    FUZZ_CHECK(utf8_check(preview) == preview.n && preview.n < 100);
  }
}

/* The base64 characters that depend only on the value if `before` bytes precede it. A separate implementation, so
 * that the code under test is not its own oracle. */
static struct str base64(struct arena *a, struct str value, size_t before, const char *last_two) {
  char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  memcpy(letters + 62, last_two, 2);
  size_t n = before + value.n;
  unsigned char *bytes = arena_zalloc(a, n + 2);
  memcpy(bytes + before, value.p, value.n);
  struct buf out = BUF(a);
  for (size_t i = 0; i < n; i += 3) {
    unsigned group = (unsigned)bytes[i] << 16 | (unsigned)bytes[i + 1] << 8 | bytes[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6)
      buf_addc(&out, letters[group >> shift & 63]);
  }
  static const size_t foreign[] = {0, 2, 3};
  return str_slice(buf_str(&out), foreign[before], n * 8 / 6);
}

static void add_forms(struct arena *a, struct str value, struct strs *forms) {
  struct buf low = BUF(a), high = BUF(a);
  for (size_t i = 0; i < value.n; i++) {
    buf_addf(&low, "%02x", (unsigned char)value.p[i]);
    buf_addf(&high, "%02X", (unsigned char)value.p[i]);
  }
  strs_push(a, forms, value);
  strs_push(a, forms, buf_str(&low));
  strs_push(a, forms, buf_str(&high));
  for (size_t before = 0; before < 3; before++) {
    strs_push(a, forms, base64(a, value, before, "+/"));
    strs_push(a, forms, base64(a, value, before, "-_"));
  }
}

/* The end of the redaction marker at `at`. */
static size_t behind_mark(struct str text, size_t at) {
  size_t i = at + 10;
  while (i < text.n && ((text.p[i] >= 'a' && text.p[i] <= 'z') || ascii_digit(text.p[i]) || text.p[i] == '_'))
    i++;
  return i < text.n && text.p[i] == ']' ? i + 1 : at + 1;
}

/* No encoding is left between the markers. Matches inside a marker are ignored. */
static void check_clean(struct arena *a, struct str clean, struct str value) {
  struct strs forms = {0};
  value = str_trim(value);
  if (value.n < 8)
    return;
  add_forms(a, value, &forms);
  for (size_t at = 0; at < clean.n;) {
    size_t mark = str_find(clean, STR("[REDACTED:"), at), end = mark == SIZE_MAX ? clean.n : mark;
    for (size_t i = 0; i < forms.n; i++)
      FUZZ_CHECK(str_find(str_slice(clean, at, end), forms.v[i], 0) == SIZE_MAX);
    at = end == clean.n ? end : behind_mark(clean, mark);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str input = {(const char *)data, size};
  if (utf8_check(input) != size)
    return 0;
  struct arena a;
  arena_init(&a);
  struct str value, text = split(input, &value);
  struct strs known = {0};
  strs_push(&a, &known, value);
  struct secret_hits hits, again;
  const struct redactor *what = redactor_new(&a, &known);
  redact_find(&a, text, what, &hits);
  check_hits(&a, text, &hits);
  struct str clean = redact_apply(&a, text, &hits);
  FUZZ_CHECK(utf8_check(clean) == clean.n);
  FUZZ_CHECK(hits.n > 0 || str_eq(clean, text));
  redact_find(&a, clean, what, &again);
  FUZZ_CHECK(again.n == 0);
  check_clean(&a, clean, value);
  arena_release(&a);
  return 0;
}
