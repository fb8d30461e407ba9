/* test_torture.c: a short run of the torture test; `make torture` is the long one. */
#include "support/games.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/torture.h"

TEST(eight_processes_some_of_them_killed, .seconds = 90, .slow = true) {
  /* Sanitizers are slow: use fewer operations, not more time. */
  struct torture t = game("torture.db", test_slowness() > 1 ? 10 : 20);
  if (on_postgres())
    t.seconds = 25;
  game_disturb(&t);
  struct torture_result r = torture_run(&t);
  printf("%ld acknowledged, %ld keyed, %ld claims, %ld killed; %ld disturbances, %ld calls failed for them\n",
         r.acknowledged, r.keys, r.claims, r.killed, r.disturbed, r.failed);
  CHECK(r.acknowledged > (on_postgres() ? 20 : test_slowness() > 1 ? 50 : 500));
  CHECK(r.killed > 10);
  CHECK(r.claims > 0);
  CHECK(!t.disturb || r.disturbed >= 3); /* the third is a crash */
}

TEST(handles_that_share_a_process, .seconds = 60, .slow = true) {
  struct torture t = game("handles.db", test_slowness() > 1 ? 3 : 5);
  torture_handles(&t);
}

TEST(readers_do_not_wait_for_a_writer, .seconds = 60, .slow = true) {
  struct torture t = game("lock.db", 0);
  torture_lock(&t);
}

TEST(a_store_created_by_many_at_once, .seconds = 60, .slow = true) {
  struct torture t = game("new.db", 0);
  torture_creation(&t, test_slowness() > 1 ? 4 : on_postgres() ? 6 : 12, game_new_place());
}

TEST(killed_maintenance, .seconds = 60, .slow = true) {
  struct torture t = game("house.db", 0);
  torture_housekeeping(&t, test_slowness() > 1 ? 8 : 30);
}
