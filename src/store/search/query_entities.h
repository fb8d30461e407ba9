/* query_entities.h: what a query names: identifiers, numbers, quoted strings, #tags, @people, names, keys, and words
 * that hardly any text holds; listed here for every engine, which then looks them up. */
#pragma once

#include "store/search/lexical_query.h"
#include "store/store.h"

enum {
  THINGS = 16,         /* that a query can name */
  THING_ROWS = 1000,   /* what more rows hold names nothing */
  ENTITY_BYTES = 4096, /* of a query */
};

enum thing_kind { THING_TEXT, THING_LABEL, THING_KEY };
struct thing {
  enum thing_kind kind;
  const char *field; /* of a label */
  struct str value;  /* a text is searched as a phrase */
  struct str joined; /* of a text: or this one; empty: none */
  bool prefix;       /* of a text: or what begins with it */
  double most;       /* what more rows hold is none */
};
struct things {
  struct thing *v; /* each once, in the order in which they are looked up until THINGS of them were found */
  size_t n, cap;
};

/* `terms` are those of the query, which is of ENTITY_BYTES at most. */
NODISCARD enum status things_of(const struct term_source *source, struct str query, const struct query_terms *terms,
                                struct arena *a, struct things *ret_things, struct error *err);

/* ---- what was found ---- */

struct thing_row {
  int64_t chunk_id, memory_id;
  double score;
};
struct thing_rows {
  struct thing_row *v;
  size_t n, cap;
};
/* One entry for each chunk, with the sum of its scores, best first, equal ones by id. */
void things_add_up(struct thing_rows *rows);
