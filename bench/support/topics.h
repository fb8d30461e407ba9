/* topics.h: a generated corpus for searches: words by Zipf's law, texts and vectors clustered around topics.
 *
 * A topic is a text embedded by the current embedder. A memory takes half its words from its topic, and its vector
 * is at some distance from the topic's: clusters like those of real texts, in a millionth of the time. Everything is
 * a function of the memory's number, so the content can be computed again. */
#pragma once

#include "base/buf.h"
#include "support/corpus.h"

enum { TOPICS = 1000, TOPIC_WORDS = 30, TOPICS_DIMS_MAX = 4096, SMALL_PROJECT = 50 };

struct topics {
  uint32_t words[TOPICS][TOPIC_WORDS]; /* ranks */
  int dims;
  int8_t *vectors; /* TOPICS * dims, after topics_load() */
};

/* Generates the words of all topics; topics_load() sets the vectors. */
void topics_start(struct topics *t);
struct str topic_text(const struct topics *t, size_t topic, struct arena *a);

/* Memory by number, from TOPICS up: its text (about 40 words), project and vector. */
struct str topics_memory(const struct topics *t, int64_t number, struct arena *a);
/* One of twenty, or "small" for SMALL_PROJECT memories. Topics have no project, so all projects see them. */
struct str topics_project(int64_t number, int64_t size, struct arena *a);
void topics_vector(const struct topics *t, int64_t number, float *ret_vector);
/* Scales the largest component to 127, like an embedder's vectors. Those of topics are already rotated. */
void topics_quantise(const float *v, int dims, int8_t *ret_vector);

/* A question of 4 to 12 words, half of them from one topic, the others by frequency. */
struct str topics_query(const struct topics *t, int64_t number, struct arena *a);
