/* differ_token.c: tokenizer of the difference check. Recognizes numbers, quantities, dates, versions and names, and
 * finds the word that each negator governs. */
#include "core/gate/differ_token.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"

enum { DIGITS_MAX = 15 };

struct reader {
  struct arena *a;
  struct lexicon *lexicon;
  struct str text;
  struct tokens out;
  int clause;
  bool sentence_start;
  bool code; /* between backquotes */
};

/* ---- chunks */

static uint32_t peek(struct str s, size_t pos) { return pos < s.n ? utf8_next(s, &pos) : 0; }

/* Alphanumeric in a script that separates words by spaces. */
static bool is_spaced_alnum(uint32_t cp) { return cp == '_' || (utf8_is_alnum(cp) && !utf8_is_unspaced(cp)); }

/* True if the punctuation at s.p[i] is inside a word: "config.yaml", "don't", "10:30", "1,000". */
static bool is_inside_word(struct str s, size_t i, size_t next) {
  uint32_t cp = peek(s, i);
  char before = i ? s.p[i - 1] : ' ', after = next < s.n ? s.p[next] : ' ';
  if (cp == 0x2019 || cp == '\'')
    return ascii_alpha(after);
  if (cp == ',')
    return ascii_digit(before) && next + 3 <= s.n && ascii_digit(after) && ascii_digit(s.p[next + 1]) &&
           ascii_digit(s.p[next + 2]);
  if (cp == ':')
    return (ascii_digit(before) && ascii_digit(after)) || (after == '/' && next + 1 < s.n && s.p[next + 1] == '/');
  if (cp == '/' && (before == ':' || before == '/'))
    return true;
  return (cp == '.' || cp == '-' || cp == '/' || cp == '@' || cp == '+') && is_spaced_alnum(peek(s, next));
}

static size_t chunk_end(struct str s, size_t i) {
  while (i < s.n) {
    size_t next = i;
    uint32_t cp = utf8_next(s, &next);
    if (!is_spaced_alnum(cp) && !is_inside_word(s, i, next))
      break;
    i = next;
  }
  while (i < s.n && (s.p[i] == '+' || s.p[i] == '#' || s.p[i] == '%')) /* "C++", "C#", "50%" */
    i++;
  return i;
}

static struct token *push(struct reader *r, struct str text) {
  struct token t = {.text = text, .word = utf8_fold(r->a, text), .clause = r->clause, .name = r->code, .partner = -1};
  t.stem = t.word;
  list_push(r->a, &r->out, t);
  return &r->out.v[r->out.n - 1];
}

/* ---- numbers, dates and versions within one chunk */

/* Reads digits with thousands separators at *pos. Fails if a double cannot hold them exactly: then it is a name. */
static bool read_digits(struct str s, size_t *pos, double *ret_value) {
  size_t i = *pos, digits = 0;
  double value = 0;
  for (; i < s.n && (ascii_digit(s.p[i]) || (s.p[i] == ',' && i > *pos)); i++)
    if (s.p[i] != ',') {
      value = value * 10 + (s.p[i] - '0');
      digits++;
    }
  if (digits == 0 || digits > DIGITS_MAX)
    return false;
  *pos = i;
  *ret_value = value;
  return true;
}

/* "10:30", "10:30:15". */
static bool read_clock(struct str s, struct token *t) {
  double part[3] = {0};
  size_t pos = 0;
  int n = 0;
  while (n < 3 && read_digits(s, &pos, &part[n]) && ++n < 3 && pos < s.n && s.p[pos] == ':')
    pos++;
  if (n < 2 || s.n < 4 || part[0] > 24 || part[1] > 59 || part[2] > 60)
    return false;
  t->kind = TOKEN_DATE;
  t->clock = 1 + (int)(part[0] * 3600 + part[1] * 60 + part[2]);
  return true;
}

