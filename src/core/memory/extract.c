/* extract.c: extraction of tags, mentions, action items and a type suggestion. */
#include "core/memory/extract.h"

#include "base/utf8.h"
#include "core/memory/types.h"
#include "core/secrets/redact_scan.h"
#include "core/text/markup.h"
#include "core/text/subject.h"
#include "core/text/text.h"

enum { NAME_BYTES = 64, HEADLINE_LOOK = 2000, CLAUSE_WORDS = 4 };

/* ---- prose: the text with code, links and redacted secrets overwritten; offsets stay the same */

static void overwrite(char *p, size_t from, size_t to, char with) {
  for (size_t i = from; i < to; i++)
    if (p[i] != '\n')
      p[i] = with;
}

/* Inline code becomes a lower-case word, so the sentence keeps its structure. */
static void overwrite_code(char *p, size_t start, size_t end) {
  for (size_t i = start; i < end; i++) {
    if (p[i] != '`')
      continue;
    size_t open = i;
    while (i < end && p[i] == '`')
      i++;
    char *close = i < end ? memchr(p + i, '`', end - i) : NULL;
    if (!close)
      return;
    for (i = (size_t)(close - p); i + 1 < end && p[i + 1] == '`';)
      i++;
    overwrite(p, open, i + 1, 'x');
  }
}

static bool is_link_end(char c) { return ascii_space(c) || c == '<' || c == '>' || c == '"' || c == '`' || c == ')'; }

static void overwrite_links(char *p, size_t start, size_t end) {
  for (size_t i = start; i + 3 < end; i++) {
    bool scheme = memcmp(p + i, "://", 3) == 0, www = memcmp(p + i, "www.", 4) == 0;
    if (!scheme && !www)
      continue;
    size_t from = i, to = i;
    while (from > start && i - from < 12 && ascii_alnum(p[from - 1]))
      from--;
    while (to < end && !is_link_end(p[to]))
      to++;
    overwrite(p, from, to, 'x');
    i = to;
  }
}

/* What a secret was replaced with is no name. */
static void overwrite_markers(char *p, struct str text) {
  for (size_t i = 0; i < text.n; i++) {
    size_t marker = text.p[i] == '[' ? redact_marker(text, i) : 0;
    if (marker)
      overwrite(p, i, i + marker, ' ');
  }
}

static struct str make_prose(struct arena *a, struct str text) {
  char *p = arena_cstr(a, text);
  char fence = 0;
  overwrite_markers(p, text);
  for (size_t start = 0; start < text.n;) {
    size_t end = markup_line_end(text, start);
    if (markup_in_fence(str_slice(text, start, end), &fence)) {
      overwrite(p, start, end, ' ');
    } else {
      overwrite_code(p, start, end);
      overwrite_links(p, start, end);
    }
    start = end + 1;
  }
  return (struct str){p, text.n};
}

/* ---- lists without duplicates */

static void add_once(struct arena *a, struct strs *list, struct str s, size_t max) {
  if (list->n < max && !utf8_list_has(a, list, s))
    strs_push(a, list, arena_dup(a, s));
}

/* ---- tags and mentions */

/* The name at pos: letters, digits and, between them, the characters in `inner`. With `one_script`, it ends at a change
 * between a script that separates words by spaces and one that does not. */
static struct str name_at(struct str s, size_t pos, const char *inner, bool one_script) {
  size_t i = pos, end = pos;
  bool unspaced = false;
  while (i < s.n && i - pos <= NAME_BYTES) {
    uint32_t cp = utf8_next(s, &i);
    if (utf8_is_alnum(cp)) {
      if (end == pos)
        unspaced = utf8_is_unspaced(cp);
      else if (one_script && utf8_is_unspaced(cp) != unspaced)
        break;
      end = i;
    } else if (cp == 0 || cp >= 0x80 || !strchr(inner, (int)cp)) {
      break;
    }
  }
  return str_slice(s, pos, end);
}

/* True if a tag or mention can start at pos. After a letter the sign is part of a word: "C#", "a@b.org". */
static bool can_start_at(struct str s, size_t pos) {
  if (pos == 0)
    return true;
  size_t start = pos - 1;
  while (start > 0 && pos - start < 4 && ((unsigned char)s.p[start] & 0xc0) == 0x80)
    start--;
  uint32_t before = utf8_next(s, &start);
  if (utf8_is_alnum(before))
    return utf8_is_unspaced(before);
  return before >= 0x80 || before == 0 || !strchr("#@/&_-.=\\+$%~", (int)before);
}

/* True if only white space precedes pos on its line. */
static bool is_line_start(struct str s, size_t pos) {
  while (pos > 0 && (s.p[pos - 1] == ' ' || s.p[pos - 1] == '\t'))
    pos--;
  return pos == 0 || s.p[pos - 1] == '\n';
}

static bool is_color(struct str name) {
  if (name.n != 3 && name.n != 4 && name.n != 6 && name.n != 8)
    return false;
  for (size_t i = 0; i < name.n; i++)
    if (!ascii_digit(name.p[i]) && !(ascii_lower(name.p[i]) >= 'a' && ascii_lower(name.p[i]) <= 'f'))
      return false;
  return true;
}

