/* when.c: time expressions in queries: matching, choice of the best, closeness of a time. */
#include "core/rank/when.h"

#include <assert.h>

#include "base/os/clock.h"
#include "base/utf8.h"
#include "core/rank/when_parts.h"
#include "core/text/text.h"

enum { READ_BYTES = 2000, MAX_WORDS = 512, MAX_LEADS = 4 };

struct word {
  struct str text;
  bool first; /* starts a sentence */
};

struct words {
  struct word v[MAX_WORDS];
  size_t n;
};

/* ---- words */

/* "Sept. 5", "Mon. 8. May": the full stop does not end the sentence. */
static bool is_abbreviation(struct str word) {
  struct reading r = {0};
  return word.n <= 4 && !str_ieq(word, STR("may")) &&
         (word_read('M', word, &r) || word_read('W', word, &r) || word_read('D', word, &r));
}

/* True if a sentence ends in the text between two words. */
static bool has_sentence_end(struct str before, struct str gap) {
  for (size_t i = 0; i < gap.n; i++) {
    char c = gap.p[i];
    if (c == '?' || c == '!' || c == ';' || c == '\n' || c == '|' || (c == '.' && !is_abbreviation(before)))
      return true;
  }
  return false;
}

static void push_word(struct words *words, struct str text, bool first) {
  if (words->n < MAX_WORDS && text.n)
    words->v[words->n++] = (struct word){text, first};
}

/* True for a date of ten characters at the start of s, which is one word even with slashes. */
static bool is_date(struct str s) {
  if (s.n < 10 || (s.n > 10 && ascii_digit(s.p[10])))
    return false;
  struct reading r = {0};
  return word_read('I', str_slice(s, 0, 10), &r);
}

static struct str strip_possessive(struct str word) {
  static const struct str endings[] = {STR_INIT("'s"), STR_INIT("'S"), STR_INIT("’s")};
  for (size_t i = 0; i < ARRAY_LEN(endings); i++)
    if (str_ends(word, endings[i]))
      return str_slice(word, 0, word.n - endings[i].n);
  return word;
}

/* Splits "mid-March" and "three-days-ago", but not "2023-05". */
static void add_parts(struct words *words, struct str word, bool first) {
  if (ascii_digit(word.p[0])) {
    push_word(words, word, first);
    return;
  }
  struct str part;
  for (struct str rest = word; str_next(&rest, '-', &part); first = false)
    push_word(words, part, first);
}

static void split_words(struct str query, struct words *ret) {
  ret->n = 0;
  struct str word, before = STR_NONE;
  size_t pos = 0, end = 0;
  while (text_next_word(query, &pos, &word)) {
    size_t start = (size_t)(word.p - query.p);
    if (is_date(str_slice(query, start, query.n))) {
      word.n = 10;
      pos = start + 10;
    }
    bool first = ret->n == 0 || has_sentence_end(before, str_slice(query, end, start));
    add_parts(ret, strip_possessive(word), first);
    before = word;
    end = pos;
  }
}

/* ---- patterns
 *
 * Elements are separated by blanks: a capital is a class of words (see word_read()), anything else a word or
 * alternatives; "?" makes an element optional. Leading words such as "in the" and "since" are parsed separately: if
 * `lead` is not 0, one of these words must precede. */

static const struct pattern {
  unsigned lead;
  const char *words;
  window_fn *window;
} patterns[] = {
    {0, "I", window_date},
    {0, "?W D ?of M ?of Y", window_date},
    {0, "?W M ?the D Y", window_date},
    {0, "?W D ?of M", window_date},
    {0, "?W M ?the D", window_date},
    {0, "M ?of Y", window_month},
    {0, "start|beginning|end|middle|month|week|weekend|half|rest of M ?Y", window_month},
    {LEAD_IN | LEAD_POINT | LEAD_PART | LEAD_ABOUT, "M", window_in_month},
    {0, "L M", window_month_turn},
    {LEAD_IN | LEAD_POINT | LEAD_PART, "Y", window_year},
    {0, "year Y", window_year},
    {LEAD_IN | LEAD_POINT | LEAD_PART, "Q", window_quarter},
    {0, "Q ?of Y", window_quarter},
    {LEAD_IN | LEAD_POINT | LEAD_PART, "S", window_in_season},
    {0, "S ?of Y", window_season},
    {0, "L S", window_season_turn},
    {0, "?W ?a N ?of U ago|back", window_ago},
    {0, "less than ?a N ?of U ago", window_rolling},
    {0, "L N ?of U", window_rolling},
    {0, "L U", window_turn},
    {0, "U before last", window_before_last},
    {0, "start|beginning of the|this U", window_start},
    {LEAD_ON | LEAD_POINT, "W ?T", window_weekday},
    {0, "L W ?T", window_weekday},
    {0, "W ?of L week", window_weekday_of},
    {LEAD_ON | LEAD_OVER | LEAD_IN | LEAD_POINT, "weekend", window_weekend},
    {0, "day before yesterday", window_day_before},
    {0, "yesterday ?T", window_yesterday},
    {0, "today", window_today},
    {0, "this morning|afternoon|evening", window_this_morning},
    {0, "last night|evening", window_last_night},
    {0, "recently|lately", window_recent},
    {0, "recent U", window_recent_units},
    {0, "other day", window_other_day},
};