/* "2026-03-03", "2026-03-03T10:30Z", "3/14/2026", "14.3.2026". */
static bool read_calendar(struct str s, struct token *t) {
  double part[3] = {0};
  size_t pos = 0;
  char separator = 0;
  for (int n = 0; n < 3; n++) {
    if (!read_digits(s, &pos, &part[n]) || (n < 2 && (pos >= s.n || !memchr("-/.", s.p[pos], 3))))
      return false;
    if (n < 2)
      separator = s.p[pos++];
  }
  bool year_first = part[0] >= 1000 && part[0] <= 9999, day_first = separator == '.' && !year_first;
  double year = part[year_first ? 0 : 2], month = part[year_first || day_first],
         day = part[year_first ? 2 : !day_first];
  if (year < 1000 || year > 9999 || month > 31 || day > 31 || (pos < s.n && s.p[pos] != 't'))
    return false;
  if (pos < s.n)
    read_clock(str_slice(s, pos + 1, s.n), t);
  t->kind = TOKEN_DATE;
  t->year = (short)year;
  t->month = (short)month;
  t->day = (short)day;
  return true;
}

static void set_hour(struct token *t, bool afternoon) {
  assert(t->value >= 0 && t->value <= 12);
  t->kind = TOKEN_DATE;
  t->clock = 1 + ((int)t->value % 12 + (afternoon ? 12 : 0)) * 3600;
}

/* "v1", "1.2.3": a leading v, or two dots. IP addresses (three dots) are names. */
static bool read_version(struct str s, struct token *t) {
  bool marked = s.n > 1 && s.p[0] == 'v' && ascii_digit(s.p[1]);
  size_t dots = 0;
  for (size_t i = marked; i < s.n && s.p[i] != '-' && s.p[i] != '+'; i++) {
    dots += s.p[i] == '.';
    if (!ascii_digit(s.p[i]) && dots == 0)
      return false;
  }
  if (dots > 2 || (!marked && (dots < 2 || !ascii_digit(s.p[0]))))
    return false;
  t->kind = TOKEN_VERSION;
  t->stem = str_slice(s, marked, s.n);
  return true;
}

/* "5", "-5", "1,000", "2.5", "$5", "3rd", "10ms", "50%". */
static bool read_number(struct str s, struct token *t) {
  assert(s.n > 0);
  bool negative = s.p[0] == '-', money = s.p[0] == '$';
  size_t pos = negative || money;
  double value, fraction = 0, scale = 1;
  if (!read_digits(s, &pos, &value))
    return false;
  if (pos + 1 < s.n && s.p[pos] == '.' && ascii_digit(s.p[pos + 1])) {
    size_t from = ++pos;
    if (!read_digits(s, &pos, &fraction))
      return false;
    for (size_t i = from; i < pos; i++)
      scale *= 10;
  }
  struct str suffix = str_slice(s, pos, s.n);
  enum dimension dimension = money ? DIMENSION_MONEY : DIMENSION_NONE;
  double unit = suffix.n ? unit_factor(suffix, true, &dimension) : 1;
  bool half = str_is(suffix, "am") || str_is(suffix, "pm");
  if (unit <= 0 && !half && !word_in(suffix, "st nd rd th x +"))
    return false;
  t->kind = TOKEN_NUMBER;
  t->value = (value + fraction / scale) * (unit > 0 ? unit : 1) * (negative ? -1 : 1);
  t->dimension = dimension;
  if (half && t->value >= 0 && t->value <= 12)
    set_hour(t, suffix.p[0] == 'p');
  return true;
}

/* ---- words */

/* Looks like a name: a capital letter inside a sentence, or capitals inside the word. */
static bool is_name_like(struct str word, bool first) {
  bool inner = false;
  size_t i = 0;
  bool capital = utf8_is_upper(word.n ? utf8_next(word, &i) : 0);
  while (i < word.n)
    inner |= utf8_is_upper(utf8_next(word, &i));
  return inner || (capital && !first && word.n > 1);
}

/* "don't" becomes "do" and a negator, "server's" becomes "server". */
static void push_word(struct reader *r, struct str text, bool first) {
  size_t end = 0, tail = 0;
  while (end < text.n && tail == 0) {
    size_t next = end;
    uint32_t cp = utf8_next(text, &next);
    if (cp == '\'' || cp == 0x2019)
      tail = next;
    else
      end = next;
  }
  bool negation = tail && str_ieq(str_slice(text, tail, text.n), STR("t"));
  bool can = negation && str_ieq(str_slice(text, 0, end), STR("can")); /* "can't" has only one n */
  struct token *t = push(r, text);
  bool folder = text.p + text.n < r->text.p + r->text.n && text.p[text.n] == '/'; /* "dist/" */
  t->name |= folder || is_name_like(str_slice(text, 0, end), first);
  if (tail)
    t->word = t->stem = utf8_fold(r->a, str_slice(text, 0, end - (negation && end > 2 && !can)));
  if (negation) {
    struct token *negator = push(r, text);
    negator->word = negator->stem = STR("not");
  }
}

