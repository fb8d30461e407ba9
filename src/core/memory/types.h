/* types.h: table of memory types and their policies. A new type is one line in types.c; no other code names a type. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "core/text/phrase.h"

/* The lifecycle of a memory. */
enum kind { KIND_RULE, KIND_FACT, KIND_INCIDENT, KIND_TASK, KIND_COUNT };

/* How a memory ages. */
enum decay {
  DECAY_NEVER, /* evergreen */
  DECAY_SCORE, /* ranks lower with age, stays active */
  DECAY_FADE,  /* ranks lower with age, and fades after a long time without use */
};

/* Sections of the boot payload, in display order. */
enum boot_section { BOOT_NO, BOOT_RULES, BOOT_IDENTITY, BOOT_LESSONS, BOOT_DECISIONS, BOOT_CONTEXT, BOOT_TASKS };

struct mem_type {
  const char *name;
  enum kind kind;
  const char *aliases[5]; /* ends with NULL */
  enum boot_section boot;
  bool droppable; /* the boot budget may drop it */
  bool archives;  /* archived after a time without access */
  bool prose;     /* type of imported prose */
  bool long_body; /* may hold more than 400 words in assist mode */
  bool sequence;  /* entries of a session form a sequence: each is the context of the next */
  enum decay decay;
  /* An alias type is stored as another type with these fields set; NULL otherwise. */
  const char *stored_as, *severity, *delivery;
  const char *words; /* query words that ask for this type, separated by blanks */
  const char *item;  /* item type in project knowledge: entity, claim, task, decision; NULL means note */
  const char *page;  /* section of MEMORY.md */
  const char *title; /* heading in full-text listings; NULL: the title of the default type of its kind */
};

extern const char *const kind_names[KIND_COUNT];
bool kind_parse(struct str name, enum kind *ret_kind);

/* Phrases that indicate a type: type_cues for suggestions, kind_cues for pieces of captured text (the first match wins;
 * the last row is the default). */
extern const struct type_cue type_cues[], kind_cues[];
extern const size_t type_cue_count, kind_cue_count;

size_t types_count(void);
const struct mem_type *types_at(size_t i);
/* Finds a type by name or alias, ignoring case; NULL if unknown. */
const struct mem_type *type_find(struct str name);
const char *type_title(const struct mem_type *t);
/* Default type of a kind. */
const struct mem_type *type_of_kind(enum kind kind);
/* Ranking factors, indexed like types_at(): above 1 for a type that a word of the query asks for. */
const double *type_query_factors(struct arena *a, struct str folded_query);
/* Index of a type for types_at(). */
size_t type_index(const struct mem_type *t);
/* The first type with `sequence` set. */
const struct mem_type *type_of_sequence(void);
/* All types with `sequence` set, as a list for SQL: 'a', 'b'. */
struct str type_sequence_sql_list(struct arena *a);
const struct mem_type *type_of_prose(void);
/* The first type of a section of the boot payload; NULL if there is none. */
const struct mem_type *type_of_section(enum boot_section section);
/* Resolves the kind and type of a write; either may be empty. */
NODISCARD enum status type_resolve(struct str kind, struct str type, const struct mem_type **ret_type,
                                   struct error *err);
