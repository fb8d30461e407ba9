/* redact_known.c: finds the vault's own values, however a text writes them: as they are, in hex or base64, broken into
 * lines, or with the escapes of URLs and JSON strings.
 *
 * At each place of the text a hash of the next bytes says whether a form of a value may start there; then it is
 * compared, encoded as it goes. So time does not grow with the number of values, and no copy of one is made. */
#include "base/utf8.h"
#include "core/redact_scan.h"

/* Shorter values would be found in ordinary words. No form is shorter than its value. */
enum { KNOWN_MIN = 8 };

const char redact_known_pattern[] = "vault_secret";

/* ---- the forms of a value ---- */

enum form { FORM_PLAIN, FORM_HEX, FORM_HEX_UPPER, FORM_BASE64, FORM_BASE64URL };

struct needle {
  struct str value;
  enum form form;
  uint8_t shift; /* of base64: how many bytes come before the value in its group of three */
  uint32_t next; /* the next needle with the same hash, plus one */
};

static bool is_base64(const struct needle *n) { return n->form >= FORM_BASE64; }

/* Base64 writes six bits at a time: the first bit that belongs to a character of the value alone. */
static size_t first_bit(const struct needle *n) { return n->shift ? (8u * n->shift + 5) / 6 * 6 : 0; }

/* How many characters hold bits of the value, and of it alone. */
static size_t form_length(const struct needle *n) {
  if (is_base64(n))
    return (8 * (n->shift + n->value.n) - first_bit(n)) / 6;
  return n->form == FORM_PLAIN ? n->value.n : 2 * n->value.n;
}

static char base64_at(const struct needle *n, size_t i) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  size_t bit = first_bit(n) + 6 * i, at = bit / 8 - n->shift;
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

/* ---- the index ---- */

