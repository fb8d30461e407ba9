/* redact_layers.c: finder of encoded vault values: URL and JSON escapes, line breaks, hex and base64, also nested.
 *
 * Decoding a text gives another text, a layer. Layers are searched for the values and may be decoded again: up to two
 * spellings (escapes, line breaks) and one level of hex or base64, in any order. Hex or base64 directly around a value
 * does not count, because redact_known.c searches for those forms. Findings are mapped back, layer by layer, to the
 * original text. The total size of all layers is limited in proportion to the text, and that of a run of hex or base64
 * in proportion to the run. Layers of the first spelling are always decoded. */
#include <assert.h>

#include "base/utf8.h"
#include "core/secrets/redact_scan.h"

enum {
  SPELLINGS_MOST = 2,
  INNER_MOST = SPELLINGS_MOST + 1,
  BASE64_LEAST = 14, /* eight bytes, one of them escaped: the shortest run with a value in two encodings */
  HEX_LEAST = 20,
  LAYERS_TIMES = 32, /* size limit of all layers: LAYERS_TIMES * length of the text + LAYERS_MORE */
  LAYERS_MORE = 4096,
  ANCHOR_EVERY = 256, /* bytes of a layer */
};

/* ---- spellings: escapes and line breaks ---- */

enum spelling { SPELLED_URL, SPELLED_FORM, SPELLED_JSON, SPELLED_WRAPPED };

/* A text without `sign` is not in that spelling. */
static const struct {
  enum spelling how;
  char sign;
} spellings[] = {{SPELLED_URL, '%'}, {SPELLED_FORM, '+'}, {SPELLED_JSON, '\\'}, {SPELLED_WRAPPED, '\n'}};

/* Value of the hex digits at `at`, -1 if they are not hex. */
static int32_t hex(struct str text, size_t at, size_t digits) {
  int32_t v = 0;
  for (size_t i = at; i < at + digits; i++) {
    int d = i < text.n ? ascii_hex(text.p[i]) : -1;
    if (d < 0)
      return -1;
    v = v * 16 + d;
  }
  return v;
}

/* A decoded unit of the text. */
struct unit {
  char bytes[4];
  size_t n;    /* decoded bytes */
  size_t used; /* bytes in the text */
};

static struct unit literal(char c) { return (struct unit){.bytes = {c}, .n = 1, .used = 1}; }

static struct unit read_url(struct str text, size_t at) {
  int32_t byte = text.p[at] == '%' ? hex(text, at + 1, 2) : -1;
  return byte < 0 ? literal(text.p[at]) : (struct unit){.bytes = {(char)byte}, .n = 1, .used = 3};
}

/* \uXXXX, or two of them that form a surrogate pair. */
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

/* A line break and the indentation after it decode to nothing. */
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
  case SPELLED_URL:
    break;
  }
  return read_url(text, at);
}

/* A position in the text and the number of decoded bytes before it. */
struct place {
  size_t at, read;
};

/* Decodes the text, which never gets longer; false if decoding changes nothing. anchors[i] is the first place with
 * i * ANCHOR_EVERY decoded bytes before it. */
static bool decode_spelling(char *out, struct place *anchors, struct str text, enum spelling how, struct str *ret) {
  size_t n = 0, anchor_count = 0;
  bool changed = false;
  for (size_t at = 0; at < text.n;) {
    struct unit u = read_unit(text, at, how);
    assert(u.used > 0 && u.n <= u.used);
    assert(anchor_count <= text.n / ANCHOR_EVERY + 1);
    if (n >= anchor_count * ANCHOR_EVERY)
      anchors[anchor_count++] = (struct place){at, n};
    changed |= u.n != 1 || u.used != 1 || u.bytes[0] != text.p[at];
    memcpy(out + n, u.bytes, u.n);
    n += u.n;
    at += u.used;
  }
  *ret = (struct str){out, n};
  return changed;
}

/* Last anchor with at most `read` decoded bytes before it. */
static struct place anchor_before(const struct place *anchors, size_t read) {
  size_t i = read / ANCHOR_EVERY;
  assert(i > 0 || anchors[0].read <= read);
  return anchors[i].read <= read ? anchors[i] : anchors[i - 1];
}

/* First unit with `read` decoded bytes before it that does not decode to nothing. */
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
  struct layer *outer; /* NULL for the original text */
  enum { LAYER_SPELLED, LAYER_BASE64, LAYER_HEX } kind;
  struct str text;
  enum spelling how;
  struct place reached;  /* LAYER_SPELLED: start of the last finding in the outer text */
  struct place *anchors; /* LAYER_SPELLED: places in the outer text */
  size_t from;           /* hex and base64: start in the outer text */
  int spelled;           /* number of spellings, including the outer layers */
  bool decoded;          /* this or an outer layer is hex or base64 */
};

struct search {
  struct redact_scan *scan;
  const struct known_index *index;
  struct arena *a;        /* NULL until needed */
  char *room[INNER_MOST]; /* buffer per nesting depth; no layer is longer than the text */
  struct place *anchors[INNER_MOST];
  size_t left; /* bytes that may still be decoded into layers */
};

