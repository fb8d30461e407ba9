/* terms.c: derived tokens for the full-text index, and stop words. */
#include "core/text/terms.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/text/text.h"

enum { JOINED_MIN = 4, JOINED_MAX = 64, PARTS_MAX = 5 };

static void add_token(struct buf *out, struct str token) {
  if (out->n)
    buf_addc(out, ' ');
  buf_add(out, token);
}

/* ---- scripts without spaces ---- */

static bool has_unspaced(struct str s) {
  for (size_t i = 0; i < s.n;) {
    if ((unsigned char)s.p[i] < 0xe0) { /* these scripts take at least three bytes per character */
      i++;
      continue;
    }
    uint32_t cp = utf8_next(s, &i);
    if (utf8_is_unspaced(cp) || (cp >= 0xff66 && cp <= 0xff9f)) /* half-width kana fold to kana */
      return true;
  }
  return false;
}

static void derive_unspaced(struct arena *a, struct str text, enum terms_use use, struct buf *out) {
  struct str s = utf8_fold(a, text), word, before = STR_NONE;
  size_t pos = 0;
  bool paired = false;
  while (text_next_word(s, &pos, &word)) {
    size_t first = 0;
    if (!utf8_is_unspaced(utf8_next(word, &first)))
      continue;
    bool follows = before.p && before.p + before.n == word.p;
    if (before.p && !follows && !paired && use == TERMS_FOR_QUERY)
      add_token(out, before);
    paired = follows;
    if (use == TERMS_FOR_INDEX)
      add_token(out, word);
    if (follows)
      add_token(out, (struct str){before.p, before.n + word.n});
    before = word;
  }
  if (before.p && !paired && use == TERMS_FOR_QUERY)
    add_token(out, before);
}

/* ---- identifiers ---- */

static bool is_joiner(char c) { return c == '_' || c == '.' || c == '/' || c == '\\' || c == '-' || c == ':'; }
static bool is_divider(char c) { return c == '/' || c == '\\' || c == ':'; }
static uint32_t peek(struct str s, size_t pos) { return pos < s.n ? utf8_next(s, &pos) : 0; }
static bool is_part(uint32_t cp) {
  return cp < 0x80 ? ascii_alnum((char)cp) : utf8_is_alnum(cp) && !utf8_is_unspaced(cp);
}

/* Offset after the joiners at pos if the name continues there, else 0. Only "_" and ":" may be repeated. */
static size_t skip_joiners(struct str s, size_t pos) {
  size_t next = pos;
  while (next < s.n && is_joiner(s.p[next])) {
    bool more = s.p[next] == '_' || s.p[next] == ':';
    next++;
    if (!more)
      break;
  }
  return next > pos && is_part(peek(s, next)) ? next : 0;
}

/* Offset after the next character of the name, or after the joiners at i; 0 if the name ends at i. */
static size_t name_step(struct str s, size_t i) {
  assert(i < s.n);
  if (ascii_alnum(s.p[i])) /* fast path: every stored text passes here */
    return i + 1;
  size_t next = i;
  return is_part(utf8_next(s, &next)) ? next : skip_joiners(s, i);
}

bool terms_next_name(struct str s, size_t *pos, struct str *ret_name) {
  size_t i = *pos;
  while (i < s.n) {
    size_t start = i;
    if (!is_part(utf8_next(s, &i)))
      continue;
    for (size_t next = i; next > 0; next = i < s.n ? name_step(s, i) : 0)
      i = next;
    *ret_name = str_slice(s, start, i);
    *pos = i;
    return true;
  }
  *pos = s.n;
  return false;
}

/* True if a part of a name starts at i: camel case, or a change between letters and digits. Identifiers are ASCII. */
static bool is_boundary(struct str s, size_t i) {
  char before = s.p[i - 1], here = s.p[i], after = i + 1 < s.n ? s.p[i + 1] : 0;
  if (ascii_digit(before) != ascii_digit(here))
    return ascii_alnum(before) && ascii_alnum(here);
  if (!ascii_upper(here))
    return false;
  return (ascii_alpha(before) && !ascii_upper(before)) ||
         (ascii_upper(before) && ascii_alpha(after) && !ascii_upper(after));
}

bool terms_is_identifier(struct str word) {
  bool letters = false, digits = false;
  for (size_t i = 0; i < word.n; i++) {
    char c = word.p[i];
    if (c == '_' || c == '/' || c == '\\' || c == ':' || (c == '.' && i + 1 < word.n))
      return true;
    if (i > 0 && ascii_upper(c) && is_boundary(word, i))
      return true;
    digits |= ascii_digit(c);
    letters |= ascii_alpha(c);
  }
  return digits && letters;
}

static void add_parts(struct str name, struct buf *out) {
  size_t boundaries = 0, start = 0;
  for (size_t i = 1; i < name.n; i++)
    boundaries += is_boundary(name, i);
  if (boundaries == 0 || boundaries >= PARTS_MAX) /* more parts: a hash or a ticket number */
    return;
  for (size_t i = 1; i <= name.n; i++) {
    if (i < name.n && !is_boundary(name, i))
      continue;
    struct str part = str_slice(name, start, i);
    if (part.n > 1)
      add_token(out, part);
    start = i;
  }
}