static void add_tag(struct arena *a, struct str s, size_t sign, size_t pos, struct strs *ret) {
  static const char *const directives[] = {"include", "define", "undef",  "if",     "ifdef",  "ifndef",   "elif",
                                           "else",    "endif",  "pragma", "import", "region", "endregion"};
  struct str name = name_at(s, pos, "_-/", false);
  if (name.n > NAME_BYTES || !text_has_letter(name) || is_color(name))
    return;
  if (is_line_start(s, sign) && text_is_one_of(name, directives, ARRAY_LEN(directives)))
    return;
  bool anchor = sign >= 2 && s.p[sign - 1] == '(' && s.p[sign - 2] == ']';
  if (!anchor)
    add_once(a, ret, name, EXTRACT_TAGS);
}

/* A decorator is the only text on its line and precedes a definition. */
static bool is_decorator(struct str s, size_t sign, size_t end) {
  static const char *const openings[] = {"def ",       "class ",    "async ",  "public ", "private ",
                                         "protected ", "function ", "export ", "static ", "@"};
  if (!is_line_start(s, sign) || (end < s.n && s.p[end] != '\n' && s.p[end] != '\r'))
    return false;
  size_t next = markup_line_end(s, end);
  while (next < s.n && ascii_space(s.p[next]))
    next++;
  for (size_t i = 0; i < ARRAY_LEN(openings); i++)
    if (str_starts(str_slice(s, next, s.n), str_from(openings[i])))
      return true;
  return false;
}

static void add_mention(struct arena *a, struct str s, size_t sign, struct strs *ret) {
  /* Words after @ that are not people: groups, annotations, style sheets, versions. */
  static const char *const nobody[] = {"here",    "channel", "everyone", "all",    "team",       "param",    "return",
                                       "returns", "throws",  "see",      "since",  "deprecated", "override", "property",
                                       "media",   "import",  "latest",   "types",  "todo",       "example",  "test",
                                       "brief",   "file",    "author",   "ignore", "internal",   "next",     "beta"};
  struct str name = name_at(s, sign + 1, "_-.", true);
  size_t end = sign + 1 + name.n, at = sign + 1;
  if (name.n == 0 || name.n > NAME_BYTES || !utf8_is_letter(utf8_next(s, &at)))
    return;
  if (end < s.n && (s.p[end] == '/' || s.p[end] == '(' || s.p[end] == '='))
    return;
  if (str_ends(name, STR(".com")) || str_ends(name, STR(".org")) || str_ends(name, STR(".net")))
    return;
  if (!text_is_one_of(name, nobody, ARRAY_LEN(nobody)) && !is_decorator(s, sign, end))
    add_once(a, ret, name, EXTRACT_PEOPLE);
}

static void find_signs(struct arena *a, struct str prose, struct extracted *ret) {
  for (size_t i = 0; i < prose.n; i++) {
    char c = prose.p[i];
    bool wide_hash = (unsigned char)c == 0xef && str_starts(str_slice(prose, i, prose.n), STR("\xef\xbc\x83"));
    if (c != '#' && c != '@' && !wide_hash)
      continue;
    if (!can_start_at(prose, i))
      continue;
    if (c == '@')
      add_mention(a, prose, i, &ret->people);
    else
      add_tag(a, prose, i, i + (wide_hash ? 3 : 1), &ret->tags);
  }
}

/* ---- action items */

static const struct {
  const char *phrase;
  bool near_start; /* counts only near the start of a clause: "we should", not "as it should" */
} action_cues[] = {
    {"need to", false},      {"needs to", false},  {"must", false},        {"have to", false}, {"has to", false},
    {"follow-up", false},    {"todo", false},      {"to do:", false},      {"fixme", false},   {"remember to", false},
    {"don't forget", false}, {"make sure", false}, {"action item", false}, {"should", true},
};

static bool is_negation(struct str word) {
  static const char *const words[] = {"not", "no", "never", "without", "nor"};
  return text_is_one_of(word, words, ARRAY_LEN(words)) || str_ends(word, STR("n't")) ||
         str_ends(word, STR("n\xe2\x80\x99t"));
}

/* Words that start a clause without a request: statements, conditions. */
static bool is_statement_word(struct str word) {
  static const char *const words[] = {"if",   "whether", "which", "that", "what",  "how",   "why",
                                      "when", "because", "it",    "this", "these", "there", "as"};
  return text_is_one_of(word, words, ARRAY_LEN(words));
}

/* The clause being read. */
struct clause {
  size_t start, words;
  bool statement;
};

static bool is_conjunction(struct str word) {
  return str_ieq(word, STR("and")) || str_ieq(word, STR("but")) || str_ieq(word, STR("so")) ||
         str_ieq(word, STR("then"));
}

static bool has_cue(struct str s, size_t at, struct str before, const struct clause *clause) {
  for (size_t i = 0; i < ARRAY_LEN(action_cues); i++) {
    if (!phrase_at(s, at, action_cues[i].phrase))
      continue;
    bool placed = !action_cues[i].near_start || (clause->words < CLAUSE_WORDS && !clause->statement);
    if (placed && !is_negation(before))
      return true;
  }
  return false;
}

