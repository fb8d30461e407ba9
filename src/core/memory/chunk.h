/* chunk.h: chunking of a body for indexing and embedding. */
#pragma once

#include "base/arena.h"

/* In tokens as counted by tokens_estimate(). */
enum {
  CHUNK_TARGET = 400,
  CHUNK_OVERLAP = 80,
  CHUNK_MAX = 500,
  CHUNK_TURNS = 110, /* turns of a conversation are packed up to this size; a longer turn gets its own chunks */
  CHUNK_ASKED = 60,  /* a turn shorter than this shares a chunk with the long turn that answers it */
  CHUNK_AGAIN = 40,  /* a turn shorter than this is repeated at the start of the next chunk */
};

/* Byte range of the body. */
struct chunk {
  size_t start, len;
};

struct chunks {
  struct chunk *v;
  size_t n, cap;
};

/* Splits a body into chunks of about CHUNK_TARGET tokens. A chunk ends at the end of a paragraph if possible, else of a
 * sentence, a word or a character, and begins with about CHUNK_OVERLAP tokens of the previous chunk. Chunks are in
 * order, none contains another, none exceeds CHUNK_MAX tokens, and together they cover all text except white space. A
 * body of at most CHUNK_MAX tokens is one chunk. A body of white space has none.
 *
 * A conversation (transcript/core/turns.h) of more than CHUNK_TURNS tokens is split between turns instead: an embedder
 * reads little more than that of a chunk, so a short statement after a long reply would never be read. A chunk holds
 * whole turns of at most CHUNK_TURNS tokens in total and repeats at most one short turn of the previous chunk. A longer
 * turn starts a chunk, possibly after the one short turn that precedes it, is split like any other text, and ends a
 * chunk. */
void chunk_split(struct arena *a, struct str body, struct chunks *ret);

/* Text of a chunk as passed to the embedder. `before` is the end of the preceding entry, or absent. */
struct str embed_text(struct arena *a, struct str before, struct str headline, struct str body);
