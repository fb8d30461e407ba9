/* mirror_compare.c: comparison of MEMORY.md with the store: finds changes of the user and of the store. */
#include <assert.h>

#include "core/files/mirror_anchor.h"

/* Bytes of the end of an anchor that no text has by chance: three digits and "-->" are not enough. */
enum { REMAINS_MIN = 8 };

struct comparison {
  struct arena *a;
  struct mirror_page *page;
  const struct mirror_knowns *known;
  bool *shown;   /* per element of `known`: it has a bullet */
  bool *settled; /* per block */
};

static const struct mirror_known *find(const struct comparison *c, struct str uid) {
  for (size_t i = 0; uid.p && i < c->known->n; i++)
    if (str_eq(c->known->v[i].uid, uid))
      return &c->known->v[i];
  return NULL;
}

static bool *shown_flag(const struct comparison *c, const struct mirror_known *k) {
  assert(k >= c->known->v && k < c->known->v + c->known->n);
  return &c->shown[k - c->known->v];
}

struct str mirror_try_hash(struct arena *a, const struct mirror_block *b) {
  const char *title = b->section == MIRROR_SECTION_NONE ? "" : mirror_section_title(b->section);
  return mirror_hash(a, arena_printf(a, "%s\n%.*s", title, STR_ARG(b->text)));
}

void mirror_hold(struct arena *a, struct mirror_block *b, enum mirror_note note, struct str why) {
  assert(b->kind == MIRROR_BULLET && note != MIRROR_NO_NOTE);
  b->fate = MIRROR_HOLD;
  if (b->note != MIRROR_CONFLICT) /* a conflict stays a conflict, whatever else is wrong */
    b->note = note;
  b->note_hash = mirror_try_hash(a, b);
  b->note_text = why;
}

/* True if this text could not be stored before; the note says why. */
static bool was_tried(const struct comparison *c, const struct mirror_block *b) {
  return b->note != MIRROR_NO_NOTE && str_eq(b->note_hash, mirror_try_hash(c->a, b));
}

/* The text, including its check box if there is one. */
static struct str with_box(struct arena *a, const struct mirror_block *b) {
  return b->box ? arena_printf(a, "[%c] %.*s", b->box, STR_ARG(b->text)) : b->text;
}

/* True if the user has changed the text. If the memory is not a task, a check box is part of its text. */
static bool is_changed(const struct comparison *c, struct mirror_block *b, struct str known) {
  if (str_eq(b->text, known) || str_eq(b->hash, mirror_hash(c->a, b->text)))
    return false;
  struct str boxed = with_box(c->a, b);
  if (!b->box || (!str_eq(boxed, known) && !str_eq(b->hash, mirror_hash(c->a, boxed))))
    return true;
  b->text = boxed;
  b->box = 0;
  return false;
}

static bool is_moved(const struct mirror_block *b, int section) {
  return b->section != MIRROR_SECTION_NONE && b->section != section;
}

static void settle(struct mirror_block *b, enum mirror_fate fate, int64_t id) {
  assert(fate == MIRROR_HOLD || fate == MIRROR_DROP || (fate == MIRROR_ADD) == (id == 0));
  b->fate = fate;
  b->id = id;
}

static void clear_anchor(struct mirror_block *b) {
  b->uid = b->hash = b->anchor_code = STR_NONE;
  b->anchor_id = 0;
}

static void settle_new(const struct comparison *c, struct mirror_block *b) {
  settle(b, was_tried(c, b) ? MIRROR_HOLD : MIRROR_ADD, 0);
  if (b->fate == MIRROR_ADD)
    clear_anchor(b);
}

/* Attaches the bullet to the memory that superseded its own. The hash matches no text. */
static void settle_clash(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  settle(b, MIRROR_CLASH, k->head);
  b->uid = k->head_uid;
  b->anchor_id = k->head;
  b->anchor_code = mirror_code(c->a, k->head_uid, k->head_text);
  b->hash = STR("000000000000");
}