/* Maps a span of a layer to the outer text. In base64, includes all characters with a bit of it. */
static struct known_span outward(struct layer *l, struct known_span s) {
  struct str text = l->outer->text;
  struct known_span out = {l->from + 2 * s.start, l->from + 2 * s.end};
  if (l->kind == LAYER_BASE64) {
    out = (struct known_span){l->from + 8 * s.start / 6, l->from + (8 * s.end + 5) / 6};
    out.end += redact_run(text, out.end, IN_EQUALS, 2);
  } else if (l->kind == LAYER_SPELLED) {
    struct place anchor = anchor_before(l->anchors, s.start);
    bool nearer = l->reached.read <= s.start && l->reached.read > anchor.read;
    l->reached = start_of(text, nearer ? l->reached : anchor, s.start, l->how);
    out = (struct known_span){l->reached.at, end_of(text, l->reached, s.end, l->how)};
  }
  assert(out.start < out.end && out.end <= text.n);
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

/* Takes bytes from the budget; false if it is exhausted. */
static bool spend(struct search *q, size_t bytes) {
  if (bytes > q->left)
    return false;
  q->left -= bytes;
  return true;
}

/* Limits the budget of a part of the search to `most`. Returns the reserved rest, for release(). */
static size_t reserve(struct search *q, size_t most) {
  size_t reserved = q->left > most ? q->left - most : 0;
  q->left -= reserved;
  return reserved;
}

static void release(struct search *q, size_t reserved) { q->left += reserved; }

static char *room_for(struct search *q, const struct layer *inner) {
  assert(inner->spelled + inner->decoded >= 1 && inner->spelled + inner->decoded <= INNER_MOST);
  assert(inner->outer->text.n <= q->scan->text.n);
  char **room = &q->room[inner->spelled + inner->decoded - 1];
  if (!q->a)
    q->a = arena_child(q->scan->a);
  if (!*room)
    *room = arena_alloc(q->a, q->scan->text.n + 1);
  return *room;
}

static struct place *anchors_for(struct search *q, const struct layer *inner) {
  struct place **anchors = &q->anchors[inner->spelled + inner->decoded - 1];
  if (!*anchors)
    *anchors = arena_array(q->a, struct place, q->scan->text.n / ANCHOR_EVERY + 1);
  return *anchors;
}

static bool decode_layer(struct search *q, struct layer *inner) {
  char *room = room_for(q, inner);
  inner->anchors = anchors_for(q, inner);
  return decode_spelling(room, inner->anchors, inner->outer->text, inner->how, &inner->text);
}

static void search_layer(struct search *q, struct layer *l);

static void search_spellings(struct search *q, struct layer *l) {
  for (size_t i = 0; i < ARRAY_LEN(spellings) && l->spelled < SPELLINGS_MOST; i++) {
    struct layer inner = {
        .outer = l, .kind = LAYER_SPELLED, .how = spellings[i].how, .spelled = l->spelled + 1, .decoded = l->decoded};
    size_t reserved = l->outer ? 0 : reserve(q, q->left / (ARRAY_LEN(spellings) - i));
    if (l->text.n && memchr(l->text.p, spellings[i].sign, l->text.n) && (!l->outer || spend(q, l->text.n)) &&
        decode_layer(q, &inner))
      search_layer(q, &inner);
    release(q, reserved);
  }
}

static struct str from_base64(char *out, struct str run) {
  unsigned bits = 0;
  size_t n = 0;
  for (size_t i = 0; i < run.n; i++) {
    bits = bits << 6 | ((unsigned)ascii_base64(run.p[i]) & 63);
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

/* Decodes a run at each possible alignment, because other letters may precede the encoded text. A run gets only its
 * share of the budget: image data decodes to text full of escapes and must not exhaust it. */
static void search_run(struct search *q, struct layer *l, size_t from, size_t to, bool is_hex) {
  assert(from < to && to <= l->text.n);
  size_t shifts = is_hex ? 2 : 4, least = is_hex ? HEX_LEAST : BASE64_LEAST;
  size_t share =
      q->left / (l->text.n - from) * (to - from) + q->left % (l->text.n - from) * (to - from) / (l->text.n - from);
  size_t reserved = reserve(q, is_hex ? share / 2 : share); /* hex is also searched as base64 */
  for (size_t shift = 0; shift < shifts && to - from - shift >= least; shift++) {
    struct layer inner = {.outer = l,
                          .kind = is_hex ? LAYER_HEX : LAYER_BASE64,
                          .from = from + shift,
                          .spelled = l->spelled,
                          .decoded = true};
    struct str run = str_slice(l->text, inner.from, to);
    size_t other_shifts = reserve(q, q->left / (shifts - shift));
    if (spend(q, run.n)) {
      inner.text = is_hex ? from_hex(room_for(q, &inner), run) : from_base64(room_for(q, &inner), run);
      search_layer(q, &inner);
    }
    release(q, other_shifts);
  }
  release(q, reserved);
}

static void search_runs(struct search *q, struct layer *l) {
  struct str text = l->text;
  size_t reserved = reserve(q, q->left / 2);
  for (size_t at = redact_next_run(text, 0, BASE64_LEAST); at < text.n;) {
    size_t end = at + redact_run(text, at, IN_B64 | IN_B64URL, text.n);
    for (size_t i = at; end - at >= HEX_LEAST && i < end;) {
      size_t digits = redact_run(text, i, IN_HEX, end - i);
      if (digits >= HEX_LEAST)
        search_run(q, l, i, i + digits, true);
      i += digits + 1;
    }
    search_run(q, l, at, end, false);
    at = redact_next_run(text, end, BASE64_LEAST);
  }
  release(q, reserved);
}

static void search_layer(struct search *q, struct layer *l) {
  find_in(q, l);
  if (!l->decoded)
    search_runs(q, l);
  search_spellings(q, l);
}

void redact_find_known(struct redact_scan *s, const struct known_index *index) {
  if (!index->head)
    return;
  struct search q = {.scan = s, .index = index, .left = LAYERS_TIMES * s->text.n + LAYERS_MORE};
  struct layer text = {.text = s->text};
  search_layer(&q, &text);
  if (q.a)
    arena_release(q.a);
}
