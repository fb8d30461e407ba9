/* test_bm25.c: BM25 functions against values computed by hand. */
#include "core/rank/bm25.h"
#include "support/harness.h"

TEST(rare_words_weigh_more) {
  /* ln(1 + (100 - 1 + 0.5) / 1.5), ln(1 + 0.5 / 100.5) */
  CHECK_NEAR(bm25_idf(100, 1), 4.20966, 1e-4);
  CHECK_NEAR(bm25_idf(100, 100), 0.0049628, 1e-6);
  CHECK(bm25_idf(100, 101) > 0); /* an estimate may exceed the number of rows */
}

TEST(mentions_saturate_and_length_counts) {
  CHECK_NEAR(bm25_part(1, 1), 1.0, 1e-12); /* one mention in a text of average length */
  CHECK_NEAR(bm25_part(2, 1), 3.8 / 2.9, 1e-12);
  CHECK_NEAR(bm25_part(1, 2), 1.9 / 2.26, 1e-12);
  CHECK(bm25_part(1000, 1) < 1.9);
}