/* The flag of the memory that superseded k; NULL if the page does not know it. */
static bool *head_flag(const struct comparison *c, const struct mirror_known *k) {
  for (size_t i = 0; k->head && i < c->known->n; i++)
    if (c->known->v[i].id == k->head)
      return &c->shown[i];
  return NULL;
}

/* Notes that the memory that superseded k has a bullet. */
static void show_head(const struct comparison *c, const struct mirror_known *k) {
  bool *shown = head_flag(c, k);
  if (shown)
    *shown = true;
}

/* The memory that superseded k has its text: only other fields differ. */
static bool is_relabelled(const struct mirror_known *k) {
  return !k->active && k->head && str_eq(k->head_text, k->text);
}

/* Another memory has the same id on a page of another store, but not the same tag. */
static bool is_listed_as(const struct comparison *c, int64_t id, struct str uid) {
  for (size_t i = 0; i < c->page->listed.n; i++)
    if ((!id || c->page->listed.v[i].id == id) && str_eq(c->page->listed.v[i].tag, mirror_tag(c->a, uid)))
      return true;
  return false;
}

static bool is_listed(const struct comparison *c, const struct mirror_known *k) {
  return k && is_listed_as(c, k->id, k->uid);
}

/* True if the page showed the memory when it was written. Otherwise the user has put the bullet back: the line was cut,
 * and pasted after a sync in between. */
static bool was_shown(const struct comparison *c, const struct mirror_known *k) {
  return !c->page->owner.p || is_listed(c, k);
}

/* The store has superseded the memory. If the user has changed it too, both texts are kept and the user decides. */
static void compare_superseded(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  bool same = (was_shown(c, k) && !is_changed(c, b, k->text)) || str_eq(b->text, k->head_text);
  if (!same && was_tried(c, b)) {
    settle(b, MIRROR_HOLD, k->head);
    return;
  }
  if (!same) {
    settle_clash(c, b, k);
    return;
  }
  show_head(c, k);
  if (!is_moved(b, k->head_section) || !is_moved(b, k->section)) {
    settle(b, MIRROR_KEEP, k->head);
  } else if (was_tried(c, b)) {
    settle(b, MIRROR_HOLD, k->head);
  } else {
    b->text = k->head_text; /* the user changed only the section, the store only the text */
    settle(b, MIRROR_EDIT, k->head);
  }
}

static void compare_current(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k,
                            int64_t id) {
  if (!is_changed(c, b, k->text) && !is_moved(b, k->section))
    settle(b, MIRROR_KEEP, id);
  else
    settle(b, was_tried(c, b) ? MIRROR_HOLD : MIRROR_EDIT, id);
}

static void compare_anchored(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  if (k->active) {
    compare_current(c, b, k, k->id);
  } else if (is_relabelled(k) && k->head_section == k->section) {
    show_head(c, k);
    compare_current(c, b, k, k->head);
  } else if (k->head) {
    compare_superseded(c, b, k);
  } else if (was_shown(c, k) && !is_changed(c, b, k->text)) {
    settle(b, MIRROR_DROP, k->id);
  } else {
    settle_new(c, b);
  }
}

/* If several bullets have the same anchor, the unchanged one is the memory, or the first if all are changed. Other
 * changed ones are new texts. */
static bool is_copy(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  struct mirror_block *first = NULL, *intact = NULL;
  for (size_t i = 0; i < c->page->blocks.n; i++) {
    struct mirror_block *o = &c->page->blocks.v[i];
    if (o->kind != MIRROR_BULLET || o->note == MIRROR_CONFLICT || !str_eq(o->uid, k->uid))
      continue;
    first = first ? first : o;
    if (!is_changed(c, o, k->text) && (!intact || (is_moved(intact, k->section) && !is_moved(o, k->section))))
      intact = o;
  }
  return b != (intact ? intact : first);
}

static void compare_copy(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  bool same = !is_changed(c, b, k->text);
  clear_anchor(b);
  if (same || str_empty(b->text))
    settle(b, MIRROR_DROP, 0);
  else
    settle_new(c, b);
}

