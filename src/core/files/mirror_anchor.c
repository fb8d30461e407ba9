/* mirror_anchor.c: anchors and notes in MEMORY.md: reading, escaping, removing damaged ones. */
#include "core/files/mirror_anchor.h"

#include <assert.h>

#include "base/id.h"
#include "core/trust/present.h"

static const struct {
  enum mirror_note note;
  const char *word;
} notes[] = {{MIRROR_REFUSED, "refused"}, {MIRROR_CONFLICT, "conflict"}, {MIRROR_SAME, "same"}};

const char *mirror_note_word(enum mirror_note note) {
  for (size_t i = 0; i < ARRAY_LEN(notes); i++)
    if (notes[i].note == note)
      return notes[i].word;
  return NULL;
}

/* ---- escaping ---- */

/* How an anchor begins, and how such a text is escaped: after '&' and any number of "amp;". */
static const struct {
  struct str begin, escaped;
} forms[] = {{STR_INIT(ANCHOR_BEGIN), STR_INIT("lt;!-- cairn:")}, {STR_INIT(ANCHOR_SHORT), STR_INIT("lt;!--#")}};

/* Length of the beginning of an anchor at i; 0 if there is none. */
static size_t begin_at(struct str s, size_t i) {
  for (size_t f = 0; f < ARRAY_LEN(forms); f++)
    if (str_starts(str_slice(s, i, s.n), forms[f].begin))
      return forms[f].begin.n;
  return 0;
}

/* Bytes of "amp;" at i before an escaped anchor; SIZE_MAX if that does not follow. */
static size_t count_amps(struct str s, size_t i) {
  size_t from = i;
  while (str_starts(str_slice(s, i, s.n), STR("amp;")))
    i += 4;
  for (size_t f = 0; f < ARRAY_LEN(forms); f++)
    if (str_starts(str_slice(s, i, s.n), forms[f].escaped))
      return i - from;
  return SIZE_MAX;
}

struct str mirror_escape(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '&' && count_amps(text, i + 1) != SIZE_MAX)
      buf_adds(&b, "&amp;");
    else if (text.p[i] == '<' && begin_at(text, i))
      buf_adds(&b, "&lt;");
    else
      buf_addc(&b, text.p[i]);
  }
  return buf_str(&b);
}

struct str mirror_unescape(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < text.n; i++) {
    size_t n = text.p[i] == '&' ? count_amps(text, i + 1) : SIZE_MAX;
    buf_addc(&b, n == 0 ? '<' : text.p[i]);
    if (n == 0)
      i += 3; /* "lt;" */
    else if (n != SIZE_MAX)
      i += 4; /* one "amp;" */
  }
  return buf_str(&b);
}

/* ---- writing ---- */

struct str mirror_anchor(struct arena *a, int64_t id, struct str code) {
  return arena_printf(a, ANCHOR_SHORT "%lld.%.*s" ANCHOR_END, (long long)id, STR_ARG(code));
}

struct str mirror_anchor_of_0_1_0(struct arena *a, struct str uid, struct str hash) {
  return arena_printf(a, ANCHOR_BEGIN "%.*s:%.*s " ANCHOR_END, STR_ARG(uid), STR_ARG(hash));
}

/* ---- reading ---- */

static bool is_hex_char(char c) { return ascii_digit(c) || (c >= 'a' && c <= 'f'); }

static bool is_hex(struct str s, size_t n) {
  bool ok = s.n == n;
  for (size_t i = 0; ok && i < n; i++)
    ok = is_hex_char(s.p[i]);
  return ok;
}

/* True for a text with only the characters of an anchor: what is left of a damaged one. */
static bool is_remains(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!is_hex_char(s.p[i]) && !strchr("#-:. ", s.p[i]))
      return false;
  return true;
}

static bool take_note(struct mirror_block *b, struct str word, struct str rest) {
  for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
    if (!str_is(word, notes[i].word) || rest.n < MIRROR_HASH || !is_hex(str_slice(rest, 0, MIRROR_HASH), MIRROR_HASH))
      continue;
    if (b->note == MIRROR_NO_NOTE) {
      b->note = notes[i].note;
      b->note_hash = str_slice(rest, 0, MIRROR_HASH);
      b->note_text = str_trim(str_slice(rest, MIRROR_HASH, rest.n));
    }
    return true;
  }
  return false;
}

/* Parses the text of a comment after "cairn:": a note, or an anchor as 0.1.0 wrote it. */
static bool take_long(struct mirror_block *b, struct str inside) {
  enum { UID = UUID_SIZE - 1 };
  struct str word = inside, rest = STR("");
  for (size_t i = 0; i < inside.n && word.n == inside.n; i++)
    if (ascii_space(inside.p[i])) {
      word = str_slice(inside, 0, i);
      rest = str_trim(str_slice(inside, i, inside.n));
    }
  if (str_is(inside, ANCHOR_BY) || take_note(b, word, rest))
    return true;
  if (word.n < UID || !uuid_is_valid(str_slice(word, 0, UID)))
    return is_remains(inside);
  if (!b->uid.p && !b->anchor_id) { /* a damaged hash is treated like that of another text */
    b->uid = str_slice(word, 0, UID);
    b->hash = word.n > UID ? str_slice(word, UID + 1, word.n) : STR("");
  }
  return true;
}

