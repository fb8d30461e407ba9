/* subject.c: extraction of the topics of a text by capital letters. */
#include "core/text/subject.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/text/markup.h"
#include "core/text/text.h"

/* Names after the first SUBJECTS_MAX are ignored: a text has no more than a handful of subjects. */
enum { SUBJECTS_MAX = 256, SLOTS = 1024, NAME_WORDS = 4, NAME_BYTES = 80, WORD_BYTES = 32 };

struct subject {
  struct str name;
  size_t count;
  bool inside; /* seen inside a sentence, where a capital letter is significant */
  bool strong; /* looks like a name */
};

struct subjects {
  struct subject v[SUBJECTS_MAX];
  size_t n;
  uint16_t slots[SLOTS]; /* open addressing: index + 1; 0 if free */
};
_Static_assert(SLOTS > SUBJECTS_MAX, "a search ends at a free slot");

/* Words that are often capitalized but are not names: at the start of sentences, in titles, as labels. */
static const char *const common[] = {
    "a",       "about",     "above",     "according", "action",    "actions",   "add",      "added",      "after",
    "again",   "aka",       "all",       "already",   "also",      "although",  "always",   "am",         "an",
    "and",     "another",   "answer",    "any",       "apr",       "april",     "are",      "as",         "asap",
    "ask",     "assistant", "at",        "aug",       "august",    "avoid",     "back",     "background", "bad",
    "based",   "be",        "because",   "been",      "before",    "below",     "best",     "better",     "between",
    "both",    "btw",       "build",     "but",       "by",        "call",      "can",      "can't",      "cannot",
    "caution", "cc",        "changed",   "check",     "choose",    "chose",     "close",    "come",       "consider",
    "context", "could",     "create",    "dec",       "december",  "decided",   "decision", "delete",     "deploy",
    "did",     "didn't",    "do",        "does",      "doesn't",   "don't",     "down",     "during",     "each",
    "eg",      "either",    "else",      "ensure",    "etc",       "even",      "every",    "example",    "fact",
    "false",   "feb",       "february",  "few",       "finally",   "find",      "first",    "five",       "fix",
    "fixed",   "fixme",     "follow",    "for",       "found",     "four",      "friday",   "from",       "fyi",
    "get",     "give",      "given",     "go",        "goal",      "goals",     "good",     "had",        "has",
    "have",    "he",        "hello",     "her",       "here",      "hey",       "hi",       "high",       "him",
    "hint",    "his",       "how",       "however",   "human",     "i",         "i'd",      "i'll",       "i'm",
    "i've",    "idea",      "ie",        "if",        "imo",       "important", "in",       "install",    "instead",
    "into",    "is",        "it",        "it's",      "item",      "items",     "its",      "jan",        "january",
    "jul",     "july",      "jun",       "june",      "just",      "keep",      "last",     "later",      "least",
    "left",    "less",      "lesson",    "let",       "let's",     "look",      "low",      "make",       "many",
    "mar",     "march",     "may",       "maybe",     "me",        "medium",    "merge",    "might",      "mine",
    "monday",  "more",      "most",      "move",      "moved",     "much",      "must",     "my",         "need",
    "needs",   "neither",   "never",     "new",       "next",      "no",        "none",     "nor",        "not",
    "note",    "notes",     "nov",       "november",  "now",       "null",      "oct",      "october",    "of",
    "off",     "often",     "ok",        "okay",      "old",       "on",        "once",     "one",        "only",
    "onto",    "open",      "or",        "other",     "otherwise", "our",       "ours",     "out",        "over",
    "part",    "per",       "perhaps",   "plan",      "please",    "prefer",    "problem",  "put",        "question",
    "re",      "read",      "reason",    "regarding", "remember",  "remove",    "removed",  "result",     "results",
    "right",   "rule",      "rules",     "run",       "same",      "saturday",  "second",   "see",        "send",
    "sep",     "sept",      "september", "set",       "several",   "shall",     "she",      "should",     "since",
    "so",      "solution",  "some",      "sometimes", "soon",      "sorry",     "start",    "status",     "step",
    "steps",   "still",     "stop",      "such",      "summary",   "sunday",    "switch",   "system",     "take",
    "task",    "tasks",     "tbd",       "test",      "thank",     "thanks",    "that",     "the",        "their",
    "them",    "then",      "there",     "therefore", "these",     "they",      "they're",  "third",      "this",
    "those",   "though",    "three",     "through",   "thursday",  "thus",      "tip",      "to",         "today",
    "todo",    "tomorrow",  "too",       "true",      "try",       "tuesday",   "two",      "under",      "until",
    "up",      "update",    "updates",   "upgrade",   "us",        "use",       "user",     "using",      "usually",
    "via",     "vs",        "warning",   "was",       "we",        "we'll",     "we're",    "we've",      "wednesday",
    "were",    "what",      "when",      "where",     "which",     "while",     "who",      "whom",       "whose",
    "why",     "will",      "wip",       "with",      "within",    "without",   "won't",    "would",      "write",
    "yes",     "yesterday", "yet",       "you",       "you're",    "your",      "yours",
};

