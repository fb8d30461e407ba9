/* sentence.c: sentence boundaries (text_next_sentence). */
#include <assert.h>

#include "base/utf8.h"
#include "core/text/markup.h"
#include "core/text/text.h"

enum { LAST_WORD_MAX = 24 };

/* Whether a full stop after an abbreviation ends the sentence. */
enum rule {
  NEVER_ENDS,        /* "e.g." */
  ENDS_BEFORE_UPPER, /* "etc. Then", but not "etc. and" */
  GOES_ON_AT_DIGIT,  /* not in "No. 5", but in "no. We" */
};

static const struct {
  const char *word; /* lower case, without the last full stop */
  enum rule rule;
} abbreviations[] = {
    {"e.g", NEVER_ENDS},         {"i.e", NEVER_ENDS},        {"eg", NEVER_ENDS},          {"ie", NEVER_ENDS},
    {"mr", NEVER_ENDS},          {"mrs", NEVER_ENDS},        {"ms", NEVER_ENDS},          {"dr", NEVER_ENDS},
    {"prof", NEVER_ENDS},        {"st", NEVER_ENDS},         {"vs", NEVER_ENDS},          {"cf", NEVER_ENDS},
    {"ca", NEVER_ENDS},          {"approx", NEVER_ENDS},     {"resp", NEVER_ENDS},        {"incl", NEVER_ENDS},
    {"excl", NEVER_ENDS},        {"viz", NEVER_ENDS},        {"z.b", NEVER_ENDS},         {"bzw", NEVER_ENDS},
    {"etc", ENDS_BEFORE_UPPER},  {"al", ENDS_BEFORE_UPPER},  {"inc", ENDS_BEFORE_UPPER},  {"ltd", ENDS_BEFORE_UPPER},
    {"corp", ENDS_BEFORE_UPPER}, {"co", ENDS_BEFORE_UPPER},  {"jr", ENDS_BEFORE_UPPER},   {"sr", ENDS_BEFORE_UPPER},
    {"a.m", ENDS_BEFORE_UPPER},  {"p.m", ENDS_BEFORE_UPPER}, {"max", ENDS_BEFORE_UPPER},  {"min", ENDS_BEFORE_UPPER},
    {"avg", ENDS_BEFORE_UPPER},  {"est", ENDS_BEFORE_UPPER}, {"dept", ENDS_BEFORE_UPPER}, {"esp", ENDS_BEFORE_UPPER},
    {"no", GOES_ON_AT_DIGIT},    {"nr", GOES_ON_AT_DIGIT},   {"fig", GOES_ON_AT_DIGIT},   {"p", GOES_ON_AT_DIGIT},
    {"pp", GOES_ON_AT_DIGIT},    {"vol", GOES_ON_AT_DIGIT},  {"sec", GOES_ON_AT_DIGIT},   {"ch", GOES_ON_AT_DIGIT},
    {"art", GOES_ON_AT_DIGIT},   {"eq", GOES_ON_AT_DIGIT},   {"ver", GOES_ON_AT_DIGIT},   {"v", GOES_ON_AT_DIGIT},
    {"jan", GOES_ON_AT_DIGIT},   {"feb", GOES_ON_AT_DIGIT},  {"mar", GOES_ON_AT_DIGIT},   {"apr", GOES_ON_AT_DIGIT},
    {"jun", GOES_ON_AT_DIGIT},   {"jul", GOES_ON_AT_DIGIT},  {"aug", GOES_ON_AT_DIGIT},   {"sep", GOES_ON_AT_DIGIT},
    {"sept", GOES_ON_AT_DIGIT},  {"oct", GOES_ON_AT_DIGIT},  {"nov", GOES_ON_AT_DIGIT},   {"dec", GOES_ON_AT_DIGIT},
};

static bool is_wide_stop(uint32_t cp) { return cp == 0x3002 || cp == 0xff01 || cp == 0xff1f || cp == 0xff61; }

static bool is_stop(uint32_t cp) {
  return cp == '.' || cp == '!' || cp == '?' || cp == 0x2026 || cp == 0x061f || cp == 0x0964 || cp == 0x06d4 ||
         is_wide_stop(cp);
}

/* Closing quotes, brackets and markup, which belong to the sentence. */
static bool is_closer(uint32_t cp) {
  if (cp < 0x80)
    return cp != 0 && strchr("\"')]}*_`", (int)cp) != NULL;
  return cp == 0x201d || cp == 0x2019 || cp == 0xbb || cp == 0x300d || cp == 0x300f || cp == 0xff09 || cp == 0x3011 ||
         cp == 0x203a;
}

