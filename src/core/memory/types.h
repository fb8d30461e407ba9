/* types.h: the one table of memory types: policy as data. Nothing else in the code names a type.
 *
 * A new type, or a change of what a type means, is one line in types.c. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "core/text/phrase.h"

/* The lifecycle of a memory. */
enum kind { KIND_RULE, KIND_FACT, KIND_INCIDENT, KIND_TASK, KIND_COUNT };

/* How a memory loses influence with time. */
enum decay {
  DECAY_NEVER, /* evergreen */
  DECAY_SCORE, /* ranks lower with age, stays active */
  DECAY_FADE,  /* ranks lower with age, and fades when it was not used for long */
};

/* The section of the boot payload that a type belongs to, in the order in which sections are shown. */
enum boot_section { BOOT_NO, BOOT_RULES, BOOT_IDENTITY, BOOT_LESSONS, BOOT_DECISIONS, BOOT_CONTEXT, BOOT_TASKS };

struct mem_type {
  const char *name;
  enum kind kind;
  const char *aliases[5]; /* ends with NULL */
  enum boot_section boot;
  bool droppable; /* may a budget drop it at boot? */
  bool archives;  /* archived after a time without access */
  bool prose;     /* what imported prose becomes */
  bool long_body; /* may hold more than 400 words in assist mode */
  bool sequence;  /* entries of one session follow each other: the one before says what the next is about */
  enum decay decay;
  /* A shorthand is stored as another type with these fields set; NULL otherwise. */
  const char *stored_as, *severity, *delivery;
  const char *words; /* words of a query that ask for this type, blank-separated */
  const char *item;  /* what it is as an item of a project's knowledge: entity, claim, task, decision; NULL: note */
  const char *page;  /* the section of MEMORY.md that shows it */
  const char *title; /* its heading where texts are shown in full; NULL: that of its kind's own type */
};

extern const char *const kind_names[KIND_COUNT];
bool kind_parse(struct str name, enum kind *ret_kind);

/* Phrases that speak for a type: of a text whose type was given (a suggestion), and of a piece of raw text (first match
 * wins; the last row is what everything else is). */
extern const struct type_cue type_cues[], kind_cues[];
extern const size_t type_cue_count, kind_cue_count;

size_t types_count(void);
const struct mem_type *types_at(size_t i);
/* By name or alias, without case; NULL when there is none. */
const struct mem_type *type_find(struct str name);
/* Its heading where texts are shown in full. */
const char *type_title(const struct mem_type *t);
/* The type a kind has when none is given. */
const struct mem_type *type_of_kind(enum kind kind);
/* A factor for memories of each type, types_count() of them in the order of types_at(): above 1 where a word of the
 * query asks for it. */
const double *types_asked_for(struct arena *a, struct str folded_query);
/* The number of a type, by which types_at() finds it. */
size_t type_number(const struct mem_type *t);
/* The first type whose entries follow each other, and all of them as a list for SQL: 'a', 'b'. */
const struct mem_type *type_of_sequence(void);
struct str types_of_sequence(struct arena *a);
/* The type of imported prose, and the first one of a section of the boot payload. */
const struct mem_type *type_of_prose(void);
const struct mem_type *type_of_section(enum boot_section section);
/* Finds the type that a write means from what was given (either may be empty); a clear error otherwise. */
NODISCARD enum status type_resolve(struct str kind, struct str type, const struct mem_type **ret_type,
                                   struct error *err);