static bool is_common(struct str word) {
  char lower[16];
  if (word.n >= sizeof(lower))
    return false;
  size_t n = 0;
  for (size_t i = 0; i < word.n; i++) {
    bool apostrophe = word.n - i >= 3 && memcmp(word.p + i, "\xe2\x80\x99", 3) == 0;
    lower[n++] = apostrophe ? '\'' : ascii_lower(word.p[i]);
    i += apostrophe ? 2 : 0;
  }
  struct str key = {lower, n};
  size_t from = 0, to = ARRAY_LEN(common);
  while (from < to) {
    size_t middle = (from + to) / 2;
    assert(middle == 0 || strcmp(common[middle - 1], common[middle]) < 0);
    int order = str_cmp(key, str_from(common[middle]));
    if (order == 0)
      return true;
    if (order < 0)
      to = middle;
    else
      from = middle + 1;
  }
  return false;
}

/* ---- table of subjects */

static uint32_t hash_name(struct str s) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < s.n; i++)
    h = (h ^ (unsigned char)ascii_lower(s.p[i])) * 16777619u;
  return h;
}

/* Finds or adds the subject; NULL if the table is full. */
static struct subject *find_or_add(struct subjects *subjects, struct str name) {
  for (uint32_t slot = hash_name(name) % SLOTS;; slot = (slot + 1) % SLOTS) {
    uint16_t index = subjects->slots[slot];
    if (index && str_ieq(subjects->v[index - 1].name, name))
      return &subjects->v[index - 1];
    if (index)
      continue;
    if (subjects->n == SUBJECTS_MAX)
      return NULL;
    subjects->v[subjects->n++] = (struct subject){.name = name};
    subjects->slots[slot] = (uint16_t)subjects->n;
    return &subjects->v[subjects->n - 1];
  }
}

static void count_name(struct subjects *subjects, struct str name, bool inside, bool strong) {
  struct subject *s = find_or_add(subjects, name);
  if (!s)
    return;
  s->count++;
  s->inside |= inside;
  s->strong |= strong;
}

/* ---- word forms */

enum form { FORM_NONE, FORM_CAPITAL, FORM_NAME, FORM_CAPS };

struct letters {
  size_t upper, lower, digits;
  size_t humps; /* upper-case letters after a lower-case letter */
  bool first_upper;
  bool marks; /* an underscore or a leading dot */
};

static struct letters count_letters(struct str word) {
  struct letters l = {0};
  bool after_lower = false;
  for (size_t i = 0; i < word.n;) {
    bool first = i == 0;
    uint32_t cp = utf8_next(word, &i);
    bool upper = utf8_is_upper(cp), lower = !upper && utf8_is_letter(cp);
    l.upper += upper;
    l.lower += lower;
    l.digits += cp < 0x80 && ascii_digit((char)cp);
    l.humps += upper && after_lower;
    l.first_upper |= first && upper;
    l.marks |= cp == '_' || (cp == '.' && !l.first_upper);
    after_lower = lower;
  }
  return l;
}

