/* capture.c: splitting of raw text into blocks, and of blocks into atomic pieces. */
#include "core/memory/capture.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "core/memory/headline.h"
#include "core/memory/types.h"
#include "core/text/markup.h"
#include "core/text/text.h"

/* A piece with its heading and lead-in stays within CAPTURE_MAX_WORDS. */
enum { LEAD_WORDS = 40, LEAD_BYTES = 600, PIECE_WORDS = CAPTURE_MAX_WORDS - LEAD_WORDS - HEADLINE_WORDS };
/* Leading sentences with fewer words are not used as a headline. */
enum { SENTENCE_WORDS = 3 };

static const char *const blocker_words[] = {
    "never~", "must not", "mustn't", "non-negotiable", "prohibited", "forbidden", "blocker",
};

static bool is_blocker(struct str text) {
  for (size_t i = 0; i < ARRAY_LEN(blocker_words); i++)
    if (phrase_in(text, blocker_words[i]))
      return true;
  return false;
}

/* ---- pieces */

/* End of the list item that starts at pos: the start of the next item indented at most `indent`. */
static size_t item_end(struct str list, size_t pos, size_t indent) {
  char fence = 0;
  for (size_t at = pos; at < list.n;) {
    size_t end = markup_line_end(list, at);
    struct str text = str_slice(list, at, end);
    bool code = markup_in_fence(text, &fence);
    struct line line = markup_line(text);
    if (at > pos && !code && line.kind == LINE_BULLET && line.indent <= indent)
      return at;
    at = end + 1;
  }
  return list.n;
}

struct splitter {
  struct arena *a;
  struct capture_pieces *out;
  struct strs dropped;
  struct str heading, lead; /* plain text of the current heading and lead-in; may be empty */
  size_t min_words;         /* shorter pieces are dropped */
  const char *lead_start;   /* position of the lead-in until its list was added; else NULL */
};

/* Converts CRLF to LF. */
static void add_text(struct buf *out, struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] != '\r' || i + 1 == s.n || s.p[i + 1] != '\n')
      buf_addc(out, s.p[i]);
}

static struct str make_body(const struct splitter *sp, struct str text) {
  struct buf out = BUF(sp->a);
  if (sp->heading.n) {
    buf_add(&out, sp->heading);
    buf_adds(&out, "\n\n");
  }
  if (sp->lead.n) {
    buf_add(&out, sp->lead);
    buf_adds(&out, "\n");
  }
  add_text(&out, text);
  return buf_str(&out);
}

/* Skips a leading "Great." or "Understood." if more text follows. */
static struct str skip_interjections(struct str said) {
  struct str sentence;
  for (size_t pos = 0, start = 0; text_next_sentence(said, &pos, &sentence); start = pos) {
    struct str rest = str_slice(said, start, said.n);
    if (text_count_words(sentence) >= SENTENCE_WORDS || start > HEADLINE_BYTES)
      return text_has_letter(rest) ? rest : said;
  }
  return said;
}

static struct str make_headline(const struct splitter *sp, struct str said) {
  struct str headline = headline_derive(sp->a, skip_interjections(said));
  if (sp->heading.n == 0 || str_starts(headline, sp->heading))
    return headline;
  struct buf both = BUF(sp->a);
  buf_add(&both, sp->heading);
  buf_adds(&both, ": ");
  buf_add(&both, headline);
  bool fits = both.n <= HEADLINE_BYTES && text_count_words(buf_str(&both)) <= HEADLINE_WORDS;
  return fits ? buf_str(&both) : headline;
}

static struct str skip_blank_lines(struct str text) {
  while (text.n) {
    size_t end = markup_line_end(text, 0);
    if (markup_line(str_slice(text, 0, end)).kind != LINE_BLANK || end == text.n)
      break;
    text = str_slice(text, end + 1, text.n);
  }
  return text;
}

/* The text before fenced code; all of it if it starts with code. */
static struct str before_code(struct str text) {
  for (size_t start = 0; start < text.n; start = markup_line_end(text, start) + 1)
    if (markup_line(str_slice(text, start, markup_line_end(text, start))).kind == LINE_FENCE)
      return start ? str_slice(text, 0, start) : text;
  return text;
}

/* Kind indicated by the text, else by its lead-in or heading. */
static const char *guess_kind(const struct splitter *sp, struct str said, bool open_task) {
  struct str sources[] = {open_task ? STR("[ ]") : said, sp->lead, sp->heading};
  assert(kind_cue_count > 0);
  const size_t last = kind_cue_count - 1;
  for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
    size_t row = phrase_first_cue(sources[i], kind_cues, last);
    if (row < last)
      return kind_cues[row].type;
  }
  return kind_cues[last].type;
}

