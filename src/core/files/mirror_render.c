/* mirror_render.c: renderer of MEMORY.md: the text of the user and the memories that fit. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "core/files/mirror_anchor.h"

enum { WHY_BYTES = 600, NOTICE_CHARS = 750 };

struct place {
  int64_t id;
  size_t entry;
};

struct writer {
  struct arena *a;
  const struct mirror_page *page;
  const struct mirror_entries *entries;
  const struct mirror_options *options;
  struct place *by_id; /* all entries, ordered by id */
  bool *chosen;        /* per entry: it fits */
  bool *done;          /* per entry: it was written */
  size_t *of_block;    /* per block: index of its entry; SIZE_MAX if none */
  /* Per section, for blockers of agents and for all others: block before which new bullets are inserted; SIZE_MAX if
   * the section has no heading. */
  size_t *insert_at[2];
  bool after_bullet; /* only blank lines were written since the last bullet */
  struct buf out;
  struct buf list; /* shown memories, for the last line */
};

/* ---- texts ---- */

/* Adds a bullet. The anchor ends its first line, where it cannot be inside a code block. */
static void add_text(struct buf *b, struct str prefix, struct str text, struct str anchor) {
  struct str line;
  for (bool first = true; first || text.n; first = false) {
    if (!str_next(&text, '\n', &line))
      line = STR("");
    if (first)
      buf_add(b, prefix);
    for (size_t i = 0; !first && line.n && i < prefix.n; i++)
      buf_addc(b, ' ');
    buf_add(b, line);
    if (first)
      buf_add(b, anchor);
    buf_addc(b, '\n');
  }
}

static struct str anchor_of(struct arena *a, int64_t id, struct str code) {
  return arena_printf(a, " %.*s", STR_ARG(mirror_anchor(a, id, code)));
}

static struct str heading_of(struct arena *a, int section) {
  return arena_printf(a, "\n## %s\n\n", mirror_section_title(section));
}

static struct str entry_text(const struct writer *w, const struct mirror_entry *e, struct str prefix) {
  struct buf b = BUF(w->a);
  struct str author = e->author.p ? mirror_author(w->a, e->author) : STR("");
  if (w->options->plain) {
    add_text(&b, prefix, e->text,
             arena_printf(w->a, " [%lld]%s%.*s", (long long)e->id, author.n ? " " : "", STR_ARG(author)));
    return buf_str(&b);
  }
  struct str text = mirror_escape(w->a, e->text), anchor = mirror_code(w->a, e->uid, e->text);
  anchor = anchor_of(w->a, e->id, anchor);
  if (author.n)
    anchor = arena_printf(w->a, " " ANCHOR_BEGIN ANCHOR_BY " " ANCHOR_END "%.*s%.*s", STR_ARG(author), STR_ARG(anchor));
  if (e->task)
    text = arena_printf(w->a, "[ ] %.*s", STR_ARG(text));
  add_text(&b, prefix, text, anchor);
  return buf_str(&b);
}

/* Adds the reason on one line, without "--", which would end the comment. */
static void add_why(struct buf *b, struct str why) {
  why = utf8_cut(why, WHY_BYTES);
  for (size_t i = 0; i < why.n; i++) {
    if (i && why.p[i] == '-' && why.p[i - 1] == '-')
      buf_addc(b, ' ');
    buf_addc(b, (unsigned char)why.p[i] < ' ' ? ' ' : why.p[i]);
  }
}

/* A bullet that was not stored, as the user wrote it, with its note. */
static struct str held_text(const struct writer *w, const struct mirror_block *b) {
  struct buf out = BUF(w->a);
  struct str text = mirror_escape(w->a, b->text);
  if (b->box)
    text = arena_printf(w->a, "[%c] %.*s", b->box, STR_ARG(text));
  struct str anchor = STR("");
  if (b->anchor_id)
    anchor = anchor_of(w->a, b->anchor_id, b->anchor_code);
  else if (b->uid.p) /* of a purged memory, which has no id */
    anchor = arena_printf(w->a, " %.*s", STR_ARG(mirror_anchor_of_0_1_0(w->a, b->uid, b->hash)));
  add_text(&out, b->prefix, text, anchor);
  const char *word = mirror_note_word(b->note);
  if (word) {
    for (size_t i = 0; i < b->prefix.n; i++)
      buf_addc(&out, ' ');
    buf_addf(&out, ANCHOR_BEGIN "%s %.*s ", word, STR_ARG(b->note_hash));
    add_why(&out, b->note_text);
    buf_adds(&out, " " ANCHOR_END "\n");
  }
  return buf_str(&out);
}