static enum form form_of(struct str word) {
  if (word.n > WORD_BYTES || word.n < 2 || is_common(word))
    return FORM_NONE;
  struct letters l = count_letters(word);
  if (l.marks || l.digits > 2 || l.upper == 0)
    return FORM_NONE;
  if (l.lower == 0 && l.first_upper && l.upper + l.digits >= 2)
    return FORM_CAPS;
  if (l.humps && l.humps <= 3 && l.upper + l.lower >= 4)
    return FORM_NAME;
  return l.first_upper && l.lower ? FORM_CAPITAL : FORM_NONE;
}

static struct str strip_possessive(struct str word) {
  if (str_ends(word, STR("'s")))
    word.n -= 2;
  else if (str_ends(word, STR("\xe2\x80\x99s")))
    word.n -= 4;
  return word;
}

/* ---- reading */

/* Capitalized words in a row, separated by single blanks. */
struct run {
  size_t start, end, words;
  enum form form; /* of the last word */
  bool opening;   /* starts where any word is capitalized */
};

static void end_run(struct subjects *subjects, struct str s, struct run *run) {
  assert(run->start <= run->end && run->end <= s.n);
  struct str name = str_slice(s, run->start, run->end);
  if (run->words == 1)
    count_name(subjects, name, !run->opening, run->form != FORM_CAPITAL);
  else if (run->words > 1 && run->words <= NAME_WORDS && name.n <= NAME_BYTES)
    count_name(subjects, name, true, true);
  *run = (struct run){0};
}

/* True after a colon, a quotation mark or list markup, where a capital letter is as common as at the start of a
 * sentence. */
static bool is_opening(struct str s, size_t at) {
  while (at > 0 && s.p[at - 1] == ' ')
    at--;
  return at == 0 || memchr(":\"'([{|*>#-.!?/\n\r\t", s.p[at - 1], 18) || (unsigned char)s.p[at - 1] >= 0x80;
}

/* In a sentence in capitals, they do not indicate names. */
static bool is_shouting(struct str s) {
  size_t words = 0, caps = 0;
  struct str word;
  for (size_t pos = 0; text_next_word(s, &pos, &word); words++) {
    struct letters l = count_letters(utf8_cut(word, WORD_BYTES));
    caps += l.lower == 0 && l.upper > 1;
  }
  return words > 3 && caps * 2 > words;
}

static void read_sentence(struct subjects *subjects, struct str s) {
  struct run run = {0};
  struct str word;
  bool first = true, shouting = is_shouting(s);
  for (size_t pos = 0; text_next_word(s, &pos, &word); first = false) {
    size_t start = (size_t)(word.p - s.p);
    struct str name = strip_possessive(word);
    enum form form = form_of(name);
    if (shouting && form == FORM_CAPS)
      form = FORM_NONE;
    bool joins = run.words && start == run.end + 1 && s.p[run.end] == ' ';
    if (!joins || form == FORM_NONE)
      end_run(subjects, s, &run);
    if (form == FORM_NONE)
      continue;
    if (run.words == 0) {
      run.start = start;
      run.opening = first || is_opening(s, start);
    }
    run.end = start + name.n;
    run.words++;
    run.form = form;
  }
  end_run(subjects, s, &run);
}

struct subjects *subject_new(struct arena *a) { return arena_new(a, struct subjects); }

void subject_read(struct subjects *subjects, struct str prose) {
  struct str sentence;
  for (size_t pos = 0; text_next_sentence(prose, &pos, &sentence);)
    read_sentence(subjects, sentence);
}

/* ---- listing */

/* True if the word is part of a longer name: "Alice" if "Alice Smith" was found. */
static bool is_part(const struct subjects *subjects, const struct subject *word) {
  for (size_t i = 0; i < subjects->n; i++) {
    struct str rest = subjects->v[i].name, part;
    if (rest.n <= word->name.n)
      continue;
    while (str_next(&rest, ' ', &part))
      if (str_ieq(part, word->name))
        return true;
  }
  return false;
}

void subject_list(struct arena *a, const struct subjects *subjects, size_t max, struct strs *ret) {
  for (size_t i = 0; i < subjects->n && ret->n < max; i++) {
    const struct subject *s = &subjects->v[i];
    bool repeated = s->count >= 2 && s->inside;
    if (!s->strong && (!repeated || is_part(subjects, s)))
      continue;
    if (!utf8_list_has(a, ret, s->name))
      strs_push(a, ret, arena_dup(a, s->name));
  }
}