static bool one_of(struct str word, struct str choices) {
  struct str choice;
  while (str_next(&choices, '|', &choice))
    if (str_ieq(word, choice))
      return true;
  return false;
}

/* Matches word i against one element of a pattern. */
static bool match_element(const struct words *words, size_t i, struct str element, struct reading *r) {
  assert(i < words->n && element.n > 0);
  const struct word *word = &words->v[i];
  if (element.n > 1 || !ascii_upper(element.p[0]))
    return one_of(word->text, element);
  if (!word_read(element.p[0], word->text, r))
    return false;
  /* Capitalized it is a month, unless it is a verb at the start of a sentence. */
  if (element.p[0] == 'M' && ascii_upper(word->text.p[0]))
    r->unsure = r->unsure && word->first && one_of(word->text, STR("may|march"));
  return true;
}

/* One past the last of the words from i on that match the rest of the pattern; 0 if they do not. */
static size_t match(const struct words *words, size_t i, size_t first, struct str rest, struct reading *r) {
  struct str element;
  if (!str_next(&rest, ' ', &element))
    return i;
  bool optional = element.p[0] == '?';
  element = str_slice(element, optional, element.n);
  struct reading with = *r;
  size_t end = 0;
  if (i < words->n && (i == first || !words->v[i].first) && match_element(words, i, element, &with))
    end = match(words, i + 1, first, rest, &with);
  if (end)
    *r = with;
  else if (optional)
    end = match(words, i, first, rest, r);
  return end;
}

/* ---- expressions */

struct expression {
  size_t start, end; /* words, including the lead */
  unsigned lead;
  bool loose; /* "recently": any other expression is preferred */
  struct when when;
};

static unsigned read_lead(const struct words *words, size_t start, size_t *ret_end) {
  unsigned lead = 0;
  size_t i = start;
  for (; i < words->n && i - start < MAX_LEADS && (i == start || !words->v[i].first); i++) {
    unsigned bit = word_lead(words->v[i].text);
    if (!bit)
      break;
    lead |= bit;
  }
  *ret_end = i;
  return lead;
}

/* True for a word that joins the two ends of a range. */
static bool is_range_word(const struct words *words, size_t i) {
  return i < words->n && !words->v[i].first && one_of(words->v[i].text, STR("and|to|till|until|through"));
}

/* "What did we do today" asks about a time; "which tool do we use today" does not. */
static bool is_about_past(const struct words *words, size_t end) {
  for (size_t i = 0; i < end; i++)
    if (one_of(words->v[i].text, STR("did|done|was|were|have|has|had|earlier|made|said")))
      return true;
  return false;
}

/* Reads the longest expression that starts with word `start`, relative to `now`. `given` is added to its lead. */
static bool read_expression(const struct words *words, size_t start, unsigned given, int64_t now,
                            struct expression *ret) {
  size_t at, best = 0;
  unsigned lead = read_lead(words, start, &at) | given;
  for (size_t p = 0; p < ARRAY_LEN(patterns); p++) {
    const struct pattern *pattern = &patterns[p];
    struct reading r = {.lead = lead};
    size_t end = 0;
    if (pattern->lead == 0 || (pattern->lead & lead))
      end = at < words->n ? match(words, at, at, str_from(pattern->words), &r) : 0;
    if (end <= best)
      continue;
    r.closing = end == words->n || words->v[end].first;
    r.before_of = !r.closing && str_ieq(words->v[end].text, STR("of"));
    r.counted = !r.closing && word_is_counted(words->v[end].text);
    r.past = is_about_past(words, end);
    r.ranged = given || is_range_word(words, end);
    struct when when;
    if (!pattern->window(&r, now, &when))
      continue;
    best = end;
    *ret = (struct expression){start, end, lead, pattern->window == window_recent, when};
  }
  return best > 0;
}

