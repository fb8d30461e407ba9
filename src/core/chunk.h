/* chunk.h: cuts a body into the overlapping pieces that are indexed and embedded. */
#ifndef CAIRN_CORE_CHUNK_H
#define CAIRN_CORE_CHUNK_H

#include "base/arena.h"

/* In tokens of tokens_estimate(). */
enum { CHUNK_TARGET = 400, CHUNK_OVERLAP = 80, CHUNK_MAX = 500 };

/* A range of bytes of the body. */
struct chunk {
  size_t start, len;
};

struct chunks {
  struct chunk *v;
  size_t n, cap;
};

/* Chunks of about CHUNK_TARGET tokens that end, where possible, with a paragraph, else with a sentence, a word or a
 * character, each beginning with the last CHUNK_OVERLAP tokens or so of the one before. They are in order, none lies
 * inside another, none is over CHUNK_MAX tokens, and together they hold all text that is not white space. A body of at
 * most CHUNK_MAX tokens is one chunk; one of white space alone has none. */
void chunk_split(struct arena *a, struct str body, struct chunks *ret);

#endif
