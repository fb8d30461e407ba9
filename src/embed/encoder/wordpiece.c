/* wordpiece.c: splitting text into words: lower case, decomposition, dropped characters, word boundaries. */
#include "embed/encoder/wordpiece.h"

#include <assert.h>

#include "base/utf8.h"
#include "embed/encoder/unicode_tables.h"

enum { ASCII_DROP = 0, ASCII_SPACE = 1, ASCII_ALONE = 2 };
enum { SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2 };

/* ---- word ---- */

/* A word that is too long becomes [UNK], so its content no longer matters. */
static void add_point(struct wordpiece_reader *r, uint32_t cp) {
  if (r->points >= WORDPIECE_WORD_MAX) {
    r->points = WORDPIECE_WORD_MAX + 1;
    return;
  }
  char bytes[4];
  size_t n = utf8_put(cp, bytes);
  assert((size_t)r->bytes + n <= sizeof(r->word));
  memcpy(r->word + r->bytes, bytes, n);
  r->bytes += (int)n;
  r->points++;
}

/* Inserts a mark in canonical order; marks of the same rank keep their order. */
static void add_mark(struct wordpiece_reader *r, uint32_t cp, unsigned rank) {
  if (r->points + r->marks_n >= WORDPIECE_WORD_MAX) {
    r->points = WORDPIECE_WORD_MAX + 1;
    return;
  }
  int to = r->marks_n++;
  assert(to >= 0 && to < WORDPIECE_WORD_MAX);
  for (; to > 0 && r->marks[to - 1] >> 24 > rank; to--)
    r->marks[to] = r->marks[to - 1];
  r->marks[to] = rank << 24 | cp;
}

static void flush_marks(struct wordpiece_reader *r) {
  for (int i = 0; i < r->marks_n; i++)
    add_point(r, r->marks[i] & 0xffffff);
  r->marks_n = 0;
}

/* ---- final sigma ---- */

static bool in_ranges(const uint32_t *ranges, int n, uint32_t cp) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (cp > ranges[2 * middle + 1])
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && cp >= ranges[2 * low];
}

static bool is_cased(uint32_t cp) { return in_ranges(unicode_cased, unicode_cased_n, cp); }
static bool is_ignorable(uint32_t cp) { return in_ranges(unicode_ignorable, unicode_ignorable_n, cp); }

/* Lower case of the capital sigma from `at` to `next`: final if a cased letter precedes it and none follows, skipping
 * case-ignorable characters. Each sigma looks at most back to the previous one and ahead to the next, so the total time
 * is linear. */
static uint32_t lower_sigma(struct wordpiece_reader *r, size_t at, size_t next) {
  assert(at < next && next <= r->text.n);
  while (r->sigma_from < at) {
    uint32_t cp = utf8_next(r->text, &r->sigma_from);
    if (!is_ignorable(cp))
      r->after_cased = is_cased(cp);
  }
  bool final = r->after_cased;
  r->sigma_from = next;
  r->after_cased = true;
  while (final && next < r->text.n) {
    uint32_t cp = utf8_next(r->text, &next);
    if (is_ignorable(cp))
      continue;
    final = !is_cased(cp);
    break;
  }
  return final ? FINAL_SIGMA : SIGMA;
}

/* ---- characters ---- */

static void add_hangul(struct wordpiece_reader *r, uint32_t cp) {
  assert(cp >= 0xac00 && cp <= 0xd7a3);
  uint32_t place = cp - 0xac00, last = place % 28;
  add_point(r, 0x1100 + place / (21 * 28));
  add_point(r, 0x1161 + place / 28 % 21);
  if (last)
    add_point(r, 0x11a7 + last);
}

static void add_mapped(struct wordpiece_reader *r, const uint32_t *map) {
  for (bool more = true; more; map++) {
    uint32_t cp = *map & ~UNICODE_MAP_MORE;
    more = *map & UNICODE_MAP_MORE;
    unsigned class = unicode_entry(cp);
    if (class == UNICODE_WORD) {
      flush_marks(r);
      add_point(r, cp);
    } else {
      add_mark(r, cp, class);
    }
  }
}

/* Handles a character that ends a word or is one itself (`alone`). False: the word is complete. */
static bool end_word(struct wordpiece_reader *r, uint32_t cp, bool alone, size_t next) {
  if (r->points)
    return false; /* the next call reads the character again */
  r->pos = next;
  if (alone)
    add_point(r, cp);
  return !alone;
}

