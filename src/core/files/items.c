/* items.c: extraction of items from the prose of a file, block by block. */
#include "core/files/items.h"

#include <assert.h>

#include "base/id.h"
#include "base/utf8.h"
#include "core/files/comments.h"
#include "core/files/items_sentence.h"
#include "core/memory/headline.h"
#include "core/text/markup.h"
#include "core/text/subject.h"
#include "core/text/text.h"

enum {
  LEVELS = 7,          /* heading levels 1 to 6, and one below them for labels such as "Decisions:" */
  FRONT_LINES = 200,   /* maximum lines of front matter */
  CONTENT_WORDS = 220, /* maximum words of an item's content */
  BLOCK_BYTES = 4096,  /* maximum bytes of a block */
  NAMES_READ = 64,
};

const char *const item_type_names[ITEM_TYPES] = {"entity", "claim", "decision", "task", "note"};

enum evidence {
  BY_CHECK_BOX,
  BY_HEADING_MARKER,
  BY_MARKER,
  BY_SECTION,
  BY_SMALL_MARKER,
  BY_INNER_MARKER,
  BY_SENTENCE,
  BY_DEFINITION,
  BY_NOTES_SECTION,
  BY_WEAK_DEFINITION,
  BY_NAMED_OFTEN,
  BY_NAMED,
};
static const double confidence_of[] = {
    [BY_CHECK_BOX] = 0.95,    [BY_HEADING_MARKER] = 0.95, [BY_MARKER] = 0.9,      [BY_SECTION] = 0.85,
    [BY_SMALL_MARKER] = 0.8,  [BY_INNER_MARKER] = 0.7,    [BY_SENTENCE] = 0.7,    [BY_DEFINITION] = 0.7,
    [BY_NOTES_SECTION] = 0.6, [BY_WEAK_DEFINITION] = 0.5, [BY_NAMED_OFTEN] = 0.5, [BY_NAMED] = 0.4,
};

/* A section of items of one type, started by a heading or a label. */
struct section {
  bool on;
  enum item_type type;
  size_t level;
  bool label;   /* started by a line such as "Decisions:", which applies to one list or one paragraph */
  bool one;     /* a single item, titled by the heading above */
  size_t taken; /* items found in it */
};

/* A heading that is the title of an item whose text follows. */
struct pending {
  bool on;
  enum item_type type;
  enum evidence by;
  struct str title;
  int64_t line;
};

/* A paragraph or list item. */
struct block {
  struct str text; /* lines joined by LF */
  size_t first;    /* index of the first prose line */
  bool bullet;
};

struct finder {
  struct arena *a;
  enum prose_kind kind;
  struct prose_lines lines;
  size_t i;
  char fence;
  bool listed; /* the last block was a list item: indented text belongs to it and is not code */
  struct str headings[LEVELS];
  struct section section;
  struct pending pending;
  bool detail;               /* below a heading whose item is complete */
  LIST(struct block) blocks; /* searched for names */
  LIST(uint64_t) seen;
  struct items *ret;
};

/* ---- results ---- */

/* Text that identifies an item: the name of an entity, the content of others. */
static struct str identity(struct arena *a, const struct item *item) {
  return text_normal(a, item->type == ITEM_ENTITY ? item->title : item->content);
}

static bool is_new(struct finder *f, uint64_t hash) {
  for (size_t i = 0; i < f->seen.n; i++)
    if (f->seen.v[i] == hash)
      return false;
  list_push(f->a, &f->seen, hash);
  return true;
}

/* Strips the end of an HTML comment, and closing emphasis whose start was part of a marker. */
static struct str clean(struct arena *a, struct str s) {
  s = str_trim(s);
  if (str_ends(s, STR("-->")))
    s = str_trim(str_slice(s, 0, s.n - 3));
  s = text_cut(text_collapse(a, utf8_cut(s, BLOCK_BYTES)), CONTENT_WORDS, ITEM_BYTES);
  size_t pairs = 0;
  for (size_t at = str_find(s, STR("**"), 0); at != SIZE_MAX; at = str_find(s, STR("**"), at + 2))
    pairs++;
  return pairs % 2 && str_ends(s, STR("**")) ? str_trim(str_slice(s, 0, s.n - 2)) : s;
}

