/* summary.c: what a conversation has come to, by rule. */
#include "transcript/file/summary.h"

#include "base/os/clock.h"
#include "core/text/text.h"
#include "core/text/token_count.h"

enum { SENTENCE_BYTES = 600, ASKED_BYTES = 160, ASKED_MOST = 40, TOOLS_MOST = 20, EARLIER_SHARE = 2 };

/* ---- marks ---- */

/* Where a cue stands: at the beginning of the sentence, or anywhere in it, as words of its own. */
enum cue_place { AT_START, ANYWHERE };

struct cue {
  const char *words; /* in lower case */
  enum cue_place place;
  enum mark mark;
};

static const struct cue cues[] = {
    {"decision:", AT_START, MARK_DECISION},
    {"decisions:", AT_START, MARK_DECISION},
    {"decided:", AT_START, MARK_DECISION},
    {"we decided", ANYWHERE, MARK_DECISION},
    {"i decided", ANYWHERE, MARK_DECISION},
    {"it was decided", ANYWHERE, MARK_DECISION},
    {"the decision is", ANYWHERE, MARK_DECISION},
    {"agreed:", AT_START, MARK_AGREEMENT},
    {"agreement:", AT_START, MARK_AGREEMENT},
    {"confirmed:", AT_START, MARK_AGREEMENT},
    {"we agreed", ANYWHERE, MARK_AGREEMENT},
    {"as agreed", ANYWHERE, MARK_AGREEMENT},
    {"todo:", AT_START, MARK_OPEN},
    {"todo ", AT_START, MARK_OPEN},
    {"to do:", AT_START, MARK_OPEN},
    {"fixme:", AT_START, MARK_OPEN},
    {"task:", AT_START, MARK_OPEN},
    {"action:", AT_START, MARK_OPEN},
    {"action item:", AT_START, MARK_OPEN},
    {"next step:", AT_START, MARK_OPEN},
    {"next steps:", AT_START, MARK_OPEN},
    {"open:", AT_START, MARK_OPEN},
    {"open point:", AT_START, MARK_OPEN},
    {"open question:", AT_START, MARK_OPEN},
    {"blocked:", AT_START, MARK_OPEN},
    {"[ ]", AT_START, MARK_OPEN},
    {"still open", ANYWHERE, MARK_OPEN},
    {"follow up", ANYWHERE, MARK_OPEN},
    {"important:", AT_START, MARK_NOTE},
    {"remember:", AT_START, MARK_NOTE},
    {"remember that", ANYWHERE, MARK_NOTE},
    {"remember to", ANYWHERE, MARK_NOTE},
    {"please remember", ANYWHERE, MARK_NOTE},
    {"note:", AT_START, MARK_NOTE},
    {"note that", AT_START, MARK_NOTE},
    {"key point", ANYWHERE, MARK_NOTE},
    {"critical:", AT_START, MARK_NOTE},
    {"never forget", ANYWHERE, MARK_NOTE},
    {"is important", ANYWHERE, MARK_NOTE},
};

static bool word_byte(char c) { return ascii_alnum(c) || (c & 0x80); }

/* Behind the marks of lists, headings, quotes and emphasis. */
static struct str bare(struct str s) {
  size_t i = 0;
  while (i < s.n && (ascii_space(s.p[i]) || s.p[i] == '-' || s.p[i] == '*' || s.p[i] == '#' || s.p[i] == '>' ||
                     s.p[i] == '+' || s.p[i] == '_'))
    i++;
  return str_trim(str_slice(s, i, s.n));
}

static bool matches(struct str s, size_t at, struct str words) {
  if (words.n == 0 || s.n < words.n || at > s.n - words.n)
    return false;
  for (size_t i = 0; i < words.n; i++)
    if (ascii_lower(s.p[at + i]) != words.p[i])
      return false;
  char last = words.p[words.n - 1];
  return !word_byte(last) || at + words.n == s.n || !word_byte(s.p[at + words.n]);
}

