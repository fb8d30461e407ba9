/* test_hash.c: similarities of hash-v1. */
#include "base/buf.h"
#include "embed/embed.h"
#include "embed/vec.h"
#include "support/harness.h"

enum { DIMS = 256 };

static void embed_text(struct str text, int8_t *ret_vector) {
  const struct embedder *e = embedder_hash();
  struct arena a;
  struct error err = {0};
  arena_init(&a);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &text, 1, ret_vector, &err), &err);
  arena_release(&a);
}

static double cosine(const char *a, const char *b) {
  int8_t va[DIMS], vb[DIMS];
  embed_text(str_from(a), va);
  embed_text(str_from(b), vb);
  return vec_cosine(va, vb, DIMS);
}

static double similarity(const char *a, const char *b) { return calibrate(embedder_hash()->calibration, cosine(a, b)); }

TEST(model_and_dims) {
  CHECK_STR(str_from(embedder_hash()->model), "hash-v1");
  CHECK_INT(embedder_hash()->dims, DIMS);
}

TEST(equal_texts_have_equal_vectors) {
  CHECK(cosine("Deploys go through the staging cluster first", "Deploys go through the staging cluster first") == 1.0);
}

TEST(case_and_punctuation_hardly_count) {
  CHECK(cosine("Deploys go through staging first.", "DEPLOYS, go through: staging first!") > 0.98);
  CHECK(cosine("caf\xc3\xa9 na\xc3\xafve", "CAFE naive") > 0.98);
  CHECK(cosine("the server restarts", "the servers restarted") > 0.8);
}

TEST(unrelated_texts_are_far) {
  static const char *const texts[] = {
      "Deploys go through the staging cluster first", "Alice prefers short answers without code",
      "The invoice parser fails on empty lines",      "Use tabs for indentation in Makefiles",
      "Postgres backups run nightly to cold storage",
  };
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    for (size_t j = 0; j < i; j++)
      CHECK(cosine(texts[i], texts[j]) < 0.3);
}

TEST(ranking_follows_shared_words) {
  const char *query = "which database do we use for session storage";
  double exact = cosine(query, "We use the Redis database for session storage");
  double partial = cosine(query, "Sessions expire after one day");
  double other = cosine(query, "The designer likes purple buttons");
  CHECK(exact > partial);
  CHECK(partial > other);
}

TEST(restatements_are_the_same_and_neighbours_are_near) {
  CHECK(similarity("We use npm for the web client", "we use npm, for the Web client.") >= SIMILARITY_SAME);
  CHECK(similarity("The upload limit is 10 MB for free accounts", "For free accounts the upload limit is 10 MB") >=
        SIMILARITY_NEAR);
  CHECK(similarity("We use npm for the web client", "Backups run every night at two") < SIMILARITY_NEAR);
}

TEST(text_without_features_is_similar_to_nothing) {
  static const char *const texts[] = {"", " \n\t", "?!... --- ()", "\xff\xfe"};
  int8_t v[DIMS];
  for (size_t i = 0; i < 3; i++) {
    embed_text(str_from(texts[i]), v);
    for (int d = 0; d < DIMS; d++)
      CHECK_INT(v[d], 0);
    CHECK(cosine(texts[i], "anything") == 0.0);
    CHECK(cosine(texts[i], texts[i]) == 0.0);
  }
  CHECK(cosine(texts[3], "anything") < 0.3);
}

TEST(vectors_use_the_whole_range) {
  static const char *const texts[] = {"x", "two words", "the limit of the pool is 20 connections for each worker",
                                      "\xe6\x88\x91\xe4\xbb\xac\xe4\xbd\xbf\xe7\x94\xa8\xe6\x95\xb0\xe6\x8d\xae"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    int8_t v[DIMS];
    embed_text(str_from(texts[i]), v);
    int largest = 0;
    for (int d = 0; d < DIMS; d++)
      largest = abs(v[d]) > largest ? abs(v[d]) : largest;
    CHECK_INT(largest, VEC_LARGEST);
  }
}

TEST(unspaced_scripts) {
  /* "we use a database" / "the database that we use" / "the weather is good today" */
  const char *a = "\xe6\x88\x91\xe4\xbb\xac\xe4\xbd\xbf\xe7\x94\xa8\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93";
  const char *b = "\xe6\x88\x91\xe4\xbb\xac\xe4\xbd\xbf\xe7\x94\xa8\xe7\x9a\x84\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93";
  const char *c = "\xe4\xbb\x8a\xe5\xa4\xa9\xe5\xa4\xa9\xe6\xb0\x94\xe5\xbe\x88\xe5\xa5\xbd";
  CHECK(cosine(a, b) > 0.7);
  CHECK(cosine(a, c) < 0.3);
}

TEST(batch_equals_one_by_one) {
  const struct str texts[] = {STR("first text"), STR(""), STR("a third, longer text about caching")};
  int8_t batch[3 * DIMS], one[DIMS];
  struct arena a;
  struct error err = {0};
  arena_init(&a);
  CHECK_OK(embedder_hash()->embed(embedder_hash(), &a, EMBED_TEXT, texts, 3, batch, &err), &err);
  CHECK_OK(embedder_hash()->embed(embedder_hash(), &a, EMBED_TEXT, texts, 0, batch, &err), &err);
  for (size_t i = 0; i < 3; i++) {
    embed_text(texts[i], one);
    CHECK(memcmp(batch + i * DIMS, one, DIMS) == 0);
  }
  arena_release(&a);
}

/* A megabyte of noise costs no more than its truncated part, and a word repeated a thousand times does not hide others.
 */
TEST(large_and_repeated_text) {
  struct arena a;
  arena_init(&a);
  struct buf noise = BUF(&a), repeated = BUF(&a);
  for (int i = 0; i < 200000; i++)
    buf_addf(&noise, "w%dx ", i * 7919 % 100003);
  for (int i = 0; i < 20; i++)
    buf_adds(&repeated, "backup ");
  buf_adds(&repeated, "postgres nightly storage");
  int8_t v[DIMS], w[DIMS], once[DIMS];
  embed_text(buf_str(&noise), v);
  embed_text(str_slice(buf_str(&noise), 0, buf_str(&noise).n / 2), w);
  CHECK(memcmp(v, w, DIMS) == 0);
  embed_text(buf_str(&repeated), v);
  embed_text(STR("backup postgres nightly storage"), once);
  CHECK(vec_cosine(v, once, DIMS) > 0.6);
  arena_release(&a);
}