/* Adds an item. An absent title is derived from the content. */
static void add(struct finder *f, enum item_type type, enum evidence by, struct str title, struct str content,
                int64_t line) {
  assert(type < ITEM_TYPES && by < ARRAY_LEN(confidence_of) && line > 0);
  if (f->ret->n >= ITEMS_MAX)
    return;
  content = clean(f->a, content);
  title = title.p ? headline_cut(f->a, markup_plain(f->a, title)) : headline_derive(f->a, content);
  if (str_empty(title) || !text_has_letter(content))
    return;
  struct item item = {.type = type, .title = title, .content = content, .line = line, .confidence = confidence_of[by]};
  if (is_new(f, str_hash(str_hash(STR_HASH, str_from(item_type_names[type])), identity(f->a, &item))))
    list_push(f->a, f->ret, item);
}

static int64_t line_at(const struct finder *f, const struct block *b, size_t offset) {
  assert(offset <= b->text.n);
  size_t lines = 0;
  for (size_t i = 0; i < offset; i++)
    lines += b->text.p[i] == '\n';
  assert(b->first + lines < f->lines.n);
  return f->lines.v[b->first + lines].line;
}

/* ---- blocks ---- */

static struct str text_of(const struct finder *f, size_t i) { return f->lines.v[i].text; }

/* Level of a heading underlined on the next line; 0 if line i is not one. */
static size_t underlined_level(const struct finder *f, size_t i) {
  if (f->kind != PROSE_TEXT || i + 1 >= f->lines.n || markup_line(text_of(f, i + 1)).kind != LINE_RULE)
    return 0;
  struct str rule = str_trim(text_of(f, i + 1));
  return rule.p[0] == '=' ? 1 : rule.p[0] == '-' ? 2 : 0;
}

/* Which lines belong to a block. */
enum reach {
  REACH_WRAPPED,   /* wrapped lines */
  REACH_PARAGRAPH, /* all lines of text */
  REACH_NESTED,    /* also lines indented below a list item */
};

static bool is_continued(const struct finder *f, const struct line *first, size_t next, enum reach reach) {
  if (next >= f->lines.n || f->lines.v[next].starts)
    return false;
  struct str text = text_of(f, next);
  struct line line = markup_line(text);
  if (marker_at_start(str_slice(text, line.text, text.n)).form != MARKER_NONE)
    return false;
  if (line.kind == LINE_BULLET)
    return reach == REACH_NESTED && first->kind == LINE_BULLET && !line.task && line.indent > first->indent;
  if (line.kind == LINE_QUOTE)
    return first->kind == LINE_QUOTE;
  if (line.kind != LINE_TEXT || underlined_level(f, next))
    return false;
  bool inside = first->kind == LINE_BULLET && line.indent > first->indent;
  return reach != REACH_WRAPPED || inside || markup_wraps(text_of(f, next - 1), text);
}

/* Reads the block that starts at byte `offset` of the current line, and moves to the line after it. */
static struct block read_block(struct finder *f, const struct line *first, size_t offset, enum reach reach) {
  struct block b = {.first = f->i, .bullet = first->kind == LINE_BULLET};
  struct buf text = BUF(f->a);
  struct str line = text_of(f, f->i);
  buf_add(&text, str_trim(str_slice(line, offset, line.n)));
  for (f->i++; text.n < BLOCK_BYTES && is_continued(f, first, f->i, reach); f->i++) {
    line = text_of(f, f->i);
    buf_addc(&text, '\n');
    buf_add(&text, str_trim(str_slice(line, first->kind == LINE_QUOTE ? markup_line(line).text : 0, line.n)));
  }
  b.text = utf8_cut(buf_str(&text), BLOCK_BYTES);
  return b;
}

static void read_sentence(struct finder *f, const struct block *b, struct str s) {
  assert(s.p >= b->text.p && s.p + s.n <= b->text.p + b->text.n);
  size_t at = (size_t)(s.p - b->text.p), inner;
  struct marker m = marker_inside(s, &inner);
  struct definition d;
  if (m.form != MARKER_NONE)
    add(f, m.type, BY_INNER_MARKER, STR_NONE, str_slice(s, m.rest, s.n), line_at(f, b, at + inner));
  else if (sentence_is_decision(s))
    add(f, ITEM_DECISION, BY_SENTENCE, STR_NONE, s, line_at(f, b, at));
  else if (sentence_is_definition(s, &d))
    add(f, ITEM_ENTITY, d.strong ? BY_DEFINITION : BY_WEAK_DEFINITION, d.name, s, line_at(f, b, at));
}