static bool cue_holds(const struct cue *c, struct str s) {
  struct str words = str_from(c->words);
  if (c->place == AT_START)
    return matches(s, 0, words);
  for (size_t i = 0; i + words.n <= s.n; i++)
    if ((i == 0 || !word_byte(s.p[i - 1])) && matches(s, i, words))
      return true;
  return false;
}

enum mark sentence_mark(struct str sentence) {
  struct str s = bare(sentence);
  for (size_t i = 0; i < ARRAY_LEN(cues); i++)
    if (cue_holds(&cues[i], s))
      return cues[i].mark;
  return MARK_NONE;
}

/* ---- marked sentences ---- */

static const char *const headings[MARK_COUNT] = {
    [MARK_DECISION] = "Decisions:",
    [MARK_AGREEMENT] = "Agreements:",
    [MARK_OPEN] = "Open points:",
    [MARK_NOTE] = "Notes:",
};

static void add_marked(struct arena *a, struct marked_list *list, enum mark mark, struct str text, struct str message) {
  struct str line = text_collapse(a, text_cut(text, SENTENCE_BYTES, SENTENCE_BYTES));
  for (size_t i = 0; i < list->n; i++)
    if (str_eq(list->v[i].text, line))
      return;
  if (text_has_letter(line))
    list_push(a, list, (struct marked){mark, line, message});
}

static enum mark heading_mark(struct str line) {
  for (int i = MARK_DECISION; i < MARK_COUNT; i++)
    if (str_is(line, headings[i]))
      return (enum mark)i;
  return MARK_NONE;
}

/* Of an earlier summary: what stands as an item under one of our headings is what it was. */
static void marked_of_summary(struct arena *a, const struct message *m, struct marked_list *ret) {
  struct str rest = m->content, line;
  enum mark under = MARK_NONE;
  while (str_line(&rest, &line)) {
    line = str_trim(line);
    if (str_empty(line))
      continue;
    if (!str_starts(line, STR("- "))) {
      under = heading_mark(line);
      if (under == MARK_NONE && sentence_mark(line) != MARK_NONE)
        add_marked(a, ret, sentence_mark(line), bare(line), m->id);
      continue;
    }
    enum mark mark = under != MARK_NONE ? under : sentence_mark(line);
    if (mark != MARK_NONE)
      add_marked(a, ret, mark, bare(line), m->id);
  }
}

void summary_marked(struct arena *a, const struct message *list, size_t n, struct marked_list *ret) {
  for (size_t i = 0; i < n; i++) {
    const struct message *m = &list[i];
    size_t pos = 0;
    struct str sentence;
    if (m->damaged || m->role == SPEAKER_TOOL_RESULT || m->role == SPEAKER_TOOL_CALL)
      continue;
    if (m->role == SPEAKER_SUMMARY) {
      marked_of_summary(a, m, ret);
      continue;
    }
    while (text_next_sentence(m->content, &pos, &sentence)) {
      enum mark mark = sentence_mark(sentence);
      if (mark != MARK_NONE)
        add_marked(a, ret, mark, bare(sentence), m->id);
    }
  }
}

/* ---- the summary ---- */

struct draft {
  struct buf b;
  size_t max;  /* tokens */
  size_t used; /* an upper bound: parts never come to less than the whole */
  size_t left; /* items that did not fit */
};

static bool add_line(struct draft *d, struct str line) {
  size_t cost = tokens_estimate(line) + 1;
  if (d->used + cost > d->max) {
    d->left++;
    return false;
  }
  buf_add(&d->b, line);
  buf_addc(&d->b, '\n');
  d->used += cost;
  return true;
}

static void add_section(struct draft *d, const struct marked_list *marked, enum mark mark) {
  bool begun = false;
  /* The newest first while there is room: what was said last holds. They are listed in their order all the same. */
  size_t from = marked->n, room = d->max > d->used ? d->max - d->used : 0, cost = 8;
  while (from > 0) {
    const struct marked *m = &marked->v[from - 1];
    if (m->mark == mark) {
      cost += tokens_estimate(m->text) + 4;
      if (cost > room)
        break;
    }
    from--;
  }
  for (size_t i = 0; i < marked->n; i++) {
    if (marked->v[i].mark != mark)
      continue;
    if (i < from) {
      d->left++;
      continue;
    }
    if (!begun)
      (void)add_line(d, arena_printf(d->b.a, "\n%s", headings[mark]));
    begun = true;
    (void)add_line(d, arena_printf(d->b.a, "- %.*s", STR_ARG(marked->v[i].text)));
  }
}