/* True if the text has only letters and the given ASCII punctuation. */
static bool only_letters(struct str s, const char *punctuation) {
  for (size_t i = 0; i < s.n;) {
    uint32_t cp = utf8_next(s, &i);
    if (!utf8_is_letter(cp) && cp != 0x2019 && !(cp < 0x80 && cp && strchr(punctuation, (int)cp)))
      return false;
  }
  return true;
}

/* "U.S." becomes "US". */
static void drop_dots(struct reader *r, struct token *t) {
  struct buf letters = BUF(r->a);
  for (size_t i = 0; i < t->word.n; i++) {
    if (i % 2 ? t->word.p[i] != '.' : !ascii_alpha(t->word.p[i]))
      return;
    if (i % 2 == 0)
      buf_addc(&letters, t->word.p[i]);
  }
  t->word = t->stem = buf_str(&letters);
}

static void push_chunk(struct reader *r, struct str text);

static void push_parts(struct reader *r, struct str text, const char *separators) {
  size_t from = 0;
  for (size_t i = 0; i <= text.n; i++)
    if (i == text.n || (text.p[i] && strchr(separators, text.p[i]))) {
      if (i > from)
        push_chunk(r, str_slice(text, from, i));
      from = i + 1;
    }
}

static size_t count_slashes(struct str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++)
    n += s.p[i] == '/';
  return n;
}

/* "1024x768". */
static bool is_grid(struct str s) {
  size_t x = 0;
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] == 'x' && i && i + 1 < s.n && s.p[i - 1] != 'x')
      x++;
    else if (!ascii_digit(s.p[i]))
      return false;
  return x > 0 && !str_starts(s, STR("0x"));
}

static void push_chunk(struct reader *r, struct str text) {
  assert(text.n > 0);
  bool first = r->sentence_start;
  r->sentence_start = false;
  if (text.n > 2 && str_ends(text, STR("'s")) && !only_letters(text, "'")) /* "4711's" */
    text.n -= 2;
  if (only_letters(text, "'") && !(text.p > r->text.p && text.p[-1] == '/' && ascii_lower(text.p[0]) == text.p[0] &&
                                   (text.p - 1 == r->text.p || text.p[-2] == ' '))) {
    push_word(r, text, first);
    return;
  }
  struct token *t = push(r, text);
  struct str s = t->word;
  if (s.n && (read_calendar(s, t) || read_clock(s, t) || read_version(s, t) || read_number(s, t)))
    return;
  if (is_grid(s)) {
    r->out.n--;
    push_parts(r, text, "xX");
    return;
  }
  bool path = (text.p > r->text.p && text.p[-1] == '/') || count_slashes(text) > 1;
  bool letters = only_letters(text, "'-/") && !r->code && !path, digits = ascii_digit(text.p[0]) || text.p[0] == '$';
  if (letters || (digits && memchr(text.p, '-', text.n))) { /* "blue-green", "and/or", "2-core", "5-10" */
    assert(t == &r->out.v[r->out.n - 1]);
    r->out.n--;
    push_parts(r, text, "-/");
    return;
  }
  t->name = true;
  drop_dots(r, t);
}

/* Tracks ends of clauses and sentences, and quoted code. */
static void read_punctuation(struct reader *r, uint32_t cp, bool before_space) {
  if (cp == '.' && r->out.n && word_in(r->out.v[r->out.n - 1].word, "mr mrs ms dr prof st vs"))
    return;
  if (cp == '`')
    r->code = !r->code;
  if (cp == '.' || cp == '!' || cp == '?' || cp == '\n' || cp == 0x3002 || cp == ':' || cp == '*' || cp == '#')
    r->sentence_start = r->sentence_start || before_space;
  if (strchr(",;:.!?()[]\n", (int)(cp < 0x80 && cp ? cp : ' ')) || cp == 0x3002 || cp == 0xff0c || cp == 0x2014)
    r->clause += cp != '.' || before_space;
}