/* Adds the non-ASCII character at pos to the word. False: the word is complete. */
static bool read_non_ascii(struct wordpiece_reader *r) {
  size_t next = r->pos;
  uint32_t cp = utf8_next(r->text, &next);
  unsigned class = unicode_entry(cp);
  if (class >= UNICODE_FIRST_MAP && !(unicode_map[class - UNICODE_FIRST_MAP] & UNICODE_MAP_MORE)) {
    cp = unicode_map[class - UNICODE_FIRST_MAP];
    class = unicode_entry(cp);
  }
  if (class == UNICODE_SIGMA) {
    cp = lower_sigma(r, r->pos, next);
    class = UNICODE_WORD;
  }
  bool mark = class == UNICODE_DROP_MARK || (class >= UNICODE_FIRST_MARK && class < UNICODE_FIRST_MAP);
  if (!mark)
    flush_marks(r);
  if (class == UNICODE_SPACE || class == UNICODE_ALONE)
    return end_word(r, cp, class == UNICODE_ALONE, next);
  r->pos = next;
  if (class == UNICODE_WORD)
    add_point(r, cp);
  else if (class == UNICODE_HANGUL)
    add_hangul(r, cp);
  else if (class >= UNICODE_FIRST_MAP)
    add_mapped(r, unicode_map + (class - UNICODE_FIRST_MAP));
  else if (class >= UNICODE_FIRST_MARK)
    add_mark(r, cp, class);
  return true;
}

/* Adds ASCII characters from pos on to the word. False: the word is complete. */
static bool read_ascii(struct wordpiece_reader *r) {
  const unsigned char *p = (const unsigned char *)r->text.p;
  flush_marks(r);
  for (; r->pos < r->text.n && p[r->pos] < 0x80; r->pos++) {
    unsigned char c = unicode_ascii[p[r->pos]];
    if (c > ASCII_ALONE) {
      assert(r->points >= WORDPIECE_WORD_MAX || (size_t)r->bytes < sizeof(r->word));
      if (r->points < WORDPIECE_WORD_MAX)
        r->word[r->bytes++] = (char)c;
      r->points += r->points <= WORDPIECE_WORD_MAX;
    } else if (c != ASCII_DROP) {
      if (r->points)
        return false; /* the next call reads the character again */
      if (c == ASCII_SPACE)
        continue;
      r->word[r->bytes++] = (char)p[r->pos++];
      r->points = 1;
      return false;
    }
  }
  return true;
}

/* Reads the next word into r->word; false at the end. */
static bool next_word(struct wordpiece_reader *r) {
  r->points = r->bytes = 0;
  r->marks_n = 0;
  while (r->pos < r->text.n) {
    bool more = (unsigned char)r->text.p[r->pos] < 0x80 ? read_ascii(r) : read_non_ascii(r);
    if (!more)
      return true;
  }
  flush_marks(r);
  return r->points > 0;
}

/* ---- pieces ---- */

static void split_word(struct wordpiece_reader *r) {
  r->pieces_given = 0;
  r->pieces_n =
      r->points > WORDPIECE_WORD_MAX ? 0 : wordpiece_split(r->w, (struct str){r->word, (size_t)r->bytes}, r->pieces);
  if (r->pieces_n == 0)
    r->pieces[r->pieces_n++] = r->w->unk;
  assert(r->pieces_n <= WORDPIECE_WORD_MAX);
}

void wordpiece_start(struct wordpiece_reader *r, const struct wordpiece *w, struct str text) {
  r->w = w;
  r->text = text;
  r->pos = r->sigma_from = 0;
  r->after_cased = false;
  r->pieces_n = r->pieces_given = 0;
}

size_t wordpiece_next(struct wordpiece_reader *r, int32_t *ret_ids, size_t max) {
  size_t n = 0;
  while (n < max) {
    if (r->pieces_given < r->pieces_n)
      ret_ids[n++] = r->pieces[r->pieces_given++];
    else if (next_word(r))
      split_word(r);
    else
      break;
  }
  return n;
}

void wordpiece_ids(const struct wordpiece *w, struct arena *a, struct str text, int max_tokens, int32_t *ret_ids,
                   size_t *ret_n) {
  assert(max_tokens >= 2);
  struct wordpiece_reader *r = arena_alloc(a, sizeof(*r));
  wordpiece_start(r, w, text);
  size_t n = 0;
  ret_ids[n++] = w->cls;
  n += wordpiece_next(r, ret_ids + n, (size_t)max_tokens - 2);
  ret_ids[n++] = w->sep;
  assert(n <= (size_t)max_tokens);
  *ret_n = n;
}
