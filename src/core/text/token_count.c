/* token_count.c: estimate of the language model tokens of a text. */
#include "core/text/token_count.h"

#include <assert.h>

#include "base/utf8.h"

/* Weights are in twelfths of a token, so all are integers and sums are exact. */
enum { UNIT = 12, WORD = 16 /* 1 / 0.75 */ };

struct meter {
  size_t chars; /* estimate by characters */
  size_t words; /* estimate by words */
  bool in_word, in_space;
};

static size_t weight(uint32_t cp) {
  if (utf8_is_space(cp) || (cp >= 'a' && cp <= 'z'))
    return UNIT / 4;
  if (cp < 0x80)
    return UNIT / 2;
  if (utf8_is_unspaced(cp))
    return UNIT;
  return cp >= 0x10000 ? 2 * UNIT : utf8_is_letter(cp) ? UNIT / 2 : UNIT;
}

static void meter_add(struct meter *m, uint32_t cp) {
  bool space = utf8_is_space(cp), unspaced = utf8_is_unspaced(cp);
  m->chars += space && m->in_space ? 1 : weight(cp);
  if (unspaced)
    m->words += UNIT;
  else if (!space && !m->in_word)
    m->words += WORD;
  m->in_word = !space && !unspaced;
  m->in_space = space;
}

/* meter_add() for ASCII, which most text is. */
static void meter_add_ascii(struct meter *m, char c) {
  assert((unsigned char)c < 0x80);
  bool space = ascii_space(c);
  if (space)
    m->chars += m->in_space ? 1 : UNIT / 4;
  else
    m->chars += c >= 'a' && c <= 'z' ? UNIT / 4 : UNIT / 2;
  m->words += !space && !m->in_word ? WORD : 0;
  m->in_word = !space;
  m->in_space = space;
}

static size_t meter_read(const struct meter *m) {
  size_t units = m->chars > m->words ? m->chars : m->words;
  return (units + UNIT - 1) / UNIT;
}

size_t tokens_estimate(struct str s) {
  struct meter m = {0};
  for (size_t i = 0; i < s.n;)
    if ((unsigned char)s.p[i] < 0x80)
      meter_add_ascii(&m, s.p[i++]);
    else
      meter_add(&m, utf8_next(s, &i));
  return meter_read(&m);
}

struct str tokens_cut(struct str s, size_t max_tokens) {
  struct meter m = {0};
  for (size_t i = 0; i < s.n;) {
    size_t start = i;
    meter_add(&m, utf8_next(s, &i));
    if (meter_read(&m) > max_tokens)
      return str_slice(s, 0, start);
  }
  return s;
}
