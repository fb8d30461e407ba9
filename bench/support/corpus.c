/* corpus.c: generated memories for benchmarks. */
#include "support/corpus.h"

enum { VOCABULARY_BITS = 13, TAGS = 200, PROJECTS = 20 };

/* xorshift64*: small, and good enough to pick words. */
uint64_t corpus_random(struct corpus *c, uint64_t below) {
  c->state ^= c->state >> 12;
  c->state ^= c->state << 25;
  c->state ^= c->state >> 27;
  return (c->state * 0x2545f4914f6cdd1du >> 16) % below;
}

/* The word of a rank: two to four syllables, the digits of the scrambled rank. */
static void add_word(struct buf *b, uint64_t rank) {
  static const char *const heads[] = {"b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st"};
  static const char *const tails[] = {"a", "e", "i", "o", "u", "ai", "or", "en"};
  uint64_t digits = (rank + 1) * 0x9e3779b97f4a7c15u >> 24;
  for (uint64_t n = 2 + rank % 3; n > 0; n--) {
    buf_adds(b, heads[digits % 16]);
    buf_adds(b, tails[digits / 16 % 8]);
    digits /= 128;
  }
}

/* Every power-of-two range of ranks is equally likely, so the frequency of a word falls with its rank. */
static uint64_t random_rank(struct corpus *c) {
  uint64_t size = UINT64_C(1) << corpus_random(c, VOCABULARY_BITS);
  return size - 1 + corpus_random(c, size);
}

static void add_words(struct corpus *c, struct buf *b, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    buf_addc(b, ' ');
    add_word(b, random_rank(c));
  }
}

struct str corpus_text(struct corpus *c, struct arena *a) {
  struct buf b = BUF(a);
  buf_adds(&b, "The");
  add_words(c, &b, 5 + corpus_random(c, 5));
  buf_addf(&b, " of service%d", (int)corpus_random(c, 1000));
  add_words(c, &b, 15 + corpus_random(c, 15));
  buf_addf(&b, " port %d.", (int)(1000 + corpus_random(c, 64000)));
  return buf_str(&b);
}

struct str corpus_query(struct corpus *c, struct arena *a) {
  struct buf b = BUF(a);
  add_words(c, &b, 2);
  return str_trim(buf_str(&b));
}

struct str corpus_arguments(struct corpus *c, struct arena *a, int64_t number) {
  struct buf b = BUF(a);
  buf_adds(&b, "{\"text\":\"");
  buf_add(&b, corpus_text(c, a));
  buf_adds(&b, "\",\"tags\":[\"");
  add_word(&b, corpus_random(c, TAGS));
  buf_adds(&b, "\"]");
  if (corpus_random(c, 10) < 6)
    buf_addf(&b, ",\"project\":\"project%d\"", (int)corpus_random(c, PROJECTS));
  if (corpus_random(c, 10) == 0)
    buf_addf(&b, ",\"key\":\"key-%lld\"", (long long)number);
  buf_adds(&b, "}");
  return buf_str(&b);
}