static void read_sentences(struct finder *f, const struct block *b) {
  struct str s;
  for (size_t pos = 0; text_next_sentence(b->text, &pos, &s);)
    read_sentence(f, b, s);
}

/* ---- sections ---- */

/* "**Term**: definition", "Term - definition". */
static bool take_term(struct finder *f, const struct block *b) {
  static const char *const separators[] = {": ", " - ", " \xe2\x80\x93 ", " \xe2\x80\x94 ", ":** ", ":\n"};
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < ARRAY_LEN(separators); i++) {
    size_t at = str_find(utf8_cut(b->text, HEADLINE_BYTES), str_from(separators[i]), 0);
    best = at < best ? at : best;
  }
  if (best == SIZE_MAX || best == 0 || text_count_words(str_slice(b->text, 0, best)) > 6)
    return false;
  add(f, ITEM_ENTITY, BY_SECTION, str_slice(b->text, 0, best), b->text, line_at(f, b, 0));
  return true;
}

static struct str heading_above(const struct finder *f) {
  for (size_t level = f->section.level; level-- > 1;)
    if (f->headings[level].n)
      return heading_bare(f->headings[level]);
  return STR_NONE;
}

static bool take_in_section(struct finder *f, const struct block *b) {
  struct section *s = &f->section;
  if (s->label && !b->bullet && s->taken > 0) {
    s->on = false;
    return false;
  }
  if (s->type == ITEM_ENTITY)
    return take_term(f, b);
  if ((s->type == ITEM_TASK && !b->bullet && !s->label) || (s->one && !s->label && !b->bullet && s->taken > 0))
    return false;
  struct str title = s->one && !s->label && s->taken == 0 ? heading_above(f) : STR_NONE;
  add(f, s->type, s->type == ITEM_NOTE ? BY_NOTES_SECTION : BY_SECTION, title, b->text, line_at(f, b, 0));
  s->taken++;
  if (s->label && !b->bullet)
    s->on = false;
  return true;
}

/* A heading without text below it is the content of its item. */
static void end_pending(struct finder *f) {
  struct pending *p = &f->pending;
  if (p->on)
    add(f, p->type, p->by, p->title, p->title, p->line);
  p->on = false;
}

static void take_heading(struct finder *f, size_t level, struct str text) {
  assert(level >= 1 && level < LEVELS);
  struct str plain = markup_plain(f->a, text);
  int64_t line = f->lines.v[f->i].line;
  enum item_type type;
  bool one;
  end_pending(f);
  f->detail = f->listed = false;
  f->headings[level] = plain;
  for (size_t i = level + 1; i < LEVELS; i++)
    f->headings[i] = STR_NONE;
  struct section *s = &f->section;
  if (s->on && !s->label && level > s->level) {
    /* A heading in a section of tasks or notes is a group; in other sections it is the title of an item. */
    if (s->type != ITEM_TASK && s->type != ITEM_NOTE)
      f->pending = (struct pending){true, s->type, BY_SECTION, heading_bare(plain), line};
    return;
  }
  *s = (struct section){0};
  struct marker m = marker_at_start(plain);
  if (m.form != MARKER_NONE && m.rest < plain.n)
    f->pending = (struct pending){true, m.type, BY_HEADING_MARKER, str_slice(plain, m.rest, plain.n), line};
  else if (heading_item_type(plain, &type, &one))
    *s = (struct section){.on = true, .type = type, .level = level, .one = one};
}

/* "Decisions:" or "TODO:" without other text on the line. */
static bool take_label(struct finder *f, struct str text, const struct marker *m) {
  enum item_type type = m->type;
  bool one = true, alone = m->form != MARKER_NONE && m->rest >= text.n;
  bool ends = text.n && text.n < HEADLINE_BYTES && strchr(":*_ ", text.p[text.n - 1]) && text.p[text.n - 1];
  if (m->form == MARKER_NONE && ends) {
    struct str plain = markup_plain(f->a, text);
    alone = str_ends(plain, STR(":")) && heading_item_type(plain, &type, &one);
  }
  if (alone)
    f->section = (struct section){.on = true, .type = type, .level = LEVELS, .label = true, .one = one};
  f->i += alone;
  return alone;
}

/* ---- lines ---- */