/* Adds text of at most PIECE_WORDS words. */
static void add_piece(struct splitter *sp, struct str text) {
  text = skip_blank_lines(text);
  struct line line = markup_line(str_slice(text, 0, markup_line_end(text, 0)));
  bool bullet = line.kind == LINE_BULLET, marked = bullet || line.kind == LINE_QUOTE;
  struct str rest = str_trim(str_slice(text, marked ? line.text : 0, text.n));
  /* In a list item, "Name:" is a topic, not a speaker. */
  size_t speaker = bullet ? 0 : markup_speaker(str_slice(rest, 0, markup_line_end(rest, 0)));
  struct str said = str_slice(rest, speaker, rest.n);
  if (!text_has_letter(said) || text_count_words(said) < sp->min_words) {
    if (said.n)
      strs_push(sp->a, &sp->dropped, said);
    return;
  }
  struct str prose = before_code(said);
  bool one_item = bullet && item_end(text, 0, line.indent) == text.n;
  struct capture_piece piece = {
      .headline = make_headline(sp, said),
      .body = make_body(sp, one_item ? rest : str_trim(text)),
      .type_cue = guess_kind(sp, prose, line.task && !line.done),
      .blocker = is_blocker(prose),
  };
  list_push(sp->a, sp->out, piece);
}

/* Splits text without usable line breaks: packs whole sentences, and cuts longer ones between words. */
static void add_sentences(struct splitter *sp, struct str text) {
  struct str sentence;
  size_t start = 0, words = 0;
  for (size_t pos = 0, end = 0; text_next_sentence(text, &pos, &sentence); end = pos) {
    size_t more = text_count_words(sentence);
    if (words && words + more > CAPTURE_LINE_WORDS) {
      add_piece(sp, str_slice(text, start, end));
      start = end;
      words = 0;
    }
    words += more;
    while (words > CAPTURE_LINE_WORDS) {
      struct str rest = str_trim(str_slice(text, start, pos));
      struct str part = text_cut(rest, CAPTURE_LINE_WORDS, SIZE_MAX);
      assert(part.n > 0);
      add_piece(sp, part);
      start = (size_t)(part.p - text.p) + part.n;
      words -= CAPTURE_LINE_WORDS;
    }
  }
  if (words)
    add_piece(sp, str_slice(text, start, text.n));
}

static void add_part(struct splitter *sp, struct str text) {
  if (text_count_words(text) > PIECE_WORDS)
    add_sentences(sp, text);
  else
    add_piece(sp, text);
}

/* Splits a long paragraph at line breaks after at least min_words words, but not in code or at a wrapped line. */
static void add_lines(struct splitter *sp, struct str text, size_t min_words) {
  if (text_count_words(text) <= CAPTURE_LINE_WORDS) {
    add_piece(sp, text);
    return;
  }
  size_t start = 0, words = 0;
  char fence = 0;
  for (size_t pos = 0; pos < text.n;) {
    size_t end = markup_line_end(text, pos);
    struct str line = str_slice(text, pos, end);
    size_t more = text_count_words(line);
    if (words && words + more > CAPTURE_LINE_WORDS) {
      add_part(sp, str_slice(text, start, pos));
      start = pos;
      words = 0;
    }
    words += more;
    bool code = markup_in_fence(line, &fence);
    struct str next = str_slice(text, end < text.n ? end + 1 : end, markup_line_end(text, end + 1));
    bool continues = code ? fence != 0 : markup_wraps(line, next) || markup_line(next).kind == LINE_FENCE;
    if (!continues && words >= min_words) {
      add_part(sp, str_slice(text, start, end));
      start = end < text.n ? end + 1 : end;
      words = 0;
    }
    pos = end + 1;
  }
  if (words)
    add_part(sp, str_slice(text, start, text.n));
}

static void add_paragraph(struct splitter *sp, struct str text) { add_lines(sp, text, CAPTURE_MIN_WORDS); }

/* ---- lists */

static size_t item_words(struct str item) {
  struct line line = markup_line(str_slice(item, 0, markup_line_end(item, 0)));
  return text_count_words(str_slice(item, line.text, item.n));
}

/* Adds a list as one piece if it fits, with its lead-in. */
static void add_whole_list(struct splitter *sp, struct str list) {
  struct str lead = sp->lead;
  if (sp->lead_start) {
    list = (struct str){sp->lead_start, (size_t)(list.p + list.n - sp->lead_start)};
    sp->lead = STR_NONE;
  }
  add_lines(sp, list, CAPTURE_LINE_WORDS);
  sp->lead = lead;
}

static bool has_task_cue(struct str text) {
  size_t row = phrase_first_cue(text, kind_cues, kind_cue_count - 1);
  return str_is(str_from(kind_cues[row].type), "task");
}

