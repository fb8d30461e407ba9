/* redact_layers.c: undoes what a text wraps around the vault's values: the escapes of URLs and JSON strings, lines, hex
 * and base64, also two of them around each other.
 *
 * Each way of reading a text gives another text, a layer, in which the values are looked for, and which may be read in
 * one of the ways again: up to two spellings, and one time hex or base64, in whatever order; hex or base64 right
 * around a value costs none of these, because redact_known.c looks for those forms. What is found is led back, layer by
 * layer, to its place in the text. What all layers may hold together is bounded by the length of the text, what comes
 * out of one run of hex or base64 by its part of it; layers of the first spelling are always read. */
#include "base/utf8.h"
#include "core/secrets/redact_scan.h"

enum {
  SPELLINGS_MOST = 2,
  INNER_MOST = SPELLINGS_MOST + 1,
  BASE64_LEAST = 14, /* of eight bytes, one of them escaped; nothing shorter holds a value in two wrappings */
  HEX_LEAST = 20,
  LAYERS_TIMES = 32, /* so many times the text, and a little */
  LAYERS_MORE = 4096,
  MARK_EVERY = 256, /* bytes of a layer */
};

/* ---- spellings: how a text may write characters ---- */

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

/* A place in the text and how much comes before it when it is read. */
struct place {
  size_t at, read;
};

/* The text as it reads, which is never longer; false when it reads as it is written. marks[i] is the first place with
 * i * MARK_EVERY bytes before it. */
static bool unspelled(char *out, struct place *marks, struct str text, enum spelling how, struct str *ret) {
  size_t n = 0, marked = 0;
  bool changed = false;
  for (size_t at = 0; at < text.n;) {
    struct unit u = read_unit(text, at, how);
    if (n >= marked * MARK_EVERY)
      marks[marked++] = (struct place){at, n};
    changed |= u.n != 1 || u.used != 1 || u.bytes[0] != text.p[at];
    memcpy(out + n, u.bytes, u.n);
    n += u.n;
    at += u.used;
  }
  *ret = (struct str){out, n};
  return changed;
}

/* From where to look for the place with `read` bytes before it: never far from it. */
static struct place mark_before(const struct place *marks, size_t read) {
  size_t i = read / MARK_EVERY;
  return marks[i].read <= read ? marks[i] : marks[i - 1];
}

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

/* ---- layers ---- */

struct layer {
  struct layer *outer; /* NULL: the text itself */
  enum { LAYER_SPELLED, LAYER_BASE64, LAYER_HEX } kind;
  struct str text;
  enum spelling how;
  struct place reached; /* of a spelled one: where the last find began, in the outer text */
  struct place *marks;  /* of a spelled one: places in the outer text */
  size_t from;          /* of hex and base64: where it begins in the outer text */
  int spelled;          /* how many of it and those around it are */
  bool decoded;         /* it or one around it is hex or base64 */
};

struct search {
  struct redact_scan *scan;
  const struct known_index *index;
  struct arena *a;        /* NULL: nothing was needed yet */
  char *room[INNER_MOST]; /* for a layer in so many others: no layer is longer than the text */
  struct place *marks[INNER_MOST];
  size_t left; /* bytes that may still be read into layers */
};

/* Where a span of a layer is in the text around it: of base64 all characters that carry a bit of it. */
static struct known_span outward(struct layer *l, struct known_span s) {
  struct str text = l->outer->text;
  struct known_span out = {l->from + 2 * s.start, l->from + 2 * s.end};
  if (l->kind == LAYER_BASE64) {
    out = (struct known_span){l->from + 8 * s.start / 6, l->from + (8 * s.end + 5) / 6};
    out.end += redact_run(text, out.end, IN_EQUALS, 2);
  } else if (l->kind == LAYER_SPELLED) {
    struct place mark = mark_before(l->marks, s.start);
    bool here = l->reached.read <= s.start && l->reached.read > mark.read;
    l->reached = start_of(text, here ? l->reached : mark, s.start, l->how);
    out = (struct known_span){l->reached.at, end_of(text, l->reached, s.end, l->how)};
  }
  return out;
}

static void find_in(const struct search *q, struct layer *l) {
  struct known_span found;
  for (size_t at = 0; redact_next_known(q->index, l->text, &at, &found);) {
    for (struct layer *o = l; o->outer; o = o->outer)
      found = outward(o, found);
    redact_add(q->scan, found.start, found.end, redact_known_pattern, FOUND_KNOWN);
  }
}

static bool may_hold(struct search *q, size_t bytes) {
  if (bytes > q->left)
    return false;
  q->left -= bytes;
  return true;
}

/* A part of the search gets no more than this; what is left of it is there for others again by pay_back(). */
static size_t lend(struct search *q, size_t most) {
  size_t kept = q->left > most ? q->left - most : 0;
  q->left -= kept;
  return kept;
}

static void pay_back(struct search *q, size_t kept) { q->left += kept; }

static char *room_for(struct search *q, const struct layer *inner) {
  char **room = &q->room[inner->spelled + inner->decoded - 1];
  if (!q->a)
    q->a = arena_child(q->scan->a);
  if (!*room)
    *room = arena_alloc(q->a, q->scan->text.n + 1);
  return *room;
}

