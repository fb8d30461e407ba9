/* mirror.h: MEMORY.md as a mirror of memories: the page is read, compared with what is stored, and written anew. Pure.
 *
 * Each bullet that stands for a memory carries an invisible mark, an HTML comment with the memory's uid and a hash of
 * the text as it was written: so it is known, from the page alone, what a person has changed since. Texts of memories
 * never change (a correction is a new memory), so what the store has changed is known from the uid. The last line of
 * the page lists what it showed: what is listed there and has no bullet any more was removed by the person. A page
 * without that line removes nothing.
 *
 * Whatever is not a bullet is the person's own and is kept as it is. */
#pragma once

#include "core/memory/types.h"

enum { MIRROR_HASH = 12, MIRROR_TAG = 6, MIRROR_SECTION_NONE = -1 };

/* ---- sections ---- */

/* In the order of a new page. */
size_t mirror_section_count(void);
const char *mirror_section_title(int section);
/* By its heading, without case; MIRROR_SECTION_NONE: the person's own. */
int mirror_section_find(struct str title);
/* Where a type is shown, and what a new bullet of a section becomes. */
int mirror_section_of(const struct mem_type *type);
const struct mem_type *mirror_section_type(int section);

/* ---- texts ---- */

/* The form in which a text stands on the page: no blanks at the ends of lines, no blank lines at its ends, LF. */
struct str mirror_canonical(struct arena *a, struct str text);
/* What a memory says on the page: its text, behind its headline in bold where that says something of its own. */
struct str mirror_text(struct arena *a, struct str headline, struct str body);
/* Hash of a text in canonical form; tag of a uid. */
struct str mirror_hash(struct arena *a, struct str text);
struct str mirror_tag(struct arena *a, struct str uid);

/* ---- a page ---- */

enum mirror_kind { MIRROR_PROSE, MIRROR_HEADING, MIRROR_BULLET };

/* Why a bullet is not a memory. */
enum mirror_note { MIRROR_NO_NOTE, MIRROR_REFUSED, MIRROR_CONFLICT, MIRROR_SAME };

/* What is to be done about a bullet. */
enum mirror_fate {
  MIRROR_KEEP,  /* it stands for memory `id` */
  MIRROR_ADD,   /* a new text */
  MIRROR_EDIT,  /* a new text, or another section, for memory `id` */
  MIRROR_HOLD,  /* it stays as it is, with its note: it was tried, and has not changed since */
  MIRROR_CLASH, /* its memory has become memory `id` meanwhile: it stays, and gets a note */
  MIRROR_DROP,  /* the store has retired the memory, or the page shows it twice */
};

struct mirror_block {
  enum mirror_kind kind;
  struct str raw; /* with its line ends */
  size_t line;    /* from 1 */
  int section;    /* in which it stands */
  int level;      /* of a heading */
  bool own;       /* of a heading: it names its section itself */

  /* of a bullet */
  struct str prefix; /* "- ", "  * ", "1. " */
  char box;          /* of "[ ]" or "[x]" before a task: ' ' or 'x'; 0: none */
  struct str text;   /* canonical; without box, marks and notes */
  struct str uid, hash;
  enum mirror_note note;
  struct str note_hash, note_text;

  enum mirror_fate fate; /* mirror_compare() */
  int64_t id;
};

/* What the page has shown. */
struct mirror_listed {
  int64_t id;
  struct str tag;
};

struct mirror_page {
  LIST(struct mirror_block) blocks;
  LIST(struct mirror_listed) listed;
  bool ours;        /* it has marks, or the list */
  struct str owner; /* of the list: mirror_owner() of its project; absent without a list */
};

struct str mirror_owner(struct arena *a, struct str team, struct str project);
/* Takes any UTF-8. The page points into the text. */
void mirror_parse(struct arena *a, struct str text, struct mirror_page *ret_page);
/* Whether a text is such a page, without reading it: what it says is known already. */
bool mirror_is_page(struct str text);

/* ---- comparing ---- */

/* What the store knows of a memory that the page names. */
struct mirror_known {
  int64_t id;
  struct str uid;
  bool active; /* in this project */
  struct str text;
  int section;
  /* Not active, but superseded by one that is; 0: the store has retired it. */
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

/* Settles the fate of each bullet. `known` holds every uid of a bullet that the store knows, and every memory of the
 * list whose tag fits. ret_removed: memories whose bullets the person has taken away. */
void mirror_compare(struct arena *a, struct mirror_page *page, const struct mirror_knowns *known,
                    struct mirror_ids *ret_removed);
/* The hash of a bullet with its place, by which it is told whether it was tried before. */
struct str mirror_try_hash(struct arena *a, const struct mirror_block *b);
/* The bullet stays as it is with a note that says why; it is tried again when it has changed. */
void mirror_hold(struct arena *a, struct mirror_block *b, enum mirror_note note, struct str why);

/* ---- writing ---- */

/* A memory that may be shown, the most important first. */
struct mirror_entry {
  int64_t id;
  struct str uid, text;
  int section;
  bool task;
};
struct mirror_entries {
  struct mirror_entry *v;
  size_t n, cap;
};

struct mirror_options {
  struct str team, project;
  size_t max_chars; /* of the whole page; what the person wrote is never cut */
  size_t more;      /* memories for which there is no room, besides the entries */
  int64_t hidden;   /* memories that may not be shown, counted on the page */
  bool plain;       /* to be read, not edited: no marks, "[id]" behind each text */
};

struct mirror_counts {
  size_t shown, left_out;
};

/* The page with every bullet as its fate says, and all entries that fit. */
struct str mirror_render(struct arena *a, const struct mirror_page *page, const struct mirror_entries *entries,
                         const struct mirror_options *options, struct mirror_counts *ret_counts);