/* ---- bullets and entries ---- */

static int by_id(const void *x, const void *y) {
  int64_t a = ((const struct place *)x)->id, b = ((const struct place *)y)->id;
  return a < b ? -1 : a > b;
}

static size_t find_entry(const struct writer *w, int64_t id) {
  struct place key = {.id = id};
  const struct place *p = id && w->entries->n ? bsearch(&key, w->by_id, w->entries->n, sizeof(key), by_id) : NULL;
  return p ? p->entry : SIZE_MAX;
}

static bool is_held(const struct mirror_block *b) {
  return b->kind == MIRROR_BULLET && (b->fate == MIRROR_HOLD || b->fate == MIRROR_CLASH);
}

static size_t entry_of(const struct writer *w, const struct mirror_block *b) {
  if (b->kind != MIRROR_BULLET || b->fate == MIRROR_DROP)
    return SIZE_MAX;
  if (!is_held(b))
    return find_entry(w, b->id);
  /* A refused edit replaces the bullet of its memory; a conflicting one is shown in addition to it. */
  for (size_t i = 0; b->uid.p && b->note != MIRROR_CONFLICT && b->fate == MIRROR_HOLD && i < w->entries->n; i++)
    if (str_eq(w->entries->v[i].uid, b->uid))
      return i;
  return SIZE_MAX;
}

static void find_places(struct writer *w) {
  size_t n = w->entries->n, blocks = w->page->blocks.n;
  w->by_id = arena_array(w->a, struct place, n + 1);
  for (size_t i = 0; i < n; i++)
    w->by_id[i] = (struct place){.id = w->entries->v[i].id, .entry = i};
  qsort(w->by_id, n, sizeof(*w->by_id), by_id);
  w->of_block = arena_array(w->a, size_t, blocks + 1);
  bool *taken = arena_array(w->a, bool, n + 1);
  for (size_t i = 0; i < blocks; i++) {
    size_t e = entry_of(w, &w->page->blocks.v[i]);
    w->of_block[i] = e != SIZE_MAX && !taken[e] ? e : SIZE_MAX;
    if (e != SIZE_MAX)
      taken[e] = true;
  }
}

/* True for a blocker of an agent: it comes after those of persons. */
static bool is_agents(const struct mirror_entry *e) { return e->author.p; }

/* The block after the last blocker of a person among the bullets that begin at a block; that block if there is none. */
static size_t after_blockers(const struct writer *w, size_t at) {
  size_t after = at;
  for (size_t i = at; i < w->page->blocks.n && w->page->blocks.v[i].kind != MIRROR_HEADING; i++) {
    const struct mirror_entry *e = w->of_block[i] == SIZE_MAX ? NULL : &w->entries->v[w->of_block[i]];
    if (e && e->blocker && !is_agents(e))
      after = i + 1;
  }
  return after;
}

/* New bullets are inserted before the first bullet of their section, or after the prose below its heading. */
static void find_inserts(struct writer *w) {
  size_t sections = mirror_section_count(), n = w->page->blocks.n;
  for (int agents = 0; agents < 2; agents++) {
    w->insert_at[agents] = arena_array(w->a, size_t, sections + 1);
    for (size_t i = 0; i < sections; i++)
      w->insert_at[agents][i] = SIZE_MAX;
  }
  for (size_t i = 0; i < n; i++) {
    const struct mirror_block *b = &w->page->blocks.v[i];
    if (b->kind != MIRROR_HEADING || !b->own || w->insert_at[0][b->section] != SIZE_MAX)
      continue;
    assert(b->section >= 0 && (size_t)b->section < sections);
    size_t at = i + 1;
    while (at < n && w->page->blocks.v[at].kind == MIRROR_PROSE)
      at++;
    w->insert_at[0][b->section] = at;
    w->insert_at[1][b->section] = after_blockers(w, at);
  }
}

/* ---- entries that fit ---- */

