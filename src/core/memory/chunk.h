/* chunk.h: cuts a body into the overlapping pieces that are indexed and embedded. */
#pragma once

#include "base/arena.h"

/* In tokens of tokens_estimate(). */
enum {
  CHUNK_TARGET = 400,
  CHUNK_OVERLAP = 80,
  CHUNK_MAX = 500,
  CHUNK_TURNS = 110, /* turns of a conversation are packed up to this; a longer one has its own chunks */
  CHUNK_ASKED = 60,  /* a turn below this stands with the long one that answers it */
  CHUNK_AGAIN = 40,  /* a turn below this is repeated at the head of the next chunk */
};

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
 * most CHUNK_MAX tokens is one chunk; one of white space alone has none.
 *
 * A conversation (transcript/core/turns.h) of more than CHUNK_TURNS tokens is cut between turns instead, because an
 * embedder reads little more than that of a chunk, and a short statement behind a long reply would never be read: a
 * chunk holds whole turns of at most CHUNK_TURNS tokens together, and repeats at most one short turn of the chunk
 * before. A longer turn begins a chunk, or stands in it behind the one short turn before it, is cut like any other
 * text, and ends one.
 */
void chunk_split(struct arena *a, struct str body, struct chunks *ret);

/* The text that stands for a chunk in an embedder. `before`: the end of the entry that it follows, or absent. */
struct str embed_text(struct arena *a, struct str before, struct str headline, struct str body);