/* Finds the cue of an action and the start of its clause. */
static bool find_cue(struct str s, size_t *ret_clause, size_t *ret_at) {
  struct clause clause = {0};
  struct str word, before = STR_NONE;
  for (size_t pos = 0, end = 0; text_next_word(s, &pos, &word); end = pos) {
    size_t at = (size_t)(word.p - s.p);
    bool separator = false;
    for (size_t i = end; i < at && before.n; i++)
      separator |= s.p[i] == ',' || s.p[i] == ';' || s.p[i] == ':' || s.p[i] == '(';
    if (separator || is_conjunction(word))
      clause = (struct clause){.start = at};
    if (has_cue(s, at, before, &clause)) {
      *ret_clause = clause.start;
      *ret_at = at;
      return true;
    }
    clause.statement |= is_statement_word(word);
    clause.words += !is_conjunction(word);
    before = word;
  }
  return false;
}

/* `prose` and `text` are the same sentence, without and with code and links. */
static void add_action(struct arena *a, struct str prose, struct str text, struct strs *ret) {
  struct line line = markup_line(str_slice(prose, 0, markup_line_end(prose, 0)));
  size_t clause = 0, at = 0;
  if (line.done || str_ends(prose, STR("?")))
    return;
  if (!line.task && !find_cue(prose, &clause, &at))
    return;
  /* A long sentence is cut to start at its request. */
  size_t start = 0;
  if (text.n > EXTRACT_ACTION_BYTES && at > EXTRACT_ACTION_BYTES / 2)
    start = at - clause <= EXTRACT_ACTION_BYTES / 2 ? clause : at;
  struct str item = markup_plain(a, utf8_cut(str_slice(text, start, text.n), 4 * EXTRACT_ACTION_BYTES));
  item = text_cut(item, SIZE_MAX, EXTRACT_ACTION_BYTES);
  if (text_has_letter(item))
    add_once(a, ret, item, EXTRACT_ACTIONS);
}

static void find_actions(struct arena *a, struct str prose, struct str text, struct strs *ret) {
  struct str sentence;
  for (size_t pos = 0; ret->n < EXTRACT_ACTIONS && text_next_sentence(prose, &pos, &sentence);) {
    size_t start = (size_t)(sentence.p - prose.p);
    add_action(a, sentence, str_slice(text, start, start + sentence.n), ret);
  }
}

/* ---- metadata */

/* True if the headline repeats the start of the body. */
static bool is_repeated(struct arena *a, struct str headline, struct str body) {
  if (str_ends(headline, STR("\xe2\x80\xa6")))
    headline.n -= 3;
  struct str begin = text_normal(a, markup_plain(a, utf8_cut(body, HEADLINE_LOOK)));
  return str_find(begin, text_normal(a, utf8_cut(headline, HEADLINE_LOOK)), 0) != SIZE_MAX;
}

void extract_metadata(struct arena *a, struct str headline, struct str body, struct extracted *ret) {
  *ret = (struct extracted){0};
  struct subjects *subjects = subject_new(a);
  struct str texts[] = {is_repeated(a, headline, body) ? STR_NONE : headline, body};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    struct str prose = make_prose(a, texts[i]);
    find_signs(a, prose, ret);
    find_actions(a, prose, texts[i], &ret->action_items);
    subject_read(subjects, prose);
  }
  subject_list(a, subjects, EXTRACT_TOPICS, &ret->topics);
}

/* ---- type suggestion */

/* Type of the cues in s; NULL if there are none. Sets *ret_many if they conflict. */
static const char *type_in(struct str s, bool anchored, bool *ret_many) {
  const char *found = NULL;
  size_t limit = anchored ? 1 : s.n;
  for (size_t i = 0; i < limit && i < s.n; i = phrase_start(s, i + 1)) {
    for (size_t row = 0; row < type_cue_count; row++) {
      const struct type_cue *cue = &type_cues[row];
      if ((cue->phrase[0] == '^') != anchored || !phrase_at(s, i, cue->phrase))
        continue;
      if (found && !str_is(str_from(found), cue->type))
        *ret_many = true;
      found = cue->type;
    }
  }
  return found;
}

const char *extract_type_hint(struct str text) {
  struct str first = STR_NONE, sentence;
  size_t pos = 0, end = 0;
  for (int i = 0; i < 2 && text_next_sentence(text, &pos, &sentence); i++) {
    first = i ? first : sentence;
    end = pos;
  }
  if (first.n == 0)
    return NULL;
  struct str line = str_slice(first, 0, markup_line_end(first, 0));
  size_t skip = markup_line(line).text;
  skip += markup_speaker(str_slice(line, skip, line.n));
  size_t start = (size_t)(first.p - text.p) + skip;
  struct str begin = utf8_cut(str_slice(text, start, end > start ? end : start), HEADLINE_LOOK);
  bool many = false;
  const char *type = type_in(begin, true, &many);
  if (!type)
    type = type_in(begin, false, &many);
  return many ? NULL : type;
}