static size_t hash_at(const char *p, unsigned bits) {
  uint64_t window;
  memcpy(&window, p, sizeof(window));
  return (size_t)(window * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}
_Static_assert(sizeof(uint64_t) == KNOWN_MIN, "the hash covers what every form has");

static void add_needle(struct known_index *to, struct needle n) {
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

static bool is_there(struct str text, size_t at, const struct needle *n) {
  size_t length = form_length(n);
  if (length > text.n - at)
    return false;
  for (size_t i = 0; i < length; i++)
    if (text.p[at + i] != form_at(n, i))
      return false;
  return true;
}

/* The longest needle at `at`. */
static const struct needle *needle_at(const struct known_index *index, struct str text, size_t at) {
  const struct needle *best = NULL;
  for (uint32_t k = index->head[hash_at(text.p + at, index->bits)]; k; k = index->v[k - 1].next) {
    const struct needle *n = &index->v[k - 1];
    if (is_there(text, at, n) && (!best || form_length(n) > form_length(best)))
      best = n;
  }
  return best;
}

struct span {
  size_t start, end;
};

/* With the neighbours that carry bits of the value too, and the '=' at the end. */
static struct span span_of(struct str text, size_t at, const struct needle *n) {
  struct span s = {at, at + form_length(n)};
  if (!is_base64(n))
    return s;
  if (n->shift && at > 0 && redact_in(text.p[at - 1], IN_B64 | IN_B64URL))
    s.start--;
  if (8 * (n->shift + n->value.n) % 6 && s.end < text.n && redact_in(text.p[s.end], IN_B64 | IN_B64URL))
    s.end++;
  s.end += redact_run(text, s.end, IN_EQUALS, 2);
  return s;
}

/* Finds the next form that starts at *at or behind it, and moves *at to where the search goes on: inside the find,
 * because values may overlap each other. */
static bool next_span(const struct known_index *index, struct str text, size_t *at, struct span *ret) {
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

/* ---- spellings: how a text may write the characters of a form ---- */

enum spelling { SPELLED_URL, SPELLED_FORM, SPELLED_JSON, SPELLED_WRAPPED };

/* Without its sign a text is not spelled so. */
static const struct {
  enum spelling how;
  char sign;
} spellings[] = {{SPELLED_URL, '%'}, {SPELLED_FORM, '+'}, {SPELLED_JSON, '\\'}, {SPELLED_WRAPPED, '\n'}};

static int hex_digit(char c) {
  return ascii_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The number of the hex digits at `at`, -1 when they are none. */
static int32_t hex(struct str text, size_t at, size_t digits) {
  int32_t v = 0;
  for (size_t i = at; i < at + digits; i++) {
    int d = i < text.n ? hex_digit(text.p[i]) : -1;
    if (d < 0)
      return -1;
    v = v * 16 + d;
  }
  return v;
}

/* What one unit of the text stands for, and how many bytes it takes there. */
struct unit {
  char bytes[4];
  size_t n, used;
};

static struct unit literal(char c) { return (struct unit){.bytes = {c}, .n = 1, .used = 1}; }

static struct unit read_url(struct str text, size_t at) {
  int32_t byte = text.p[at] == '%' ? hex(text, at + 1, 2) : -1;
  return byte < 0 ? literal(text.p[at]) : (struct unit){.bytes = {(char)byte}, .n = 1, .used = 3};
}

/* \uXXXX, or two of them that form a pair. */
static struct unit read_json_unicode(struct str text, size_t at) {
  struct unit u = {.used = 6};
  int32_t cp = hex(text, at + 2, 4);
  if (cp >= 0xd800 && cp < 0xdc00 && redact_at(text, at + 6, "\\u")) {
    int32_t low = hex(text, at + 8, 4);
    if (low >= 0xdc00 && low < 0xe000) {
      cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
      u.used = 12;
    }
  }
  if (cp < 0 || (cp >= 0xd800 && cp < 0xe000))
    return literal(text.p[at]);
  u.n = utf8_put((uint32_t)cp, u.bytes);
  return u;
}

static struct unit read_json(struct str text, size_t at) {
  static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
  if (text.p[at] != '\\' || at + 1 == text.n)
    return literal(text.p[at]);
  char c = text.p[at + 1];
  if (c == 'u')
    return read_json_unicode(text, at);
  const char *k = c ? strchr(from, c) : NULL;
  return k ? (struct unit){.bytes = {to[k - from]}, .n = 1, .used = 2} : literal(text.p[at]);
}

/* A line end and the indentation behind it stand for nothing. */
static struct unit read_wrapped(struct str text, size_t at) {
  size_t end = at;
  while (end < text.n &&
         (text.p[end] == '\n' || text.p[end] == '\r' || (end > at && (text.p[end] == ' ' || text.p[end] == '\t'))))
    end++;
  if (end == at)
    return literal(text.p[at]);
  return (struct unit){.used = end - at};
}

static struct unit read_unit(struct str text, size_t at, enum spelling how) {
  switch (how) {
  case SPELLED_FORM:
    return text.p[at] == '+' ? (struct unit){.bytes = {' '}, .n = 1, .used = 1} : read_url(text, at);
  case SPELLED_JSON:
    return read_json(text, at);
  case SPELLED_WRAPPED:
    return read_wrapped(text, at);
  default:
    return read_url(text, at);
  }
}

static struct str unspelled(struct arena *a, struct str text, enum spelling how) {
  char *out = arena_alloc(a, text.n + 1);
  size_t n = 0;
  for (size_t at = 0; at < text.n;) {
    struct unit u = read_unit(text, at, how);
    memcpy(out + n, u.bytes, u.n);
    n += u.n;
    at += u.used;
  }
  return (struct str){out, n};
}

/* A place in the text and how much comes before it when it is read. */
struct place {
  size_t at, read;
};

/* The first unit that stands for something once `read` bytes are read. */
static struct place start_of(struct str text, struct place from, size_t read, enum spelling how) {
  while (from.at < text.n) {
    struct unit u = read_unit(text, from.at, how);
    if (from.read >= read && u.n > 0)
      break;
    from = (struct place){from.at + u.used, from.read + u.n};
  }
  return from;
}

static size_t end_of(struct str text, struct place from, size_t read, enum spelling how) {
  while (from.at < text.n && from.read < read) {
    struct unit u = read_unit(text, from.at, how);
    from = (struct place){from.at + u.used, from.read + u.n};
  }
  return from.at;
}

static void find_spelled(struct redact_scan *s, const struct known_index *index, enum spelling how) {
  struct arena *scratch = arena_child(s->a);
  struct str text = s->text, plain = unspelled(scratch, text, how);
  struct place start = {0, 0}; /* no span starts before the one that was found before it */
  struct span span;
  for (size_t at = 0; next_span(index, plain, &at, &span);) {
    start = start_of(text, start, span.start, how);
    redact_add(s, start.at, end_of(text, start, span.end, how), redact_known_pattern, FOUND_KNOWN);
  }
  arena_release(scratch);
}

void redact_known(struct redact_scan *s, const struct known_index *index) {
  struct span span;
  if (!index->head)
    return;
  for (size_t at = 0; next_span(index, s->text, &at, &span);)
    redact_add(s, span.start, span.end, redact_known_pattern, FOUND_KNOWN);
  for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
    if (memchr(s->text.p, spellings[i].sign, s->text.n))
      find_spelled(s, index, spellings[i].how);
}