static void take_block(struct finder *f, const struct line *line) {
  struct str text = text_of(f, f->i);
  int64_t number = f->lines.v[f->i].line;
  struct str rest = str_slice(text, line->text, text.n);
  f->listed = line->kind == LINE_BULLET || (f->listed && line->indent > 0);
  if (line->task) {
    struct block b = read_block(f, line, line->text, REACH_WRAPPED);
    if (!line->done)
      add(f, ITEM_TASK, BY_CHECK_BOX, STR_NONE, b.text, number);
    return;
  }
  struct marker m = marker_at_start(rest);
  if (take_label(f, rest, &m))
    return;
  if (m.form != MARKER_NONE) {
    struct block b = read_block(f, line, line->text + m.rest, REACH_WRAPPED);
    add(f, m.type, m.form == MARKER_FULL ? BY_MARKER : BY_SMALL_MARKER, STR_NONE, b.text, number);
    return;
  }
  bool whole = f->section.on && !f->detail;
  struct block b = read_block(f, line, line->text, whole ? REACH_NESTED : REACH_PARAGRAPH);
  list_push(f->a, &f->blocks, b);
  if (f->pending.on) {
    add(f, f->pending.type, f->pending.by, f->pending.title, b.text, f->pending.line);
    f->pending.on = false;
    f->detail = true;
  } else if (!whole || !take_in_section(f, &b)) {
    read_sentences(f, &b);
  }
}

/* "[name]: address", which is not displayed. */
static bool is_link_definition(struct str s) {
  size_t close = str_starts(s, STR("[")) ? str_find(s, STR("]: "), 0) : SIZE_MAX;
  return close != SIZE_MAX && close < HEADLINE_BYTES && marker_at_start(s).form == MARKER_NONE;
}

/* True for a line that is not prose. Must be called for each line in order, because it tracks fenced code. */
static bool is_skipped(struct finder *f, struct str text, const struct line *line) {
  if (markup_in_fence(text, &f->fence) || line->kind == LINE_BLANK || line->kind == LINE_RULE ||
      line->kind == LINE_TABLE)
    return true;
  if (f->kind != PROSE_TEXT || line->kind != LINE_TEXT)
    return false;
  bool code = line->indent >= 4 && !f->listed;
  return code || is_link_definition(str_trim(text));
}

static void read_next(struct finder *f) {
  const struct prose_line *l = &f->lines.v[f->i];
  struct line line = markup_line(l->text);
  if (l->starts && f->kind == PROSE_COMMENTS) {
    f->fence = 0;
    f->section = (struct section){0};
  }
  size_t level = line.kind == LINE_TEXT ? underlined_level(f, f->i) : 0;
  if (is_skipped(f, l->text, &line)) {
    f->i++;
  } else if (level) {
    take_heading(f, level, l->text);
    f->i += 2;
  } else if (line.kind == LINE_HEADING && f->kind == PROSE_TEXT) {
    struct str text = str_trim(l->text);
    while (level < text.n && text.p[level] == '#')
      level++;
    take_heading(f, level, str_slice(l->text, line.text, l->text.n));
    f->i++;
  } else {
    take_block(f, &line);
  }
}

/* Index of the line after front matter ("---" ... "---"); 0 if there is none. */
static size_t skip_front_matter(const struct prose_lines *lines) {
  if (lines->n == 0 || !str_eq(str_trim(lines->v[0].text), STR("---")))
    return 0;
  for (size_t i = 1; i < lines->n && i < FRONT_LINES; i++)
    if (str_eq(str_trim(lines->v[i].text), STR("---")))
      return i + 1;
  return 0;
}

/* ---- names ---- */

/* Overwrites code and links; offsets stay the same. A line break ends a name: a line may begin with a capital letter.
 */
static struct str prose_of(struct arena *a, struct str s) {
  char *p = arena_cstr(a, s);
  bool code = false;
  for (size_t i = 0; i < s.n; i++) {
    bool tick = p[i] == '`';
    code ^= tick;
    if (!code && i + 2 < s.n && memcmp(p + i, "://", 3) == 0)
      for (; i < s.n && !ascii_space(p[i]) && p[i] != ')'; i++)
        p[i] = 'x';
    if (i < s.n && (tick || code))
      p[i] = 'x';
  }
  return (struct str){p, s.n};
}

/* Legal texts contain many names that are unrelated to the project. */
static bool is_legal(struct str s) {
  return str_find(s, STR("Copyright"), 0) != SIZE_MAX || str_find(s, STR("License"), 0) != SIZE_MAX ||
         str_find(s, STR("SPDX"), 0) != SIZE_MAX;
}

