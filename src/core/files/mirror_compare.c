/* mirror_compare.c: what a person has changed on the page, told from what the store has changed. */
#include "core/files/mirror.h"

struct comparison {
  struct arena *a;
  struct mirror_page *page;
  const struct mirror_knowns *known;
  bool *shown;   /* by the place in `known`: a bullet stands for it */
  bool *settled; /* by block */
};

static const struct mirror_known *find(const struct comparison *c, struct str uid) {
  for (size_t i = 0; uid.p && i < c->known->n; i++)
    if (str_eq(c->known->v[i].uid, uid))
      return &c->known->v[i];
  return NULL;
}

static bool *shown(const struct comparison *c, const struct mirror_known *k) { return &c->shown[k - c->known->v]; }

struct str mirror_try_hash(struct arena *a, const struct mirror_block *b) {
  const char *title = b->section == MIRROR_SECTION_NONE ? "" : mirror_section_title(b->section);
  return mirror_hash(a, arena_printf(a, "%s\n%.*s", title, STR_ARG(b->text)));
}

void mirror_hold(struct arena *a, struct mirror_block *b, enum mirror_note note, struct str why) {
  b->fate = MIRROR_HOLD;
  if (b->note != MIRROR_CONFLICT) /* beside the text that holds, whatever else is wrong with it */
    b->note = note;
  b->note_hash = mirror_try_hash(a, b);
  b->note_text = why;
}

/* It was tried as it stands, and it is known why it is no memory. */
static bool tried(const struct comparison *c, const struct mirror_block *b) {
  return b->note != MIRROR_NO_NOTE && str_eq(b->note_hash, mirror_try_hash(c->a, b));
}

/* The text with a box that may be a part of it. */
static struct str with_box(struct arena *a, const struct mirror_block *b) {
  return b->box ? arena_printf(a, "[%c] %.*s", b->box, STR_ARG(b->text)) : b->text;
}

/* Whether the person has changed the text. A box before a text that is no task's belongs to it. */
static bool changed(const struct comparison *c, struct mirror_block *b, struct str known) {
  if (str_eq(b->text, known) || str_eq(b->hash, mirror_hash(c->a, b->text)))
    return false;
  struct str boxed = with_box(c->a, b);
  if (!b->box || (!str_eq(boxed, known) && !str_eq(b->hash, mirror_hash(c->a, boxed))))
    return true;
  b->text = boxed;
  b->box = 0;
  return false;
}

static bool moved(const struct mirror_block *b, int section) {
  return b->section != MIRROR_SECTION_NONE && b->section != section;
}

static void settle(struct mirror_block *b, enum mirror_fate fate, int64_t id) {
  b->fate = fate;
  b->id = id;
}

static void settle_new(const struct comparison *c, struct mirror_block *b) {
  settle(b, tried(c, b) ? MIRROR_HOLD : MIRROR_ADD, 0);
  if (b->fate == MIRROR_ADD)
    b->uid = b->hash = STR_NONE;
}

/* From now on it is about the memory that took the place of its own. Its hash is that of no text. */
static void settle_clash(struct mirror_block *b, const struct mirror_known *k) {
  settle(b, MIRROR_CLASH, k->head);
  b->uid = k->head_uid;
  b->hash = STR("000000000000");
}

/* The memory that has taken the place of this one has a bullet, too. */
static void show_head(const struct comparison *c, const struct mirror_known *k) {
  for (size_t i = 0; i < c->known->n; i++)
    c->shown[i] |= c->known->v[i].id == k->head;
}

static bool is_listed(const struct comparison *c, const struct mirror_known *k) {
  for (size_t i = 0; k && i < c->page->listed.n; i++)
    if (k->id ? c->page->listed.v[i].id == k->id : str_eq(c->page->listed.v[i].tag, mirror_tag(c->a, k->uid)))
      return true;
  return false;
}

/* The store has retired it, or has another text, since the page was written. What the page did not show then, the
 * person has put back since: a line that was cut, and pasted after the page was read in between. */
static bool was_shown(const struct comparison *c, const struct mirror_known *k) {
  return !c->page->owner.p || is_listed(c, k);
}

/* Superseded in the store. A person's new text and the store's new text are both kept: which one holds is for the
 * person to say. */
static void compare_superseded(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  bool same = (was_shown(c, k) && !changed(c, b, k->text)) || str_eq(b->text, k->head_text);
  if (!same && tried(c, b)) {
    settle(b, MIRROR_HOLD, k->head);
    return;
  }
  if (!same) {
    settle_clash(b, k);
    return;
  }
  show_head(c, k);
  if (!moved(b, k->head_section) || !moved(b, k->section)) {
    settle(b, MIRROR_KEEP, k->head);
  } else if (tried(c, b)) {
    settle(b, MIRROR_HOLD, k->head);
  } else {
    b->text = k->head_text; /* only its place was changed here, and only its text there */
    settle(b, MIRROR_EDIT, k->head);
  }
}

