/* phrase.c: matcher of cue phrases in text. */
#include "core/text/phrase.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/text/text.h"

enum { WILD_WORDS = 4, WILD_BYTES = 80 };

/* Letters of scripts that separate words by spaces; other characters may be next to a word. */
static bool is_word_char(uint32_t cp) { return cp == '_' || (utf8_is_alnum(cp) && !utf8_is_unspaced(cp)); }

static bool is_word_at(struct str s, size_t pos) { return pos < s.n && is_word_char(utf8_next(s, &pos)); }

static bool is_word_before(struct str s, size_t pos) {
  if (pos == 0)
    return false;
  size_t start = pos - 1;
  while (start > 0 && pos - start < 4 && ((unsigned char)s.p[start] & 0xc0) == 0x80)
    start--;
  return is_word_at(s, start);
}

/* A hyphen inside a compound ("never-ending") is not a word boundary. */
static bool is_boundary_before(struct str s, size_t pos) {
  if (pos > 0 && s.p[pos - 1] == '-')
    return !is_word_before(s, pos - 1);
  return !is_word_before(s, pos);
}

static bool is_boundary_after(struct str s, size_t pos) {
  if (pos < s.n && s.p[pos] == '-')
    return !is_word_at(s, pos + 1);
  return !is_word_at(s, pos);
}

static size_t skip_space(struct str s, size_t pos) {
  while (pos < s.n && ascii_space(s.p[pos]))
    pos++;
  return pos;
}

/* Offset after the apostrophe at pos, plain or typographic; 0 if there is none. */
static size_t skip_apostrophe(struct str s, size_t pos) {
  if (pos < s.n && s.p[pos] == '\'')
    return pos + 1;
  return str_starts(str_slice(s, pos, s.n), STR("\xe2\x80\x99")) ? pos + 3 : 0;
}

/* True if the word before `start` or after `end` puts the phrase into the past tense. */
static bool is_past(struct str s, size_t start, size_t end) {
  static const char *const before[] = {"has", "have", "had", "was", "were", "did", "i've", "we've"};
  static const char *const after[] = {"been",  "ran",   "got",  "had",  "was",   "saw",  "came",
                                      "went",  "made",  "did",  "knew", "heard", "met",  "were",
                                      "found", "broke", "sent", "took", "gave",  "left", "mind"};
  assert(start <= end && end <= s.n);
  size_t to = start;
  while (to > 0 && ascii_space(s.p[to - 1]))
    to--;
  size_t from = to;
  while (from > 0 && to - from < 8 && !ascii_space(s.p[from - 1]))
    from--;
  if (text_is_one_of(str_slice(s, from, to), before, ARRAY_LEN(before)))
    return true;
  from = skip_space(s, end);
  to = from;
  while (to < s.n && to - from < 24 && ascii_alpha(s.p[to]))
    to++;
  struct str word = str_slice(s, from, to);
  bool past_form = word.n > 4 && str_ieq(str_slice(word, word.n - 2, word.n), STR("ed")) &&
                   !str_ieq(str_slice(word, word.n - 3, word.n), STR("eed"));
  return past_form || text_is_one_of(word, after, ARRAY_LEN(after));
}

/* End of the match of the rest of the phrase at pos; 0 if there is none. */
static size_t match(struct str s, size_t start, size_t pos, const char *phrase);

static size_t match_wild(struct str s, size_t start, size_t pos, const char *rest) {
  size_t from = pos;
  for (int words = 0; words < WILD_WORDS; words++) {
    size_t end = pos;
    while (end < s.n && !ascii_space(s.p[end]) && end - from < WILD_BYTES)
      end++;
    if (end == pos)
      return 0;
    size_t hit = match(s, start, end, rest);
    if (hit)
      return hit;
    if (memchr(".!?;", s.p[end - 1], 4))
      return 0;
    pos = skip_space(s, end);
  }
  return 0;
}

static size_t match(struct str s, size_t start, size_t pos, const char *phrase) {
  assert(*phrase); /* phrase[-1] is read below */
  for (; *phrase; phrase++) {
    char c = *phrase;
    if (c == '~')
      return !is_boundary_after(s, pos) || is_past(s, start, pos) ? 0 : pos;
    if (c == '*')
      return match_wild(s, start, pos, phrase + 1);
    if (c == ' ') {
      size_t next = skip_space(s, pos);
      if (next == pos)
        return 0;
      pos = next;
    } else if (c == '\'') {
      pos = skip_apostrophe(s, pos);
      if (!pos)
        return 0;
    } else if (c == '-') {
      pos += pos < s.n && (s.p[pos] == '-' || s.p[pos] == ' ');
    } else if (pos < s.n && ascii_lower(s.p[pos]) == c) {
      pos++;
    } else {
      return 0;
    }
  }
  return ascii_alnum(phrase[-1]) && !is_boundary_after(s, pos) ? 0 : pos;
}

size_t phrase_at(struct str s, size_t pos, const char *phrase) {
  if (*phrase == '^') {
    if (pos != 0)
      return 0;
    phrase++;
  }
  if (!*phrase || pos >= s.n || ascii_lower(s.p[pos]) != *phrase)
    return 0;
  if (ascii_alnum(*phrase) && !is_boundary_before(s, pos))
    return 0;
  size_t end = match(s, pos, pos, phrase);
  assert(!end || (end > pos && end <= s.n));
  return end ? end - pos : 0;
}

size_t phrase_start(struct str s, size_t from) {
  for (size_t i = from; i < s.n; i++) {
    char c = s.p[i];
    bool inside = ascii_alnum(c) && i > 0 && ascii_alnum(s.p[i - 1]);
    if (!inside && c > ' ' && c < 0x7f)
      return i;
  }
  return s.n;
}

bool phrase_in(struct str s, const char *phrase) {
  for (size_t i = phrase_start(s, 0); i < s.n; i = phrase_start(s, i + 1))
    if (phrase_at(s, i, phrase))
      return true;
  return false;
}

size_t phrase_first_cue(struct str s, const struct type_cue *cues, size_t n) {
  size_t best = n;
  for (size_t i = phrase_start(s, 0); i < s.n && best > 0; i = phrase_start(s, i + 1))
    for (size_t row = 0; row < best; row++)
      if (phrase_at(s, i, cues[row].phrase))
        best = row;
  return best;
}
