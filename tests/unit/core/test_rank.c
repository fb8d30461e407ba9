/* test_rank.c: fusion, factors and diversity of the ranking. */
#include <math.h>

#include "base/os/clock.h"
#include "core/rank/rank.h"
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

TEST(an_unread_memory_ages_from_its_creation) {
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

static double fused(double vector, double words, double near, double lent, double named) {
  struct fusion how = {.vector = vector, .words = true, .means = true};
  struct match m = {.part = {[LIST_LEXICAL] = words, [LIST_VECTOR] = near, [LIST_ENTITY] = named}, .lent = lent};
  return fuse(&how, &m);
}

TEST(words_and_meaning_count_by_their_weights) {
  CHECK_NEAR(fused(0.5, 0.4, 0.8, 0, 0), 0.6, 1e-12);
  CHECK_NEAR(fused(0.7, 1, 0, 0, 0), 0.3, 1e-12); /* the 0.7 and 0.3 of earlier systems */
  CHECK_NEAR(fused(0.7, 0, 1, 0, 0), 0.7, 1e-12);
  CHECK_NEAR(fused(0.5, 0, 0, 0, 0), 0, 1e-12);
  CHECK(fused(0.5, 0.9, 0.9, 0, 0) > fused(0.5, 1, 0, 0, 0)); /* found by both lists: better than by one */
}

/* The best hit has the highest score; earlier systems reversed this. */
TEST(fusion_rises_with_each_part) {
  for (int i = 0; i < 10; i++) {
    double x = i / 10.0, y = (i + 1) / 10.0;
    CHECK(fused(0.5, x, 0.5, 0, 0) < fused(0.5, y, 0.5, 0, 0));
    CHECK(fused(0.5, 0.5, x, 0, 0) < fused(0.5, 0.5, y, 0, 0));
    CHECK(fused(0.5, 0.5, 0.5, x, 0) < fused(0.5, 0.5, 0.5, y, 0));
    CHECK(fused(0.5, 0.5, 0.5, 0, x) < fused(0.5, 0.5, 0.5, 0, y));
  }
}

TEST(a_single_list_gets_the_whole_weight) {
  struct match m = {.part = {[LIST_LEXICAL] = 0.8, [LIST_VECTOR] = 0.6}};
  CHECK_NEAR(fuse(&(struct fusion){.vector = 0.5, .words = true}, &m), 0.8, 1e-12);
  CHECK_NEAR(fuse(&(struct fusion){.vector = 0.5, .means = true}, &m), 0.6, 1e-12);
}

/* A good answer of a year ago must rank above a bad one of today. */
TEST(age_reduces_a_score_by_a_limited_share) {
  struct rank_policy p = {30, 400 * MS_PER_DAY};
  struct memory old = {.type = STR("note"), .weight = 1, .created_at = MS_PER_DAY};
  struct memory young = {.type = STR("note"), .weight = 1, .created_at = p.now};
  struct rank_parts o = rank_parts(&p, &old), y = rank_parts(&p, &young);
  CHECK(o.decay < 0.001);
  CHECK_NEAR(y.decay, 1, 1e-12);
  CHECK_NEAR(rank_product(&o) / rank_product(&y), 0.7, 0.001);
}

TEST(diversity_ranks_repetitions_lower) {
  struct arena a;
  arena_init(&a);
  struct word_set texts[] = {word_set(&a, STR("the cat sat on the mat")), word_set(&a, STR("The cat sat on the mat")),
                             word_set(&a, STR("deploy needs two approvals"))};
  double scores[] = {1.0, 0.98, 0.8};
  size_t order[3];
  CHECK_INT(rank_pick_diverse(&a, texts, scores, 3, 2, order), 2);
  CHECK_INT(order[0], 0);
  CHECK_INT(order[1], 2);
  arena_release(&a);
}

TEST(an_unrelated_text_does_not_replace_a_copy_of_a_good_one) {
  struct arena a;
  arena_init(&a);
  struct word_set texts[] = {word_set(&a, STR("the cat sat on the mat")), word_set(&a, STR("The cat sat on the mat")),
                             word_set(&a, STR("deploy needs two approvals")), word_set(&a, STR("bread needs salt"))};
  double scores[] = {1.0, 0.4, 0.15, 0.11};
  size_t order[4];
  CHECK_INT(rank_pick_diverse(&a, texts, scores, 4, 2, order), 2);
  CHECK_INT(order[1], 1);
  arena_release(&a);
}

TEST(untrusted_memories_rank_lower) {
  struct rank_policy p = {.half_life_days = 90, .now = 1};
  struct memory user = {.weight = 1, .trust = STR("user"), .suspect = STR("override")},
                agent = {.weight = 1, .trust = STR("agent")}, tool = {.weight = 1, .trust = STR("tool")},
                order = {.weight = 1, .trust = STR("agent"), .suspect = STR("override")},
                page = {.weight = 1, .trust = STR("import"), .corpus = STR("sources")};
  CHECK_NEAR(rank_parts(&p, &user).trust, 1, 0);
  CHECK_NEAR(rank_parts(&p, &agent).trust, 1, 0);
  CHECK_NEAR(rank_parts(&p, &tool).trust, 0.9, 0);
  CHECK_NEAR(rank_parts(&p, &order).trust, 0.6, 0);
  CHECK_NEAR(rank_parts(&p, &page).trust, 1, 0);
}