/* Matches a bullet without an anchor by its text. */
static bool find_lost(const struct comparison *c, struct mirror_block *b) {
  for (size_t i = 0; i < c->known->n; i++) {
    const struct mirror_known *k = &c->known->v[i];
    if ((!k->active && !is_relabelled(k)) || *shown_flag(c, k) || !str_eq(b->text, k->text) ||
        is_moved(b, k->active ? k->section : k->head_section))
      continue;
    *shown_flag(c, k) = true;
    show_head(c, k);
    settle(b, MIRROR_KEEP, k->active ? k->id : k->head);
    return true;
  }
  return false;
}

/* A bullet in conflict stays until the user changes it or removes the other one. */
static void compare_clashed(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k,
                            bool listed) {
  const struct mirror_known *rival = k;
  if (!rival || (!rival->active && !rival->head)) {
    clear_anchor(b);
    b->note = MIRROR_NO_NOTE;
    settle(b, MIRROR_ADD, 0); /* the other memory is gone */
  } else if (str_eq(b->text, rival->text) && rival->active) {
    settle(b, MIRROR_DROP, 0); /* the user chose the other text */
  } else if (!rival->active) {
    if (str_eq(b->text, rival->head_text))
      settle(b, MIRROR_DROP, 0);
    else
      settle_clash(c, b, rival);
  } else if (!was_tried(c, b) || (listed && !*shown_flag(c, rival))) {
    *shown_flag(c, rival) = true;
    settle(b, MIRROR_EDIT, rival->id);
  } else {
    settle(b, MIRROR_HOLD, rival->id);
  }
}

/* ---- anchors ---- */

/* The hash of the text that the anchor was written for; "" if that text is not known. Absent if the memory has the same
 * id in another store. */
static struct str hash_of_anchor(const struct comparison *c, const struct mirror_block *b,
                                 const struct mirror_known *k) {
  struct str texts[] = {b->text, with_box(c->a, b), k->text};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (str_eq(b->anchor_code, mirror_code(c->a, k->uid, texts[i])))
      return mirror_hash(c->a, texts[i]);
  return is_listed_as(c, b->anchor_id, k->uid) ? STR("") : STR_NONE;
}

/* Finds the memory of a short anchor, and gives a bullet with the anchor of 0.1.0 a short one. */
static void pass_identify(const struct comparison *c, struct mirror_block *b) {
  for (size_t i = 0; i < c->known->n; i++) {
    const struct mirror_known *k = &c->known->v[i];
    struct str hash = !b->uid.p && b->anchor_id == k->id && k->id ? hash_of_anchor(c, b, k) : STR_NONE;
    if (hash.p) {
      b->uid = k->uid;
      b->hash = hash;
    } else if (b->uid.p && !b->anchor_id && k->id && str_eq(b->uid, k->uid)) {
      b->anchor_id = k->id;
      b->anchor_code = mirror_code(c->a, k->uid, k->text);
    }
  }
}

/* ---- remains of anchors that have lost their beginning, or almost all but it ---- */

static struct str first_line(struct str text) {
  size_t end = str_find(text, STR("\n"), 0);
  return end == SIZE_MAX ? text : str_slice(text, 0, end);
}

static bool has_bullet(const struct comparison *c, const struct mirror_known *k) {
  for (size_t i = 0; i < c->page->blocks.n; i++)
    if (c->page->blocks.v[i].anchor_id == k->id || str_eq(c->page->blocks.v[i].uid, k->uid))
      return true;
  return false;
}

/* Length of the line before what is left of the anchor: its end, or all of it but one byte. SIZE_MAX if the line does
 * not end in it. After the unchanged text of the memory any part counts, unless another bullet has the anchor. */
static size_t before_remains(const struct comparison *c, const struct mirror_known *k, struct str line,
                             struct str anchor) {
  struct str own = first_line(k->text);
  if (str_starts(line, own) && line.n > own.n && !has_bullet(c, k)) {
    struct str rest = str_trim(str_slice(line, own.n, line.n));
    if (str_starts(anchor, rest) || str_ends(anchor, rest))
      return own.n;
  }
  for (size_t n = anchor.n - 1; n >= REMAINS_MIN; n--)
    if (str_ends(line, str_slice(anchor, anchor.n - n, anchor.n))) {
      struct str before = str_slice(line, 0, line.n - n), begin = str_slice(anchor, 0, anchor.n - n - 1);
      return before.n - (str_ends(before, begin) ? begin.n : 0);
    }
  return SIZE_MAX;
}

