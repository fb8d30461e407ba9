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
    while (i < head.n && (ascii_digit(head.p[i]) || (head.p[i] && strchr(" ()-#./", head.p[i]))))
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

/* Skips the number or date of a label: "#2", "(31.03.26)", "2026-03"; returns p if there is none. */
static const char *skip_number(const char *p, const char *end) {
  const char *digits = p;
  while (digits < end && strchr(" #([", *digits))
    digits++;
  if (digits == end || !ascii_digit(*digits))
    return p;
  while (digits < end && (ascii_digit(*digits) || strchr("./-", *digits)))
    digits++;
  return digits;
}

/* True if a colon, a dash or a closing bracket at p ends the head of an entry: "2026-03-31:", "[31 March]". */
static bool ends_head(const char *p, const char *end) {
  bool bracket = p < end && *p == ']', blank = false;
  for (; p < end && strchr(" )]*_", *p); p++)
    blank |= *p == ' ';
  bool dash = blank && p < end && ((*p == '-' && p + 1 < end && p[1] == ' ') || *p == '\xe2');
  return bracket || dash || (p < end && *p == ':');
}

/* The same for a label with a number. A range or a time is not its head: "updated 5 - 10", "update 10:30". */
static bool ends_numbered_head(const char *p, const char *end) {
  const char *after = p;
  while (after < end && (strchr(" )]*_:-", *after) || *after & 0x80)) /* also a long dash */
    after++;
  return ends_head(p, end) && after > p && after < end && !ascii_digit(*after);
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

/* True for a label that a colon follows inside a sentence: "(update: ...", "[Edit: ...", "..., Update: ...". */
static bool begins_aside(struct str text, const struct token *t) {
  const char *p = t->text.p, *colon = skip_number(p + t->text.n, text.p + text.n);
  bool bracket = p > text.p && (p[-1] == '(' || p[-1] == '[');
  bool comma = p > text.p + 1 && p[-1] == ' ' && p[-2] == ',' && ascii_upper(*p);
  return (bracket || comma) && colon < text.p + text.n && *colon == ':';
}

static bool is_shouted(struct str word) {
  for (size_t i = 0; i < word.n; i++)
    if (!ascii_upper(word.p[i]))
      return false;
  return word.n > 3;
}

/* True for a label at token i: in capitals or as an aside anywhere, else at the beginning of a sentence, also after
 * "latest". */
static bool is_label(struct str text, const struct tokens *ts, size_t i) {
  const struct token *t = &ts->v[i];
  if (!word_in(t->word, labels))
    return false;
  bool recent = i > 0 && word_in(ts->v[i - 1].word, "latest newest new recent last final second third another further");
  return is_shouted(t->text) || begins_aside(text, t) || begins_sentence(text, recent ? t - 1 : t);
}

/* True for the beginning of an entry at token i: a label, a date, or both. */
static bool begins_entry(struct str text, const struct tokens *ts, size_t i, bool timeline) {
  const struct token *t = &ts->v[i];
  const char *head = t->text.p + t->text.n, *end = text.p + text.n, *number = skip_number(head, end);
  bool label = is_label(text, ts, i), heading = label || (is_shouted(t->text) && begins_sentence(text, t));
  if (heading && is_calendar_date(token_at(ts, i + 1)))
    return true;
  if (label && t->kind == TOKEN_WORD && (ends_head(head, end) || (number > head && ends_numbered_head(number, end))))
    return true;
  return !timeline && is_calendar_date(t) && begins_sentence(text, t) && ends_head(head, end);
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

static const char *const also[] = {"also",        "and also", "oh and",      "another thing", "additionally",
                                   "furthermore", "moreover", "in addition", "plus",          "besides"};
static const char *const apart[] = {"by the way",          "btw",          "separately", "unrelated", "on another note",
                                    "on a different note", "in other news"};

/* True at a semicolon, and at a comma or a dash before "also": a statement may end there. */
static bool ends_clause(struct str s, size_t i) {
  enum { JOIN_STATEMENTS = 8 }; /* the rest of `also` joins words, too: "with milk, plus sugar" */
  char c = s.p[i];
  if (c != ',' && !(c == '-' && i > 0 && s.p[i - 1] == ' '))
    return c == ';';
  return i + 1 < s.n && s.p[i + 1] == ' ' && starts_with_words(str_slice(s, i + 2, s.n), also, JOIN_STATEMENTS);
}

/* Splits the next clause off a sentence; false at its end. */
static bool next_clause(struct str *rest, struct str *ret_clause) {
  size_t n = 0;
  while (rest->n && (ascii_space(rest->p[0]) || strchr(";,-", rest->p[0])))
    *rest = str_slice(*rest, 1, rest->n);
  while (n < rest->n && !ends_clause(*rest, n))
    n++;
  *ret_clause = str_slice(*rest, 0, n);
  *rest = str_slice(*rest, n, rest->n);
  return n > 0;
}

/* How far a statement is from the words before it: 1 if "also" adds it, 2 after "by the way", 0 if it is related. */
static size_t distance(const struct tokens *own, const struct tokens *before, struct str statement) {
  bool adds = starts_with_words(statement, also, ARRAY_LEN(also));
  bool leaves = starts_with_words(statement, apart, ARRAY_LEN(apart));
  if (before->n == 0 || !(adds || leaves) || refers_back(own) || shares_word(own, before))
    return 0;
  return leaves ? 2 : 1;
}

static bool joins_topics(struct arena *a, struct lexicon *l, struct str body) {
  enum { CLAUSE_WORDS = 4 }; /* fewer are no statement: "also macOS" */
  size_t pos = 0, joined = 0;
  struct str sentence, clause;
  struct tokens before = {0};
  while (text_next_sentence(body, &pos, &sentence))
    for (bool first = true; next_clause(&sentence, &clause); first = false) {
      struct tokens own = differ_tokenize(a, l, clause);
      if (first || own.n >= CLAUSE_WORDS)
        joined += distance(&own, &before, clause);
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
