/* redact_view.c: views of a text, in which secrets are whole that are split, hidden or escaped in the text. */
#include <assert.h>

#include "base/utf8.h"
#include "core/secrets/redact_scan.h"
#include "core/text/escape.h"
#include "core/trust/present.h"

/* A part of the text and the bytes that a view has instead; used is 0 if the view has the text itself. */
struct unit {
  char bytes[4];
  size_t n, used;
};

static const struct unit as_is = {0};

/* ---- what presentation shows ---- */

/* Full-width forms of ASCII. */
enum { WIDE_FIRST = 0xff01, WIDE_LAST = 0xff5e, WIDE_OFFSET = 0xfee0 };

/* Variation selectors: presentation keeps them, for emoji, but nothing shows them after a letter. */
enum { SELECTOR_FIRST = 0xfe00, SELECTOR_LAST = 0xfe0f };

static bool is_inner(char c) { return c == '-' || redact_in(c, IN_WORD); }

/* Markdown inside a word, which headlines leave out: "gh**p_**x", "gh`p_`x". */
static size_t markup_size(struct str text, size_t at) {
  size_t n = text.p[at] == '`' ? 1 : redact_at(text, at, "**") || redact_at(text, at, "~~") ? 2 : 0;
  return n && at > 0 && at + n < text.n && is_inner(text.p[at - 1]) && is_inner(text.p[at + n]) ? n : 0;
}

static struct unit read_shown(struct str text, size_t at) {
  if (text.p[at] == '\r' && redact_at(text, at + 1, "\n"))
    return as_is;
  size_t end = at, hidden = present_hidden(text, at);
  if (!hidden)
    hidden = markup_size(text, at);
  if (hidden)
    return (struct unit){.used = hidden};
  uint32_t c = utf8_next(text, &end);
  if (c >= SELECTOR_FIRST && c <= SELECTOR_LAST)
    return (struct unit){.used = end - at};
  if (c == 0x2028 || c == 0x2029)
    return (struct unit){.bytes = {'\n'}, .n = 1, .used = end - at};
  if (c >= WIDE_FIRST && c <= WIDE_LAST && ascii_alnum((char)(c - WIDE_OFFSET)))
    return (struct unit){.bytes = {(char)(c - WIDE_OFFSET)}, .n = 1, .used = end - at};
  /* Punctuation only inside a credential: Chinese text is full of it. */
  if (c >= WIDE_FIRST && c <= WIDE_LAST && at >= 3 && text.p[at - 3] == text.p[at])
    return (struct unit){.bytes = {(char)(c - WIDE_OFFSET)}, .n = 1, .used = end - at};
  return as_is;
}

/* ---- escapes ---- */

static struct unit read_unescaped(struct str text, size_t at) {
  uint32_t c = 0;
  bool is_byte;
  size_t end = escape_read(text, at, &c, &is_byte);
  struct unit u = {.used = end - at};
  if (is_byte && u.used)
    u.bytes[u.n++] = (char)c;
  else if (u.used)
    u.n = utf8_put(c, u.bytes);
  return u;
}

/* ---- string literals ---- */

static size_t skip_space(struct str text, size_t at) {
  size_t limit = text.n - at > 32 ? at + 32 : text.n;
  while (at < limit && (ascii_space(text.p[at]) || text.p[at] == '\\'))
    at++;
  return at;
}

/* The end of one string and the start of the next: '" + "', '" . "', '" "'. */
static struct unit read_joined(struct str text, size_t at) {
  static const char *const operators[] = {"+", "..", ".", "&", "||", "~", ""};
  size_t i = skip_space(text, at + 1);
  for (size_t k = 0; k < ARRAY_LEN(operators); k++) {
    if (!redact_at(text, i, operators[k]))
      continue;
    size_t next = skip_space(text, i + strlen(operators[k]));
    if (next < text.n && next > at + 1 && redact_one_of(text.p[next], "\"'`"))
      return (struct unit){.used = next + 1 - at};
  }
  return as_is;
}

/* ---- split values ---- */

enum { SPLIT_LEAST = 3, SPLIT_MOST = 40 };

/* How far a part of a value looks generated: 2 if it does, 1 if it may be part of one, as capitals are. */
static int generated(struct str run) {
  bool digit = false, lower = false, upper = false, change = false;
  for (size_t i = 0; i < run.n; i++) {
    digit |= redact_in(run.p[i], IN_DIGIT);
    change |= lower && redact_in(run.p[i], IN_UPPER);
    lower |= redact_in(run.p[i], IN_LOWER);
    upper |= redact_in(run.p[i], IN_UPPER);
  }
  if ((digit && (lower || upper)) || change || redact_is_odd(run))
    return 2;
  return (upper && !lower) || memchr(run.p, '_', run.n);
}

/* A blank, a dash or a line break between two generated values. */
static struct unit read_closed(struct str text, size_t at) {
  bool ends_line = text.p[at] == '\n' || redact_at(text, at, "\r\n");
  size_t end = at + 1, from = at;
  if (text.p[at] == '\r' && !ends_line)
    return as_is;
  if (text.p[at] == '\r')
    end++;
  while (ends_line && end < text.n && (text.p[end] == ' ' || text.p[end] == '\t'))
    end++;
  size_t n = redact_run(text, end, IN_WORD | IN_PLUS_SLASH, SPLIT_MOST);
  if (n < SPLIT_LEAST || n == SPLIT_MOST || redact_at(text, end + n, "=") || redact_at(text, end + n, ":"))
    return as_is;
  while (from > 0 && at - from < SPLIT_MOST && redact_in(text.p[from - 1], IN_WORD | IN_PLUS_SLASH))
    from--;
  if (at - from < SPLIT_LEAST || at - from == SPLIT_MOST)
    return as_is;
  int right = generated(str_slice(text, end, end + n)), left = right ? generated(str_slice(text, from, at)) : 0;
  const struct unit closed = {.used = end - at};
  return left && left + right > 2 ? closed : as_is;
}