/* Removes what is left of the anchor of k and gives the bullet the anchor. */
static void take_remains(const struct comparison *c, struct mirror_block *b, const struct mirror_known *k) {
  struct str line = first_line(b->text);
  if (!k->id || (!str_starts(line, first_line(k->text)) && !str_ends(line, STR(ANCHOR_END))))
    return;
  struct str code = mirror_code(c->a, k->uid, k->text), hash = mirror_hash(c->a, k->text);
  size_t end = before_remains(c, k, line, mirror_anchor(c->a, k->id, code));
  if (end == SIZE_MAX)
    end = before_remains(c, k, line, mirror_anchor_of_0_1_0(c->a, k->uid, hash));
  if (end == SIZE_MAX)
    return;
  b->text = mirror_canonical(
      c->a, arena_printf(c->a, "%.*s%.*s", (int)end, line.p, STR_ARG(str_slice(b->text, line.n, b->text.n))));
  b->uid = k->uid;
  b->hash = hash;
  b->anchor_id = k->id;
  b->anchor_code = code;
}

static void pass_remains(const struct comparison *c, struct mirror_block *b) {
  for (size_t i = 0; !b->uid.p && !b->anchor_id && b->note == MIRROR_NO_NOTE && i < c->known->n; i++)
    take_remains(c, b, &c->known->v[i]);
}

/* ---- passes: bullets with anchors, then without, then conflicts ---- */

static void pass_anchored(const struct comparison *c, struct mirror_block *b) {
  const struct mirror_known *k = find(c, b->uid);
  if (b->note == MIRROR_CONFLICT || !k)
    return;
  c->settled[b - c->page->blocks.v] = true;
  if (is_copy(c, b, k)) {
    compare_copy(c, b, k);
    return;
  }
  *shown_flag(c, k) = true;
  if (str_empty(b->text)) {
    *shown_flag(c, k) = false; /* only the anchor is left: the user removed the text */
    settle(b, MIRROR_DROP, 0);
    return;
  }
  compare_anchored(c, b, k);
}

static void pass_unanchored(const struct comparison *c, struct mirror_block *b) {
  if (b->note == MIRROR_CONFLICT || c->settled[b - c->page->blocks.v])
    return;
  clear_anchor(b); /* from another store, or from before a restore */
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
      pass_identify(&c, &page->blocks.v[i]);
  for (size_t i = 0; i < page->blocks.n; i++)
    if (page->blocks.v[i].kind == MIRROR_BULLET)
      pass_remains(&c, &page->blocks.v[i]);
  for (size_t i = 0; i < page->blocks.n; i++)
    if (page->blocks.v[i].kind == MIRROR_BULLET)
      pass_anchored(&c, &page->blocks.v[i]);
  for (size_t i = 0; i < page->blocks.n; i++)
    if (page->blocks.v[i].kind == MIRROR_BULLET)
      pass_unanchored(&c, &page->blocks.v[i]);
  for (size_t i = 0; i < page->blocks.n; i++) {
    struct mirror_block *b = &page->blocks.v[i];
    const struct mirror_known *k = find(&c, b->uid);
    if (b->kind == MIRROR_BULLET && b->note == MIRROR_CONFLICT)
      compare_clashed(&c, b, k, is_listed(&c, k));
  }
  for (size_t i = 0; i < known->n; i++) {
    const struct mirror_known *k = &known->v[i];
    const bool *shown = is_relabelled(k) ? head_flag(&c, k) : NULL;
    if ((k->active || is_relabelled(k)) && !c.shown[i] && !(shown && *shown) && is_listed(&c, k))
      list_push(a, ret_removed, k->active ? k->id : k->head);
  }
}