static struct place *marks_for(struct search *q, const struct layer *inner) {
  struct place **marks = &q->marks[inner->spelled + inner->decoded - 1];
  if (!*marks)
    *marks = arena_array(q->a, struct place, q->scan->text.n / MARK_EVERY + 1);
  return *marks;
}

static bool read_as(struct search *q, struct layer *inner) {
  char *room = room_for(q, inner);
  inner->marks = marks_for(q, inner);
  return unspelled(room, inner->marks, inner->outer->text, inner->how, &inner->text);
}

static void look_into(struct search *q, struct layer *l);

static void read_spelled(struct search *q, struct layer *l) {
  for (size_t i = 0; i < ARRAY_LEN(spellings) && l->spelled < SPELLINGS_MOST; i++) {
    struct layer inner = {
        .outer = l, .kind = LAYER_SPELLED, .how = spellings[i].how, .spelled = l->spelled + 1, .decoded = l->decoded};
    size_t kept = l->outer ? 0 : lend(q, q->left / (ARRAY_LEN(spellings) - i));
    if (l->text.n && memchr(l->text.p, spellings[i].sign, l->text.n) && (!l->outer || may_hold(q, l->text.n)) &&
        read_as(q, &inner))
      look_into(q, &inner);
    pay_back(q, kept);
  }
}

static unsigned sextet(char c) {
  if (ascii_digit(c))
    return (unsigned)(c - '0') + 52;
  if (c >= 'A' && c <= 'Z')
    return (unsigned)(c - 'A');
  if (c >= 'a' && c <= 'z')
    return (unsigned)(c - 'a') + 26;
  return c == '+' || c == '-' ? 62 : 63;
}

static struct str from_base64(char *out, struct str run) {
  unsigned bits = 0;
  size_t n = 0;
  for (size_t i = 0; i < run.n; i++) {
    bits = bits << 6 | sextet(run.p[i]);
    if (i % 4)
      out[n++] = (char)(bits >> (6 - 2 * (i % 4)));
  }
  return (struct str){out, n};
}

static struct str from_hex(char *out, struct str run) {
  for (size_t i = 0; i < run.n / 2; i++)
    out[i] = (char)hex(run, 2 * i, 2);
  return (struct str){out, run.n / 2};
}

/* Where the groups begin is not known: other letters may stand before them. A picture reads like a text full of
 * escapes: it must not use up what those behind it need. */
static void read_run(struct search *q, struct layer *l, size_t from, size_t to, bool is_hex) {
  size_t shifts = is_hex ? 2 : 4, least = is_hex ? HEX_LEAST : BASE64_LEAST;
  size_t share =
      q->left / (l->text.n - from) * (to - from) + q->left % (l->text.n - from) * (to - from) / (l->text.n - from);
  size_t kept = lend(q, is_hex ? share / 2 : share); /* what is hex may be base64, too */
  for (size_t shift = 0; shift < shifts && to - from - shift >= least; shift++) {
    struct layer inner = {.outer = l,
                          .kind = is_hex ? LAYER_HEX : LAYER_BASE64,
                          .from = from + shift,
                          .spelled = l->spelled,
                          .decoded = true};
    struct str run = str_slice(l->text, inner.from, to);
    size_t others = lend(q, q->left / (shifts - shift));
    if (may_hold(q, run.n)) {
      inner.text = is_hex ? from_hex(room_for(q, &inner), run) : from_base64(room_for(q, &inner), run);
      look_into(q, &inner);
    }
    pay_back(q, others);
  }
  pay_back(q, kept);
}

/* The next run that is long enough. Looked at from its last character backwards: of prose most is never looked at. */
static size_t next_run(struct str text, size_t at) {
  while (at + BASE64_LEAST <= text.n) {
    size_t k = BASE64_LEAST;
    while (k > 0 && redact_in(text.p[at + k - 1], IN_B64 | IN_B64URL))
      k--;
    if (k == 0)
      return at;
    at += k;
  }
  return text.n;
}

static void read_runs(struct search *q, struct layer *l) {
  struct str text = l->text;
  size_t kept = lend(q, q->left / 2);
  for (size_t at = next_run(text, 0); at < text.n;) {
    size_t end = at + redact_run(text, at, IN_B64 | IN_B64URL, text.n);
    for (size_t i = at; end - at >= HEX_LEAST && i < end;) {
      size_t digits = redact_run(text, i, IN_HEX, end - i);
      if (digits >= HEX_LEAST)
        read_run(q, l, i, i + digits, true);
      i += digits + 1;
    }
    read_run(q, l, at, end, false);
    at = next_run(text, end);
  }
  pay_back(q, kept);
}

static void look_into(struct search *q, struct layer *l) {
  find_in(q, l);
  if (!l->decoded)
    read_runs(q, l);
  read_spelled(q, l);
}

void redact_known(struct redact_scan *s, const struct known_index *index) {
  if (!index->head)
    return;
  struct search q = {.scan = s, .index = index, .left = LAYERS_TIMES * s->text.n + LAYERS_MORE};
  struct layer text = {.text = s->text};
  look_into(&q, &text);
  if (q.a)
    arena_release(q.a);
}
