/* test_rank.c: fusion, decay, boosts, diversity. */
#include <math.h>

#include "base/clock.h"
#include "core/rank.h"
#include "support/harness.h"

TEST(half_power_is_two_to_the_minus_x) {
  for (int i = 0; i <= 400; i++) {
    double x = i / 10.0;
    CHECK_NEAR(half_power(x), exp2(-x), 1e-15);
  }
  CHECK_NEAR(half_power(0), 1, 0);
  CHECK_NEAR(half_power(1), 0.5, 0);
  CHECK_NEAR(half_power(-3), 1, 0);
  CHECK_NEAR(half_power(1e9), 0, 0);
}

TEST(retention_halves_each_half_life) {
  CHECK_NEAR(retention(7, 7), 0.5, 1e-15);
  CHECK_NEAR(retention(14, 7), 0.25, 1e-15);
  CHECK(retention(23.2, 7) > 0.1);
  CHECK(retention(23.3, 7) < 0.1);
}

static struct memory plain(const char *type) {
  return (struct memory){.type = str_from(type), .weight = 1.0, .created_at = 1000 * MS_PER_DAY};
}

TEST(age_halves_after_thirty_days) {
  struct rank_policy p = {30, 1030 * MS_PER_DAY};
  struct memory m = plain("decision");
  CHECK_NEAR(rank_parts(&p, &m).decay, 0.5, 1e-12);
  m.last_accessed = 1030 * MS_PER_DAY;
  CHECK_NEAR(rank_parts(&p, &m).decay, 1, 0);
}

TEST(rules_identity_and_lessons_are_evergreen) {
  struct rank_policy p = {30, 9000 * MS_PER_DAY};
  static const char *const evergreen[] = {"rule", "identity", "lesson", "feedback"};
  for (size_t i = 0; i < ARRAY_LEN(evergreen); i++) {
    struct memory m = plain(evergreen[i]);
    CHECK_NEAR(rank_parts(&p, &m).decay, 1, 0);
  }
}

TEST(a_memory_that_was_never_read_is_as_old_as_it_is) {
  struct rank_policy p = {30, 1000 * MS_PER_DAY};
  struct memory m = plain("fact");
  CHECK_NEAR(rank_parts(&p, &m).decay, 1, 0);
}

TEST(ratings_use_and_weight_count) {
  struct rank_policy p = {30, 1000 * MS_PER_DAY};
  struct memory base = plain("fact"), liked = base, disliked = base, used = base, light = base;
  liked.upvotes = 2;
  disliked.downvotes = 2;
  used.access_count = 5;
  light.weight = 0.5;
  struct rank_parts b = rank_parts(&p, &base), l = rank_parts(&p, &liked), d = rank_parts(&p, &disliked),
                    u = rank_parts(&p, &used), w = rank_parts(&p, &light);
  CHECK(rank_product(&l) > rank_product(&b));
  CHECK(rank_product(&d) < rank_product(&b));
  CHECK(rank_product(&u) > rank_product(&b));
  CHECK_NEAR(rank_product(&w), rank_product(&b) / 2, 1e-12);
}

TEST(the_best_of_both_lists_wins) {
  static const double weights[LIST_COUNT] = {1, 1};
  struct arena a;
  arena_init(&a);
  struct fuseds all = {0};
  fuse_add(&a, &all, LIST_LEXICAL, 1, 11, 9.0);
  fuse_add(&a, &all, LIST_LEXICAL, 2, 21, 8.0);
  fuse_add(&a, &all, LIST_LEXICAL, 2, 22, 7.0); /* a later chunk of the same memory */
  fuse_add(&a, &all, LIST_VECTOR, 2, 23, 0.9);
  fuse_add(&a, &all, LIST_VECTOR, 3, 31, 0.8);
  fuse_finish(&all, weights);
  CHECK_INT(all.n, 3);
  CHECK_INT(all.v[0].memory_id, 2);
  CHECK_INT(all.v[0].chunk_id, 21);
  CHECK_INT(all.v[0].rank[LIST_LEXICAL], 2);
  CHECK_INT(all.v[0].rank[LIST_VECTOR], 1);
  CHECK_INT(all.v[1].memory_id, 1);
  CHECK_INT(all.v[2].memory_id, 3);
  arena_release(&a);
}

/* The best keyword hit has the highest score: earlier systems had it upside down. */
TEST(fusion_is_monotone_in_the_rank) {
  static const double weights[LIST_COUNT] = {1, 0};
  struct arena a;
  arena_init(&a);
  struct fuseds all = {0};
  for (int i = 0; i < 50; i++)
    fuse_add(&a, &all, LIST_LEXICAL, 100 + i, i, 50 - i);
  fuse_finish(&all, weights);
  for (size_t i = 0; i < all.n; i++)
    CHECK_INT(all.v[i].memory_id, 100 + (int64_t)i);
  CHECK_NEAR(all.v[0].fusion, 1, 1e-12);
  arena_release(&a);
}

TEST(diversity_prefers_another_text_to_a_repetition) {
  struct arena a;
  arena_init(&a);
  struct str texts[] = {STR("the cat sat on the mat"), STR("The cat sat on the mat"),
                        STR("deploy needs two approvals")};
  double scores[] = {1.0, 0.98, 0.8};
  size_t order[3], n;
  mmr_pick(&a, texts, scores, 3, 2, order, &n);
  CHECK_INT(n, 2);
  CHECK_INT(order[0], 0);
  CHECK_INT(order[1], 2);
  arena_release(&a);
}
