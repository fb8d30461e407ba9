/* turns.c: detecting the turns of a written conversation. */
#include "transcript/core/turns.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "core/text/token_count.h"

enum {
  LABEL_BYTES = 40,
  LABEL_WORDS = 3,
  MAX_SPEAKERS = 32,  /* further labels do not start turns */
  MAX_PREAMBLE = 110, /* tokens before the first turn of a chat */
  MIN_LINE = 8,       /* average tokens of a line with a label; values of keys are shorter */
  MAX_LINE = 30,      /* cap on the tokens of a line */
};

enum role { ROLE_NONE, ROLE_PERSON, ROLE_PROGRAM, ROLE_OTHER };

struct label {
  size_t start;   /* of its line */
  size_t speaker; /* index; MAX_SPEAKERS if there are too many */
  size_t tokens;  /* of its line, or of the next line if the label is on a separate line; at most MAX_LINE */
  bool paragraph; /* starts a paragraph */
  bool indented;  /* the next line is indented, like the long value of a key */
};
struct labels {
  struct label *v;
  size_t n, cap;
};

struct scan {
  struct arena *a;
  struct str speakers[MAX_SPEAKERS];
  size_t speaker_count;
  struct labels labels;
  size_t keys;              /* lines with a label that is not a name */
  size_t lines, paragraphs; /* not blank */
};

/* ---- labels */

static bool in_list(struct str word, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (str_ieq(word, str_from(list[i])))
      return true;
  return false;
}

static enum role role_of(struct str label) {
  static const char *const persons[] = {"user", "human"};
  static const char *const programs[] = {"assistant", "ai", "bot", "chatbot"};
  static const char *const others[] = {"system", "tool", "agent", "customer", "interviewer", "me", "you"};
  if (in_list(label, persons, ARRAY_LEN(persons)))
    return ROLE_PERSON;
  if (in_list(label, programs, ARRAY_LEN(programs)))
    return ROLE_PROGRAM;
  return in_list(label, others, ARRAY_LEN(others)) ? ROLE_OTHER : ROLE_NONE;
}

/* Labels at the start of a line that are not names. */
static bool is_heading(struct str label) {
  static const char *const words[] = {
      "error",   "errors",    "warning",  "warn",       "info",    "debug",    "trace",       "fatal",      "critical",
      "notice",  "note",      "notes",    "tip",        "hint",    "todo",     "fixme",       "example",    "usage",
      "input",   "output",    "expected", "actual",     "problem", "solution", "cause",       "fix",        "summary",
      "title",   "name",      "date",     "author",     "status",  "result",   "description", "added",      "fixed",
      "changed", "removed",   "before",   "after",      "given",   "when",     "then",        "pros",       "cons",
      "from",    "to",        "subject",  "step",       "reason",  "impact",   "context",     "decision",   "url",
      "source",  "category",  "type",     "id",         "key",     "value",    "version",     "args",       "returns",
      "raises",  "yields",    "term",     "definition", "feature", "scenario", "merge",       "commit",     "severe",
      "files",   "copyright", "license",  "comment",    "format",  "homepage", "package",     "maintainer", "depends",
      "section", "priority",  "email",    "phone",      "address", "location", "time",        "owner",      "tags",
      "topic",   "links",
  };
  return in_list(label, words, ARRAY_LEN(words));
}

static size_t skip_emphasis(struct str line, size_t i) {
  while (i < line.n && (line.p[i] == '*' || line.p[i] == '_'))
    i++;
  return i;
}