/* True for a prefix that is part of the word: "-5", "$5", ".env". */
static bool is_prefix(struct str s, size_t start, uint32_t cp, uint32_t next) {
  char before = start ? s.p[start - 1] : ' ';
  if (next >= 0x80 || !(ascii_space(before) || before == '(' || before == '='))
    return false;
  return ((cp == '-' || cp == '$') && ascii_digit((char)next)) || (cp == '.' && ascii_alpha((char)next));
}

static void read_all(struct reader *r) {
  struct str s = r->text;
  r->sentence_start = true;
  for (size_t i = 0; i < s.n;) {
    size_t start = i;
    uint32_t cp = utf8_next(s, &i), next = peek(s, i);
    if (utf8_is_unspaced(cp) && utf8_is_alnum(cp)) {
      push(r, str_slice(s, start, i));
    } else if (is_spaced_alnum(cp) || is_prefix(s, start, cp, next)) {
      i = chunk_end(s, i);
      push_chunk(r, str_slice(s, start, i));
    } else {
      read_punctuation(r, cp, i == s.n || utf8_is_space(next) || next == '"' || next == '\'');
    }
  }
}

/* ---- tokens in context */

static struct token *next_in_clause(struct tokens *t, size_t i) {
  return i + 1 < t->n && t->v[i + 1].clause == t->v[i].clause ? &t->v[i + 1] : NULL;
}

static void extend(struct token *t, const struct token *last) {
  assert(last >= t && last->text.p >= t->text.p);
  t->text.n = (size_t)(last->text.p + last->text.n - t->text.p);
}

/* "twenty five", "two hundred", "3 million", "5 seconds", "7 pm": merges the following tokens into the number at i and
 * returns their count. */
static size_t read_quantity(struct tokens *ts, size_t i) {
  struct token *t = &ts->v[i], *next;
  size_t used = 0;
  while ((next = next_in_clause(ts, i + used)) != NULL) {
    bool tens = t->spelled && t->value >= 20 && next->class == WORD_NUMBER && next->spelled && next->value < 10;
    enum dimension dimension = DIMENSION_NONE;
    double unit = t->dimension == DIMENSION_NONE ? unit_factor(next->word, false, &dimension) : 0;
    if (tens && (int64_t)t->value % 10 == 0) {
      t->value += next->value;
    } else if (next->class == WORD_MULTIPLE &&
               (!t->dimension || t->dimension == DIMENSION_MONEY || t->dimension == DIMENSION_EURO) &&
               t->value < 1e15) {
      t->value *= next->value;
    } else if (unit > 0 && (next->kind == TOKEN_WORD || next->class == WORD_ORDINAL)) { /* "a 30 second timeout" */
      t->value *= unit;
      t->dimension = dimension;
    } else if (t->value >= 0 && t->value <= 12 && word_in(next->word, "am pm")) {
      set_hour(t, next->word.p[0] == 'p');
    } else {
      break;
    }
    extend(t, next);
    used++;
  }
  return used;
}

static bool is_day_number(const struct token *t) {
  return t && t->kind == TOKEN_NUMBER && t->dimension == DIMENSION_NONE && t->value >= 1 && t->value <= 31;
}

static bool is_year_number(const struct token *t) {
  return t && t->kind == TOKEN_NUMBER && t->dimension == DIMENSION_NONE && t->value >= 1900 && t->value < 2200 &&
         !t->spelled;
}

/* A month without day or year. "May" counts only after a word that no verb follows: "until May", "the end of May". */
static bool is_bare_month(const struct tokens *ts, size_t i) {
  static const char *const before[] = {"of",    "in",     "until", "till", "by",      "since", "before",
                                       "after", "during", "from",  "to",   "through", "for",   "this",
                                       "next",  "last",   "early", "late", "between"};
  const struct token *t = &ts->v[i];
  if (t->class != WORD_MONTH || !t->name)
    return false;
  if (!str_is(t->word, "may"))
    return true;
  for (size_t k = 0; i > 0 && k < ARRAY_LEN(before); k++)
    if (str_is(ts->v[i - 1].word, before[k]))
      return true;
  return false;
}