static bool take_short(struct mirror_block *b, struct str inside) {
  size_t dot = str_find(inside, STR("."), 0);
  struct str code = dot == SIZE_MAX ? STR("") : str_slice(inside, dot + 1, inside.n);
  int64_t id;
  if (!is_hex(code, MIRROR_CODE) || !str_int64(str_slice(inside, 0, dot), &id) || id <= 0)
    return is_remains(inside);
  if (!b->uid.p && !b->anchor_id) {
    b->anchor_id = id;
    b->anchor_code = code;
  }
  return true;
}

/* ---- authors ---- */

#define AUTHOR "(written"

static bool is_author_mark(struct str s) {
  enum { N = sizeof(ANCHOR_BY) - 1 };
  return str_starts(s, STR(ANCHOR_BY)) && (s.n == N || s.p[N] == ' ' || s.p[N] == '-');
}

/* End of the author that follows its mark: of the parenthesis, or of its line if it is not closed. `from` if there is
 * none. */
static size_t author_end(struct str text, size_t from) {
  size_t at = from, end = str_find(text, STR("<!--"), from);
  text = end == SIZE_MAX ? text : str_slice(text, 0, end);
  while (at < text.n && ascii_space(text.p[at]))
    at++;
  struct str rest = str_slice(text, at, text.n);
  bool cut_off = end == SIZE_MAX && rest.n && str_starts(STR(AUTHOR), rest);
  if (!str_starts(rest, STR(AUTHOR)) && !cut_off)
    return from;
  end = str_find(rest, STR(")"), 0);
  if (end != SIZE_MAX)
    return at + end + 1;
  end = str_find(rest, STR("\n"), 0);
  return end == SIZE_MAX ? text.n : at + end;
}

struct str mirror_author(struct arena *a, struct str name) {
  struct buf b = BUF(a);
  name = present_line(a, name);
  buf_adds(&b, AUTHOR " by ");
  for (size_t i = 0; i < name.n; i++)
    buf_addc(&b, name.p[i] == '(' ? '[' : name.p[i] == ')' ? ']' : name.p[i]);
  buf_adds(&b, ", not by a person)");
  return buf_str(&b);
}

/* ---- stripping ---- */

/* Strips the beginning of an anchor, of at least `least` bytes, at which the file was cut off: " <!-- ca". */
static struct str strip_begun(struct str text, size_t least) {
  for (size_t f = 0; f < ARRAY_LEN(forms); f++)
    for (size_t n = forms[f].begin.n - 1; n >= least; n--)
      if (text.n > n && ascii_space(text.p[text.n - n - 1]) && str_ends(text, str_slice(forms[f].begin, 0, n)))
        return str_slice(text, 0, text.n - n);
  return text;
}

/* Removes blanks before an anchor, and the line if nothing else is on it. */
static void close_gap(struct buf *out, struct str text, size_t pos) {
  while (out->n && (out->p[out->n - 1] == ' ' || out->p[out->n - 1] == '\t'))
    out->n--;
  if (out->n && out->p[out->n - 1] == '\n' && (pos == text.n || text.p[pos] == '\n'))
    out->n--;
}

/* End of an anchor that has lost its own end: that of its line for a note, else of the words that belong to an anchor,
 * the last one perhaps with what is left of its end: "->". */
static size_t damaged_end(struct str text, size_t from) {
  size_t to = from, word = from;
  for (size_t i = 0; i < ARRAY_LEN(notes); i++)
    if (str_starts(str_slice(text, from, text.n), str_from(notes[i].word))) {
      size_t line = str_find(text, STR("\n"), from);
      return line == SIZE_MAX ? text.n : line;
    }
  if (is_author_mark(str_slice(text, from, text.n))) {
    to += sizeof(ANCHOR_BY) - 1;
    while (to < text.n && strchr(" ->", text.p[to]))
      to++;
    return to;
  }
  while (to < text.n && is_remains(str_slice(text, to, to + 1)))
    if (++to == text.n || ascii_space(text.p[to]))
      word = to;
  bool arrow = to > from && to < text.n && text.p[to - 1] == '-' && text.p[to] == '>';
  return arrow && (to + 1 == text.n || ascii_space(text.p[to + 1])) ? to + 1 : word;
}

/* Copies text up to and without the next anchor. *pos is set after it; false at the end of the text. */
static bool strip_next(struct mirror_block *b, struct str text, size_t *pos, struct buf *out) {
  size_t at = *pos, begin = 0;
  while (at < text.n && !(begin = begin_at(text, at)))
    at++;
  if (at == text.n) {
    buf_add(out, str_slice(text, *pos, text.n));
    return false;
  }
  size_t inside = at + begin, next = str_find(text, STR("<!--"), inside);
  size_t end = str_find(str_slice(text, 0, next < text.n ? next : text.n), STR(ANCHOR_END), inside);
  bool ours = end == SIZE_MAX;
  size_t after = ours ? damaged_end(text, inside) : end + sizeof(ANCHOR_END) - 1;
  struct str content = str_trim(str_slice(text, inside, ours ? after : end));
  if (!ours)
    ours = begin == sizeof(ANCHOR_BEGIN) - 1 ? take_long(b, content) : take_short(b, content);
  buf_add(out, str_slice(text, *pos, ours ? at : after));
  if (ours && begin == sizeof(ANCHOR_BEGIN) - 1 && is_author_mark(content))
    after = author_end(text, after);
  *pos = after;
  if (ours)
    close_gap(out, text, after);
  return true;
}

struct str mirror_strip_anchors(struct arena *a, struct mirror_block *b, struct str text, size_t least) {
  struct buf out = BUF(a);
  size_t pos = 0;
  while (strip_next(b, text, &pos, &out))
    ;
  return least ? strip_begun(buf_str(&out), least) : buf_str(&out);
}
