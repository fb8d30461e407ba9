/* items_sentence.c: matchers of markers, sentences and headings that indicate items. */
#include "core/files/items_sentence.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/text/phrase.h"
#include "core/text/text.h"

enum { OWNER_BYTES = 40, NAME_WORDS = 4, NAME_BYTES = 80, SENTENCE_WORDS = 5, HEADING_WORDS = 4 };

/* ---- markers ---- */

static const struct {
  const char *word;
  enum item_type type;
  bool bare; /* in capital letters, also a marker without a colon */
} markers[] = {
    {"claim", ITEM_CLAIM, false},       {"fact", ITEM_CLAIM, false},       {"note", ITEM_NOTE, false},
    {"todo", ITEM_TASK, true},          {"fixme", ITEM_TASK, true},        {"task", ITEM_TASK, false},
    {"decision", ITEM_DECISION, false}, {"decided", ITEM_DECISION, false}, {"agreed", ITEM_DECISION, false},
};

static size_t word_end(struct str s, size_t i) {
  while (i < s.n && ascii_alpha(s.p[i]))
    i++;
  return i;
}

static bool is_all_upper(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!ascii_upper(s.p[i]))
      return false;
  return s.n > 0;
}

/* Row of a word; ARRAY_LEN(markers) if it is not a marker. */
static size_t marker_row(struct str word) {
  size_t i = 0;
  if (word.n == 0)
    return ARRAY_LEN(markers);
  while (i < ARRAY_LEN(markers) &&
         (ascii_lower(word.p[0]) != markers[i].word[0] || !str_ieq(word, str_from(markers[i].word))))
    i++;
  return i;
}

static size_t skip_any(struct str s, size_t i, const char *chars) {
  while (i < s.n && s.p[i] && strchr(chars, s.p[i]))
    i++;
  return i;
}

/* Skips "(ann)" or "[#12]". */
static size_t skip_owner(struct str s, size_t i) {
  if (i >= s.n || (s.p[i] != '(' && s.p[i] != '['))
    return i;
  char close = s.p[i] == '(' ? ')' : ']';
  for (size_t k = i + 1; k < s.n && k - i < OWNER_BYTES; k++)
    if (s.p[k] == close)
      return k + 1;
  return i;
}

/* Reads the rest of a marker whose word, of row `row`, ends at `end`. */
static struct marker read_marker(struct str s, size_t row, size_t start, size_t end, bool sign) {
  struct marker none = {.form = MARKER_NONE}, m = {.form = MARKER_SMALL, .type = markers[row].type};
  bool upper = is_all_upper(str_slice(s, start, end)), closed = end < s.n && s.p[end] == ']';
  size_t i = skip_owner(s, skip_any(s, end, "]"));
  i = skip_any(s, i, "*_");
  bool wide = str_starts(str_slice(s, i, s.n), STR("\xef\xbc\x9a"));
  bool colon = wide || (i < s.n && s.p[i] == ':' && (i + 1 >= s.n || s.p[i + 1] != ':'));
  if (colon) {
    m.form = upper ? MARKER_FULL : MARKER_SMALL;
    i = skip_any(s, i + (wide ? 3 : 1), "*_");
    if (!wide && i < s.n && !ascii_space(s.p[i]) && !upper)
      return none; /* "note:x" is an address */
  } else {
    bool bare = sign || (upper && (closed || markers[row].bare));
    if (!bare || (i < s.n && !ascii_space(s.p[i])))
      return none; /* "TODOs", "TODO.md" */
  }
  m.rest = skip_any(s, i, " \t\r\n-");
  assert(m.rest >= end && m.rest <= s.n);
  return m;
}

struct marker marker_at_start(struct str s) {
  size_t i = skip_any(s, 0, " \t");
  if (str_starts(str_slice(s, i, s.n), STR("<!--")))
    i = skip_any(s, i + 4, " \t");
  i = skip_any(s, i, "*_");
  bool sign = i < s.n && (s.p[i] == '@' || s.p[i] == '\\');
  if (i < s.n && (sign || s.p[i] == '['))
    i += i + 1 < s.n && s.p[i + 1] == '!' ? 2 : 1;
  size_t end = word_end(s, i), row = marker_row(str_slice(s, i, end));
  return row < ARRAY_LEN(markers) ? read_marker(s, row, i, end, sign) : (struct marker){.form = MARKER_NONE};
}

