/* corpus.h: generated memories for benchmarks: the same for the same seed, on every machine. */
#pragma once

#include "base/buf.h"

struct corpus {
  uint64_t state;
};

static inline struct corpus corpus_start(uint64_t seed) { return (struct corpus){seed * 0x9e3779b97f4a7c15u + 1}; }

uint64_t corpus_random(struct corpus *c, uint64_t below);
/* A sentence of 25 to 45 words, about 250 bytes: two numbers and words of a vocabulary of 8,191, in which a few are
 * common and most are rare, as in a natural language. No two are near duplicates. */
struct str corpus_text(struct corpus *c, struct arena *a);
/* Two words that occur in some memories. */
struct str corpus_query(struct corpus *c, struct arena *a);
/* The arguments of `remember` as a JSON object: a text with a tag. 60% are in one of twenty projects, 10% have a
 * key. */
struct str corpus_arguments(struct corpus *c, struct arena *a, int64_t number);