/* Reads the "two days" of "two days before ...". */
static bool read_distance(const struct words *words, size_t end, struct reading *ret) {
  if (end == 0 || !word_read('U', words->v[end - 1].text, ret))
    return false;
  if (end < 2 || !word_read('N', words->v[end - 2].text, ret))
    ret->n = 1;
  return true;
}

/* Changes the window for "since", "after", "before" and "until". */
static void apply_lead(const struct words *words, int64_t now, struct expression *e) {
  struct when w = e->when;
  struct reading distance = {0};
  int64_t long_ago = w.from - 3653 * MS_PER_DAY;
  if ((e->lead & (LEAD_BEFORE | LEAD_AFTER)) && read_distance(words, e->start, &distance)) {
    window_shifted(w.from, distance.unit, e->lead & LEAD_BEFORE ? -distance.n : distance.n, &e->when);
    return;
  }
  if (e->lead & LEAD_BEFORE)
    w = (struct when){long_ago, w.from, w.slack_ms};
  else if (e->lead & LEAD_UNTIL)
    w = (struct when){long_ago, w.until, w.slack_ms};
  else if (e->lead & (LEAD_SINCE | LEAD_AFTER))
    w = (struct when){e->lead & LEAD_SINCE ? w.from : w.until, now, w.slack_ms};
  if (w.from < w.until)
    e->when = w;
}

/* "between March and May": extends the window to the second end, if there is one. */
static void read_range(const struct words *words, int64_t now, struct expression *e) {
  struct expression second;
  if (!(e->lead & LEAD_RANGE) || !is_range_word(words, e->end) ||
      !read_expression(words, e->end + 1, LEAD_RANGE, now, &second))
    return;
  /* "from March to May 2023" means the March before that May. */
  struct expression first = *e;
  if (first.when.from >= second.when.until && !read_expression(words, e->start, 0, second.when.until, &first))
    return;
  if (first.when.from >= second.when.until)
    return;
  double length = (double)(second.when.until - first.when.from);
  e->when =
      (struct when){first.when.from, second.when.until, length > (double)MS_PER_DAY ? length : (double)MS_PER_DAY};
  e->end = second.end;
}

/* True for a question about a duration: its times are not when the answer was written. */
static bool is_about_duration(const struct words *words) {
  struct reading ignored = {0};
  bool asked = false;
  for (size_t i = 0; i < words->n; i++) {
    struct str next = i + 1 < words->n ? words->v[i + 1].text : STR_NONE;
    struct str third = i + 2 < words->n ? words->v[i + 2].text : STR_NONE;
    if (str_ieq(words->v[i].text, STR("how")))
      asked |= str_ieq(next, STR("long")) || (str_ieq(next, STR("many")) && word_read('U', third, &ignored));
    if (asked && one_of(words->v[i].text,
                        STR("ago|pass|passed|elapsed|between|apart|since|before|after|until|till|been|take|took")))
      return true;
  }
  return false;
}

static bool is_more_specific(const struct expression *a, const struct expression *b) {
  if (a->loose != b->loose)
    return b->loose;
  return a->when.until - a->when.from < b->when.until - b->when.from;
}

bool when_find(struct str query, int64_t now, struct when *ret_when) {
  struct words words;
  if (now < 0 || now >= days_from_civil(2200, 1, 1) * MS_PER_DAY)
    return false;
  split_words(utf8_cut(query, READ_BYTES), &words);
  if (is_about_duration(&words))
    return false;
  bool found = false;
  struct expression best = {0}, e;
  for (size_t i = 0; i < words.n;) {
    if (!read_expression(&words, i, 0, now, &e)) {
      i++;
      continue;
    }
    read_range(&words, now, &e);
    apply_lead(&words, now, &e);
    assert(e.end > i);
    if (!found || is_more_specific(&e, &best))
      best = e;
    found = true;
    i = e.end;
  }
  assert(!found || (best.when.from < best.when.until && best.when.slack_ms >= (double)MS_PER_DAY));
  if (found)
    *ret_when = best.when;
  return found;
}

double when_closeness(const struct when *w, int64_t at) {
  if (at >= w->from && at < w->until)
    return 1;
  double outside = at < w->from ? (double)w->from - (double)at : (double)at - (double)w->until;
  if (!(outside < w->slack_ms))
    return 0;
  /* 1 - smoothstep: flat at both ends. */
  double x = outside / w->slack_ms;
  return 1 - x * x * (3 - 2 * x);
}
