/* pieces.h: cuts the text of a file into the pieces that a search finds, with the heading and the line of each. Pure.
 */
#pragma once

#include "base/arena.h"

struct piece {
  struct str text;    /* whole lines, a part of the file's text */
  struct str heading; /* that it stands under, as plain text; absent: none */
  int64_t line;       /* of its first line, from 1 */
};
struct pieces {
  struct piece *v;
  size_t n, cap;
};

/* Markdown (by the file's name) is cut at its headings; then everything at about CHUNK_TARGET tokens, at an empty line
 * where there is one. Pieces are in order and do not overlap; together they hold all lines that are not blank. */
void pieces_split(struct arena *a, struct str name, struct str text, struct pieces *ret);
