/* atomic.c: one idea per memory: updates stacked in one text, and unrelated statements joined by "Also". */
#include "core/gate/atomic.h"

#include "base/buf.h"
#include "core/gate/differ_token.h"
#include "core/text/text.h"

/* ---- lines */

/* True for a line that begins with "Update:" or a dated GUARDRAIL: several of them mean that texts were merged. */
static bool is_stacked_line(struct str line) {
  while (line.n && !ascii_alnum(line.p[0])) {
    line.p++;
    line.n--;
  }
  struct str head = {line.p, line.n < 48 ? line.n : 48};
  static const struct str update = STR_INIT("update"), guardrail = STR_INIT("guardrail");
  if (head.n > update.n && str_ieq((struct str){head.p, update.n}, update)) {
    size_t i = update.n;
    while (i < head.n &&
           (head.p[i] == ' ' || head.p[i] == '(' || head.p[i] == ')' || head.p[i] == '-' || ascii_digit(head.p[i])))
      i++;
    return i < head.n && head.p[i] == ':';
  }
  if (head.n <= guardrail.n || !str_ieq((struct str){head.p, guardrail.n}, guardrail))
    return false;
  for (size_t i = guardrail.n; i + 4 < head.n; i++)
    if (ascii_digit(head.p[i]) && ascii_digit(head.p[i + 1]) && ascii_digit(head.p[i + 2]) &&
        ascii_digit(head.p[i + 3]) && head.p[i + 4] == '-')
      return true;
  return false;
}

size_t atomic_count_lines(struct str body) {
  size_t n = 0;
  struct str rest = body, line;
  while (str_line(&rest, &line))
    n += is_stacked_line(line);
  return n;
}

/* ---- updates within a line */

/* Words that begin a later state of a text. */
static const char labels[] = "update updated upd edit edited guardrail correction corrected addendum amendment amended "
                             "revision revised changed";

static const struct token *token_at(const struct tokens *ts, size_t i) { return i < ts->n ? &ts->v[i] : NULL; }

/* "2026-03-31", "31 March" or "March 2026"; not a weekday or a year. */
static bool is_calendar_date(const struct token *t) {
  return t && t->kind == TOKEN_DATE && (t->day || (t->month && t->year)) && !t->weekday;
}

/* True if a colon, a dash or a closing bracket ends the head of an entry after the token: "2026-03-31:", "[31 March]".
 */
static bool ends_head(struct str text, const struct token *t) {
  const char *p = t->text.p + t->text.n, *end = text.p + text.n;
  bool bracket = p < end && *p == ']', blank = false;
  for (; p < end && strchr(" )]*_", *p); p++)
    blank |= *p == ' ';
  bool dash = blank && p < end && ((*p == '-' && p + 1 < end && p[1] == ' ') || *p == '\xe2');
  return bracket || dash || (p < end && *p == ':');
}

/* True if a sentence begins at the token: nothing, a line break or the end of a sentence precedes it. */
static bool begins_sentence(struct str text, const struct token *t) {
  for (const char *p = t->text.p; p > text.p; p--) {
    char c = p[-1];
    if (c == '\n' || (strchr(".!?;|", c) && *p == ' '))
      return true;
    if (!strchr(" ([*_-#>\"", c) && c != '\t')
      return false;
  }
  return true;
}

static bool is_shouted(struct str word) {
  for (size_t i = 0; i < word.n; i++)
    if (!ascii_upper(word.p[i]))
      return false;
  return word.n > 3;
}

/* True for the beginning of an entry at token i: a label, a date, or both. Labels in capitals may be anywhere; all
 * others begin a sentence. */
static bool begins_entry(struct str text, const struct tokens *ts, size_t i, bool timeline) {
  const struct token *t = &ts->v[i], *next = token_at(ts, i + 1);
  bool label = word_in(t->word, labels), shouted = is_shouted(t->text), dated = is_calendar_date(t);
  if (!(label && shouted) && !begins_sentence(text, t))
    return false;
  if ((label || shouted) && is_calendar_date(next))
    return true;
  return ((label && t->kind == TOKEN_WORD) || (dated && !timeline)) && ends_head(text, t);
}

