/* mirror_parse.c: parser of MEMORY.md: headings, bullets with anchors and notes, text of the user. */
#include <assert.h>

#include "core/files/mirror_anchor.h"

enum { INDENT_MAX = 3, LEVELS = 6 };

/* ---- lines ---- */

struct reader {
  struct arena *a;
  struct str text;
  size_t pos, line;
  struct mirror_page *page;
  int sections[LEVELS + 1]; /* section of the current heading of each level */
  int level;                /* of the innermost heading */
  bool prose;               /* the last block is prose and may continue */
};

/* The line at `pos` without its line break. *ret_next is the start of the next line. */
static struct str line_at(const struct reader *r, size_t pos, size_t *ret_next) {
  assert(pos <= r->text.n);
  size_t end = pos;
  while (end < r->text.n && r->text.p[end] != '\n')
    end++;
  *ret_next = end < r->text.n ? end + 1 : end;
  struct str line = str_slice(r->text, pos, end);
  if (line.n && line.p[line.n - 1] == '\r')
    line.n--;
  return line;
}

static size_t indent_of(struct str line) {
  size_t n = 0;
  while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
    n++;
  return n;
}

static bool is_blank(struct str line) { return str_empty(str_trim(line)); }

/* Length of "- ", "* ", "+ ", "1. " or "1) ", with the blanks around it; 0 if the line is not a bullet. */
static size_t prefix_of(struct str line) {
  size_t i = indent_of(line), from = i;
  if (i > INDENT_MAX || i >= line.n)
    return 0;
  if (line.p[i] == '-' || line.p[i] == '*' || line.p[i] == '+') {
    i++;
  } else {
    while (i < line.n && i - from < 9 && ascii_digit(line.p[i]))
      i++;
    if (i == from || i >= line.n || (line.p[i] != '.' && line.p[i] != ')'))
      return 0;
    i++;
  }
  size_t text = i;
  while (text < line.n && (line.p[text] == ' ' || line.p[text] == '\t'))
    text++;
  return text > i && text < line.n ? text : 0;
}

/* "---", "* * *": a horizontal rule, not a bullet. */
static bool is_rule(struct str line) {
  line = str_trim(line);
  size_t n = 0;
  for (size_t i = 0; i < line.n; i++) {
    if (line.p[i] != line.p[0] && !ascii_space(line.p[i]))
      return false;
    n += line.p[i] == line.p[0];
  }
  return n >= 3 && (line.p[0] == '-' || line.p[0] == '*' || line.p[0] == '_');
}

static size_t bullet_at(struct str line) { return is_rule(line) ? 0 : prefix_of(line); }

static int heading_level(struct str line) {
  int n = 0;
  while ((size_t)n < line.n && line.p[n] == '#')
    n++;
  return n >= 1 && n <= LEVELS && ((size_t)n == line.n || ascii_space(line.p[n])) ? n : 0;
}

/* Length of a code fence, three or more backticks or tildes; 0 if the line is not one. */
static size_t fence_of(struct str line) {
  struct str s = str_trim(line);
  size_t n = 0;
  while (n < s.n && s.p[n] == s.p[0] && (s.p[0] == '`' || s.p[0] == '~'))
    n++;
  return n >= 3 && indent_of(line) <= INDENT_MAX ? n : 0;
}

static bool is_left_out_notice(struct str line) { return str_ends(str_trim(line), STR(ANCHOR_LEFT_OUT)); }

/* A bullet without text. */
static bool is_bare_bullet(struct str line) {
  line = str_trim(line);
  return str_is(line, "-") || str_is(line, "*") || str_is(line, "+");
}

/* A lazy continuation line of Markdown: it continues the paragraph of a bullet without indentation. */
static bool is_lazy(struct str line) {
  return !is_blank(line) && !heading_level(line) && !fence_of(line) && !bullet_at(line) && !is_rule(line) &&
         !is_left_out_notice(line) && !is_bare_bullet(line) && !strchr("<>|=", line.p[indent_of(line)]);
}

/* ---- blocks ---- */