/* Quick check: true if two words in a row may be capitalized. Rejects most texts. */
static bool may_have_names(struct str s) {
  bool before = false;
  for (size_t i = 0; i < s.n; i++) {
    if (i > 0 && !ascii_space(s.p[i - 1]))
      continue;
    while (i + 1 < s.n && strchr("([{<\"'`*_", s.p[i]) && s.p[i])
      i++;
    bool now = ascii_upper(s.p[i]) || (unsigned char)s.p[i] >= 0x80;
    if (now && before)
      return true;
    before = now || (before && ascii_space(s.p[i]));
  }
  return false;
}

/* The sentence of the block that contains offset `at`. */
static struct str sentence_with(const struct block *b, size_t at) {
  struct str s = b->text;
  for (size_t pos = 0; text_next_sentence(b->text, &pos, &s);)
    if (at < (size_t)(s.p - b->text.p) + s.n)
      return s;
  return b->text;
}

static void add_name(struct finder *f, struct str name, const struct str *prose) {
  size_t count = 0, first = 0, first_at = 0;
  for (size_t i = 0; i < f->blocks.n; i++)
    for (size_t at = str_find(prose[i], name, 0); at != SIZE_MAX; at = str_find(prose[i], name, at + name.n))
      if (count++ == 0) {
        first = i;
        first_at = at;
      }
  /* In comments, a single mention does not count: they mention types, functions and people in passing. */
  if (count == 0 || (count == 1 && f->kind == PROSE_COMMENTS))
    return;
  const struct block *b = &f->blocks.v[first];
  add(f, ITEM_ENTITY, count > 2 ? BY_NAMED_OFTEN : BY_NAMED, name, sentence_with(b, first_at), line_at(f, b, first_at));
}

static void find_names(struct finder *f) {
  struct subjects *subjects = subject_new(f->a);
  struct str *prose = arena_array(f->a, struct str, f->blocks.n + 1);
  struct strs names = {0};
  for (size_t i = 0; i < f->blocks.n; i++) {
    struct str text = f->blocks.v[i].text;
    prose[i] = !may_have_names(text) || is_legal(text) ? STR("") : prose_of(f->a, text);
    subject_read(subjects, prose[i]);
  }
  subject_list(f->a, subjects, NAMES_READ, &names);
  size_t taken = 0;
  for (size_t i = 0; i < names.n && taken < ITEM_NAMES; i++) {
    size_t before = f->ret->n;
    if (memchr(names.v[i].p, ' ', names.v[i].n))
      add_name(f, names.v[i], prose);
    taken += f->ret->n - before;
  }
}

/* ---- extraction ---- */

/* Stable insertion sort: only names and headings are out of order. */
static void sort_by_line(struct items *list) {
  for (size_t i = 1; i < list->n; i++) {
    struct item item = list->v[i];
    size_t k = i;
    for (; k > 0 && list->v[k - 1].line > item.line; k--)
      list->v[k] = list->v[k - 1];
    list->v[k] = item;
  }
}

void items_find(struct arena *a, struct str file, struct str text, struct items *ret) {
  struct finder f = {.a = a, .ret = ret};
  *ret = (struct items){0};
  f.kind = comments_read(a, file, text, &f.lines);
  if (f.kind == PROSE_NONE)
    return;
  for (f.i = f.kind == PROSE_TEXT ? skip_front_matter(&f.lines) : 0; f.i < f.lines.n;)
    read_next(&f);
  end_pending(&f);
  find_names(&f);
  sort_by_line(ret);
  assert(ret->n <= ITEMS_MAX);
}

void item_id(struct arena *a, struct str file, const struct item *item, char out[ITEM_ID_SIZE]) {
  assert(item->type < ITEM_TYPES);
  char hex[HASH_TEXT_SIZE];
  struct buf b = BUF(a);
  buf_adds(&b, item_type_names[item->type]);
  buf_addc(&b, '\0');
  buf_add(&b, file);
  buf_addc(&b, '\0');
  buf_add(&b, identity(a, item));
  hash_text(buf_str(&b), hex);
  memcpy(out, "item_", 5);
  memcpy(out + 5, hex, ITEM_ID_SIZE - 6);
  out[ITEM_ID_SIZE - 1] = '\0';
}