/* A summary that an agent wrote is worth more than what rules find: it is kept, as far as half of the room goes. */
static void add_earlier(struct draft *d, const struct message *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (list[i].damaged || list[i].role != SPEAKER_SUMMARY ||
        str_find(list[i].extra, STR("\"extractive\":true"), 0) != SIZE_MAX)
      continue;
    struct str text = tokens_cut(str_trim(list[i].content), d->max / EARLIER_SHARE);
    (void)add_line(d, STR("\nEarlier:"));
    (void)add_line(d, text);
  }
}

static void add_asked(struct draft *d, const struct message *list, size_t n) {
  bool begun = false;
  size_t count = 0;
  for (size_t i = 0; i < n && count < ASKED_MOST; i++) {
    size_t pos = 0;
    struct str sentence;
    if (list[i].damaged || list[i].role != SPEAKER_USER || !text_next_sentence(list[i].content, &pos, &sentence) ||
        sentence_mark(sentence) != MARK_NONE)
      continue;
    sentence = text_collapse(d->b.a, text_cut(bare(sentence), ASKED_BYTES, ASKED_BYTES));
    if (!text_has_letter(sentence))
      continue;
    if (!begun && !add_line(d, STR("\nThe user said:")))
      return;
    begun = true;
    if (!add_line(d, arena_printf(d->b.a, "- %.*s", STR_ARG(sentence))))
      return;
    count++;
  }
}

static void add_tools(struct draft *d, const struct message *list, size_t n) {
  struct {
    struct str name;
    size_t count;
  } tools[TOOLS_MOST];
  size_t kinds = 0;
  for (size_t i = 0; i < n; i++) {
    if (list[i].damaged || list[i].role != SPEAKER_TOOL_CALL || str_empty(list[i].name))
      continue;
    size_t k = 0;
    while (k < kinds && !str_eq(tools[k].name, list[i].name))
      k++;
    if (k == TOOLS_MOST)
      continue;
    if (k == kinds) {
      tools[k].name = list[i].name;
      tools[k].count = 0;
      kinds++;
    }
    tools[k].count++;
  }
  struct buf b = BUF(d->b.a);
  for (size_t k = 0; k < kinds; k++)
    buf_addf(&b, "%s%.*s (%zu)", k ? ", " : "\nTools: ", STR_ARG(tools[k].name), tools[k].count);
  if (kinds)
    (void)add_line(d, buf_str(&b));
}

static struct str title(struct arena *a, const struct message *list, size_t n) {
  char first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];
  int64_t from = 0, to = 0;
  for (size_t i = 0; i < n; i++) {
    if (!list[i].at)
      continue;
    if (!from)
      from = list[i].at;
    to = list[i].at;
  }
  if (!from)
    return arena_printf(a, "Summary of %zu messages, made by rule.", n);
  struct str x = time_format(from, first), y = time_format(to, last);
  return arena_printf(a, "Summary of %zu messages from %.*s to %.*s, made by rule.", n, STR_ARG(x), STR_ARG(y));
}

struct str summary_make(struct arena *a, const struct message *list, size_t n, size_t max_tokens) {
  struct draft d = {.b = BUF(a), .max = max_tokens > 60 ? max_tokens - 30 : 30};
  struct marked_list marked = {0};
  summary_marked(a, list, n, &marked);
  (void)add_line(&d, title(a, list, n));
  for (int mark = MARK_DECISION; mark <= MARK_OPEN; mark++)
    add_section(&d, &marked, (enum mark)mark);
  add_earlier(&d, list, n);
  add_section(&d, &marked, MARK_NOTE);
  add_tools(&d, list, n);
  add_asked(&d, list, n);
  if (d.left)
    buf_addf(&d.b, "\n%zu more are in the originals.\n", d.left);
  return str_trim(buf_str(&d.b));
}
