/* test_idle.c: when a server may run its maintenance. */
#include "http/background/idle.h"

#include "support/harness.h"

#define SECONDS(n) ((int64_t)(n) * 1000 * 1000)

TEST(maintenance_waits_for_a_quiet_moment_but_not_for_ever) {
  int64_t due = SECONDS(100);
  CHECK(!idle_may_maintain(true, SECONDS(99), due));
  CHECK(idle_may_maintain(true, SECONDS(100), due));
  CHECK(!idle_may_maintain(false, SECONDS(100), due));
  CHECK(!idle_may_maintain(false, SECONDS(150), due));
  CHECK(idle_may_maintain(false, SECONDS(160), due));
}
