/* pieces.h: splitting of a file's text into searchable pieces. Pure. */
#pragma once

#include "base/arena.h"

struct piece {
  struct str text;    /* whole lines; slice of the file's text */
  struct str heading; /* heading above it, as plain text; absent if none */
  int64_t line;       /* number of its first line, from 1 */
};
struct pieces {
  struct piece *v;
  size_t n, cap;
};

/* Splits Markdown (recognized by the file name) at its headings, then all text at about CHUNK_TARGET tokens, at an
 * empty line if possible. Pieces are in order, do not overlap, and cover all lines that are not blank. */
void pieces_split(struct arena *a, struct str name, struct str text, struct pieces *ret);
