/* summary.c: extractive summaries of conversations. */
#include "transcript/file/summary.h"

#include <assert.h>

#include "base/os/clock.h"
#include "core/text/text.h"
#include "core/text/token_count.h"

enum { SENTENCE_BYTES = 600, ASKED_BYTES = 160, ASKED_MOST = 40, TOOLS_MOST = 20, EARLIER_SHARE = 2 };

/* ---- labels ---- */

/* Position of a cue in a sentence. ANYWHERE matches only whole words. */
enum cue_place { AT_START, ANYWHERE };

struct cue {
  const char *words; /* lower case */
  enum cue_place place;
  enum label label;
};

static const struct cue cues[] = {
    {"decision:", AT_START, LABEL_DECISION},
    {"decisions:", AT_START, LABEL_DECISION},
    {"decided:", AT_START, LABEL_DECISION},
    {"we decided", ANYWHERE, LABEL_DECISION},
    {"i decided", ANYWHERE, LABEL_DECISION},
    {"it was decided", ANYWHERE, LABEL_DECISION},
    {"the decision is", ANYWHERE, LABEL_DECISION},
    {"agreed:", AT_START, LABEL_AGREEMENT},
    {"agreement:", AT_START, LABEL_AGREEMENT},
    {"confirmed:", AT_START, LABEL_AGREEMENT},
    {"we agreed", ANYWHERE, LABEL_AGREEMENT},
    {"as agreed", ANYWHERE, LABEL_AGREEMENT},
    {"todo:", AT_START, LABEL_OPEN},
    {"todo ", AT_START, LABEL_OPEN},
    {"to do:", AT_START, LABEL_OPEN},
    {"fixme:", AT_START, LABEL_OPEN},
    {"task:", AT_START, LABEL_OPEN},
    {"action:", AT_START, LABEL_OPEN},
    {"action item:", AT_START, LABEL_OPEN},
    {"next step:", AT_START, LABEL_OPEN},
    {"next steps:", AT_START, LABEL_OPEN},
    {"open:", AT_START, LABEL_OPEN},
    {"open point:", AT_START, LABEL_OPEN},
    {"open question:", AT_START, LABEL_OPEN},
    {"blocked:", AT_START, LABEL_OPEN},
    {"[ ]", AT_START, LABEL_OPEN},
    {"still open", ANYWHERE, LABEL_OPEN},
    {"follow up", ANYWHERE, LABEL_OPEN},
    {"important:", AT_START, LABEL_NOTE},
    {"remember:", AT_START, LABEL_NOTE},
    {"remember that", ANYWHERE, LABEL_NOTE},
    {"remember to", ANYWHERE, LABEL_NOTE},
    {"please remember", ANYWHERE, LABEL_NOTE},
    {"note:", AT_START, LABEL_NOTE},
    {"note that", AT_START, LABEL_NOTE},
    {"key point", ANYWHERE, LABEL_NOTE},
    {"critical:", AT_START, LABEL_NOTE},
    {"never forget", ANYWHERE, LABEL_NOTE},
    {"is important", ANYWHERE, LABEL_NOTE},
};

static bool is_word_byte(char c) { return ascii_alnum(c) || (c & 0x80); }

/* Removes the Markdown markers of lists, headings, quotes and emphasis from the start. */
static struct str strip_markdown(struct str s) {
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
  return !is_word_byte(last) || at + words.n == s.n || !is_word_byte(s.p[at + words.n]);
}

static bool has_cue(const struct cue *c, struct str s) {
  struct str words = str_from(c->words);
  if (c->place == AT_START)
    return matches(s, 0, words);
  for (size_t i = 0; i + words.n <= s.n; i++)
    if ((i == 0 || !is_word_byte(s.p[i - 1])) && matches(s, i, words))
      return true;
  return false;
}

enum label sentence_label(struct str sentence) {
  struct str s = strip_markdown(sentence);
  for (size_t i = 0; i < ARRAY_LEN(cues); i++)
    if (has_cue(&cues[i], s))
      return cues[i].label;
  return LABEL_NONE;
}

/* ---- labelled sentences ---- */

static const char *const headings[LABEL_COUNT] = {
    [LABEL_DECISION] = "Decisions:",
    [LABEL_AGREEMENT] = "Agreements:",
    [LABEL_OPEN] = "Open points:",
    [LABEL_NOTE] = "Notes:",
};

static void add_labelled(struct arena *a, struct labelled_list *list, enum label label, struct str text,
                         struct str message) {
  assert(label > LABEL_NONE && label < LABEL_COUNT);
  struct str line = text_collapse(a, text_cut(text, SENTENCE_BYTES, SENTENCE_BYTES));
  for (size_t i = 0; i < list->n; i++)
    if (str_eq(list->v[i].text, line))
      return;
  if (text_has_letter(line))
    list_push(a, list, (struct labelled){label, line, message});
}