/* True for "- [ ] call the bank" and "- TODO: call the bank". */
static bool is_task(struct str item) {
  struct line line = markup_line(str_slice(item, 0, markup_line_end(item, 0)));
  return line.task || has_task_cue(str_slice(item, line.text, item.n));
}

static void add_items(struct splitter *sp, struct str items, bool task) {
  sp->min_words = task ? CAPTURE_MIN_TASK_WORDS : CAPTURE_MIN_WORDS;
  add_paragraph(sp, items);
  sp->min_words = CAPTURE_MIN_WORDS;
}

/* Each task becomes a piece, and if most items are sentences, so does each of them. A short item stays with the one
 * before it, or with the next one if either is a task. Other lists are not split. Below "Todo", all items of a list
 * with tasks are tasks. */
static void add_list(struct splitter *sp, struct str list) {
  assert(list.n > 0);
  size_t indent = markup_line(str_slice(list, 0, markup_line_end(list, 0))).indent;
  size_t items = 0, sentences = 0, tasks = 0;
  for (size_t pos = 0, end; pos < list.n; pos = end, items++) {
    end = item_end(list, pos, indent);
    struct str item = str_slice(list, pos, end);
    sentences += item_words(item) >= CAPTURE_MIN_WORDS;
    tasks += is_task(item);
  }
  if (!tasks && (sentences * 2 < items || sentences == 0)) {
    add_whole_list(sp, list);
    return;
  }
  bool all = tasks && (has_task_cue(sp->lead) || has_task_cue(sp->heading)), task = false;
  size_t start = 0, words = 0;
  for (size_t pos = 0, end; pos < list.n; pos = end) {
    end = item_end(list, pos, indent);
    struct str item = str_slice(list, pos, end);
    size_t more = item_words(item);
    bool after_task = task;
    task = all || is_task(item);
    if (words && (task || after_task || (words >= CAPTURE_MIN_WORDS && more >= CAPTURE_MIN_WORDS))) {
      add_items(sp, str_slice(list, start, pos), after_task);
      start = pos;
      words = 0;
    }
    words += more;
  }
  add_items(sp, str_slice(list, start, list.n), task);
}

/* ---- blocks */

enum block_kind { BLOCK_TEXT, BLOCK_LIST, BLOCK_HEADING };

struct block {
  enum block_kind kind;
  size_t start, end;
};

struct blocks {
  struct block *v;
  size_t n, cap;
  bool open;        /* the last block may still grow */
  size_t last_line; /* start of its last line */
};

static bool is_last(const struct blocks *blocks, enum block_kind kind) {
  return blocks->n && blocks->v[blocks->n - 1].kind == kind;
}

/* Appends the line [start, end) to the open block, or starts a new block. */
static void put_line(struct arena *a, struct blocks *blocks, enum block_kind kind, bool fresh, size_t start,
                     size_t end) {
  assert(!blocks->open || blocks->n);
  assert(start <= end && (!blocks->n || blocks->v[blocks->n - 1].end < start));
  if (blocks->open && !fresh)
    blocks->v[blocks->n - 1].end = end;
  else
    list_push(a, blocks, (struct block){kind, start, end});
  blocks->open = true;
  blocks->last_line = start;
}

/* A title above a line of = or -: one short line that is not a sentence. */
static bool is_title(struct str text, const struct blocks *blocks, struct str rule) {
  if (!blocks->open || !is_last(blocks, BLOCK_TEXT))
    return false;
  const struct block *b = &blocks->v[blocks->n - 1];
  struct str title = str_trim(str_slice(text, b->start, b->end));
  assert(title.n > 0);
  char mark = str_trim(rule).p[0];
  return (mark == '=' || mark == '-') && title.n <= HEADLINE_BYTES && !memchr(title.p, '\n', title.n) &&
         !memchr(".!?", title.p[title.n - 1], 3) && text_count_words(title) <= HEADLINE_WORDS;
}

/* True if the line continues the open block or, after a blank line, the last item of a list. */
static bool is_continuation(struct str text, const struct blocks *blocks, struct str line, size_t indent) {
  if (markup_speaker(line))
    return false;
  if (!is_last(blocks, BLOCK_LIST))
    return blocks->open;
  struct str before = str_slice(text, blocks->last_line, blocks->v[blocks->n - 1].end);
  return indent >= 2 || (blocks->open && markup_wraps(before, line));
}