/* The limit counts what a person reads: no comments, such as anchors, and no notices. Blank lines do not count either:
 * their number depends on the content around them, so if it decided what fits, rendering a full page might never reach
 * a fixed point. */
static size_t line_chars(struct str line) {
  size_t chars = 0, begin, end;
  while ((begin = str_find(line, STR("<!--"), 0)) != SIZE_MAX &&
         (end = str_find(line, STR("-->"), begin)) != SIZE_MAX) {
    chars += utf8_length(str_trim(str_slice(line, 0, begin)));
    line = str_slice(line, end + strlen("-->"), line.n);
  }
  chars += utf8_length(str_trim(line));
  return chars ? chars + 1 : 0;
}

/* A plain page is counted as a whole. It is rendered once, and has no comments. */
static size_t chars_of(const struct writer *w, struct str text) {
  size_t chars = 0;
  struct str line;
  if (w->options->plain)
    return utf8_length(text);
  while (str_next(&text, '\n', &line))
    chars += line_chars(line);
  return chars;
}

static size_t fixed_chars(const struct writer *w, struct str header) {
  size_t chars = chars_of(w, header) + (w->options->plain ? NOTICE_CHARS : 0);
  for (size_t i = 0; i < w->page->blocks.n; i++) {
    const struct mirror_block *b = &w->page->blocks.v[i];
    if (is_held(b))
      chars += chars_of(w, held_text(w, b));
    else if (b->kind != MIRROR_BULLET)
      chars += chars_of(w, b->raw);
  }
  return chars;
}

static void choose(struct writer *w, struct str header, struct mirror_counts *counts) {
  size_t room = w->options->max_chars, used = fixed_chars(w, header);
  const struct mirror_block **blocks = arena_array(w->a, const struct mirror_block *, w->entries->n + 1);
  bool *headed = arena_array(w->a, bool, mirror_section_count() + 1);
  for (size_t i = 0; i < w->page->blocks.n; i++)
    if (w->of_block[i] != SIZE_MAX)
      blocks[w->of_block[i]] = &w->page->blocks.v[i];
  for (size_t i = 0; i < w->entries->n; i++) {
    const struct mirror_entry *e = &w->entries->v[i];
    const struct mirror_block *b = blocks[i];
    assert(e->section >= 0 && (size_t)e->section < mirror_section_count());
    size_t cost = 0;
    if (!b || !is_held(b))
      cost += chars_of(w, entry_text(w, e, b ? b->prefix : STR("- ")));
    bool heading = !b && w->insert_at[0][e->section] == SIZE_MAX && !headed[e->section];
    if (heading)
      cost += chars_of(w, heading_of(w->a, e->section));
    w->chosen[i] = used + cost <= room;
    if (w->chosen[i]) {
      used += cost;
      counts->shown++;
      headed[e->section] |= heading;
    } else {
      counts->left_out++;
    }
  }
  assert(counts->shown + counts->left_out == w->entries->n + w->options->more);
  assert(counts->shown == 0 || used <= room);
}

/* ---- page ---- */

static void end_line(struct buf *b) {
  if (b->n && b->p[b->n - 1] != '\n')
    buf_addc(b, '\n');
}

/* Ends the text with exactly one blank line. */
static void blank_line(struct buf *b) {
  while (b->n && ascii_space(b->p[b->n - 1]))
    b->n--;
  if (b->n)
    buf_adds(b, "\n\n");
}

static void list_entry(struct writer *w, size_t i) {
  assert(i < w->entries->n && !w->done[i]);
  const struct mirror_entry *e = &w->entries->v[i];
  struct str tag = mirror_tag(w->a, e->uid);
  buf_addf(&w->list, " %lld.%.*s", (long long)e->id, STR_ARG(tag));
  w->done[i] = true;
}

static void add_entry(struct writer *w, size_t i, struct str prefix) {
  end_line(&w->out);
  buf_add(&w->out, entry_text(w, &w->entries->v[i], prefix));
  list_entry(w, i);
  w->after_bullet = true;
}

/* True for an entry of a section that has no bullet yet and whose bullet is inserted before this block. */
static bool is_new(const struct writer *w, size_t i, int section, size_t block, const bool *placed) {
  const struct mirror_entry *e = &w->entries->v[i];
  return e->section == section && w->insert_at[is_agents(e)][section] == block && w->chosen[i] && !placed[i] &&
         !w->done[i];
}

