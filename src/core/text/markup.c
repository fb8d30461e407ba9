/* markup.c: parser of light Markdown: kinds of lines, speakers, plain text. */
#include "core/text/markup.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "core/text/text.h"

enum { WRAP_MIN = 56, WRAP_MAX = 120, SPEAKER_MAX = 40, PLAIN_MAX = 4000, LINK_MAX = 300 };

/* ---- lines */

static bool is_blank_at(struct str s, size_t i) { return i >= s.n || ascii_space(s.p[i]); }

static size_t skip_blanks(struct str s, size_t i) {
  while (i < s.n && ascii_space(s.p[i]))
    i++;
  return i;
}

static size_t run_length(struct str s, size_t i, char c) {
  size_t n = 0;
  while (i + n < s.n && s.p[i + n] == c)
    n++;
  return n;
}

static bool is_rule(struct str s, size_t i) {
  assert(i < s.n);
  char c = s.p[i];
  if (c != '-' && c != '*' && c != '_' && c != '=')
    return false;
  size_t count = 0;
  for (; i < s.n; i++) {
    if (s.p[i] == c)
      count++;
    else if (!ascii_space(s.p[i]))
      return false;
  }
  return count >= 3;
}

/* Offset after the bullet character at i ("-", "*", "+", or a typographic one); 0 if there is none. */
static size_t skip_bullet(struct str s, size_t i) {
  size_t next = i;
  uint32_t cp = utf8_next(s, &next);
  bool bullet = cp == '-' || cp == '*' || cp == '+' || cp == 0x2022 || cp == 0x2023 || cp == 0x25e6 || cp == 0x25aa ||
                cp == 0x2013 || cp == 0x2014 || cp == 0xb7;
  return bullet && is_blank_at(s, next) ? next : 0;
}

/* Offset after the list number at i: "1.", "12)", "(3)", "a)", "1" + U+3001; 0 if there is none. */
static size_t skip_number(struct str s, size_t i) {
  assert(i < s.n);
  bool open = s.p[i] == '(';
  i += open;
  size_t digits = 0;
  while (i + digits < s.n && digits < 5 && ascii_digit(s.p[i + digits]))
    digits++;
  bool letter = digits == 0 && i < s.n && ascii_alpha(s.p[i]);
  size_t end = i + digits + letter;
  if ((digits == 0 && !letter) || digits == 5 || end >= s.n)
    return 0;
  if (!open && digits && str_starts(str_slice(s, end, s.n), STR("\xe3\x80\x81")))
    return end + 3;
  bool closed = s.p[end] == ')' || (!open && !letter && s.p[end] == '.');
  return closed && is_blank_at(s, end + 1) ? end + 1 : 0;
}

static void read_check_box(struct str s, struct line *ret_line) {
  size_t i = ret_line->text;
  if (i + 3 > s.n || s.p[i] != '[' || s.p[i + 2] != ']' || !is_blank_at(s, i + 3))
    return;
  char c = s.p[i + 1];
  if (c != ' ' && c != 'x' && c != 'X' && c != '-')
    return;
  ret_line->task = true;
  ret_line->done = c != ' ';
  ret_line->text = skip_blanks(s, i + 3);
}

/* More backticks on the line mean inline code, not a fence. */
static bool is_fence(struct str s, size_t i) {
  size_t ticks = run_length(s, i, '`');
  if (ticks >= 3)
    return memchr(s.p + i + ticks, '`', s.n - i - ticks) == NULL;
  return run_length(s, i, '~') >= 3;
}