/* "March 3", "3 March", "March 3, 2026", "March 2026": merges the following tokens into the one at i and returns their
 * count. */
static size_t read_date(struct tokens *ts, size_t i) {
  struct token *t = &ts->v[i], *one = i + 1 < ts->n ? &ts->v[i + 1] : NULL;
  bool month_first = t->class == WORD_MONTH;
  size_t of = one && !month_first && str_is(one->word, "of") && i + 2 < ts->n; /* "15th of June" */
  const struct token *month = month_first ? t : one + of;
  if (!month || month->class != WORD_MONTH || (!month_first && !is_day_number(t)))
    return 0;
  short day = month_first ? (short)(is_day_number(one) ? one->value : 0) : (short)t->value;
  size_t used = month_first ? day > 0 : 1 + of;
  struct token *after = i + used + 1 < ts->n ? &ts->v[i + used + 1] : NULL;
  short year = is_year_number(after) ? (short)after->value : 0;
  used += year > 0;
  if (day == 0 && year == 0 && !is_bare_month(ts, i))
    return 0;
  t->kind = TOKEN_DATE;
  assert(month->value >= 1 && month->value <= 12);
  t->month = (short)month->value;
  t->day = day;
  t->year = year;
  t->value = 0;
  extend(t, &ts->v[i + used]);
  return used;
}

static void classify(struct reader *r, struct token *t) {
  struct word_info info = lexicon_class(r->lexicon, t->word);
  if (t->kind != TOKEN_WORD)
    return;
  t->class = info.class;
  if (only_letters(t->word, ""))
    t->stem = lexicon_stem(r->lexicon, t->word);
  if (info.class == WORD_CONTENT)
    return;
  t->value = info.value;
  t->spelled = true;
  if (info.class == WORD_CLOCK) {
    t->kind = TOKEN_DATE;
    t->clock = 1 + (int)info.value * 3600;
  }
  if (info.class == WORD_NUMBER || info.class == WORD_ORDINAL)
    t->kind = TOKEN_NUMBER;
  if (info.class == WORD_DAY) {
    t->kind = TOKEN_DATE;
    t->weekday = (short)info.value;
  }
}

static void combine(struct tokens *ts) {
  size_t to = 0;
  for (size_t i = 0; i < ts->n; i++) {
    struct token *t = &ts->v[i];
    if (t->class == WORD_MULTIPLE)
      t->kind = TOKEN_NUMBER; /* "a hundred" */
    size_t used = read_date(ts, i);
    if (!used && t->kind == TOKEN_NUMBER)
      used = read_quantity(ts, i);
    if (t->kind == TOKEN_WORD && t->class == WORD_MONTH)
      t->class = str_is(t->word, "may") ? WORD_STOP : WORD_CONTENT;
    assert(used < ts->n - i);
    ts->v[to++] = *t;
    i += used;
  }
  ts->n = to;
}

/* In title case, a capital letter does not indicate a name. */
static void ignore_title_case(struct tokens *ts) {
  size_t capitals = 0, words = 0;
  for (size_t i = 0; i < ts->n; i++)
    if (ts->v[i].kind == TOKEN_WORD && ts->v[i].class == WORD_CONTENT && ascii_alpha(ts->v[i].text.p[0])) {
      words++;
      capitals += ascii_upper(ts->v[i].text.p[0]);
    }
  if (words < 4 || capitals * 10 < words * 8)
    return;
  for (size_t i = 0; i < ts->n; i++)
    if (only_letters(ts->v[i].text, "'"))
      ts->v[i].name = false;
}

static const char comparatives[] = "more less fewer greater later earlier";

/* Some words negate only in combination: "stop using", "fail to", "instead of". */
static bool is_negating(const struct tokens *ts, size_t i) {
  const struct token *t = &ts->v[i];
  struct str next = i + 1 < ts->n && ts->v[i + 1].clause == t->clause ? ts->v[i + 1].word : STR_NONE;
  struct str before = i && ts->v[i - 1].clause == t->clause ? ts->v[i - 1].word : STR_NONE;
  if (str_starts(t->word, STR("stop")) || str_starts(t->word, STR("cease")) || str_is(t->word, "quit"))
    return str_ends(next, STR("ing"));
  if (str_starts(t->word, STR("fail")) || str_starts(t->word, STR("refus")))
    return str_is(next, "to");
  if (str_is(t->word, "instead"))
    return str_is(next, "of");
  if (str_is(t->word, "no") && i + 1 < ts->n && ts->v[i + 1].kind == TOKEN_NUMBER)
    return str_is(next, "one");
  return !str_is(next, "only") && !str_is(before, "or");
}

