/* test_budget.c: bytes and processor time of tokens and teams. */
#include "http/access/budget.h"

#include "support/harness.h"

#define SECOND INT64_C(1000000)
#define MB INT64_C(1000000)

static bool refused(struct budgets *b, const char *account, int64_t bytes, struct budget_refusal *ret_why) {
  *ret_why = (struct budget_refusal){0};
  return budgets_refuse(b, str_from(account), STR("team"), bytes, ret_why);
}

TEST(processor_time_is_limited_after_ten_seconds) {
  struct budgets *b = budgets_new(0, 50);
  struct budget_refusal why;
  CHECK(b != NULL);
  budgets_charge_cpu(b, STR("bad"), STR("team"), 9 * SECOND);
  CHECK(!refused(b, "bad", 100 * MB, &why)); /* bytes are unlimited */
  budgets_charge_cpu(b, STR("bad"), STR("team"), 6 * SECOND);
  CHECK(refused(b, "bad", 0, &why));
  CHECK(why.cpu && why.wait_us > 0 && strstr(why.what, "token"));
  CHECK(!refused(b, "good", 0, &why)); /* another token of the team */
  budgets_charge_cpu(b, STR("worse"), STR("team"), 9 * SECOND);
  CHECK(refused(b, "good", 0, &why)); /* the team has used 24 s */
  CHECK(why.cpu && strstr(why.what, "team"));
  budgets_free(&b);
}

TEST(bytes_are_limited_after_32_megabytes) {
  struct budgets *b = budgets_new(1, 0);
  struct budget_refusal why;
  CHECK(b != NULL);
  CHECK(!refused(b, "bad", 30 * MB, &why));
  CHECK(!refused(b, "bad", 10 * MB, &why)); /* charged afterwards */
  for (int i = 0; i < 20; i++) {            /* refused requests are not charged to the team */
    CHECK(refused(b, "bad", 10 * MB, &why));
    CHECK(!why.cpu && why.wait_us > 0);
  }
  CHECK(!refused(b, "good", 0, &why));
  budgets_free(&b);
}

TEST(zero_is_unlimited) {
  struct budgets *b = budgets_new(0, 0);
  struct budget_refusal why;
  CHECK(b != NULL);
  budgets_charge_cpu(b, STR("a"), STR("team"), 1000 * SECOND);
  CHECK(!refused(b, "a", 1000 * MB, &why));
  CHECK(!refused(b, "a", 1000 * MB, &why));
  budgets_free(&b);
}
