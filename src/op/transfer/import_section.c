/* import_section.c: splits a Markdown text into sections: front matter, headings, parts of long sections. Pure. */
#include <assert.h>
#include <cmark.h>

#include "base/utf8.h"
#include "core/memory/headline.h"
#include "core/text/text.h"
#include "op/transfer/import.h"

enum { LEVELS = 6, FRONT_BYTES = 64 * 1024 };

/* ---- front matter ---- */

static struct str unquoted(struct str s) {
  s = str_trim(s);
  if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
    s = str_trim(str_slice(s, 1, s.n - 1));
  return s;
}

static void add_tag(struct arena *a, struct front_matter *front, struct str tag) {
  tag = unquoted(tag);
  while (tag.n && tag.p[0] == '#')
    tag = str_slice(tag, 1, tag.n);
  if (tag.n && tag.n <= LABEL_BYTES && !strs_has(&front->tags, tag))
    strs_push(a, &front->tags, tag);
}

/* "[a, b]" or "a, b". */
static void add_tags(struct arena *a, struct front_matter *front, struct str value) {
  struct str part;
  if (value.n >= 2 && value.p[0] == '[' && value.p[value.n - 1] == ']')
    value = str_slice(value, 1, value.n - 1);
  while (str_next(&value, ',', &part))
    add_tag(a, front, part);
}

static void set_value(struct arena *a, struct front_matter *front, struct str key, struct str value) {
  struct error ignored;
  struct str text = text_collapse(a, unquoted(value));
  if (text.n == 0)
    return;
  if (str_ieq(key, STR("title")) && text_has_letter(text) && text.n <= LABEL_BYTES)
    front->title = text;
  else if (str_ieq(key, STR("type")) && type_find(text))
    front->type = text;
  else if (str_ieq(key, STR("project")) && gate_check_project(text, &ignored) == STATUS_OK)
    front->project = text;
}

static bool is_tags(struct str key) { return str_ieq(key, STR("tags")) || str_ieq(key, STR("tag")); }

/* *in_tags: in a list that began with "tags:". */
static void read_front_line(struct arena *a, struct front_matter *front, struct str line, bool *in_tags) {
  struct str text = str_trim(line);
  if (str_empty(text) || text.p[0] == '#')
    return;
  if (text.p[0] == '-' || ascii_space(line.p[0])) {
    if (*in_tags && text.p[0] == '-')
      add_tag(a, front, str_slice(text, 1, text.n));
    return;
  }
  size_t colon = str_find(text, STR(":"), 0);
  *in_tags = false;
  if (colon == SIZE_MAX)
    return;
  struct str key = str_trim(str_slice(text, 0, colon)), value = str_trim(str_slice(text, colon + 1, text.n));
  *in_tags = is_tags(key) && str_empty(value);
  if (is_tags(key))
    add_tags(a, front, value);
  else
    set_value(a, front, key, value);
}

static bool is_fence(struct str line, bool closing) {
  struct str text = str_trim(line);
  return (str_is(text, "---") || (closing && str_is(text, "..."))) && line.p[0] == text.p[0];
}

void markdown_front(struct arena *a, struct str text, struct front_matter *ret_front) {
  struct front_matter front = {0};
  bool in_tags = false;
  size_t begin = str_starts(text, STR("\xef\xbb\xbf")) ? 3 : 0;
  struct str rest = str_slice(text, begin, text.n), line;
  *ret_front = (struct front_matter){.end = begin};
  if (!str_line(&rest, &line) || !is_fence(line, false))
    return;
  while (str_line(&rest, &line) && (size_t)(line.p - text.p) < FRONT_BYTES) {
    if (is_fence(line, true)) {
      front.end = text.n - rest.n;
      *ret_front = front;
      return;
    }
    read_front_line(a, &front, line, &in_tags);
  }
}

/* ---- blocks ---- */

