/* bench_corpus.c: writes generated memories as JSON Lines, for `cairn remember --batch`.
 *
 * Usage: bench_corpus COUNT [SEED] */
#include <stdlib.h>

#include "support/corpus.h"
#include "support/measure.h"

int main(int argc, char **argv) {
  if (argc < 2)
    fail("usage: bench_corpus COUNT [SEED]");
  int64_t count = strtoll(argv[1], NULL, 10);
  struct corpus c = corpus_start(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  struct arena a = {0};
  for (int64_t i = 1; i <= count; i++) {
    puts(corpus_arguments(&c, &a, i).p);
    arena_release(&a);
  }
  return fflush(stdout) == 0 ? 0 : 1;
}