/* The word that the negator at i governs: the next content word of the clause, or the previous one if none follows
 * ("played by nobody"). */
static struct token *governed(struct tokens *ts, size_t i) {
  int clause = ts->v[i].clause;
  if (i + 1 < ts->n && word_in(ts->v[i + 1].word, comparatives)) /* "no more than 5" does not negate the 5 */
    return &ts->v[i + 1];
  for (size_t j = i + 1; j < ts->n && j <= i + 6 && ts->v[j].clause == clause; j++)
    if (ts->v[j].content && !(j == i + 1 && str_is(ts->v[j].word, "one")))
      return &ts->v[j];
  for (size_t j = i; j > 0 && j + 6 > i && ts->v[j - 1].clause == clause; j--)
    if (ts->v[j - 1].content)
      return &ts->v[j - 1];
  return NULL;
}

static void find_negations(struct tokens *ts) {
  for (size_t i = 0; i < ts->n; i++) {
    struct token *t = &ts->v[i];
    if (str_is(t->word, "yet") && i + 1 < ts->n && str_is(t[1].word, "to")) /* "has yet to be done" */
      t->class = WORD_NEGATOR;
    if (t->class == WORD_NEGATOR && !is_negating(ts, i))
      t->class = str_is(t->word, "instead") ? WORD_STOP : WORD_CONTENT;
    t->content = t->kind != TOKEN_WORD || t->class == WORD_CONTENT;
  }
  for (size_t i = 0; i < ts->n; i++) {
    const struct token *t = &ts->v[i];
    bool rather_than = str_is(t->word, "rather") && i + 1 < ts->n && str_is(ts->v[i + 1].word, "than");
    if (t->class != WORD_NEGATOR && !rather_than)
      continue;
    struct token *head = governed(ts, i);
    if (head)
      head->negated = !head->negated;
  }
}

/* ---- keys */

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

/* Rounds to 12 digits, which hides the rounding error of unit conversions. */
static int64_t round_digits(double value, int *ret_exponent) {
  double size = value < 0 ? -value : value;
  int exponent = 0;
  while (size > 0 && size < 1e11) {
    size *= 10;
    exponent--;
  }
  while (size >= 1e12) {
    size /= 10;
    exponent++;
  }
  assert(size < 1e12);
  int64_t digits = (int64_t)(size + 0.5);
  *ret_exponent = exponent;
  return value < 0 ? -digits : digits;
}

static uint64_t key_of(const struct token *t) {
  uint64_t h = mix(1, t->kind == TOKEN_VERSION ? 0 : (uint64_t)t->kind);
  if (t->kind == TOKEN_NUMBER) {
    int exponent;
    int64_t digits = round_digits(t->value, &exponent);
    return mix(mix(mix(h, (uint64_t)digits), (uint64_t)exponent), t->dimension);
  }
  if (t->kind == TOKEN_DATE)
    return mix(mix(mix(mix(mix(h, (uint64_t)t->year), (uint64_t)t->month), (uint64_t)t->day), (uint64_t)t->weekday),
               (uint64_t)t->clock);
  for (size_t i = 0; i < t->stem.n; i++)
    h = mix(h, (unsigned char)t->stem.p[i]);
  return h;
}

struct tokens differ_tokenize(struct arena *a, struct lexicon *l, struct str text) {
  struct reader r = {.a = a, .lexicon = l, .text = text};
  read_all(&r);
  for (size_t i = 0; i < r.out.n; i++)
    classify(&r, &r.out.v[i]);
  combine(&r.out);
  find_negations(&r.out);
  ignore_title_case(&r.out);
  for (size_t i = 0; i < r.out.n; i++)
    r.out.v[i].key = key_of(&r.out.v[i]);
  return r.out;
}