struct block {
  size_t start; /* offset in the text */
  size_t below; /* offset of the text below a heading */
  int level;    /* of a heading, 1 to 6; 0 for other blocks */
  struct str title;
};

struct splitter {
  struct arena *a;
  struct str text;
  const struct front_matter *front;
  LIST(size_t) lines; /* offset of each line after the front matter */
  LIST(struct block) blocks;
  struct str titles[1 + LEVELS]; /* title of the file, and current heading of each level */
  struct sections *out;
  size_t counted, line; /* offset up to which lines were counted, and the line there */
};

/* Lines as cmark counts them: they end with CR, LF or CR LF. */
static void find_lines(struct splitter *sp) {
  size_t i = sp->front->end;
  list_push(sp->a, &sp->lines, i);
  while (i < sp->text.n) {
    char c = sp->text.p[i++];
    if (c == '\r' && i < sp->text.n && sp->text.p[i] == '\n')
      i++;
    if ((c == '\n' || c == '\r') && i < sp->text.n)
      list_push(sp->a, &sp->lines, i);
  }
}

static size_t line_offset(const struct splitter *sp, int number) {
  size_t i = number > 0 ? (size_t)number - 1 : 0;
  return i < sp->lines.n ? sp->lines.v[i] : sp->text.n;
}

/* The next node below `root` in document order. Not recursive: nesting has no limit. */
static cmark_node *next_node(cmark_node *root, cmark_node *node) {
  cmark_node *next = cmark_node_first_child(node);
  while (!next && node != root) {
    next = cmark_node_next(node);
    node = cmark_node_parent(node);
  }
  return next;
}

static struct str plain_title(struct arena *a, cmark_node *heading) {
  struct buf b = BUF(a);
  for (cmark_node *n = next_node(heading, heading); n; n = next_node(heading, n)) {
    cmark_node_type type = cmark_node_get_type(n);
    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
      buf_adds(&b, cmark_node_get_literal(n));
    else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
      buf_addc(&b, ' ');
  }
  return text_collapse(a, buf_str(&b));
}

static bool is_atx_heading(struct str line) {
  size_t i = 0, hashes = 0;
  while (i < line.n && i < 3 && line.p[i] == ' ')
    i++;
  for (; i < line.n && line.p[i] == '#'; i++)
    hashes++;
  return hashes >= 1 && hashes <= LEVELS && (i == line.n || ascii_space(line.p[i]));
}

static bool is_underline(struct str line) {
  line = str_trim(line);
  for (size_t i = 0; i < line.n; i++)
    if ((line.p[i] != '=' && line.p[i] != '-') || line.p[i] != line.p[0])
      return false;
  return line.n > 0;
}

static struct str line_at(const struct splitter *sp, int number) {
  return str_slice(sp->text, line_offset(sp, number), line_offset(sp, number + 1));
}

/* Offset of the text below a heading. cmark's end line is not reliable for underlined headings. */
static size_t below_heading(const struct splitter *sp, int number) {
  int last = number;
  if (!is_atx_heading(line_at(sp, number)))
    do
      last++;
    while ((size_t)last < sp->lines.n && !is_underline(line_at(sp, last)));
  return line_offset(sp, last + 1);
}

static void free_document(void *p) { cmark_node_free(p); }

static void find_blocks(struct splitter *sp) {
  struct str text = str_slice(sp->text, sp->front->end, sp->text.n);
  cmark_node *document = cmark_parse_document(text.n ? text.p : "", text.n, CMARK_OPT_DEFAULT);
  arena_defer(sp->a, free_document, document);
  size_t last = sp->front->end;
  for (cmark_node *n = cmark_node_first_child(document); n; n = cmark_node_next(n)) {
    struct block b = {.start = line_offset(sp, cmark_node_get_start_line(n))};
    if (b.start < last)
      b.start = last;
    if (cmark_node_get_type(n) == CMARK_NODE_HEADING) {
      b.level = cmark_node_get_heading_level(n);
      b.title = plain_title(sp->a, n);
      b.below = below_heading(sp, cmark_node_get_start_line(n));
      if (b.below < b.start)
        b.below = b.start;
    }
    last = b.level ? b.below : b.start;
    list_push(sp->a, &sp->blocks, b);
  }
}