static void add_new(struct writer *w, int section, size_t block, const bool *placed, struct str prefix) {
  for (size_t i = 0; i < w->entries->n; i++)
    if (is_new(w, i, section, block, placed))
      add_entry(w, i, prefix);
}

static bool has_new(const struct writer *w, int section, size_t block, const bool *placed) {
  for (size_t i = 0; i < w->entries->n; i++)
    if (is_new(w, i, section, block, placed))
      return true;
  return false;
}

static void insert_before(struct writer *w, size_t block, const bool *placed) {
  const struct mirror_block *next = block < w->page->blocks.n ? &w->page->blocks.v[block] : NULL;
  const struct mirror_block *last = block ? &w->page->blocks.v[block - 1] : NULL;
  const struct mirror_block *bullet = last && last->kind == MIRROR_BULLET ? last : next;
  for (size_t s = 0; s < mirror_section_count(); s++) {
    if ((w->insert_at[0][s] != block && w->insert_at[1][s] != block) || !has_new(w, (int)s, block, placed))
      continue;
    if (bullet && bullet->kind == MIRROR_BULLET) {
      bool plain = bullet->prefix.n == 2 && strchr("-*+", bullet->prefix.p[0]);
      add_new(w, (int)s, block, placed, plain ? bullet->prefix : STR("- "));
    } else {
      blank_line(&w->out);
      add_new(w, (int)s, block, placed, STR("- "));
      buf_addc(&w->out, '\n');
    }
  }
}

static void add_block(struct writer *w, size_t i) {
  const struct mirror_block *b = &w->page->blocks.v[i];
  size_t e = w->of_block[i];
  if (b->kind != MIRROR_BULLET) {
    end_line(&w->out);
    if (w->after_bullet && mirror_is_continuation(b->raw)) /* the block that separated them is gone */
      buf_adds(&w->out, "<!-- -->\n");
    buf_add(&w->out, b->raw);
    w->after_bullet &= str_empty(str_trim(b->raw));
  } else if (is_held(b)) {
    end_line(&w->out);
    buf_add(&w->out, held_text(w, b));
    w->after_bullet = true;
    if (e != SIZE_MAX && w->chosen[e])
      list_entry(w, e);
  } else if (e != SIZE_MAX && w->chosen[e]) {
    add_entry(w, e, b->prefix);
  }
}

/* Header of a page that has only bullets; empty otherwise. */
static struct str header_of(const struct writer *w) {
  struct buf b = BUF(w->a);
  for (size_t i = 0; i < w->page->blocks.n; i++)
    if (w->page->blocks.v[i].kind != MIRROR_BULLET && !str_empty(str_trim(w->page->blocks.v[i].raw)))
      return STR("");
  if (w->options->project.n)
    buf_addf(&b, "# Memory of %.*s\n", STR_ARG(w->options->project));
  else
    buf_adds(&b, "# Memory\n");
  if (!w->options->plain)
    buf_adds(&b, "\n" ANCHOR_HEADER " Edit, add, move or remove bullets; 'cairn sync' stores the changes. "
                 "Do not edit the comments at the ends of lines. -->\n");
  return buf_str(&b);
}

static void add_sections(struct writer *w, const bool *placed) {
  for (size_t s = 0; s < mirror_section_count(); s++)
    if (has_new(w, (int)s, SIZE_MAX, placed)) {
      struct str heading = heading_of(w->a, (int)s);
      blank_line(&w->out);
      buf_add(&w->out, str_slice(heading, 1, heading.n));
      add_new(w, (int)s, SIZE_MAX, placed, STR("- "));
    }
}

/* Counts the memories that the page showed once. */
static void add_retired(struct writer *w, const char *anchor) {
  const struct mirror_options *o = w->options;
  const struct {
    int64_t count;
    const char *one, *many, *why, *list;
  } rows[] = {
      {o->faded, "faded memory", "faded memories", ", not used for long", "list --state faded"},
      {o->archived, "archived memory", "archived memories", ", not used for long", "list --state archived"},
      {o->expired, "expired memory", "expired memories", "", "list --state expired"},
      {o->stale, "stale task", "stale tasks", "", "task list --status stale"},
  };
  for (size_t i = 0; i < ARRAY_LEN(rows); i++)
    if (rows[i].count)
      buf_addf(&w->out, "*Left out: %lld %s%s; 'cairn %s' shows %s.*%s\n", (long long)rows[i].count,
               rows[i].count == 1 ? rows[i].one : rows[i].many, rows[i].why, rows[i].list,
               rows[i].count == 1 ? "it" : "them", anchor);
}

