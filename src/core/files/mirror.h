/* mirror.h: MEMORY.md: parsing of the page, comparison with the store, rendering. Pure.
 *
 * Each bullet of a memory has an anchor: an HTML comment with the memory's id and a code, a hash of its uid and of the
 * text as it was written. The code shows that the memory is of this store, and whether the user has changed the text.
 * The text of a memory never changes (a correction is a new memory), so the id shows whether the store has changed it.
 * The last line of the page lists the memories that it showed: a memory in that list without a bullet was removed by
 * the user. A page without that line removes nothing. Anchors of 0.1.0 had the whole uid and a longer hash; they are
 * read, and written in the short form.
 *
 * The author of an agent's blocker follows a mark, in parentheses. It is written on every render and never read.
 *
 * Everything that is not a bullet belongs to the user and is preserved. */
#pragma once

#include "core/memory/types.h"

enum { MIRROR_HASH = 12, MIRROR_TAG = 6, MIRROR_CODE = 8, MIRROR_SECTION_NONE = -1 };

/* ---- sections ---- */

/* Sections are numbered in the order of a new page. */
size_t mirror_section_count(void);
const char *mirror_section_title(int section);
/* Finds a section by its heading, ignoring case; MIRROR_SECTION_NONE for a heading of the user. */
int mirror_section_find(struct str title);
/* Section that shows a type. */
int mirror_section_of(const struct mem_type *type);
/* Type of a new bullet in a section. */
const struct mem_type *mirror_section_type(int section);

/* ---- texts ---- */

/* Canonical form of a text on the page: LF, no trailing blanks, no blank lines at the ends. */
struct str mirror_canonical(struct arena *a, struct str text);
/* Text of a memory on the page: the body, after the headline in bold unless the body repeats it. */
struct str mirror_text(struct arena *a, struct str headline, struct str body);
/* Hash of a text in canonical form, and short hash of a uid. */
struct str mirror_hash(struct arena *a, struct str text);
struct str mirror_tag(struct arena *a, struct str uid);
/* Code of an anchor. */
struct str mirror_code(struct arena *a, struct str uid, struct str text);

/* ---- page ---- */

enum mirror_kind { MIRROR_PROSE, MIRROR_HEADING, MIRROR_BULLET };

/* Why a bullet was not stored. */
enum mirror_note { MIRROR_NO_NOTE, MIRROR_REFUSED, MIRROR_CONFLICT, MIRROR_SAME };

/* Action for a bullet. */
enum mirror_fate {
  MIRROR_KEEP,  /* unchanged: shows memory `id` */
  MIRROR_ADD,   /* store as a new memory */
  MIRROR_EDIT,  /* store a new text or section for memory `id` */
  MIRROR_HOLD,  /* keep the bullet and its note: it could not be stored and has not changed since */
  MIRROR_CLASH, /* conflict: the store has replaced its memory by memory `id`; keep it and add a note */
  MIRROR_DROP,  /* remove: its memory `id` is inactive, or (id 0) the page shows it twice */
};

struct mirror_block {
  enum mirror_kind kind;
  struct str raw; /* including line breaks */
  size_t line;    /* from 1 */
  int section;
  int level; /* heading: 1 to 6 */
  bool own;  /* heading: its title is that of a section */

  /* bullets only */
  struct str prefix; /* "- ", "  * ", "1. " */
  char box;          /* ' ' for "[ ]", 'x' for "[x]", 0 without a check box */
  struct str text;   /* canonical; without check box, anchors and notes */
  int64_t anchor_id; /* 0 without a short anchor */
  struct str anchor_code;
  struct str uid, hash; /* in an anchor of 0.1.0; set for short ones by mirror_compare() */
  enum mirror_note note;
  struct str note_hash, note_text;

  enum mirror_fate fate; /* set by mirror_compare() */
  int64_t id;
};

/* A memory that the page showed. */
struct mirror_listed {
  int64_t id;
  struct str tag;
};

struct mirror_page {
  LIST(struct mirror_block) blocks;
  LIST(struct mirror_listed) listed;
  bool ours;        /* written by Cairn: has anchors or the list */
  struct str owner; /* in the list; absent without a list */
};

/* Accepts any UTF-8. The page points into the text. */
void mirror_parse(struct arena *a, struct str text, struct mirror_page *ret_page);
/* Quick check whether a text is a page written by Cairn, whose content is already stored. */
bool mirror_is_page(struct str text);

/* ---- comparison ---- */

/* State in the store of a memory that the page names. */
struct mirror_known {
  int64_t id;
  struct str uid;
  bool active; /* in this project */
  struct str text;
  int section;
  /* Active memory that superseded an inactive one; 0 if none. */
  int64_t head;
  struct str head_uid, head_text;
  int head_section;
};
struct mirror_knowns {
  struct mirror_known *v;
  size_t n, cap;
};
struct mirror_ids {
  int64_t *v;
  size_t n, cap;
};

/* Sets the fate of each bullet. `known` has every stored memory named by the anchor of a bullet, and every memory of
 * the list whose tag matches. ret_removed gets the memories whose bullets the user has removed. */
void mirror_compare(struct arena *a, struct mirror_page *page, const struct mirror_knowns *known,
                    struct mirror_ids *ret_removed);
/* Hash of a bullet and its section, which shows whether it has changed since it could not be stored. */
struct str mirror_try_hash(struct arena *a, const struct mirror_block *b);
/* Keeps the bullet with a note that says why it was not stored. It is tried again after it changes. */
void mirror_hold(struct arena *a, struct mirror_block *b, enum mirror_note note, struct str why);

/* ---- rendering ---- */

/* A memory to show. Entries are ordered by importance. */
struct mirror_entry {
  int64_t id;
  struct str uid, text;
  int section;
  bool task, blocker;
  struct str author; /* of a blocker that no person wrote; absent for others */
};
struct mirror_entries {
  struct mirror_entry *v;
  size_t n, cap;
};

struct mirror_options {
  struct str owner;   /* of the page: see file/owner.h */
  struct str project; /* in the title */
  size_t max_chars;   /* limit of what a person reads, without comments, blank lines and notices; of a plain page: of
                         everything. Text of the user is never cut */
  size_t more;        /* memories left out in addition to entries that do not fit */
  /* Memories that are only counted on the page: untrusted ones, those that maintenance has retired, and those whose
   * time to live has ended. */
  int64_t hidden, faded, archived, expired, stale;
  bool plain; /* read-only: no anchors, "[id]" after each text */
};

struct mirror_counts {
  size_t shown, left_out;
};

/* Renders the page with every bullet according to its fate, and all entries that fit. */
struct str mirror_render(struct arena *a, const struct mirror_page *page, const struct mirror_entries *entries,
                         const struct mirror_options *options, struct mirror_counts *ret_counts);