/* The word that ends at `end`, of at most LAST_WORD_MAX bytes, not before `start`. */
static struct str last_word(struct str s, size_t start, size_t end) {
  assert(start <= end && end <= s.n);
  size_t from = end;
  while (from > start && end - from < LAST_WORD_MAX && !ascii_space(s.p[from - 1]) &&
         !strchr("([{\"'*_`", s.p[from - 1]))
    from--;
  return str_slice(s, from, end);
}

/* "U.S", "z.B": single letters separated by full stops. */
static bool is_initials(struct str word) {
  for (size_t i = 0; i < word.n; i++)
    if (i % 2 == 0 ? !ascii_alpha(word.p[i]) : word.p[i] != '.')
      return false;
  return word.n % 2 == 1 && (word.n > 1 || ascii_upper(word.p[0]));
}

static bool is_number(struct str word) {
  for (size_t i = 0; i < word.n; i++)
    if (!ascii_digit(word.p[i]))
      return false;
  return word.n > 0 && word.n <= 4;
}

/* True if the single full stop at `dot` ends the sentence that starts at `start`. `next` is the first character after
 * it, 0 at the end of the text. */
static bool is_full_stop_end(struct str s, size_t start, size_t dot, uint32_t next) {
  assert(dot < s.n && s.p[dot] == '.');
  struct str word = last_word(s, start, dot);
  if (word.n == 0)
    return next == 0; /* an isolated full stop is a symbol */
  if (word.p == s.p + start && is_number(word))
    return false; /* "1. Do this": a list number */
  for (size_t i = 0; i < ARRAY_LEN(abbreviations); i++) {
    if (!str_ieq(word, str_from(abbreviations[i].word)))
      continue;
    switch (abbreviations[i].rule) {
    case NEVER_ENDS:
      return next == 0;
    case ENDS_BEFORE_UPPER:
      return next == 0 || utf8_is_upper(next);
    case GOES_ON_AT_DIGIT:
      return next >= 0x80 || !ascii_digit((char)next);
    }
  }
  return next == 0 || !is_initials(word);
}

/* Moves *pos after the stops and closers at *pos; true if they end the sentence. */
static bool read_stops(struct str s, size_t start, size_t *pos) {
  size_t first = *pos, i = *pos, stops = 0;
  bool wide = false, question = false, closed = false;
  while (i < s.n) {
    size_t next = i;
    uint32_t cp = utf8_next(s, &next);
    if (is_stop(cp)) {
      stops += cp == 0x2026 ? 3 : 1;
      wide |= is_wide_stop(cp);
      question |= cp == '!' || cp == '?';
    } else if (is_closer(cp)) {
      closed = true;
    } else {
      break;
    }
    i = next;
  }
  assert(i > first);
  *pos = i;
  if (wide || i == s.n)
    return true;
  size_t at = i;
  if (!utf8_is_space(utf8_next(s, &at)))
    return false;
  while (at < s.n && ascii_space(s.p[at]))
    at++;
  uint32_t follows = at < s.n ? utf8_next(s, &at) : 0;
  bool lower = utf8_is_letter(follows) && !utf8_is_upper(follows) && !utf8_is_unspaced(follows);
  if (question)
    return !(closed && lower); /* "Why?" he asked. */
  if (stops > 1)
    return !lower; /* an ellipsis inside a sentence */
  return s.p[first] != '.' || is_full_stop_end(s, start, first, follows);
}

/* True if the line break at `pos` ends the sentence. */
static bool is_break_end(struct str s, size_t pos) {
  assert(pos < s.n && s.p[pos] == '\n');
  const char *before = pos ? memrchr(s.p, '\n', pos) : NULL;
  size_t line = before ? (size_t)(before - s.p) + 1 : 0;
  return !markup_wraps(str_slice(s, line, pos), str_slice(s, pos + 1, markup_line_end(s, pos + 1)));
}

bool text_next_sentence(struct str s, size_t *pos, struct str *ret_sentence) {
  assert(*pos <= s.n);
  size_t start = *pos;
  while (start < s.n && ascii_space(s.p[start]))
    start++;
  if (start >= s.n) {
    *pos = s.n;
    return false;
  }
  size_t i = start;
  while (i < s.n) {
    size_t next = i;
    uint32_t cp = utf8_next(s, &next);
    if (cp == '\n' && is_break_end(s, i))
      break;
    if (is_stop(cp)) {
      next = i;
      if (read_stops(s, start, &next)) {
        i = next;
        break;
      }
    }
    i = next;
  }
  assert(i > start && i <= s.n);
  *pos = i;
  *ret_sentence = str_trim(str_slice(s, start, i));
  return true;
}
