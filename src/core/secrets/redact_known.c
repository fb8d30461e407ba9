/* redact_known.c: finder of vault values, plain and in hex or base64. redact_layers.c decodes other encodings.
 *
 * At each position, a hash of the next bytes tells whether a form of a value may start there. The form is encoded
 * during the comparison. So the time does not grow with the number of values, and no value is copied. */
#include <assert.h>

#include "base/utf8.h"
#include "core/secrets/redact_scan.h"

/* Shorter values would match ordinary words. No form is shorter than its value. */
enum { KNOWN_MIN = 8 };

const char redact_known_pattern[] = "vault_secret";

/* ---- forms of a value ---- */

enum form { FORM_PLAIN, FORM_HEX, FORM_HEX_UPPER, FORM_BASE64, FORM_BASE64URL };

struct needle {
  struct str value;
  enum form form;
  uint8_t shift; /* base64: bytes before the value in its group of three */
  uint32_t next; /* index of the next needle with the same hash, + 1 */
};

static bool is_base64(const struct needle *n) { return n->form >= FORM_BASE64; }

/* Base64 encodes six bits per character: the first bit of the first character that has only bits of the value. */
static size_t first_bit(const struct needle *n) { return n->shift ? (8u * n->shift + 5) / 6 * 6 : 0; }

/* Number of characters that have only bits of the value. */
static size_t form_length(const struct needle *n) {
  if (is_base64(n))
    return (8 * (n->shift + n->value.n) - first_bit(n)) / 6;
  return n->form == FORM_PLAIN ? n->value.n : 2 * n->value.n;
}

static char base64_at(const struct needle *n, size_t i) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  size_t bit = first_bit(n) + 6 * i, at = bit / 8 - n->shift;
  assert(at < n->value.n);
  unsigned high = (unsigned char)n->value.p[at], low = at + 1 < n->value.n ? (unsigned char)n->value.p[at + 1] : 0;
  unsigned sextet = (high << 8 | low) >> (10 - bit % 8) & 63;
  return sextet < 62 ? letters[sextet] : (n->form == FORM_BASE64 ? "+/" : "-_")[sextet - 62];
}

static char form_at(const struct needle *n, size_t i) {
  if (n->form == FORM_PLAIN)
    return n->value.p[i];
  if (is_base64(n))
    return base64_at(n, i);
  unsigned byte = (unsigned char)n->value.p[i / 2];
  return (n->form == FORM_HEX ? "0123456789abcdef" : "0123456789ABCDEF")[i % 2 ? byte & 15 : byte >> 4];
}

/* ---- index ---- */

static size_t hash_at(const char *p, unsigned bits) {
  uint64_t window;
  memcpy(&window, p, sizeof(window));
  return (size_t)(window * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}
_Static_assert(sizeof(uint64_t) == KNOWN_MIN, "the hash covers the bytes that every form has");

static void add_needle(struct known_index *to, struct needle n) {
  assert(form_length(&n) >= KNOWN_MIN);
  char start[KNOWN_MIN];
  for (size_t i = 0; i < KNOWN_MIN; i++)
    start[i] = form_at(&n, i);
  uint32_t *head = &to->head[hash_at(start, to->bits)];
  n.next = *head;
  to->v[to->n++] = n;
  *head = (uint32_t)to->n;
}

enum { FORMS = 9 };

static void add_forms(struct known_index *to, struct str value) {
  add_needle(to, (struct needle){.value = value, .form = FORM_PLAIN});
  add_needle(to, (struct needle){.value = value, .form = FORM_HEX});
  add_needle(to, (struct needle){.value = value, .form = FORM_HEX_UPPER});
  for (uint8_t shift = 0; shift < 3; shift++) {
    add_needle(to, (struct needle){.value = value, .form = FORM_BASE64, .shift = shift});
    add_needle(to, (struct needle){.value = value, .form = FORM_BASE64URL, .shift = shift});
  }
}

void redact_index_known(struct arena *a, const struct strs *known, struct known_index *ret) {
  *ret = (struct known_index){.bits = 10};
  if (!known || known->n == 0)
    return;
  while (((size_t)1 << ret->bits) < 4 * FORMS * known->n)
    ret->bits++;
  ret->head = arena_array(a, uint32_t, (size_t)1 << ret->bits);
  ret->v = arena_array(a, struct needle, arena_mul(a, FORMS, known->n));
  for (size_t i = 0; i < known->n; i++) {
    struct str value = str_trim(known->v[i]);
    if (value.n >= KNOWN_MIN && utf8_check(value) == value.n)
      add_forms(ret, value);
  }
}

/* ---- finding forms ---- */

static bool is_needle_at(struct str text, size_t at, const struct needle *n) {
  size_t length = form_length(n);
  if (length > text.n - at)
    return false;
  for (size_t i = 0; i < length; i++)
    if (text.p[at + i] != form_at(n, i))
      return false;
  return true;
}

/* Longest needle at `at`, or NULL. */
static const struct needle *needle_at(const struct known_index *index, struct str text, size_t at) {
  assert(at <= text.n && text.n - at >= KNOWN_MIN);
  const struct needle *best = NULL;
  for (uint32_t k = index->head[hash_at(text.p + at, index->bits)]; k; k = index->v[k - 1].next) {
    const struct needle *n = &index->v[k - 1];
    if (is_needle_at(text, at, n) && (!best || form_length(n) > form_length(best)))
      best = n;
  }
  return best;
}

/* Includes neighboring characters that hold bits of the value, and the '=' padding. */
static struct known_span span_of(struct str text, size_t at, const struct needle *n) {
  struct known_span s = {at, at + form_length(n)};
  if (!is_base64(n))
    return s;
  if (n->shift && at > 0 && redact_in(text.p[at - 1], IN_B64 | IN_B64URL))
    s.start--;
  if (8 * (n->shift + n->value.n) % 6 && s.end < text.n && redact_in(text.p[s.end], IN_B64 | IN_B64URL))
    s.end++;
  s.end += redact_run(text, s.end, IN_EQUALS, 2);
  return s;
}

bool redact_next_known(const struct known_index *index, struct str text, size_t *at, struct known_span *ret) {
  for (size_t i = *at; i + KNOWN_MIN <= text.n; i++) {
    size_t marker = text.p[i] == '[' ? redact_marker(text, i) : 0;
    const struct needle *n = marker ? NULL : needle_at(index, text, i);
    if (n) {
      *ret = span_of(text, i, n);
      *at = i + 1;
      return true;
    }
    i += marker ? marker - 1 : 0;
  }
  return false;
}