struct marker marker_inside(struct str s, size_t *ret_at) {
  bool code = false;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '`')
      code = !code;
    if (code || !ascii_upper(s.p[i]) || (i > 0 && (ascii_alnum(s.p[i - 1]) || strchr("_-\"'./", s.p[i - 1]))))
      continue;
    size_t end = word_end(s, i), row = marker_row(str_slice(s, i, end));
    struct marker m = {.form = MARKER_NONE};
    if (row < ARRAY_LEN(markers))
      m = read_marker(s, row, i, end, false);
    if (m.form == MARKER_FULL && m.rest < s.n && ascii_space(s.p[m.rest - 1])) {
      *ret_at = i;
      return m;
    }
    i = end - 1;
  }
  return (struct marker){.form = MARKER_NONE};
}

/* ---- sentences ---- */

bool sentence_is_decision(struct str s) {
  static const char *const cues[] = {
      "^we decided",      "^we have decided", "^we've decided",   "^we chose",         "^we have chosen",
      "^we agreed",       "^we have agreed",  "^we opted for",    "^we opted to",      "^we settled on",
      "^we went with",    "^it was decided",  "^it was agreed",   "^decided to",       "^decided that",
      "^agreed to",       "^agreed that",     "^the decision is", "^the decision was", "^the team decided",
      "^the team agreed", "^the team chose",
  };
  /* The first letter rejects most sentences. */
  for (size_t i = 0; s.n && i < ARRAY_LEN(cues); i++)
    if (ascii_lower(s.p[0]) == cues[i][1] && phrase_at(s, 0, cues[i]))
      return true;
  return false;
}

/* Words that start sentences like "x is a y" but are not names. */
static bool is_common_word(struct str word) {
  static const char *const words[] = {
      "above",    "after",      "all",    "also",      "although", "and",    "another", "any",   "anything", "as",
      "at",       "because",    "before", "below",     "both",     "but",    "by",      "each",  "either",   "every",
      "everyone", "everything", "first",  "following", "for",      "from",   "he",      "here",  "how",      "however",
      "i",        "if",         "in",     "it",        "last",     "let",    "like",    "many",  "most",     "my",
      "neither",  "next",       "no",     "nobody",    "not",      "note",   "nothing", "now",   "on",       "once",
      "one",      "only",       "or",     "other",     "our",      "second", "see",     "she",   "since",    "so",
      "some",     "something",  "such",   "that",      "then",     "there",  "these",   "they",  "this",     "those",
      "though",   "to",         "today",  "under",     "unlike",   "until",  "use",     "using", "we",       "what",
      "when",     "where",      "which",  "while",     "who",      "whose",  "why",     "with",  "yes",      "you",
      "your",
  };
  for (size_t i = 0; word.n && i < ARRAY_LEN(words); i++)
    if (ascii_lower(word.p[0]) == words[i][0] && str_ieq(word, str_from(words[i])))
      return true;
  return false;
}

static bool has_inner_capital(struct str word) {
  for (size_t i = 1; i < word.n; i++)
    if (ascii_upper(word.p[i]) || ascii_digit(word.p[i]))
      return true;
  return false;
}

/* Offset after the capitalized word at i; i if there is none. */
static size_t skip_capitalized(struct str s, size_t i) {
  size_t at = i;
  if (at >= s.n || !utf8_is_upper(utf8_next(s, &at)))
    return i;
  while (at < s.n) {
    size_t next = at;
    uint32_t cp = utf8_next(s, &next);
    bool inner = (cp == '-' || cp == '.' || cp == '_' || cp == '/') && next < s.n && ascii_alnum(s.p[next]);
    if (!utf8_is_alnum(cp) && !inner)
      break;
    at = next;
  }
  return at;
}

/* Reads a name of capitalized words at `from`. Returns the offset after it; `from` if there is none. */
static size_t read_name(struct str s, size_t from, struct definition *d) {
  size_t i = from, words = 0;
  while (words < NAME_WORDS) {
    size_t start = i + (words > 0 && i < s.n && s.p[i] == ' '), end = skip_capitalized(s, start);
    if (end == start || (words > 0 && start == i))
      break;
    struct str word = str_slice(s, start, end);
    if (words == 0 && is_common_word(word))
      return from;
    d->strong |= words > 0 || has_inner_capital(word);
    i = end;
    words++;
  }
  d->name = str_slice(s, from, i);
  return i;
}