static struct mirror_block *add_block(struct reader *r, enum mirror_kind kind, size_t to) {
  assert(r->pos < to && to <= r->text.n);
  struct mirror_block b = {
      .kind = kind, .raw = str_slice(r->text, r->pos, to), .line = r->line, .section = r->sections[r->level]};
  for (size_t i = r->pos; i < to; i++)
    r->line += r->text.p[i] == '\n';
  r->pos = to;
  struct mirror_block *last = r->page->blocks.n ? &r->page->blocks.v[r->page->blocks.n - 1] : NULL;
  if (kind == MIRROR_PROSE && last && r->prose) {
    last->raw.n += b.raw.n;
    return last;
  }
  r->prose = kind == MIRROR_PROSE;
  list_push(r->a, &r->page->blocks, b);
  return &r->page->blocks.v[r->page->blocks.n - 1];
}

/* Skips text that is generated on every write. */
static void skip_to(struct reader *r, size_t to) {
  assert(r->pos < to && to <= r->text.n);
  for (; r->pos < to; r->pos++)
    r->line += r->text.p[r->pos] == '\n';
  r->prose = false;
}

static void read_heading(struct reader *r, struct str line, int level, size_t next) {
  assert(level >= 1 && level <= LEVELS);
  struct str title = str_trim(str_slice(line, (size_t)level, line.n));
  while (title.n && title.p[title.n - 1] == '#')
    title.n--;
  int section = mirror_section_find(title), above = MIRROR_SECTION_NONE;
  for (int i = level - 1; i > 0 && above == MIRROR_SECTION_NONE; i--)
    above = r->sections[i];
  bool own = section != MIRROR_SECTION_NONE;
  r->sections[level] = own ? section : above;
  for (int i = level + 1; i <= LEVELS; i++)
    r->sections[i] = MIRROR_SECTION_NONE;
  r->level = level;
  struct mirror_block *b = add_block(r, MIRROR_HEADING, next);
  b->level = level;
  b->own = own;
}

/* End of the bullet that starts here. Blank lines belong to it if an indented line follows. */
static size_t bullet_end(const struct reader *r, size_t next) {
  size_t end = next;
  bool blank = false;
  while (next < r->text.n) {
    size_t after;
    struct str line = line_at(r, next, &after);
    bool indented = indent_of(line) >= 2 || (line.n && line.p[0] == '\t');
    if (is_blank(line)) {
      blank = true;
    } else if ((indented && !is_left_out_notice(line)) || (!blank && is_lazy(line))) {
      end = after;
      blank = false;
    } else {
      break;
    }
    next = after;
  }
  return end;
}

bool mirror_is_continuation(struct str text) {
  bool blank = false;
  struct str line;
  while (str_next(&text, '\n', &line)) {
    if (!is_blank(line))
      return ((indent_of(line) >= 2 || line.p[0] == '\t') && !is_left_out_notice(line)) || (!blank && is_lazy(line));
    blank = true;
  }
  return false;
}

static size_t indent_to_cut(struct str line, size_t prefix) {
  size_t indent = indent_of(line);
  if (line.n && line.p[0] == '\t')
    return 1;
  return indent > prefix ? prefix : indent;
}

/* Text of a bullet, without the indentation of its lines. */
static struct str bullet_text(const struct reader *r, size_t end, size_t prefix) {
  struct buf b = BUF(r->a);
  for (size_t pos = r->pos, next; pos < end; pos = next) {
    struct str line = line_at(r, pos, &next);
    if (pos != r->pos)
      buf_addc(&b, '\n');
    buf_add(&b, str_slice(line, pos == r->pos ? prefix : indent_to_cut(line, prefix), line.n));
  }
  return buf_str(&b);
}

/* Reads "[ ] " or "[x] " before the text. Outside of task sections it is part of the text. */
static void take_box(struct mirror_block *b) {
  const struct mem_type *t = mirror_section_type(b->section);
  if ((t && t->kind != KIND_TASK) || b->text.n < 4 || b->text.p[0] != '[' || b->text.p[2] != ']' || b->text.p[3] != ' ')
    return;
  char c = ascii_lower(b->text.p[1]);
  if (c != ' ' && c != 'x')
    return;
  b->box = c;
  b->text = str_trim(str_slice(b->text, 4, b->text.n));
}

static void read_bullet(struct reader *r, struct str line, size_t prefix, size_t next) {
  size_t end = bullet_end(r, next);
  struct str text = bullet_text(r, end, prefix);
  struct mirror_block *b = add_block(r, MIRROR_BULLET, end);
  b->prefix = str_slice(line, 0, prefix);
  bool cut_off = end == r->text.n && r->text.p[end - 1] != '\n';
  size_t least = !cut_off ? 0 : r->page->ours ? 1 : 2; /* a hand-written text may end in '<' */
  b->text =
      mirror_canonical(r->a, mirror_unescape(r->a, mirror_canonical(r->a, mirror_strip_anchors(r->a, b, text, least))));
  take_box(b);
  bool anchored = b->uid.p || b->anchor_id;
  r->page->ours |= anchored;
  if (str_empty(b->text) && !anchored)
    b->kind = MIRROR_PROSE;
}

