/* text.c: words, word counts and normalization of plain text. */
#include "core/text/text.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"

/* ---- words */

/* True for vowel signs and tone marks of scripts without spaces, which belong to the character before them. */
static bool is_combining(uint32_t cp) {
  bool digit = (cp >= 0x0e50 && cp <= 0x0e59) || (cp >= 0x0ed0 && cp <= 0x0ed9) || (cp >= 0x1040 && cp <= 0x1049) ||
               (cp >= 0x1090 && cp <= 0x1099) || (cp >= 0x17e0 && cp <= 0x17f9);
  return !digit && !utf8_is_letter(cp) && utf8_is_alnum(cp);
}

static uint32_t peek(struct str s, size_t pos) { return pos < s.n ? utf8_next(s, &pos) : 0; }

static bool is_spaced_alnum(uint32_t cp) { return utf8_is_alnum(cp) && !utf8_is_unspaced(cp); }

/* Offset after the joiner at pos if the word continues there, else 0. */
static size_t skip_joiner(struct str s, size_t pos) {
  uint32_t cp = peek(s, pos);
  size_t next = pos;
  if (cp == '_') {
    while (next < s.n && s.p[next] == '_')
      next++;
  } else if (cp == '\'' || cp == '-' || cp == '.' || cp == 0x2019) {
    utf8_next(s, &next);
  } else {
    return 0;
  }
  return is_spaced_alnum(peek(s, next)) ? next : 0;
}

static size_t word_end(struct str s, size_t pos) {
  while (pos < s.n) {
    size_t next = pos;
    if (is_spaced_alnum(utf8_next(s, &next))) {
      pos = next;
      continue;
    }
    next = skip_joiner(s, pos);
    if (next == 0)
      break;
    pos = next;
  }
  return pos;
}

bool text_next_word(struct str s, size_t *pos, struct str *ret_word) {
  assert(*pos <= s.n);
  size_t i = *pos;
  while (i < s.n) {
    size_t start = i;
    uint32_t cp = utf8_next(s, &i);
    if (!utf8_is_alnum(cp))
      continue;
    if (!utf8_is_unspaced(cp))
      i = word_end(s, i);
    else
      for (uint32_t mark = peek(s, i); utf8_is_unspaced(mark) && is_combining(mark); mark = peek(s, i))
        utf8_next(s, &i);
    assert(i > start && i <= s.n);
    *ret_word = str_slice(s, start, i);
    *pos = i;
    return true;
  }
  *pos = s.n;
  return false;
}

bool text_is_one_of(struct str word, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (str_ieq(word, str_from(list[i])))
      return true;
  return false;
}

bool text_has_control(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
      return true;
  return false;
}

/* ---- word count of the gate */

/* A token is the text between white space. It counts as one word. If it has characters of a script without spaces, each
 * of them counts as a word, and so does each run of other letters. */
struct counter {
  size_t done;     /* words of the previous tokens */
  size_t unspaced; /* characters of scripts without spaces in this token */
  size_t runs;     /* runs of other letters in this token */
  bool in_token, in_run;
};

static size_t count_so_far(const struct counter *c) {
  if (!c->in_token)
    return c->done;
  return c->done + (c->unspaced ? c->unspaced + c->runs : 1);
}

static void count_char(struct counter *c, uint32_t cp) {
  if (utf8_is_space(cp)) {
    *c = (struct counter){.done = count_so_far(c)};
    return;
  }
  c->in_token = true;
  if (utf8_is_unspaced(cp)) {
    c->in_run = false;
    c->unspaced += utf8_is_alnum(cp) && !(c->unspaced && is_combining(cp));
  } else if (utf8_is_alnum(cp) && !c->in_run) {
    c->in_run = true;
    c->runs++;
  }
}

size_t text_count_words(struct str s) {
  struct counter c = {0};
  for (size_t i = 0; i < s.n;)
    count_char(&c, utf8_next(s, &i));
  return count_so_far(&c);
}

static struct str trim_end(struct str s) {
  while (s.n && ascii_space(s.p[s.n - 1]))
    s.n--;
  return s;
}

struct str text_cut(struct str s, size_t max_words, size_t max_bytes) {
  struct counter c = {0};
  size_t i = 0, between_words = 0;
  while (i < s.n) {
    size_t start = i;
    uint32_t cp = utf8_next(s, &i);
    count_char(&c, cp);
    if (count_so_far(&c) > max_words)
      return trim_end(str_slice(s, 0, start));
    if (utf8_is_space(cp) || utf8_is_unspaced(cp))
      between_words = start;
    if (i > max_bytes)
      return trim_end(str_slice(s, 0, between_words ? between_words : start));
    if (utf8_is_unspaced(cp))
      between_words = i;
  }
  return trim_end(s);
}

/* ---- normalization */

size_t text_first_letter(struct str s) {
  for (size_t i = 0; i < s.n;) {
    size_t start = i;
    if (utf8_is_letter(utf8_next(s, &i)))
      return start;
  }
  return s.n;
}

bool text_has_letter(struct str s) { return text_first_letter(s) < s.n; }

struct str text_collapse(struct arena *a, struct str s) {
  struct buf out = BUF(a);
  bool gap = false;
  for (size_t i = 0; i < s.n;) {
    uint32_t cp = utf8_next(s, &i);
    if (utf8_is_space(cp)) {
      gap = out.n > 0;
      continue;
    }
    if (gap)
      buf_addc(&out, ' ');
    gap = false;
    char bytes[4];
    buf_add(&out, (struct str){bytes, utf8_put(cp, bytes)});
  }
  return buf_str(&out);
}

/* Punctuation of prose, without significant symbols such as + # % $ @ & = < > /. */
static bool is_punctuation(uint32_t cp) {
  if (cp < 0x80)
    return cp != 0 && strchr(".,;:!?\"'()[]{}`*_~-", (int)cp) != NULL;
  return (cp >= 0x2010 && cp <= 0x2027) || (cp >= 0x2030 && cp <= 0x205e) || (cp >= 0x3001 && cp <= 0x3003) ||
         (cp >= 0x3008 && cp <= 0x3011) || (cp >= 0x3014 && cp <= 0x301f) || cp == 0x30fb || cp == 0xab || cp == 0xbb ||
         cp == 0xa1 || cp == 0xbf || cp == 0xb7;
}

static struct str trim_punctuation(struct str word) {
  size_t start = 0, end = 0;
  for (size_t i = 0; i < word.n;) {
    size_t at = i;
    uint32_t cp = utf8_next(word, &i);
    if (is_punctuation(cp)) {
      /* Keep the sign of a number and the dot of a hidden file. */
      bool sign = end == 0 && ((cp == '-' && i < word.n && ascii_digit(word.p[i])) ||
                               (cp == '.' && i < word.n && ascii_alnum(word.p[i])));
      if (!sign)
        continue;
    }
    if (end == 0)
      start = at;
    end = i;
  }
  assert(start <= end && end <= word.n);
  return str_slice(word, start, end);
}

struct str text_normal(struct arena *a, struct str s) {
  struct str folded = utf8_fold(a, s);
  struct buf out = BUF(a);
  for (size_t i = 0; i < folded.n;) {
    size_t start = i, end = i;
    for (; i < folded.n; end = i)
      if (utf8_is_space(utf8_next(folded, &i)))
        break;
    struct str word = trim_punctuation(str_slice(folded, start, end));
    if (word.n == 0)
      continue;
    if (out.n)
      buf_addc(&out, ' ');
    buf_add(&out, word);
  }
  return buf_str(&out);
}
