/* topics.h: a made-up corpus for searches: words by Zipf's law, texts and vectors gathered around topics.
 *
 * A topic is a text that the embedder in use has embedded. A memory has half its words from its topic, and a vector
 * that lies around the topic's, nearer or farther: clusters as real texts have them, at a millionth of the time.
 * Everything follows from the number of a memory: what was built can be computed again. */
#pragma once

#include "base/buf.h"
#include "support/corpus.h"

enum { TOPICS = 1000, TOPIC_WORDS = 30, TOPICS_DIMS_MAX = 4096, SMALL_PROJECT = 50 };

struct topics {
  uint32_t words[TOPICS][TOPIC_WORDS]; /* ranks */
  int dims;
  int8_t *vectors; /* TOPICS * dims, once they are known */
};

/* The words of all topics; the vectors come with topics_load(). */
void topics_start(struct topics *t);
struct str topic_text(const struct topics *t, size_t topic, struct arena *a);

/* The memory of a number, from TOPICS up: its text (about 40 words), project and vector. */
struct str topics_memory(const struct topics *t, int64_t number, struct arena *a);
/* One of twenty, or "small", which SMALL_PROJECT memories have; topics belong to none, all projects see them. */
struct str topics_project(int64_t number, int64_t size, struct arena *a);
void topics_vector(const struct topics *t, int64_t number, float *ret_vector);
/* Scales the largest component to 127, as an embedder's vectors are. Those of topics are rotated already. */
void topics_quantise(const float *v, int dims, int8_t *ret_vector);

/* A question of 4 to 12 words, half of them of one topic, the others by their frequency. */
struct str topics_query(const struct topics *t, int64_t number, struct arena *a);