/* A word of a name: a capital or a digit, then letters, digits, and - ' . between them. */
static size_t word_end(struct str line, size_t start) {
  size_t i = start;
  while (i < line.n) {
    size_t next = i;
    uint32_t cp = utf8_next(line, &next);
    if (!utf8_is_alnum(cp) && (i == start || (cp != '-' && cp != '\'' && cp != '.' && cp != 0x2019)))
      break;
    i = next;
  }
  return i;
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* Label before a colon at the start of a line: none, a name, or another key. */
enum label_kind { LABEL_NONE, LABEL_NAME, LABEL_KEY };

/* One to three words and a colon; a name if each word is capitalised or the label is a known role. */
static enum label_kind read_label(struct str line, struct str *ret_label) {
  line = utf8_cut(line, LABEL_BYTES + 2 * sizeof("**:"));
  size_t start = skip_emphasis(line, 0), end = start, i = start, words = 0;
  bool lower = false;
  while (words < LABEL_WORDS) {
    end = word_end(line, i);
    if (end == i)
      return LABEL_NONE;
    lower |= is_lower(line.p[i]);
    words++;
    if (end >= line.n || line.p[end] != ' ')
      break;
    i = end + 1;
  }
  struct str label = str_slice(line, start, end);
  size_t colon = skip_emphasis(line, end);
  if (colon >= line.n || line.p[colon] != ':' || label.n > LABEL_BYTES || ascii_digit(label.p[0]))
    return LABEL_NONE;
  size_t after = skip_emphasis(line, colon + 1);
  if (after < line.n && !ascii_space(line.p[after]))
    return LABEL_NONE;
  *ret_label = label;
  return (lower && role_of(label) == ROLE_NONE) || is_heading(label) ? LABEL_KEY : LABEL_NAME;
}

static size_t speaker_index(struct scan *s, struct str label) {
  assert(label.n > 0 && label.n <= LABEL_BYTES && s->speaker_count <= MAX_SPEAKERS);
  for (size_t i = 0; i < s->speaker_count; i++)
    if (str_ieq(s->speakers[i], label))
      return i;
  if (s->speaker_count == MAX_SPEAKERS)
    return MAX_SPEAKERS;
  s->speakers[s->speaker_count] = label;
  return s->speaker_count++;
}

/* Tokens after a label. An indented line below it is a value, not speech. */
static size_t spoken_tokens(struct str line, struct str below) {
  struct str text = str_trim(line), next = STR_NONE;
  while (text.n && (text.p[text.n - 1] == '*' || text.p[text.n - 1] == '_'))
    text.n--;
  if (str_ends(text, STR(":"))) {
    while (str_trim(next).n == 0 && str_line(&below, &next))
      ;
    if (next.n && !ascii_space(next.p[0]))
      line = next;
  }
  line = utf8_cut(line, 16 * MAX_LINE);
  size_t tokens = tokens_estimate(line);
  return tokens < MAX_LINE ? tokens : MAX_LINE;
}

static void scan_lines(struct scan *s, struct str body) {
  struct str rest = body, line, name;
  bool blank = true, labelled = false; /* of the previous line */
  while (str_line(&rest, &line)) {
    bool first = blank;
    blank = str_trim(line).n == 0;
    if (labelled)
      s->labels.v[s->labels.n - 1].indented = !blank && ascii_space(line.p[0]);
    labelled = false;
    if (blank)
      continue;
    s->lines++;
    s->paragraphs += first;
    enum label_kind kind = read_label(line, &name);
    s->keys += kind == LABEL_KEY;
    labelled = kind == LABEL_NAME;
    if (labelled) {
      size_t start = (size_t)(line.p - body.p);
      list_push(s->a, &s->labels,
                (struct label){start, speaker_index(s, name), spoken_tokens(line, rest), first, false});
    }
  }
}

/* ---- classification */

static struct labels select_labels(const struct scan *s, const bool wanted[MAX_SPEAKERS + 1]) {
  struct labels some = {0};
  for (size_t i = 0; i < s->labels.n; i++) {
    assert(s->labels.v[i].speaker <= MAX_SPEAKERS);
    if (wanted[s->labels.v[i].speaker])
      list_push(s->a, &some, s->labels.v[i]);
  }
  return some;
}

static bool is_long_enough(const struct labels *labels) {
  size_t tokens = 0;
  for (size_t i = 0; i < labels->n; i++)
    tokens += labels->v[i].tokens;
  return tokens >= MIN_LINE * labels->n;
}

/* Labels such as "user" and "assistant" are so clear that turns may have any length. */
static bool is_chat(const struct scan *s, struct str body, struct labels *ret) {
  bool wanted[MAX_SPEAKERS + 1] = {false}, person = false, program = false;
  for (size_t i = 0; i < s->speaker_count; i++) {
    enum role role = role_of(s->speakers[i]);
    wanted[i] = role != ROLE_NONE;
    person |= role == ROLE_PERSON;
    program |= role == ROLE_PROGRAM;
  }
  *ret = select_labels(s, wanted);
  if (!person || !program || ret->n < 2 || !is_long_enough(ret))
    return false;
  /* Notes may quote a single exchange; a conversation starts with it or has more. */
  struct str preamble = str_trim(str_slice(body, 0, ret->v[0].start));
  return ret->n > 2 ? tokens_estimate(preamble) <= MAX_PREAMBLE : preamble.n == 0;
}

/* Records have three or more fields in a fixed order, or the same first field; or indented values. */
static bool is_table(const struct labels *labels, size_t speakers) {
  assert(labels->n > 0 && speakers > 0);
  bool in_order = speakers > 2, same_head = speakers > 2;
  size_t indented = 0;
  for (size_t i = 0; i < labels->n; i++) {
    const struct label *l = &labels->v[i];
    in_order &= i < speakers || l->speaker == labels->v[i - speakers].speaker;
    same_head &= !l->paragraph || l->speaker == labels->v[0].speaker;
    indented += l->indented;
  }
  return in_order || same_head || 4 * indented > labels->n;
}

/* Names that repeat. If two do, labels that occur once are part of the speech. */
static bool is_talk(const struct scan *s, struct labels *ret) {
  size_t counts[MAX_SPEAKERS + 1] = {0}, again = 0, paragraphs = 0;
  bool wanted[MAX_SPEAKERS + 1] = {false};
  for (size_t i = 0; i < s->labels.n; i++)
    again += ++counts[s->labels.v[i].speaker] == 2;
  size_t speakers = again >= 2 ? again : s->speaker_count;
  for (size_t i = 0; i < s->speaker_count; i++)
    wanted[i] = again < 2 || counts[i] >= 2;
  *ret = select_labels(s, wanted);
  if (s->speaker_count == MAX_SPEAKERS || ret->n < 3 || speakers < 2 || speakers > (ret->n + 1) / 2)
    return false;
  for (size_t i = 0; i < ret->n; i++)
    paragraphs += ret->v[i].paragraph;
  bool most = 2 * ret->n > s->lines || (paragraphs > 2 && 2 * paragraphs > s->paragraphs);
  return most && 2 * s->keys < ret->n && is_long_enough(ret) && !is_table(ret, speakers);
}

static void add_turn(struct arena *a, struct str body, size_t start, size_t end, struct turns *turns) {
  struct str text = str_trim(str_slice(body, start, end));
  size_t at = (size_t)(text.p - body.p);
  if (text.n)
    list_push(a, turns, (struct turn){at, at + text.n, tokens_estimate(text)});
}

bool transcript_turns(struct arena *a, struct str body, struct turns *ret) {
  struct scan s = {.a = a};
  struct labels labels;
  scan_lines(&s, body);
  if (s.labels.n < 2 || (!is_chat(&s, body, &labels) && !is_talk(&s, &labels)))
    return false;
  struct turns turns = {0};
  size_t start = 0;
  for (size_t i = 0; i < labels.n; i++) {
    add_turn(a, body, start, labels.v[i].start, &turns);
    start = labels.v[i].start;
  }
  add_turn(a, body, start, body.n, &turns);
  *ret = turns;
  return true;
}