static void add_notices(struct writer *w, const struct mirror_counts *counts) {
  const char *anchor = w->options->plain ? "" : " " ANCHOR_LEFT_OUT;
  const struct mirror_options *o = w->options;
  if (counts->left_out || o->hidden || o->faded || o->archived || o->expired || o->stale)
    blank_line(&w->out);
  if (counts->left_out)
    buf_addf(&w->out, "*Left out: %zu more that do not fit into %zu characters; 'cairn list' shows all.*%s\n",
             counts->left_out, o->max_chars, anchor);
  if (o->hidden)
    buf_addf(&w->out, "*Left out: %lld untrusted %s from tools or imports that %s not promoted.*%s\n",
             (long long)o->hidden, o->hidden == 1 ? "memory" : "memories", o->hidden == 1 ? "was" : "were", anchor);
  add_retired(w, anchor);
}

static struct str render_once(struct arena *a, const struct mirror_page *page, const struct mirror_entries *entries,
                              const struct mirror_options *options, struct mirror_counts *ret_counts) {
  struct writer w = {.a = a, .page = page, .entries = entries, .options = options, .out = BUF(a), .list = BUF(a)};
  bool *placed = arena_array(a, bool, entries->n + 1);
  w.chosen = arena_array(a, bool, entries->n + 1);
  w.done = arena_array(a, bool, entries->n + 1);
  *ret_counts = (struct mirror_counts){.left_out = options->more};
  find_places(&w);
  find_inserts(&w);
  struct str header = header_of(&w);
  choose(&w, header, ret_counts);
  for (size_t i = 0; i < page->blocks.n; i++)
    if (w.of_block[i] != SIZE_MAX)
      placed[w.of_block[i]] = true;
  buf_add(&w.out, header);
  if (header.n && page->blocks.n)
    buf_addc(&w.out, '\n');
  for (size_t i = 0; i < page->blocks.n; i++) {
    insert_before(&w, i, placed);
    add_block(&w, i);
  }
  if (page->blocks.n)
    insert_before(&w, page->blocks.n, placed);
  add_sections(&w, placed);
  add_notices(&w, ret_counts);
  blank_line(&w.out);
  if (options->plain && w.out.n)
    w.out.n--;
  if (!options->plain)
    buf_addf(&w.out, ANCHOR_BEGIN ANCHOR_PAGE " %.*s%.*s " ANCHOR_END "\n", STR_ARG(options->owner),
             STR_ARG(buf_str(&w.list)));
  return buf_str(&w.out);
}

/* Parses a page that was just rendered, and keeps every bullet. */
static void read_again(struct arena *a, struct str text, const struct mirror_entries *entries,
                       struct mirror_page *ret_page) {
  mirror_parse(a, text, ret_page);
  for (size_t i = 0; i < ret_page->blocks.n; i++) {
    struct mirror_block *b = &ret_page->blocks.v[i];
    b->fate = b->note == MIRROR_NO_NOTE ? MIRROR_KEEP : MIRROR_HOLD;
    for (size_t k = 0; b->anchor_id && k < entries->n; k++)
      if (entries->v[k].id == b->anchor_id) {
        b->uid = entries->v[k].uid;
        b->id = b->fate == MIRROR_KEEP ? b->anchor_id : 0;
        break;
      }
  }
}

struct str mirror_render(struct arena *a, const struct mirror_page *page, const struct mirror_entries *entries,
                         const struct mirror_options *options, struct mirror_counts *ret_counts) {
  enum { ROUNDS = 6 };
  struct str text = render_once(a, page, entries, options, ret_counts), before = STR("");
  /* New headings and blank lines take space too, so render until the output no longer changes. */
  for (int i = 0; i < ROUNDS && !options->plain && !str_eq(text, before); i++) {
    struct mirror_page again;
    before = text;
    read_again(a, text, entries, &again);
    text = render_once(a, &again, entries, options, ret_counts);
  }
  return text;
}
