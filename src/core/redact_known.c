/* redact_known.c: finds the vault's own values, as they are and as base64, URLs and JSON strings write them. */
#include "base/utf8.h"
#include "core/redact_scan.h"

/* Shorter values would be found in ordinary words. */
enum { KNOWN_MIN = 8 };

/* How the text writes the needle. */
enum spelling { SPELLED_RAW, SPELLED_URL, SPELLED_JSON };

struct needle {
  struct str value;
  uint8_t before, after; /* neighbours that also carry bits of the secret: base64 characters */
  bool raw_only;
  size_t next; /* the next needle with the same first byte, plus one */
};

struct needles {
  size_t head[256];
  LIST(struct needle) list;
};

static void add_needle(struct arena *a, struct needles *to, struct needle n) {
  size_t *head = &to->head[(unsigned char)n.value.p[0]];
  n.next = *head;
  list_push(a, &to->list, n);
  *head = to->list.n;
}

/* The characters that encode value, and it alone, when `shift` bytes come before it in the encoded data. */
static struct str base64(struct arena *a, struct str value, size_t shift, const char *alphabet) {
  struct buf out = BUF(a);
  size_t bits = 8 * (shift + value.n);
  for (size_t at = shift ? (8 * shift + 5) / 6 * 6 : 0; at + 6 <= bits; at += 6) {
    unsigned sextet = 0;
    for (size_t b = at; b < at + 6; b++)
      sextet = sextet << 1 | ((unsigned char)value.p[b / 8 - shift] >> (7 - b % 8) & 1u);
    buf_addc(&out, alphabet[sextet]);
  }
  return buf_str(&out);
}

static void add_base64(struct arena *a, struct needles *to, struct str value) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  char standard[65], url[65];
  memcpy(standard, letters, 62);
  memcpy(standard + 62, "+/", 3);
  memcpy(url, letters, 62);
  memcpy(url + 62, "-_", 3);
  for (size_t shift = 0; shift < 3; shift++) {
    bool cut = 8 * (shift + value.n) % 6 != 0;
    struct str s = base64(a, value, shift, standard), u = base64(a, value, shift, url);
    add_needle(a, to, (struct needle){.value = s, .before = shift > 0, .after = cut, .raw_only = true});
    if (!str_eq(s, u))
      add_needle(a, to, (struct needle){.value = u, .before = shift > 0, .after = cut, .raw_only = true});
  }
}

