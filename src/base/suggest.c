/* suggest.c: closest name by edit distance. */
#include "base/suggest.h"

#include <assert.h>

enum { NAME_MAX_BYTES = 64 };

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

size_t suggest_distance(struct str a, struct str b) {
  if (a.n > NAME_MAX_BYTES || b.n > NAME_MAX_BYTES)
    return SIZE_MAX;
  /* Keep three rows of the table, because a swap looks two rows back. */
  size_t rows[3][NAME_MAX_BYTES + 1];
  for (size_t j = 0; j <= b.n; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= a.n; i++) {
    const size_t *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
    size_t *row = rows[i % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.n; j++) {
      size_t replaced = above[j - 1] + (a.p[i - 1] != b.p[j - 1]);
      row[j] = min(replaced, min(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
        row[j] = min(row[j], above2[j - 2] + 1);
    }
  }
  return rows[a.n % 3][b.n];
}

void suggest_init(struct suggest *s, struct str word) {
  /* Up to a third of the word may be wrong. */
  *s = (struct suggest){.word = word, .distance = word.n < 3 ? 1 : word.n / 3 + 1};
}

void suggest_offer(struct suggest *s, struct str candidate) {
  assert(candidate.p);
  size_t distance = suggest_distance(s->word, candidate);
  /* A prefix counts as one edit: the user may expect abbreviations to work. */
  if (s->word.n >= 2 && str_starts(candidate, s->word))
    distance = min(distance, 1);
  if (distance >= s->distance + (s->best.p == NULL) || distance >= candidate.n)
    return;
  s->best = candidate;
  s->distance = distance;
}