/* Entries count as stacked if there are two, or one after other text. A date alone may lead a single statement. */
static bool has_stacked_entries(struct str text, const struct tokens *ts, bool timeline) {
  size_t entries = 0;
  bool late = false;
  for (size_t i = 0; i < ts->n; i++) {
    if (!begins_entry(text, ts, i, timeline))
      continue;
    entries++;
    late |= i > (is_calendar_date(&ts->v[i]) ? 0 : 1); /* "Status update:" */
  }
  return entries >= 2 || late;
}

/* ---- unrelated statements */

static bool starts_with_words(struct str sentence, const char *const *phrases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct str p = str_from(phrases[i]);
    if (sentence.n > p.n && str_ieq((struct str){sentence.p, p.n}, p) && !ascii_alnum(sentence.p[p.n]))
      return true;
  }
  return false;
}

/* A sentence that refers to what was said before is related to it. */
static bool refers_back(const struct tokens *ts) {
  for (size_t i = 0; i < ts->n; i++)
    if (word_in(ts->v[i].word, "it its this that these those they them their he she his her him there same both such"))
      return true;
  return false;
}

static bool shares_word(const struct tokens *a, const struct tokens *b) {
  for (size_t i = 0; i < a->n; i++)
    for (size_t j = 0; a->v[i].content && j < b->n; j++)
      if (b->v[j].content && a->v[i].key == b->v[j].key)
        return true;
  return false;
}

static bool joins_topics(struct arena *a, struct lexicon *l, struct str body) {
  static const char *const also[] = {"also",        "additionally", "furthermore", "moreover", "besides",
                                     "in addition", "plus",         "and also",    "oh and",   "another thing"};
  static const char *const apart[] = {
      "by the way", "btw", "separately", "unrelated", "on another note", "on a different note", "in other news"};
  size_t pos = 0, joined = 0;
  struct str sentence;
  struct tokens before = {0};
  while (text_next_sentence(body, &pos, &sentence)) {
    struct tokens own = differ_tokenize(a, l, sentence);
    bool adds = starts_with_words(sentence, also, ARRAY_LEN(also));
    bool leaves = starts_with_words(sentence, apart, ARRAY_LEN(apart));
    if (before.n && (adds || leaves) && !refers_back(&own) && !shares_word(&own, &before))
      joined += leaves ? 2 : 1;
    for (size_t i = 0; i < own.n; i++)
      list_push(a, &before, own.v[i]);
  }
  return joined >= 2;
}

enum stacking atomic_check(struct arena *a, struct str body, bool timeline) {
  enum { READ_BYTES = 8000 }; /* far more than 400 words; a longer text is warned about anyway */
  struct str text = str_slice(body, 0, body.n < READ_BYTES ? body.n : READ_BYTES);
  struct lexicon *l = lexicon_new(a);
  struct tokens ts = differ_tokenize(a, l, text);
  if (has_stacked_entries(text, &ts, timeline))
    return STACKED_UPDATES;
  return joins_topics(a, l, text) ? STACKED_TOPICS : STACKED_NONE;
}

/* ---- markers anywhere ---- */

static bool has_word_at(struct str text, size_t at, struct str word) {
  return at + word.n <= text.n && (at == 0 || !ascii_alnum(text.p[at - 1])) &&
         str_ieq(str_slice(text, at, at + word.n), word);
}

static bool is_date(const struct tokens *ts, size_t i) { return i < ts->n && ts->v[i].kind == TOKEN_DATE; }

size_t atomic_count_markers(struct arena *a, struct str body) {
  struct tokens ts = differ_tokenize(a, lexicon_new(a), body);
  size_t n = 0;
  for (size_t i = 0; i < ts.n; i++)
    n += str_is(ts.v[i].word, "guardrail") && (is_date(&ts, i + 1) || (i > 0 && is_date(&ts, i - 1)));
  for (size_t i = 0; i < body.n; i++)
    n += has_word_at(body, i, STR("update:"));
  return n;
}