/* ---- skipped blocks ---- */

/* End of a fenced code block, or of the text. */
static size_t fence_end(const struct reader *r, struct str line, size_t next) {
  size_t n = fence_of(line);
  char c = str_trim(line).p[0];
  while (next < r->text.n) {
    struct str inner = line_at(r, next, &next), s = str_trim(inner);
    if (fence_of(inner) >= n && s.p[0] == c && fence_of(inner) == s.n)
      break;
  }
  return next;
}

/* End of the line on which a comment of the user ends. */
static size_t comment_end(const struct reader *r) {
  size_t end = str_find(r->text, STR(ANCHOR_END), r->pos), next;
  if (end == SIZE_MAX)
    return r->text.n;
  line_at(r, end, &next);
  return next;
}

/* End of front matter at the start of the text; 0 if there is none. */
static size_t front_end(const struct reader *r) {
  size_t next;
  if (r->pos != 0 || !str_is(line_at(r, 0, &next), "---"))
    return 0;
  while (next < r->text.n) {
    struct str line = line_at(r, next, &next);
    if (str_is(line, "---") || str_is(line, "..."))
      return next;
  }
  return 0;
}

/* ---- list of shown memories ---- */

static bool read_list(struct reader *r, struct str line) {
  static const struct str begin = STR_INIT(ANCHOR_BEGIN ANCHOR_PAGE " ");
  if (!str_starts(line, begin))
    return false;
  size_t from = r->pos + begin.n, end = str_find(r->text, STR(ANCHOR_END), from), next;
  if (end == SIZE_MAX)
    return false;
  struct str inside = str_slice(r->text, from, end);
  for (size_t i = 0; i < inside.n;) {
    size_t start = i;
    while (i < inside.n && !ascii_space(inside.p[i]))
      i++;
    struct str word = str_slice(inside, start, i);
    size_t dot = str_find(word, STR("."), 0);
    struct mirror_listed item;
    if (word.n && !r->page->owner.p)
      r->page->owner = word;
    else if (dot != SIZE_MAX && str_int64(str_slice(word, 0, dot), &item.id)) {
      item.tag = str_slice(word, dot + 1, word.n);
      list_push(r->a, &r->page->listed, item);
    }
    while (i < inside.n && ascii_space(inside.p[i]))
      i++;
  }
  r->page->ours = true;
  /* Text after the comment on the same line belongs to the user. */
  line_at(r, end, &next);
  size_t after = end + sizeof(ANCHOR_END) - 1;
  skip_to(r, is_blank(str_slice(r->text, after, next)) ? next : after);
  return true;
}

void mirror_parse(struct arena *a, struct str text, struct mirror_page *ret_page) {
  struct reader r = {.a = a, .text = text, .line = 1, .page = ret_page};
  *ret_page = (struct mirror_page){0};
  for (int i = 0; i <= LEVELS; i++)
    r.sections[i] = MIRROR_SECTION_NONE;
  size_t front = front_end(&r);
  if (front)
    add_block(&r, MIRROR_PROSE, front);
  while (r.pos < text.n) {
    size_t next;
    struct str line = line_at(&r, r.pos, &next);
    int level = heading_level(line);
    size_t prefix = bullet_at(line);
    if (read_list(&r, line))
      continue;
    ret_page->ours |= str_starts(line, STR(ANCHOR_HEADER));
    if (is_left_out_notice(line))
      skip_to(&r, next);
    else if (level)
      read_heading(&r, line, level, next);
    else if (prefix)
      read_bullet(&r, line, prefix, next);
    else if (fence_of(line))
      add_block(&r, MIRROR_PROSE, fence_end(&r, line, next));
    else if (str_starts(str_trim(line), STR("<!--")))
      add_block(&r, MIRROR_PROSE, comment_end(&r));
    else
      add_block(&r, MIRROR_PROSE, next);
  }
}

bool mirror_is_page(struct str text) { return str_find(text, STR(ANCHOR_BEGIN ANCHOR_PAGE " "), 0) != SIZE_MAX; }
