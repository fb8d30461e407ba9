/* test_fair.c: places for callers: all for one that is alone, all but one while others are active. */
#include "op/run/fair.h"

#include "op/access/authenticate.h"
#include "op/op.h"
#include "support/cli.h"

#define SECOND INT64_C(1000000)
#define START (1000 * SECOND)

static const struct fair_id bad = {1, 10}, also_bad = {2, 10}, good = {3, 30};
static const struct fair_places four = {.shared = 4};

TEST(a_caller_that_is_alone_gets_all_places) {
  struct fair f = {0};
  struct fair_id used[] = {bad, bad, bad};
  fair_note(&f, bad, START);
  CHECK(fair_may_take(&f, bad, used, 3, four, START));
}

TEST(a_place_is_left_while_others_are_active) {
  struct fair f = {0};
  struct fair_id used[] = {bad, bad, bad};
  fair_note(&f, good, START);
  fair_note(&f, bad, START);
  CHECK(fair_may_take(&f, bad, used, 2, four, START));
  CHECK(!fair_may_take(&f, bad, used, 3, four, START));
  CHECK(fair_may_take(&f, good, used, 3, four, START));
  for (int i = 1; i <= 20; i++) /* only its own calls */
    fair_note(&f, bad, START + i * SECOND);
  CHECK(fair_may_take(&f, bad, used, 3, four, START + 20 * SECOND)); /* the other one has been quiet */
  fair_note(&f, good, START + 20 * SECOND);
  CHECK(!fair_may_take(&f, bad, used, 3, four, START + 20 * SECOND));
}

TEST(tokens_of_a_team_share_its_places) {
  struct fair f = {0};
  struct fair_id used[] = {bad, also_bad, also_bad};
  fair_note(&f, good, START);
  fair_note(&f, bad, START);
  fair_note(&f, also_bad, START);
  CHECK(!fair_may_take(&f, bad, used, 3, four, START));
  CHECK(fair_may_take(&f, good, used, 3, four, START));
}

TEST(one_place_is_never_refused_for_good) {
  struct fair f = {0};
  fair_note(&f, good, START);
  fair_note(&f, bad, START);
  CHECK(fair_may_take(&f, bad, NULL, 0, (struct fair_places){.shared = 1}, START));
  CHECK(fair_may_take(&f, bad, NULL, 0, (struct fair_places){.shared = 2}, START));
  CHECK(fair_may_take(&f, (struct fair_id){0}, &bad, 1, (struct fair_places){.shared = 2},
                      START)); /* the server's own work */
}

TEST(a_silent_caller_finds_a_reserved_place) {
  struct fair f = {0};
  const struct fair_places places = {.shared = 2, .reserved = 3};
  struct fair_id used[] = {bad, bad, also_bad, {4, 10}}, own = {0}, of_team = {5, 10};
  fair_note(&f, bad, START);
  CHECK(fair_may_take(&f, bad, used, 1, places, START));
  CHECK(!fair_may_take(&f, bad, used, 2, places, START)); /* it has the shared ones */
  CHECK(fair_may_take(&f, also_bad, used, 2, places, START));
  CHECK(!fair_may_take(&f, also_bad, used, 3, places, START));
  CHECK(fair_may_take(&f, of_team, used, 3, places, START));
  CHECK(!fair_may_take(&f, of_team, used, 4, places, START)); /* the last one is not for this team */
  CHECK(fair_may_take(&f, good, used, 4, places, START));
  CHECK(fair_may_take(&f, own, used, 4, places, START));
  fair_note(&f, good, START);
  CHECK(!fair_may_take(&f, bad, used, 1, places, START)); /* as before: others are active */
  CHECK(fair_may_take(&f, of_team, used, 3, places, START));
}

TEST(no_place_is_taken_twice) {
  struct fair f = {0};
  const struct fair_places places = {.shared = 1, .reserved = 1};
  struct fair_id used[] = {bad, also_bad};
  CHECK(!fair_may_take(&f, good, used, 2, places, START));
  CHECK(!fair_may_take(&f, (struct fair_id){0}, used, 2, places, START));
}

TEST(callers_are_told_apart_by_the_id_of_their_token) {
  struct principal p = {.name = STR("token:a"), .team = STR("t"), .token = STR("aaaa")}, q = p;
  struct caller c = {.team = STR("t"), .principal = &p}, d = {.team = STR("t"), .principal = &q};
  CHECK(fair_id_of(&c).caller == fair_id_of(&d).caller);
  q.token = STR("bbbb");
  CHECK(fair_id_of(&c).caller != fair_id_of(&d).caller);
  CHECK(fair_id_of(&c).team == fair_id_of(&d).team);
  d.team = STR("u");
  CHECK(fair_id_of(&c).team != fair_id_of(&d).team);
}