static void add_joined(struct str name, struct buf *out) {
  size_t n = 0, joiners = 0;
  for (size_t i = 0; i < name.n; i++)
    if (is_joiner(name.p[i]))
      joiners++;
    else
      n++;
  if (joiners == 0 || n < JOINED_MIN || n > JOINED_MAX)
    return;
  if (out->n)
    buf_addc(out, ' ');
  for (size_t i = 0; i < name.n; i++)
    if (!is_joiner(name.p[i]))
      buf_addc(out, name.p[i]);
}

/* A lower-case or capitalized word, as most are: nothing to derive. */
static bool is_plain(struct str name) {
  size_t i = ascii_alpha(name.p[0]);
  while (i < name.n && name.p[i] >= 'a' && name.p[i] <= 'z')
    i++;
  return i == name.n;
}

static void derive_name(struct str name, struct buf *out) {
  size_t start = 0, segment = 0;
  if (is_plain(name))
    return;
  add_joined(name, out);
  for (size_t i = 0; i <= name.n; i++) {
    bool end = i == name.n;
    if (!end && !is_joiner(name.p[i]))
      continue;
    if (i > segment)
      add_parts(str_slice(name, segment, i), out);
    segment = i + 1;
    if (!end && !is_divider(name.p[i]))
      continue;
    if (i > start && i - start < name.n)
      add_joined(str_slice(name, start, i), out);
    start = i + 1;
  }
}

struct str terms_derive(struct arena *a, struct str text, enum terms_use use) {
  struct buf out = BUF(a);
  struct str name;
  size_t pos = 0;
  if (has_unspaced(text))
    derive_unspaced(a, text, use, &out);
  while (terms_next_name(text, &pos, &name))
    derive_name(name, &out);
  return buf_str(&out);
}

/* ---- scopes ---- */

/* Encodes a hash in letters that no stemmer changes. */
static struct str hash_token(uint64_t hash, char out[TERMS_SCOPE_SIZE]) {
  static const char letters[] = "bcdfghjkmnpqrtvw";
  hash ^= hash >> 32;
  size_t n = 0;
  out[n++] = 'z';
  out[n++] = 'q';
  for (; n < 10; hash >>= 4)
    out[n++] = letters[hash & 15];
  out[n] = 0;
  return (struct str){out, n};
}

struct str terms_scope(struct str project, char out[TERMS_SCOPE_SIZE]) {
  return hash_token(str_hash(STR_HASH, project), out);
}

static bool is_memory(struct str corpus) { return str_empty(corpus) || str_is(corpus, "memory"); }

/* A control character, which no project name contains, separates corpora from projects. */
static uint64_t corpus_hash(struct str corpus) { return str_hash(str_hash(STR_HASH, STR("\x1f")), corpus); }

struct str terms_scope_of(struct str corpus, struct str project, char out[TERMS_SCOPE_SIZE]) {
  if (is_memory(corpus))
    return terms_scope(project, out);
  return hash_token(str_hash(str_hash(corpus_hash(corpus), STR("\x1f")), project), out);
}

struct str terms_corpus(struct str corpus, char out[TERMS_SCOPE_SIZE]) { return hash_token(corpus_hash(corpus), out); }

struct str terms_of_text(struct arena *a, struct str corpus, struct str project, struct str headline, struct str body,
                         struct str extra) {
  char scope[TERMS_SCOPE_SIZE], all_of[TERMS_SCOPE_SIZE];
  struct buf b = BUF(a), all = BUF(a);
  buf_add(&b, headline);
  buf_addc(&b, '\n');
  buf_add(&b, body);
  buf_addc(&b, '\n');
  buf_add(&b, extra);
  struct str derived = terms_derive(a, buf_str(&b), TERMS_FOR_INDEX);
  buf_add(&all, terms_scope_of(corpus, project, scope));
  if (!is_memory(corpus)) {
    buf_addc(&all, ' ');
    buf_add(&all, terms_corpus(corpus, all_of));
  }
  if (derived.n)
    buf_addc(&all, ' ');
  buf_add(&all, derived);
  return buf_str(&all);
}

struct str terms_of_chunk(struct arena *a, struct str project, struct str headline, struct str body, struct str extra) {
  return terms_of_text(a, STR_NONE, project, headline, body, extra);
}

/* ---- stop words ---- */

bool terms_is_stop_word(struct str word) {
  static const char *const stops[] = {
      "a",    "about", "all", "also", "am",   "an",    "and",   "any",  "are",  "as",    "at",     "be",
      "been", "being", "but", "by",   "can",  "could", "did",   "do",   "does", "for",   "from",   "had",
      "has",  "have",  "he",  "her",  "him",  "his",   "how",   "i",    "if",   "in",    "into",   "is",
      "it",   "its",   "me",  "my",   "of",   "on",    "or",    "our",  "s",    "she",   "should", "so",
      "some", "such",  "t",   "than", "that", "the",   "their", "them", "then", "there", "these",  "they",
      "this", "those", "to",  "us",   "was",  "we",    "were",  "what", "when", "where", "which",  "who",
      "whom", "whose", "why", "will", "with", "would", "you",   "your"};
  size_t low = 0, high = ARRAY_LEN(stops);
  while (low < high) {
    size_t middle = (low + high) / 2;
    assert(middle == 0 || strcmp(stops[middle - 1], stops[middle]) < 0);
    int order = str_cmp(str_from(stops[middle]), word);
    if (order == 0)
      return true;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}