/* Reads a name in emphasis or code at `from`. Returns the offset after it; `from` if there is none. */
static size_t read_emphasized(struct str s, size_t from, struct definition *d) {
  static const char *const pairs[] = {"**", "__", "`", "*"};
  for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
    struct str mark = str_from(pairs[i]);
    if (!str_starts(str_slice(s, from, s.n), mark))
      continue;
    struct str near = str_slice(s, 0, s.n - from < NAME_BYTES ? s.n : from + NAME_BYTES);
    size_t close = str_find(near, mark, from + mark.n);
    if (close == SIZE_MAX || close == from + mark.n)
      return from;
    d->name = str_trim(str_slice(s, from + mark.n, close));
    d->strong = true;
    return close + mark.n;
  }
  return from;
}

static bool has_defining_verb(struct str rest) {
  static const char *const verbs[] = {"is a",  "is an",      "is the",    "is one of",
                                      "means", "stands for", "refers to", "denotes"};
  for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
    if (phrase_at(rest, 0, verbs[i]))
      return true;
  return false;
}

bool sentence_is_definition(struct str s, struct definition *ret_definition) {
  struct definition d = {0};
  size_t i = 0;
  size_t article = phrase_at(s, 0, "the");
  if (article || (article = phrase_at(s, 0, "an")) || (article = phrase_at(s, 0, "a")))
    i = skip_any(s, article, " \n");
  size_t from = i;
  i = read_emphasized(s, from, &d);
  if (i == from)
    i = read_name(s, from, &d);
  if (i == from || d.name.n > NAME_BYTES || !text_has_letter(d.name) || is_common_word(d.name))
    return false;
  d.strong |= article > 0;
  i = skip_owner(s, skip_any(s, i, " \n"));
  i = skip_any(s, i, " \n");
  if (!has_defining_verb(str_slice(s, i, s.n)) || s.p[s.n - 1] == '?' || text_count_words(s) < SENTENCE_WORDS)
    return false;
  *ret_definition = d;
  return true;
}

/* ---- headings ---- */

static const struct {
  const char *words; /* end of the heading */
  enum item_type type;
  bool one;
} heading_types[] = {
    {"decision", ITEM_DECISION, true},
    {"decisions", ITEM_DECISION, false},
    {"agreements", ITEM_DECISION, false},
    {"decisions made", ITEM_DECISION, false},
    {"decision log", ITEM_DECISION, false},
    {"todo", ITEM_TASK, false},
    {"todos", ITEM_TASK, false},
    {"to do", ITEM_TASK, false},
    {"tasks", ITEM_TASK, false},
    {"action items", ITEM_TASK, false},
    {"next steps", ITEM_TASK, false},
    {"open points", ITEM_TASK, false},
    {"facts", ITEM_CLAIM, false},
    {"claims", ITEM_CLAIM, false},
    {"findings", ITEM_CLAIM, false},
    {"assumptions", ITEM_CLAIM, false},
    {"notes", ITEM_NOTE, false},
    {"note", ITEM_NOTE, true},
    {"glossary", ITEM_ENTITY, false},
    {"terminology", ITEM_ENTITY, false},
    {"definitions", ITEM_ENTITY, false},
};

struct str heading_bare(struct str plain) {
  size_t i = 0;
  if (plain.n > 3 && str_ieq(str_slice(plain, 0, 3), STR("adr")))
    i = skip_any(plain, 3, " -_");
  size_t digits = i;
  while (digits < plain.n && (ascii_digit(plain.p[digits]) || (digits > i && plain.p[digits] == '.')))
    digits++;
  if (digits == i)
    return plain;
  size_t rest = skip_any(plain, digits, " :.)-");
  bool separate = rest > digits || plain.p[digits - 1] == '.';
  return separate && rest < plain.n ? str_slice(plain, rest, plain.n) : plain;
}

bool heading_item_type(struct str plain, enum item_type *ret_type, bool *ret_one) {
  plain = heading_bare(plain);
  while (plain.n && (plain.p[plain.n - 1] == ':' || ascii_space(plain.p[plain.n - 1])))
    plain.n--;
  if (text_count_words(plain) > HEADING_WORDS || str_ieq(plain, STR("release notes")))
    return false;
  for (size_t i = 0; i < ARRAY_LEN(heading_types); i++) {
    struct str words = str_from(heading_types[i].words);
    size_t from = plain.n - words.n;
    if (plain.n < words.n || !str_ieq(str_slice(plain, from, plain.n), words))
      continue;
    if (from > 0 && !ascii_space(plain.p[from - 1]))
      continue;
    *ret_type = heading_types[i].type;
    *ret_one = heading_types[i].one;
    return true;
  }
  return false;
}