/* ---- views ---- */

/* Bytes at which a unit may start. */
static const uint8_t starts[256] = {
    [0 ... 8] = 1 << VIEW_SHOWN,
    ['\t'] = 1 << VIEW_CLOSED,
    ['\n'] = 1 << VIEW_CLOSED,
    [11 ... 12] = 1 << VIEW_SHOWN,
    ['\r'] = 1 << VIEW_SHOWN | 1 << VIEW_CLOSED,
    [14 ... 31] = 1 << VIEW_SHOWN,
    [' '] = 1 << VIEW_CLOSED,
    ['-'] = 1 << VIEW_CLOSED | SIGN_DASH,
    ['%'] = 1 << VIEW_UNESCAPED,
    ['&'] = 1 << VIEW_UNESCAPED,
    ['\\'] = 1 << VIEW_UNESCAPED,
    ['"'] = 1 << VIEW_JOINED,
    ['\''] = 1 << VIEW_JOINED,
    ['`'] = 1 << VIEW_JOINED | 1 << VIEW_SHOWN,
    ['*'] = 1 << VIEW_SHOWN,
    ['~'] = 1 << VIEW_SHOWN,
    [127] = 1 << VIEW_SHOWN,
    [0xc2] = 1 << VIEW_SHOWN,
    [0xcd] = 1 << VIEW_SHOWN,
    [0xd8] = 1 << VIEW_SHOWN,
    [0xe1 ... 0xe3] = 1 << VIEW_SHOWN,
    [0xef ... 0xf0] = 1 << VIEW_SHOWN,
    [0xf3] = 1 << VIEW_SHOWN,
};

unsigned redact_signs(struct str text) {
  unsigned signs = 0;
  for (size_t i = 0; i < text.n; i++)
    signs |= starts[(unsigned char)text.p[i]];
  return signs;
}

static struct unit read_unit(struct str text, size_t at, enum view_kind kind) {
  switch (kind) {
  case VIEW_UNESCAPED:
    return read_unescaped(text, at);
  case VIEW_JOINED:
    return read_joined(text, at);
  case VIEW_CLOSED:
    return read_closed(text, at);
  case VIEW_SHOWN:
    break;
  }
  return read_shown(text, at);
}

/* Next position that the view changes, and its unit. */
static size_t next_unit(struct str text, size_t at, enum view_kind kind, struct unit *ret) {
  for (; at < text.n; at++)
    if (starts[(unsigned char)text.p[at]] >> kind & 1) {
      *ret = read_unit(text, at, kind);
      if (ret->used)
        break;
    }
  return at;
}

static void add_part(struct arena *a, struct view *v, size_t outer, size_t used) {
  struct view_part *last = v->parts.n ? &v->parts.v[v->parts.n - 1] : NULL;
  if (last && last->at == v->text.n)
    *last = (struct view_part){v->text.n, outer, used};
  else
    list_push(a, &v->parts, (struct view_part){v->text.n, outer, used});
}

static void copy(struct arena *a, struct view *v, char *out, struct str text, size_t from, size_t to) {
  if (to > from)
    add_part(a, v, from, 0);
  memcpy(out + v->text.n, text.p + from, to - from);
  v->text.n += to - from;
}

/* Copies unchanged text. Except for what is shown, only its ends are needed: a secret is near a changed part. */
static void copy_unchanged(struct arena *a, struct view *v, char *out, struct str text, size_t from, size_t to,
                           enum view_kind kind) {
  enum { NEAR = 256 };
  if (kind == VIEW_SHOWN || to - from < 6 * NEAR) {
    copy(a, v, out, text, from, to);
    return;
  }
  size_t head = from ? from + NEAR : 0, tail = to < text.n ? to - NEAR : to;
  while (tail < to && !ascii_space(text.p[tail]) && to - tail < 2 * NEAR)
    tail--;
  while (head > from && ((unsigned char)text.p[head] & 0xc0) == 0x80)
    head--;
  while (tail < to && ((unsigned char)text.p[tail] & 0xc0) == 0x80)
    tail++;
  copy(a, v, out, text, from, head);
  out[v->text.n++] = '\n';
  copy(a, v, out, text, tail, to);
}

bool redact_view(struct arena *a, struct str text, enum view_kind kind, struct view *ret) {
  struct unit u;
  size_t at = next_unit(text, 0, kind, &u), from = 0;
  if (at == text.n)
    return false;
  char *out = arena_alloc(a, text.n + 1);
  *ret = (struct view){.text = {out, 0}};
  for (; from < text.n; at = next_unit(text, from, kind, &u)) {
    copy_unchanged(a, ret, out, text, from, at, kind);
    if (at == text.n)
      break;
    assert(u.n <= u.used);
    if (u.n)
      add_part(a, ret, at, u.used);
    memcpy(out + ret->text.n, u.bytes, u.n);
    ret->text.n += u.n;
    from = at + u.used;
  }
  return true;
}

/* The part of a byte of the view. */
static const struct view_part *part_of(const struct view *v, size_t at) {
  size_t low = 0, high = v->parts.n;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (v->parts.v[middle].at <= at)
      low = middle;
    else
      high = middle;
  }
  return &v->parts.v[low];
}

struct found redact_outward(const struct view *v, struct found f) {
  const struct view_part *first = part_of(v, f.start), *last = part_of(v, f.end - 1);
  f.start = first->outer + (first->used ? 0 : f.start - first->at);
  f.end = last->outer + (last->used ? last->used : f.end - last->at);
  return f;
}