struct line markup_line(struct str s) {
  struct line line = {.kind = LINE_BLANK};
  size_t i = 0;
  for (; i < s.n && ascii_space(s.p[i]); i++)
    line.indent = s.p[i] == '\t' ? (line.indent / 4 + 1) * 4 : line.indent + 1;
  line.text = i;
  if (i == s.n)
    return line;
  line.kind = LINE_TEXT;
  size_t hashes = run_length(s, i, '#');
  size_t after = 0; /* offset after the markup */
  if (is_fence(s, i)) {
    line.kind = LINE_FENCE;
  } else if (hashes >= 1 && hashes <= 6 && is_blank_at(s, i + hashes)) {
    line.kind = LINE_HEADING;
    after = i + hashes;
  } else if (s.p[i] == '>') {
    line.kind = LINE_QUOTE;
    for (after = i; after < s.n && (s.p[after] == '>' || ascii_space(s.p[after]));)
      after++;
  } else if (s.p[i] == '|') {
    line.kind = LINE_TABLE;
    after = i + 1;
  } else if (is_rule(s, i)) {
    line.kind = LINE_RULE;
  } else if ((after = skip_bullet(s, i)) != 0 || (after = skip_number(s, i)) != 0) {
    line.kind = LINE_BULLET;
  }
  if (after)
    line.text = skip_blanks(s, after);
  if (line.kind == LINE_BULLET)
    read_check_box(s, &line);
  assert(line.text <= s.n);
  return line;
}

bool markup_in_fence(struct str s, char *fence) {
  assert(*fence == 0 || *fence == '`' || *fence == '~');
  struct line line = markup_line(s);
  if (line.kind != LINE_FENCE)
    return *fence != 0;
  assert(line.text < s.n);
  char c = s.p[line.text];
  if (*fence == 0)
    *fence = c;
  else if (*fence == c)
    *fence = 0;
  return true;
}

size_t markup_line_end(struct str s, size_t pos) {
  const char *hit = pos < s.n ? memchr(s.p + pos, '\n', s.n - pos) : NULL;
  return hit ? (size_t)(hit - s.p) : s.n;
}

/* True for the width of hard-wrapped text; longer lines come from software that does not wrap. */
static bool is_wrapped_width(struct str line) {
  size_t columns = 0;
  for (size_t i = 0; i < line.n && columns <= WRAP_MAX;)
    columns += utf8_is_unspaced(utf8_next(line, &i)) ? 2 : 1;
  return columns >= WRAP_MIN && columns <= WRAP_MAX;
}

bool markup_wraps(struct str line, struct str next) {
  struct line follows = markup_line(next);
  if (follows.kind != LINE_TEXT || markup_speaker(next))
    return false;
  struct line current = markup_line(line);
  if (current.kind != LINE_TEXT && current.kind != LINE_BULLET && current.kind != LINE_QUOTE)
    return false;
  size_t at = follows.text;
  uint32_t first = utf8_next(next, &at);
  return is_wrapped_width(line) || (utf8_is_letter(first) && !utf8_is_upper(first) && !utf8_is_unspaced(first));
}

/* ---- speakers */

/* Words before a colon that label the text, not its speaker. */
static const char *const labels[] = {
    "action", "actions",    "agreed",  "answer",  "background", "blocker",  "bug",     "cause",     "caution",
    "claim",  "conclusion", "context", "date",    "decided",    "decision", "error",   "example",   "fact",
    "fix",    "fixme",      "goal",    "hint",    "how",        "idea",     "impact",  "important", "incident",
    "issue",  "key",        "learned", "lesson",  "link",       "meeting",  "never",   "next",      "note",
    "notes",  "option",     "outcome", "owner",   "pattern",    "plan",     "problem", "project",   "question",
    "reason", "reference",  "result",  "risk",    "root",       "rule",     "see",     "solution",  "source",
    "status", "step",       "steps",   "summary", "task",       "tip",      "title",   "todo",      "topic",
    "update", "warning",    "what",    "when",    "where",      "why",      "http",    "https",
};