static enum label heading_label(struct str line) {
  for (int i = LABEL_DECISION; i < LABEL_COUNT; i++)
    if (str_is(line, headings[i]))
      return (enum label)i;
  return LABEL_NONE;
}

/* Labelled sentences of an earlier summary: items under our headings keep their label. */
static void labels_of_summary(struct arena *a, const struct message *m, struct labelled_list *ret) {
  struct str rest = m->content, line;
  enum label under = LABEL_NONE;
  while (str_line(&rest, &line)) {
    line = str_trim(line);
    if (str_empty(line))
      continue;
    if (!str_starts(line, STR("- "))) {
      under = heading_label(line);
      if (under == LABEL_NONE && sentence_label(line) != LABEL_NONE)
        add_labelled(a, ret, sentence_label(line), strip_markdown(line), m->id);
      continue;
    }
    enum label label = under != LABEL_NONE ? under : sentence_label(line);
    if (label != LABEL_NONE)
      add_labelled(a, ret, label, strip_markdown(line), m->id);
  }
}

void summary_labelled(struct arena *a, const struct message *list, size_t n, struct labelled_list *ret) {
  for (size_t i = 0; i < n; i++) {
    const struct message *m = &list[i];
    size_t pos = 0;
    struct str sentence;
    if (m->damaged || m->role == SPEAKER_TOOL_RESULT || m->role == SPEAKER_TOOL_CALL)
      continue;
    if (m->role == SPEAKER_SUMMARY) {
      labels_of_summary(a, m, ret);
      continue;
    }
    while (text_next_sentence(m->content, &pos, &sentence)) {
      enum label label = sentence_label(sentence);
      if (label != LABEL_NONE)
        add_labelled(a, ret, label, strip_markdown(sentence), m->id);
    }
  }
}

/* ---- the summary ---- */

struct draft {
  struct buf b;
  size_t max;  /* tokens */
  size_t used; /* upper bound: estimates of parts never add up to less than the whole */
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
  assert(d->used <= d->max);
  return true;
}

static void add_section(struct draft *d, const struct labelled_list *labelled, enum label label) {
  assert(label > LABEL_NONE && label < LABEL_COUNT);
  bool begun = false;
  /* If there is not room for all, the newest are kept, since the last word counts. They are listed in order. */
  size_t from = labelled->n, room = d->max > d->used ? d->max - d->used : 0, cost = 8;
  while (from > 0) {
    const struct labelled *m = &labelled->v[from - 1];
    if (m->label == label) {
      cost += tokens_estimate(m->text) + 4;
      if (cost > room)
        break;
    }
    from--;
  }
  for (size_t i = 0; i < labelled->n; i++) {
    if (labelled->v[i].label != label)
      continue;
    if (i < from) {
      d->left++;
      continue;
    }
    if (!begun)
      (void)add_line(d, arena_printf(d->b.a, "\n%s", headings[label]));
    begun = true;
    (void)add_line(d, arena_printf(d->b.a, "- %.*s", STR_ARG(labelled->v[i].text)));
  }
}

/* Keeps an earlier summary written by an agent, which is better than an extractive one, in up to half of the room. */
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
        sentence_label(sentence) != LABEL_NONE)
      continue;
    sentence = text_collapse(d->b.a, text_cut(strip_markdown(sentence), ASKED_BYTES, ASKED_BYTES));
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
  assert(kinds <= TOOLS_MOST);
  struct buf b = BUF(d->b.a);
  for (size_t k = 0; k < kinds; k++)
    buf_addf(&b, "%s%.*s (%zu)", k ? ", " : "\nTools: ", STR_ARG(tools[k].name), tools[k].count);
  if (kinds)
    (void)add_line(d, buf_str(&b));
}

static struct str make_title(struct arena *a, const struct message *list, size_t n) {
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
    return arena_printf(a, "Extractive summary of %zu message%s.", n, n == 1 ? "" : "s");
  struct str x = time_format(from, first), y = time_format(to, last);
  return arena_printf(a, "Extractive summary of %zu message%s from %.*s to %.*s.", n, n == 1 ? "" : "s", STR_ARG(x),
                      STR_ARG(y));
}

struct str summary_make(struct arena *a, const struct message *list, size_t n, size_t max_tokens) {
  struct draft d = {.b = BUF(a), .max = max_tokens > 60 ? max_tokens - 30 : 30};
  struct labelled_list labelled = {0};
  summary_labelled(a, list, n, &labelled);
  (void)add_line(&d, make_title(a, list, n));
  for (int label = LABEL_DECISION; label <= LABEL_OPEN; label++)
    add_section(&d, &labelled, (enum label)label);
  add_earlier(&d, list, n);
  add_section(&d, &labelled, LABEL_NOTE);
  add_tools(&d, list, n);
  add_asked(&d, list, n);
  if (d.left)
    buf_addf(&d.b, "\n%zu more are in the originals.\n", d.left);
  return str_trim(buf_str(&d.b));
}