static void compare_marked(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  if (!k->active && k->head)
    compare_superseded(c, b, k);
  else if (!k->active && was_shown(c, k) && !changed(c, b, k->text))
    settle(b, MIRROR_DROP, 0);
  else if (!k->active)
    settle_new(c, b);
  else if (!changed(c, b, k->text) && !moved(b, k->section))
    settle(b, MIRROR_KEEP, k->id);
  else
    settle(b, tried(c, b) ? MIRROR_HOLD : MIRROR_EDIT, k->id);
}

/* Of several bullets with one mark the one that was not changed is the memory, else the first; a changed copy is a new
 * text. */
static bool is_copy(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  struct mirror_block *first = NULL, *intact = NULL;
  for (size_t i = 0; i < c->page->blocks.n; i++) {
    struct mirror_block *o = &c->page->blocks.v[i];
    if (o->kind != MIRROR_BULLET || o->note == MIRROR_CONFLICT || !str_eq(o->uid, k->uid))
      continue;
    first = first ? first : o;
    if (!changed(c, o, k->text) && (!intact || (moved(intact, k->section) && !moved(o, k->section))))
      intact = o;
  }
  return b != (intact ? intact : first);
}

static void compare_copy(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  bool same = !changed(c, b, k->text);
  b->uid = b->hash = STR_NONE;
  if (same || str_empty(b->text))
    settle(b, MIRROR_DROP, 0);
  else
    settle_new(c, b);
}

/* A bullet whose mark got lost, but not its text. */
static bool find_lost(const struct comparison *c, struct mirror_block *b) {
  for (size_t i = 0; i < c->known->n; i++) {
    const struct mirror_known *k = &c->known->v[i];
    if (k->active && !*shown(c, k) && !moved(b, k->section) && str_eq(b->text, k->text)) {
      *shown(c, k) = true;
      settle(b, MIRROR_KEEP, k->id);
      return true;
    }
  }
  return false;
}

/* A bullet that clashed: it waits until the person has changed it, or has taken the other one away. */
static void compare_clashed(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k,
                            bool listed) {
  const struct mirror_known *rival = k;
  if (!rival || (!rival->active && !rival->head)) {
    b->uid = b->hash = STR_NONE;
    b->note = MIRROR_NO_NOTE;
    settle(b, MIRROR_ADD, 0); /* nothing stands against it any more */
  } else if (str_eq(b->text, rival->text) && rival->active) {
    settle(b, MIRROR_DROP, 0); /* the person has taken the other text */
  } else if (!rival->active) {
    if (str_eq(b->text, rival->head_text))
      settle(b, MIRROR_DROP, 0);
    else
      settle_clash(b, rival);
  } else if (!tried(c, b) || (listed && !*shown(c, rival))) {
    *shown(c, rival) = true;
    settle(b, MIRROR_EDIT, rival->id);
  } else {
    settle(b, MIRROR_HOLD, rival->id);
  }
}

/* ---- passes: marks first, then what has none, then what waits for the person ---- */

static void pass_marked(const struct comparison *c, struct mirror_block *b) {
  const struct mirror_known *k = find(c, b->uid);
  if (b->note == MIRROR_CONFLICT || !k)
    return;
  c->settled[b - c->page->blocks.v] = true;
  if (is_copy(c, b, k)) {
    compare_copy(c, b, k);
    return;
  }
  *shown(c, k) = true;
  if (str_empty(b->text)) {
    *shown(c, k) = false; /* only the mark was left: the text was taken away */
    settle(b, MIRROR_DROP, 0);
    return;
  }
  compare_marked(c, b, k);
}

static void pass_unmarked(const struct comparison *c, struct mirror_block *b) {
  if (b->note == MIRROR_CONFLICT || c->settled[b - c->page->blocks.v])
    return;
  b->uid = b->hash = STR_NONE; /* of another store, or of one that was brought back to an earlier state */
  if (str_empty(b->text))
    settle(b, MIRROR_DROP, 0);
  else if (!find_lost(c, b))
    settle_new(c, b);
}

void mirror_compare(struct arena *a, struct mirror_page *page, const struct mirror_knowns *known,
                    struct mirror_ids *ret_removed) {
  struct comparison c = {.a = a,
                         .page = page,
                         .known = known,
                         .shown = arena_array(a, bool, known->n + 1),
                         .settled = arena_array(a, bool, page->blocks.n + 1)};
  for (size_t i = 0; i < page->blocks.n; i++)
    if (page->blocks.v[i].kind == MIRROR_BULLET)
      pass_marked(&c, &page->blocks.v[i]);
  for (size_t i = 0; i < page->blocks.n; i++)
    if (page->blocks.v[i].kind == MIRROR_BULLET)
      pass_unmarked(&c, &page->blocks.v[i]);
  for (size_t i = 0; i < page->blocks.n; i++) {
    struct mirror_block *b = &page->blocks.v[i];
    const struct mirror_known *k = find(&c, b->uid);
    if (b->kind == MIRROR_BULLET && b->note == MIRROR_CONFLICT)
      compare_clashed(&c, b, k, is_listed(&c, k));
  }
  for (size_t i = 0; i < known->n; i++)
    if (known->v[i].active && !c.shown[i] && is_listed(&c, &known->v[i]))
      list_push(a, ret_removed, known->v[i].id);
}