/* Offset after the one to three capitalized words at `at`; 0 if there are none. */
static size_t skip_name(struct str s, size_t at) {
  size_t words = 0, i = at;
  for (;;) {
    size_t start = i, pos = i;
    if (pos >= s.n || !utf8_is_upper(utf8_next(s, &pos)))
      return 0;
    while (i < s.n && i - at <= SPEAKER_MAX) {
      size_t next = i;
      uint32_t cp = utf8_next(s, &next);
      if (!utf8_is_alnum(cp) && cp != '-' && cp != '_' && cp != '.' && cp != '\'')
        break;
      i = next;
    }
    if (++words == 1 && text_is_one_of(str_slice(s, start, i), labels, ARRAY_LEN(labels)))
      return 0;
    if (words == 3 || i >= s.n || s.p[i] != ' ' || i - at > SPEAKER_MAX)
      return i - at > SPEAKER_MAX ? 0 : i;
    i++;
  }
}

/* Offset after the role at `at`, in any case; 0 if there is none. */
static size_t skip_role(struct str s, size_t at) {
  assert(at < s.n);
  static const char *const roles[] = {"user", "assistant", "human", "system", "agent", "bot", "ai", "me"};
  for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
    struct str role = str_from(roles[i]);
    if (s.n - at > role.n && s.p[at + role.n] == ':' && str_ieq(str_slice(s, at, at + role.n), role))
      return at + role.n;
  }
  return 0;
}

/* Skips a timestamp before a name: "[10:42] " or "(2024-05-01 10:42) ". */
static size_t skip_timestamp(struct str s, size_t i) {
  if (i >= s.n || (s.p[i] != '[' && s.p[i] != '('))
    return i;
  char close = s.p[i] == '[' ? ']' : ')';
  for (size_t end = i + 1; end < s.n && end - i < 32; end++) {
    if (s.p[end] == close)
      return skip_blanks(s, end + 1);
    if (!ascii_digit(s.p[end]) && !memchr(":-./ TZapmAPM", s.p[end], 13))
      break;
  }
  return i;
}

size_t markup_speaker(struct str line) {
  size_t i = skip_blanks(line, 0);
  i = skip_timestamp(line, i);
  size_t stars = run_length(line, i, '*');
  i += stars;
  if (stars > 3 || i >= line.n)
    return 0;
  size_t end = skip_role(line, i);
  if (!end)
    end = skip_name(line, i);
  if (!end)
    return 0;
  /* The colon is inside or after the emphasis. */
  end += run_length(line, end, '*');
  if (end >= line.n || line.p[end] != ':')
    return 0;
  end++;
  end += run_length(line, end, '*');
  return is_blank_at(line, end) ? skip_blanks(line, end) : 0;
}

/* ---- plain text */

/* Offset after the link or image whose '[' is at i; 0 if it is not a link. */
static size_t skip_link(struct str s, size_t i, struct str *ret_text) {
  assert(i < s.n && s.p[i] == '[');
  struct str near = utf8_cut(str_slice(s, i, s.n), LINK_MAX);
  size_t close = str_find(near, STR("]("), 0);
  if (close == SIZE_MAX || memchr(near.p + 1, '[', close - 1))
    return 0;
  size_t end = str_find(s, STR(")"), i + close);
  if (end == SIZE_MAX)
    return 0;
  *ret_text = str_slice(near, 1, close);
  return end + 1;
}

/* Emphasis is next to a word on exactly one side; "2 * 3" and "a*b" are arithmetic. */
static bool is_emphasis(struct str s, size_t i, size_t n) {
  bool before = i > 0 && !ascii_space(s.p[i - 1]);
  bool after = i + n < s.n && !ascii_space(s.p[i + n]);
  if (before && after && n == 1)
    return !ascii_alnum(s.p[i - 1]) || !ascii_alnum(s.p[i + n]);
  return before || after;
}

/* Patterns of file names keep their stars: ".env*", "*.c", "src/" with two stars. */
static bool is_glob(struct str s, size_t i, size_t n) {
  char before = i > 0 ? s.p[i - 1] : ' ', after = i + n < s.n ? s.p[i + n] : ' ';
  bool suffix = !ascii_space(before) && !ascii_alnum(after) && (unsigned char)after < 0x80;
  bool extension = after == '.' && i + n + 1 < s.n && ascii_alnum(s.p[i + n + 1]);
  return before == '/' || after == '/' || (n == 1 && (suffix || extension));
}