static int hex_digit(char c) {
  return ascii_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The code unit of the four hex digits at `at`, -1 when they are not. */
static int32_t hex4(struct str text, size_t at) {
  int32_t v = 0;
  for (size_t i = at; i < at + 4; i++) {
    int d = i < text.n ? hex_digit(text.p[i]) : -1;
    if (d < 0)
      return -1;
    v = v * 16 + d;
  }
  return v;
}

/* One character of a JSON string's \uXXXX, or of two that form a pair, as UTF-8. */
static size_t json_unicode(struct str text, size_t at, char out[4], size_t *ret_n) {
  int32_t cp = hex4(text, at + 2);
  size_t used = 6;
  if (cp < 0)
    return 0;
  if (cp >= 0xd800 && cp < 0xdc00 && redact_at(text, at + 6, "\\u")) {
    int32_t low = hex4(text, at + 8);
    if (low >= 0xdc00 && low < 0xe000) {
      cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
      used = 12;
    }
  }
  *ret_n = cp >= 0xd800 && cp < 0xe000 ? 0 : utf8_put((uint32_t)cp, out);
  return *ret_n ? used : 0;
}

/* Decodes one unit of the text at `at` into out; returns how many bytes of the text it took, 0 when it is malformed. */
static size_t decode(struct str text, size_t at, enum spelling how, char out[4], size_t *ret_n) {
  char c = text.p[at];
  out[0] = c;
  *ret_n = 1;
  if (how == SPELLED_URL && c == '%') {
    int high = at + 1 < text.n ? hex_digit(text.p[at + 1]) : -1, low = at + 2 < text.n ? hex_digit(text.p[at + 2]) : -1;
    out[0] = (char)(high * 16 + low);
    return high >= 0 && low >= 0 ? 3 : 0;
  }
  if (how == SPELLED_URL && c == '+') {
    out[0] = ' ';
    return 1;
  }
  if (how != SPELLED_JSON || c != '\\')
    return 1;
  if (at + 1 >= text.n)
    return 0;
  static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
  const char *k = strchr(from, text.p[at + 1]);
  if (k && *k) {
    out[0] = to[k - from];
    return 2;
  }
  return text.p[at + 1] == 'u' ? json_unicode(text, at, out, ret_n) : 0;
}

/* The end of `value` at `at` of the text in the given spelling; `at` when it is not there. */
static size_t match_spelled(struct str text, size_t at, struct str value, enum spelling how) {
  size_t pos = at, done = 0;
  while (done < value.n) {
    char unit[4];
    size_t n = 0, used = pos < text.n ? decode(text, pos, how, unit, &n) : 0;
    if (used == 0 || n > value.n - done || memcmp(unit, value.p + done, n) != 0)
      return at;
    pos += used;
    done += n;
  }
  return pos;
}

static size_t match_raw(struct str text, size_t at, struct str value) {
  return value.n <= text.n - at && memcmp(text.p + at, value.p, value.n) == 0 ? at + value.n : at;
}

static void add_hit(struct redact_scan *s, const struct needle *n, size_t start, size_t end) {
  struct str text = s->text;
  if (n->before && start > 0 && redact_in(text.p[start - 1], IN_B64 | IN_B64URL))
    start--;
  if (n->after && end < text.n && redact_in(text.p[end], IN_B64 | IN_B64URL))
    end++;
  if (n->raw_only)
    end += redact_run(text, end, IN_EQUALS, 2);
  redact_add(s, start, end, "vault_secret", FOUND_KNOWN);
}

/* Adds the longest needle that starts with `first` at `at`. */
static void match_needles(struct redact_scan *s, const struct needles *in, size_t at, char first, enum spelling how) {
  size_t longest = at;
  const struct needle *best = NULL;
  for (size_t k = in->head[(unsigned char)first]; k; k = in->list.v[k - 1].next) {
    const struct needle *n = &in->list.v[k - 1];
    if (how != SPELLED_RAW && n->raw_only)
      continue;
    size_t end = how == SPELLED_RAW ? match_raw(s->text, at, n->value) : match_spelled(s->text, at, n->value, how);
    if (end > longest) {
      longest = end;
      best = n;
    }
  }
  if (best)
    add_hit(s, best, at, longest);
}

static void match_at(struct redact_scan *s, const struct needles *in, size_t at, const bool spelled[]) {
  match_needles(s, in, at, s->text.p[at], SPELLED_RAW);
  for (enum spelling how = SPELLED_URL; how <= SPELLED_JSON; how++) {
    char unit[4];
    size_t n;
    if (spelled[how] && decode(s->text, at, how, unit, &n) > 0)
      match_needles(s, in, at, unit[0], how);
  }
}

void redact_known(struct redact_scan *s, const struct strs *known) {
  struct needles needles = {0};
  for (size_t i = 0; known && i < known->n; i++) {
    struct str value = str_trim(known->v[i]);
    if (value.n < KNOWN_MIN || utf8_check(value) != value.n)
      continue;
    add_needle(s->a, &needles, (struct needle){.value = value});
    add_base64(s->a, &needles, value);
  }
  if (needles.list.n == 0)
    return;
  struct str text = s->text;
  bool spelled[] = {
      [SPELLED_URL] = memchr(text.p, '%', text.n) || memchr(text.p, '+', text.n),
      [SPELLED_JSON] = memchr(text.p, '\\', text.n) != NULL,
  };
  /* Values may overlap each other in the text, so the search goes on inside a match. */
  for (size_t i = 0; i < text.n; i++) {
    size_t marker = text.p[i] == '[' ? redact_marker(text, i) : 0;
    if (marker)
      i += marker - 1;
    else
      match_at(s, &needles, i, spelled);
  }
}