/* ---- parts of a section ---- */

enum unit { UNIT_BLOCK, UNIT_LINE, UNIT_SENTENCE, UNIT_WORDS };

struct part {
  size_t from, to;
};
struct parts {
  struct part *v;
  size_t n, cap;
};

static size_t next_block(const struct splitter *sp, size_t pos) {
  for (size_t i = 0; i < sp->blocks.n; i++)
    if (sp->blocks.v[i].start > pos && !sp->blocks.v[i].level)
      return sp->blocks.v[i].start;
  return sp->text.n;
}

static size_t next_line(const struct splitter *sp, size_t pos) {
  size_t low = 0, high = sp->lines.n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (sp->lines.v[mid] <= pos)
      low = mid + 1;
    else
      high = mid;
  }
  return low < sp->lines.n ? sp->lines.v[low] : sp->text.n;
}

static size_t unit_end(const struct splitter *sp, enum unit unit, size_t pos, size_t to) {
  assert(pos < to && to <= sp->text.n);
  size_t end = pos;
  struct str rest = str_slice(sp->text, pos, to), sentence;
  switch (unit) {
  case UNIT_BLOCK:
    end = next_block(sp, pos);
    break;
  case UNIT_LINE:
    end = next_line(sp, pos);
    break;
  case UNIT_SENTENCE: {
    size_t at = 0;
    end = text_next_sentence(rest, &at, &sentence) ? pos + at : to;
    break;
  }
  case UNIT_WORDS:
    end = pos + text_cut(rest, BODY_WORDS, rest.n).n;
    break;
  }
  return end > pos && end < to ? end : to;
}

/* Packs units into parts of at most BODY_WORDS words; splits a longer unit into smaller ones. */
static void pack(struct splitter *sp, enum unit unit, size_t from, size_t to, struct parts *parts) {
  size_t start = from, words = 0;
  for (size_t pos = from, end; pos < to; pos = end) {
    end = unit_end(sp, unit, pos, to);
    size_t more = text_count_words(str_slice(sp->text, pos, end));
    if (words + more > BODY_WORDS && start < pos) {
      list_push(sp->a, parts, (struct part){start, pos});
      start = pos;
      words = 0;
    }
    words += more;
    if (more > BODY_WORDS && unit < UNIT_WORDS) {
      pack(sp, unit + 1, pos, end, parts);
      start = end;
      words = 0;
    }
  }
  if (start < to)
    list_push(sp->a, parts, (struct part){start, to});
}

/* ---- sections ---- */

static bool has_word(struct str s) {
  for (size_t pos = 0; pos < s.n;)
    if (utf8_is_alnum(utf8_next(s, &pos)))
      return true;
  return false;
}

/* Drops blank lines at both ends; the first line keeps its indentation. */
static struct str trim_lines(struct str s) {
  struct str tight = str_trim(s);
  if (str_empty(tight))
    return tight;
  size_t from = (size_t)(tight.p - s.p);
  while (from > 0 && s.p[from - 1] != '\n' && s.p[from - 1] != '\r')
    from--;
  return str_slice(s, from, (size_t)(tight.p - s.p) + tight.n);
}

/* "Guide: Install: Linux", starting with the title of level `from`. */
static struct str join_titles(const struct splitter *sp, size_t from) {
  struct buf b = BUF(sp->a);
  for (size_t i = from; i <= LEVELS; i++)
    if (sp->titles[i].n)
      buf_addf(&b, "%s%.*s", b.n ? ": " : "", STR_ARG(sp->titles[i]));
  return buf_str(&b);
}

