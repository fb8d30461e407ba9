/* topics.c: a generated corpus for searches. */
#include "support/topics.h"

#include <math.h>

enum { VOCABULARY = 200000, MEMORY_WORDS = 30, MEMORY_SPREAD = 20, PROJECTS = 20, OTHER_TOPICS = 2 };

/* Zipf's law with one division: returns a word rank. */
static uint32_t zipf(struct corpus *c) {
  double x = (double)corpus_random(c, UINT64_C(1) << 32) / (double)(UINT64_C(1) << 32);
  return (uint32_t)(exp(x * log((double)VOCABULARY + 3.0)) - 1.0) % VOCABULARY;
}

static void add_word(struct buf *b, uint32_t rank) {
  static const char *const common[] = {"the", "of", "and", "to", "in",   "a",  "is", "that", "for",  "it",
                                       "was", "on", "are", "as", "with", "be", "at", "by",   "this", "from"};
  static const char *const heads[] = {"b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st"};
  static const char *const tails[] = {"a", "e", "i", "o", "u", "ai", "or", "en"};
  if (b->n)
    buf_addc(b, ' ');
  if (rank < ARRAY_LEN(common)) {
    buf_adds(b, common[rank]);
    return;
  }
  for (uint32_t digits = rank + 200; digits > 0; digits /= 128) {
    buf_adds(b, heads[digits % 16]);
    buf_adds(b, tails[digits / 16 % 8]);
  }
  buf_addc(b, "kmpt"[rank % 4]);
}

void topics_start(struct topics *t) {
  struct corpus c = corpus_start(31);
  *t = (struct topics){0};
  for (size_t i = 0; i < TOPICS; i++)
    for (size_t w = 0; w < TOPIC_WORDS; w++)
      t->words[i][w] = zipf(&c);
}

struct str topic_text(const struct topics *t, size_t topic, struct arena *a) {
  struct buf b = BUF(a);
  for (size_t w = 0; w < TOPIC_WORDS; w++)
    add_word(&b, t->words[topic][w]);
  return buf_str(&b);
}

/* Consecutive numbers must not give correlated random numbers. */
static struct corpus of_number(int64_t number, uint64_t what) {
  struct corpus c = corpus_start((uint64_t)number * 8 + what);
  corpus_random(&c, 2);
  corpus_random(&c, 2);
  return c;
}

static size_t topic_of(struct corpus *c) { return (size_t)corpus_random(c, TOPICS); }

struct str topics_memory(const struct topics *t, int64_t number, struct arena *a) {
  struct corpus c = of_number(number, 1);
  size_t topic = topic_of(&c);
  struct buf b = BUF(a);
  for (uint64_t n = MEMORY_WORDS + corpus_random(&c, MEMORY_SPREAD); n > 0; n--)
    add_word(&b, n % 2 ? zipf(&c) : t->words[topic][corpus_random(&c, TOPIC_WORDS)]);
  buf_addf(&b, " ticket%lld", (long long)number);
  return buf_str(&b);
}

struct str topics_project(int64_t number, int64_t size, struct arena *a) {
  struct corpus c = of_number(number, 2);
  if (number % (size / SMALL_PROJECT) == 1 && number > TOPICS)
    return STR("small");
  return arena_printf(a, "project%d", (int)corpus_random(&c, PROJECTS));
}

static double share(struct corpus *c) { return (double)corpus_random(c, 1000) / 1000; }

/* A topic, parts of others, and noise: sums of random bytes are nearly normal, and cheap. */
void topics_vector(const struct topics *t, int64_t number, float *ret_vector) {
  struct corpus c = of_number(number, 1);
  const int8_t *own = t->vectors + topic_of(&c) * (size_t)t->dims;
  double squares = 0;
  for (int i = 0; i < t->dims; i++) {
    squares += (double)own[i] * (double)own[i];
    ret_vector[i] = own[i];
  }
  c = of_number(number, 3);
  for (int k = 0; k < OTHER_TOPICS; k++) {
    const int8_t *other = t->vectors + topic_of(&c) * (size_t)t->dims;
    float weight = (float)(0.7 * share(&c));
    for (int i = 0; i < t->dims; i++)
      ret_vector[i] += weight * (float)other[i];
  }
  float scale = (float)((0.1 + 0.5 * share(&c)) * sqrt(squares / t->dims) / 148);
  for (int i = 0; i < t->dims; i++) {
    uint64_t r = corpus_random(&c, UINT64_C(1) << 32);
    int sum = (int)(r & 255) + (int)(r >> 8 & 255) + (int)(r >> 16 & 255) + (int)(r >> 24 & 255) - 510;
    ret_vector[i] += scale * (float)sum;
  }
}

void topics_quantise(const float *v, int dims, int8_t *ret_vector) {
  float largest = 0;
  for (int i = 0; i < dims; i++)
    largest = fabsf(v[i]) > largest ? fabsf(v[i]) : largest;
  for (int i = 0; i < dims; i++)
    ret_vector[i] = (int8_t)lroundf(largest > 0 ? v[i] * 127 / largest : 0);
}

struct str topics_query(const struct topics *t, int64_t number, struct arena *a) {
  struct corpus c = of_number(number, 4);
  size_t topic = topic_of(&c);
  struct buf b = BUF(a);
  for (uint64_t n = 4 + corpus_random(&c, 9); n > 0; n--)
    add_word(&b, n % 2 ? zipf(&c) : t->words[topic][corpus_random(&c, TOPIC_WORDS)]);
  return buf_str(&b);
}