static void put_text(struct arena *a, struct str text, struct blocks *blocks, size_t start, size_t end) {
  struct str line = str_slice(text, start, end);
  struct line l = markup_line(line);
  switch (l.kind) {
  case LINE_BLANK:
    blocks->open = false;
    break;
  case LINE_RULE:
    if (is_title(text, blocks, line))
      blocks->v[blocks->n - 1].kind = BLOCK_HEADING;
    blocks->open = false;
    break;
  case LINE_HEADING:
    put_line(a, blocks, BLOCK_HEADING, true, start, end);
    blocks->open = false;
    break;
  case LINE_BULLET:
    /* Blank lines between items do not end a list. */
    blocks->open = blocks->open || is_last(blocks, BLOCK_LIST);
    put_line(a, blocks, BLOCK_LIST, !is_last(blocks, BLOCK_LIST), start, end);
    break;
  default: {
    bool more = is_continuation(text, blocks, line, l.indent);
    blocks->open = blocks->open || more;
    put_line(a, blocks, BLOCK_TEXT, !more, start, end);
  }
  }
}

/* Start of the last fence with that character, SIZE_MAX if there is none. A fence opened there is never closed. */
static size_t last_fence(struct str text, char mark) {
  size_t last = SIZE_MAX;
  for (size_t start = 0; start < text.n; start = markup_line_end(text, start) + 1) {
    struct str line = str_slice(text, start, markup_line_end(text, start));
    struct line l = markup_line(line);
    if (l.kind == LINE_FENCE && line.p[l.text] == mark)
      last = start;
  }
  return last;
}

static void find_blocks(struct arena *a, struct str text, struct blocks *ret) {
  char fence = 0;
  size_t last_ticks = last_fence(text, '`'), last_tildes = last_fence(text, '~');
  for (size_t start = 0, end; start < text.n; start = end + 1) {
    end = markup_line_end(text, start);
    if (fence == 0 && (start == last_ticks || start == last_tildes))
      continue; /* a stray fence must not turn the rest of the text into code */
    if (!markup_in_fence(str_slice(text, start, end), &fence)) {
      put_text(a, text, ret, start, end);
      continue;
    }
    /* Code belongs to the text before it, even after blank lines. */
    ret->open = ret->n && !is_last(ret, BLOCK_HEADING);
    put_line(a, ret, BLOCK_TEXT, false, start, end);
  }
}

/* ---- lead-ins and headings */

/* Offset of the last sentence of a paragraph if it introduces the list that follows: it ends with a colon or a question
 * mark, or is bold. SIZE_MAX otherwise. */
static size_t find_lead(struct str block, const struct block *next) {
  if (!next || next->kind != BLOCK_LIST)
    return SIZE_MAX;
  struct str sentence, last = STR_NONE;
  for (size_t pos = 0; text_next_sentence(block, &pos, &sentence);)
    last = sentence;
  struct str end = last;
  while (end.n && end.p[end.n - 1] == '*')
    end.n--;
  bool bold = str_starts(last, STR("**")) && last.n - end.n == 2;
  bool leads = bold || str_ends(end, STR(":")) || str_ends(end, STR("?")) || str_ends(end, STR("\xef\xbc\x9a"));
  bool fits = last.n <= LEAD_BYTES && text_count_words(last) <= LEAD_WORDS;
  return leads && fits ? (size_t)(last.p - block.p) : SIZE_MAX;
}

static void add_text_block(struct splitter *sp, struct str block, const struct block *next) {
  size_t lead = find_lead(block, next);
  struct str before = lead == SIZE_MAX ? block : str_slice(block, 0, lead);
  sp->lead = STR_NONE;
  if (str_trim(before).n)
    add_paragraph(sp, before);
  if (lead == SIZE_MAX)
    return;
  sp->lead = markup_plain(sp->a, str_slice(block, lead, block.n));
  sp->lead_start = block.p + lead;
}

static void add_heading(struct splitter *sp, struct str block, const struct block *next) {
  struct str line = str_slice(block, 0, markup_line_end(block, 0));
  sp->heading = sp->lead = STR_NONE;
  sp->lead_start = NULL;
  if (!next || next->kind == BLOCK_HEADING)
    add_piece(sp, str_slice(line, markup_line(line).text, line.n));
  else
    sp->heading = headline_cut(sp->a, markup_plain(sp->a, line));
}

void capture_split(struct arena *a, struct str text, struct capture_pieces *ret, struct strs *ret_dropped) {
  *ret = (struct capture_pieces){0};
  struct splitter sp = {.a = a, .out = ret, .min_words = CAPTURE_MIN_WORDS};
  struct blocks blocks = {0};
  find_blocks(a, text, &blocks);
  for (size_t i = 0; i < blocks.n; i++) {
    const struct block *b = &blocks.v[i], *next = i + 1 < blocks.n ? b + 1 : NULL;
    struct str block = str_slice(text, b->start, b->end);
    if (b->kind == BLOCK_HEADING) {
      add_heading(&sp, block, next);
    } else if (b->kind == BLOCK_LIST) {
      add_list(&sp, block);
      sp.lead_start = NULL;
    } else {
      add_text_block(&sp, block, next);
    }
  }
  *ret_dropped = sp.dropped;
}