static struct str find_topic(const struct splitter *sp) {
  for (size_t i = 0; i <= LEVELS; i++)
    if (sp->titles[i].n)
      return text_has_letter(sp->titles[i]) && sp->titles[i].n <= LABEL_BYTES ? sp->titles[i] : STR_NONE;
  return STR_NONE;
}

static bool fits(struct str headline) {
  return text_has_letter(headline) && text_count_words(headline) <= HEADLINE_WORDS && headline.n <= HEADLINE_BYTES;
}

/* The path of headings, without the outer ones if it is too long; else derived from the text. */
static struct str make_headline(const struct splitter *sp, struct str body, size_t part, size_t parts) {
  struct str suffix = parts > 1 ? arena_printf(sp->a, " (%zu/%zu)", part, parts) : STR("");
  struct str last = STR("");
  for (size_t i = 0; i <= LEVELS; i++) {
    if (str_empty(sp->titles[i]))
      continue;
    last = sp->titles[i];
    struct str path = join_titles(sp, i);
    struct str headline = arena_printf(sp->a, "%.*s%.*s", STR_ARG(path), STR_ARG(suffix));
    if (fits(headline))
      return headline;
  }
  struct str cut = headline_cut(sp->a, last);
  return cut.n ? cut : headline_derive(sp->a, body);
}

static size_t line_of(struct splitter *sp, size_t offset) {
  assert(sp->counted <= offset && offset <= sp->text.n);
  for (; sp->counted < offset; sp->counted++) {
    char c = sp->text.p[sp->counted];
    sp->line += c == '\n' || (c == '\r' && (sp->counted + 1 == sp->text.n || sp->text.p[sp->counted + 1] != '\n'));
  }
  return sp->line;
}

static void add_section(struct splitter *sp, size_t from, size_t below, size_t to) {
  assert(from <= below && below <= to && to <= sp->text.n);
  struct parts parts = {0};
  struct str path = join_titles(sp, 0);
  if (!has_word(str_slice(sp->text, below, to)))
    return;
  if (text_count_words(str_slice(sp->text, from, to)) <= BODY_WORDS)
    list_push(sp->a, &parts, (struct part){from, to});
  else
    pack(sp, UNIT_BLOCK, from, to, &parts);
  for (size_t i = 0; i < parts.n; i++) {
    struct str body = trim_lines(str_slice(sp->text, parts.v[i].from, parts.v[i].to));
    struct str headline = make_headline(sp, body, i + 1, parts.n);
    if (has_word(body) && headline.n)
      list_push(sp->a, sp->out,
                (struct section){.headline = headline,
                                 .path = path,
                                 .topic = find_topic(sp),
                                 .body = body,
                                 .line = line_of(sp, (size_t)(body.p - sp->text.p))});
  }
}

/* Sets the current heading of its level and clears those of the levels below. */
static void enter_heading(struct splitter *sp, const struct block *b) {
  assert(b->level >= 1 && b->level <= LEVELS);
  sp->titles[b->level] = b->title;
  for (int i = b->level + 1; i <= LEVELS; i++)
    sp->titles[i] = STR("");
  /* The title of the front matter is often repeated as the first heading. */
  sp->titles[0] = str_ieq(sp->titles[1], sp->front->title) ? STR("") : sp->front->title;
}

void markdown_split(struct arena *a, struct str text, const struct front_matter *front, struct sections *ret) {
  struct splitter sp = {.a = a, .text = text, .front = front, .out = ret, .line = 1};
  sp.titles[0] = front->title;
  size_t from = front->end, below = from;
  find_lines(&sp);
  find_blocks(&sp);
  for (size_t i = 0; i < sp.blocks.n; i++) {
    const struct block *b = &sp.blocks.v[i];
    if (!b->level)
      continue;
    add_section(&sp, from, below, b->start);
    enter_heading(&sp, b);
    from = b->start;
    below = b->below;
  }
  add_section(&sp, from, below, text.n);
}