static void add_inline(struct buf *out, struct str s) {
  size_t open = 0; /* stars that began the emphasis */
  for (size_t i = 0; i < s.n;) {
    char c = s.p[i];
    struct str text;
    size_t end;
    if (c == '!' && i + 1 < s.n && s.p[i + 1] == '[' && skip_link(s, i + 1, &text)) {
      i++;
    } else if (c == '[' && (end = skip_link(s, i, &text)) != 0) {
      buf_add(out, text);
      i = end;
    } else if (c == '`' || (c == '~' && run_length(s, i, '~') >= 2)) {
      i += run_length(s, i, c);
    } else if (c == '*') {
      size_t n = run_length(s, i, '*');
      bool mark = is_emphasis(s, i, n) && (open == n || !is_glob(s, i, n));
      if (!mark)
        buf_add(out, str_slice(s, i, i + n));
      else
        open = open == n ? 0 : n;
      i += n;
    } else {
      buf_addc(out, c);
      i++;
    }
  }
}

/* Length of the quotation mark at the start of s, 0 if there is none. Class 1 opens, 2 closes, 3 is either. */
static size_t quote_at(struct str s, int *ret_class) {
  static const struct {
    struct str mark;
    int class;
  } marks[] = {
      {STR_INIT("\""), 3},           {STR_INIT("\xe2\x80\x9c"), 1}, {STR_INIT("\xe2\x80\x9d"), 2},
      {STR_INIT("\xe2\x80\x9e"), 1}, {STR_INIT("\xc2\xab"), 1},     {STR_INIT("\xc2\xbb"), 2},
      {STR_INIT("\xe3\x80\x8c"), 1}, {STR_INIT("\xe3\x80\x8d"), 2},
  };
  assert(s.n > 0);
  if (s.p[0] != '"' && (unsigned char)s.p[0] < 0x80)
    return 0; /* fast path */
  for (size_t i = 0; i < ARRAY_LEN(marks); i++)
    if (str_starts(s, marks[i].mark)) {
      *ret_class = marks[i].class;
      return marks[i].mark.n;
    }
  return 0;
}

/* Strips quotes around the whole text, and a single quote whose partner is in another sentence. */
static struct str strip_quotes(struct str s) {
  size_t count = 0, first = 0, last = 0, last_at = 0;
  int class = 0;
  for (size_t i = 0; i < s.n;) {
    size_t n = quote_at(str_slice(s, i, s.n), &class);
    if (n) {
      count++;
      first = i == 0 ? n : first;
      last = n;
      last_at = i;
    }
    i += n ? n : 1;
  }
  bool at_start = first > 0, at_end = last > 0 && last_at + last == s.n;
  if (count == 1 && at_start)
    return str_trim(str_slice(s, first, s.n));
  if (count == 1 && at_end)
    return str_trim(str_slice(s, 0, last_at));
  if (count == 2 && at_start && at_end) {
    assert(first <= last_at);
    return str_trim(str_slice(s, first, last_at));
  }
  return s;
}

struct str markup_plain(struct arena *a, struct str s) {
  s = str_trim(utf8_cut(s, PLAIN_MAX));
  for (int depth = 0; depth < 8; depth++) {
    struct line line = markup_line(str_slice(s, 0, markup_line_end(s, 0)));
    bool marked = line.kind == LINE_BULLET || line.kind == LINE_HEADING || line.kind == LINE_QUOTE;
    if (!marked && line.kind != LINE_TABLE)
      break;
    s = str_trim(str_slice(s, line.text, s.n));
  }
  struct buf out = BUF(a);
  add_inline(&out, s);
  return strip_quotes(text_collapse(a, buf_str(&out)));
}
