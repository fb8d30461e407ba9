/* test_eval_metrics.c: metrics, compared with values calculated by hand. */
#include "op/eval/metrics.h"
#include "support/harness.h"

static struct metrics one(const double *ranked, size_t n, const double *relevant, size_t relevant_count) {
  struct metrics m = {0};
  metrics_add(&m, ranked, n, relevant, relevant_count);
  return m;
}

#define ONE(ranked, relevant) one(ranked, ARRAY_LEN(ranked), relevant, ARRAY_LEN(relevant))
#define FIGURE(m, which) metrics_mean(&(m), METRIC_##which)

TEST(the_only_relevant_document_at_each_place) {
  /* 1 / log2(rank + 1), from a table of logarithms. */
  static const double ndcg[] = {1, 0.6309, 0.5, 0.4307, 0.3869, 0.3562, 0.3333, 0.3155, 0.3010, 0.2891, 0, 0};
  static const double relevant[] = {1};
  for (size_t rank = 1; rank <= ARRAY_LEN(ndcg); rank++) {
    double ranked[12] = {0};
    ranked[rank - 1] = 1;
    struct metrics m = ONE(ranked, relevant);
    test_note("rank %zu", rank);
    CHECK_NEAR(FIGURE(m, NDCG_10), ndcg[rank - 1], 0.00005);
    CHECK_NEAR(FIGURE(m, MRR), rank <= 10 ? 1.0 / (double)rank : 0, 1e-12);
    CHECK_NEAR(FIGURE(m, RECALL_1), rank == 1, 0);
    CHECK_NEAR(FIGURE(m, RECALL_5), rank <= 5, 0);
    CHECK_NEAR(FIGURE(m, RECALL_10), rank <= 10, 0);
    CHECK_NEAR(FIGURE(m, RECALL_ALL_5), rank <= 5, 0);
    CHECK_NEAR(FIGURE(m, RECALL_ALL_10), rank <= 10, 0);
    CHECK_NEAR(FIGURE(m, RECALL_ANY_5), rank <= 5, 0);
  }
}

TEST(several_relevant_documents) {
  /* Four relevant documents; three are at ranks 2, 4 and 7. */
  static const double ranked[] = {0, 1, 0, 1, 0, 0, 1, 0, 0, 0}, relevant[] = {1, 1, 1, 1};
  struct metrics m = ONE(ranked, relevant);
  CHECK_NEAR(FIGURE(m, RECALL_1), 0, 0);
  CHECK_NEAR(FIGURE(m, RECALL_5), 0.5, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_10), 0.75, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_ALL_10), 0, 0);
  CHECK_NEAR(FIGURE(m, RECALL_ANY_5), 1, 0);
  CHECK_NEAR(FIGURE(m, MRR), 0.5, 1e-12);
  /* (0.63093 + 0.43068 + 0.33333) / (1 + 0.63093 + 0.5 + 0.43068) = 1.39494 / 2.56161 */
  CHECK_NEAR(FIGURE(m, NDCG_10), 0.54456, 0.00001);
}

TEST(gain_is_linear_in_the_score) {
  static const double ranked[] = {1, 0, 3}, relevant[] = {1, 2, 3};
  struct metrics m = ONE(ranked, relevant);
  /* (1 + 3 / 2) / (3 + 2 * 0.63093 + 1 / 2) = 2.5 / 4.76186 */
  CHECK_NEAR(FIGURE(m, NDCG_10), 0.52501, 0.00001);
  CHECK_NEAR(FIGURE(m, RECALL_1), 1.0 / 3, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_5), 2.0 / 3, 1e-12);
  static const double best[] = {3, 2, 1};
  CHECK_NEAR(metrics_mean(&(struct metrics){0}, METRIC_MRR), 0, 0);
  struct metrics ideal = ONE(best, relevant);
  CHECK_NEAR(FIGURE(ideal, NDCG_10), 1, 1e-12);
  CHECK_NEAR(FIGURE(ideal, RECALL_ALL_5), 1, 0);
}

TEST(the_best_list_is_cut_at_ten) {
  double ranked[10], relevant[25];
  for (int i = 0; i < 10; i++)
    ranked[i] = i < 5 ? 2 : 1;
  for (int i = 0; i < 25; i++)
    relevant[i] = i % 5 == 4 ? 2 : 1; /* the five best are scattered */
  struct metrics m = ONE(ranked, relevant);
  CHECK_NEAR(FIGURE(m, NDCG_10), 1, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_10), 0.4, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_ALL_10), 0, 0);
}

TEST(means_over_queries) {
  static const double first[] = {1}, second[] = {0, 1}, relevant[] = {1};
  struct metrics m = {0};
  metrics_add(&m, first, 1, relevant, 1);
  metrics_add(&m, second, 2, relevant, 1);
  metrics_add(&m, NULL, 0, relevant, 1);
  CHECK_INT(m.queries, 3);
  CHECK_NEAR(FIGURE(m, MRR), 0.5, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_1), 1.0 / 3, 1e-12);
  CHECK_NEAR(FIGURE(m, RECALL_ANY_5), 2.0 / 3, 1e-12);
}

TEST(percentiles_are_values_that_occurred) {
  double v[] = {5, 1, 4, 2, 3};
  CHECK_NEAR(percentile(v, 5, 0.5), 3, 0);
  CHECK_NEAR(percentile(v, 5, 0.95), 5, 0);
  CHECK_NEAR(percentile(v, 5, 0.2), 1, 0);
  CHECK_NEAR(percentile(v, 4, 0.5), 2, 0);
  CHECK_NEAR(percentile(v, 1, 0.95), 1, 0);
  CHECK_NEAR(percentile(NULL, 0, 0.5), 0, 0);
  double hundred[100];
  for (int i = 0; i < 100; i++)
    hundred[i] = 100 - i;
  CHECK_NEAR(percentile(hundred, 100, 0.95), 95, 0);
  CHECK_NEAR(percentile(hundred, 100, 0.5), 50, 0);
}
