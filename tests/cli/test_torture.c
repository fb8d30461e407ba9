/* test_torture.c: the bounded form of the torture test; `make torture` is the long one. */
#include "support/harness.h"
#include "support/proc.h"
#include "support/torture.h"

static struct torture game(const char *name, int seconds) {
  return (struct torture){
      .store = path_join(NULL, name), .program = CAIRN_BIN, .workers = 8, .seconds = seconds, .seed = 20261115};
}

TEST_TIMEOUT(eight_processes_some_of_them_killed, 90) {
  /* Sanitizers are slow: they get fewer operations, not more time. */
  struct torture t = game("torture.db", test_slowness() > 1 ? 10 : 20);
  struct torture_result r = torture_run(&t);
  printf("%ld acknowledged, %ld keyed, %ld claims, %ld killed\n", r.acknowledged, r.keys, r.claims, r.killed);
  CHECK(r.acknowledged > (test_slowness() > 1 ? 50 : 500));
  CHECK(r.killed > 10);
  CHECK(r.claims > 0);
}

TEST_TIMEOUT(handles_that_share_a_process, 60) {
  struct torture t = game("handles.db", test_slowness() > 1 ? 3 : 5);
  torture_handles(&t);
}

TEST_TIMEOUT(readers_do_not_wait_for_a_writer, 60) {
  struct torture t = game("lock.db", 0);
  torture_lock(&t);
}

TEST_TIMEOUT(a_store_created_by_many_at_once, 60) {
  struct torture t = game("new.db", 0);
  torture_creation(&t, test_slowness() > 1 ? 4 : 12);
}

TEST_TIMEOUT(housekeeping_that_is_killed, 60) {
  struct torture t = game("house.db", 0);
  torture_housekeeping(&t, test_slowness() > 1 ? 8 : 30);
}
