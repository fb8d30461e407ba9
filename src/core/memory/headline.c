/* headline.c: headline derivation from the first sentence of a text. */
#include "core/memory/headline.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "core/text/markup.h"
#include "core/text/text.h"

/* Bytes of a sentence that are read; bounds the work for a sentence of a megabyte. */
enum { SENTENCE_MAX = 4000 };

static struct str strip_final_punctuation(struct str s) {
  static const struct str tails[] = {STR_INIT("."),
                                     STR_INIT(","),
                                     STR_INIT(";"),
                                     STR_INIT(":"),
                                     STR_INIT("\xe3\x80\x82"),
                                     STR_INIT("\xef\xbc\x8c"),
                                     STR_INIT("\xe3\x80\x81"),
                                     STR_INIT("\xef\xbc\x9a")};
  for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
    bool ellipsis = i == 0 && str_ends(s, STR(".."));
    if (str_ends(s, tails[i]) && s.n > tails[i].n && !ellipsis)
      return str_trim(str_slice(s, 0, s.n - tails[i].n));
  }
  return s;
}

/* Strips opening brackets and separators, which look wrong before an ellipsis. */
static struct str strip_dangling(struct str s) {
  while (s.n > 1 && (ascii_space(s.p[s.n - 1]) || memchr(",;:.-([{/&", s.p[s.n - 1], 10)))
    s.n--;
  return s;
}

struct str headline_cut(struct arena *a, struct str line) {
  line = strip_final_punctuation(text_collapse(a, line));
  struct str cut = text_cut(line, HEADLINE_WORDS, HEADLINE_BYTES);
  if (cut.n == line.n && text_has_letter(cut))
    return cut;
  cut = text_cut(line, HEADLINE_WORDS, HEADLINE_BYTES - 3);
  if (!text_has_letter(cut)) {
    /* No letter within the limits: start at the first one. */
    line = str_slice(line, text_first_letter(line), line.n);
    cut = text_cut(line, HEADLINE_WORDS, HEADLINE_BYTES - 3);
    if (cut.n == line.n)
      return cut;
  }
  struct buf out = BUF(a);
  buf_add(&out, strip_dangling(cut));
  buf_adds(&out, "\xe2\x80\xa6");
  assert(out.n <= HEADLINE_BYTES);
  return buf_str(&out);
}

/* Headline of the first sentence that has a letter without its markup; empty if there is none. */
static struct str headline_from_sentences(struct arena *a, struct str body, bool with_code) {
  struct str sentence;
  char fence = 0;
  for (size_t pos = 0; text_next_sentence(body, &pos, &sentence);) {
    /* A fence line is always a separate sentence, so it can be checked per sentence. */
    struct str line = str_slice(sentence, 0, markup_line_end(sentence, 0));
    bool code = markup_in_fence(line, &fence), is_mark = markup_line(line).kind == LINE_FENCE;
    if (is_mark || (code && !with_code) || !text_has_letter(sentence))
      continue;
    struct str plain = markup_plain(a, utf8_cut(sentence, SENTENCE_MAX));
    if (text_has_letter(plain))
      return headline_cut(a, plain);
  }
  return STR_NONE;
}

struct str headline_derive(struct arena *a, struct str body) {
  size_t letter = text_first_letter(body);
  if (letter == body.n)
    return STR_NONE;
  struct str headline = headline_from_sentences(a, body, false);
  if (headline.n == 0)
    headline = headline_from_sentences(a, body, true);
  if (headline.n)
    return headline;
  /* Only markup, or letters far into a sentence: start at the first letter. */
  struct str rest = utf8_cut(str_slice(body, letter, body.n), SENTENCE_MAX), plain = markup_plain(a, rest);
  return headline_cut(a, text_has_letter(plain) ? plain : rest);
}
