/* test_tasks.c: tasks: order, blockers, cycles, and concurrent claims. */
#include "support/cli.h"

TEST(a_task_is_open_with_a_priority) {
  yyjson_val *r = OK("task", "add", "--priority", "high", "--milestone", "1.0", "--due", "2026-05-01", "--accept",
                     "the notes are online", "--accept", "somebody read them", "Write the release notes");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK_STR(jstr(r, "kind"), "task");
  yyjson_val *m = OK("get", num(jint(r, "id")));
  CHECK_STR(jstr(m, "status"), "open");
  CHECK_STR(jstr(m, "priority"), "high");
  CHECK_STR(jstr(m, "milestone"), "1.0");
  CHECK_STR(jstr(m, "due"), "2026-05-01");
  CHECK(jhas_str(m, "acceptance", "the notes are online") && jhas_str(m, "acceptance", "somebody read them"));
  m = OK("get", num(ADD_TASK("Water the plants")));
  CHECK_STR(jstr(m, "priority"), "medium");
}

TEST(tasks_are_listed_by_priority) {
  int64_t low = ADD_TASK("--priority", "low", "Dust the shelves");
  int64_t high = ADD_TASK("--priority", "high", "Stop the leak");
  int64_t medium = ADD_TASK("--milestone", "spring", "Water the plants");
  int64_t done = ADD_TASK("Feed the cat");
  OK("task", "status", num(done), "done");
  yyjson_val *r = OK("task", "list");
  CHECK_INT(jint(r, "count"), 3);
  CHECK_INT(jpos(r, "tasks", high), 0);
  CHECK_INT(jpos(r, "tasks", medium), 1);
  CHECK_INT(jpos(r, "tasks", low), 2);
  CHECK_INT(jpos(OK("task", "list", "--status", "done"), "tasks", done), 0);
  CHECK_INT(jint(OK("task", "list", "--milestone", "spring"), "count"), 1);
  REFUSED("usage", "task", "list", "--status", "lost");
}

TEST(a_task_is_ready_if_open_without_open_blockers) {
  int64_t dig = ADD_TASK("Dig a hole"), plant = ADD_TASK("Plant the apple tree", "--blocked-by", num(dig));
  int64_t water = ADD_TASK("Water everything");
  OK("task", "block", num(water), num(plant));
  yyjson_val *r = OK("task", "ready");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_INT(jint(r, "tasks[0].id"), dig);
  r = OK("task", "list");
  CHECK_INT(jint(r, textf("tasks[%d].blocked_by[0]", jpos(r, "tasks", plant))), dig);
  OK("task", "status", num(dig), "done");
  r = OK("task", "ready");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_INT(jint(r, "tasks[0].id"), plant);
  OK("task", "unblock", num(water), num(plant));
  CHECK(jpos(OK("task", "ready"), "tasks", water) >= 0);
  OK("task", "status", num(water), "blocked"); /* by something other than a task */
  CHECK_INT(jpos(OK("task", "ready"), "tasks", water), -1);
  REFUSED("not_found", "task", "unblock", num(water), num(plant));
}

TEST(a_blocker_that_is_done_is_no_longer_listed) {
  int64_t dig = ADD_TASK("Dig a hole"), buy = ADD_TASK("Buy a tree");
  ADD_TASK("Plant the tree", "--blocked-by", num(dig), "--blocked-by", num(buy), "--priority", "high");
  CHECK_INT(jlen(OK("task", "list"), "tasks[0].blocked_by"), 2);
  OK("task", "status", num(dig), "done");
  yyjson_val *r = OK("task", "list");
  CHECK_INT(jlen(r, "tasks[0].blocked_by"), 1);
  CHECK_INT(jint(r, "tasks[0].blocked_by[0]"), buy);
  OK("task", "status", num(buy), "done");
  r = OK("task", "list");
  CHECK_STR(jstr(r, "tasks[0].headline"), "Plant the tree");
  CHECK(!jget(r, "tasks[0].blocked_by"));
}

TEST(a_stale_blocker_still_blocks_and_a_forgotten_one_does_not) {
  int64_t dig = ADD_TASK("Dig a hole"), plant = ADD_TASK("Plant the apple tree", "--blocked-by", num(dig));
  OK("task", "status", num(dig), "stale");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", plant), -1);
  OK("forget", num(dig), "--reason", "no spade");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", plant), 0);
}

TEST(cycles_are_refused_with_the_path) {
  int64_t a = ADD_TASK("Dig a hole"), b = ADD_TASK("Plant the apple tree"), c = ADD_TASK("Water everything");
  OK("task", "block", num(b), num(a)); /* a blocks b */
  OK("task", "block", num(c), num(b)); /* b blocks c */
  yyjson_val *e = REFUSED("conflict", "task", "block", num(a), num(c));
  CHECK(has(jstr(e, "message"), textf("%s -> %s -> %s -> %s", num(a), num(c), num(b), num(a))));
  CHECK(has(jstr(e, "fix"), "unblock"));
  REFUSED("conflict", "task", "block", num(a), num(a));
  CHECK_INT(sql_number("SELECT count(*) FROM link WHERE rel = 'blocked_by'"), 2);
  OK("task", "unblock", num(c), num(b));
  OK("task", "block", num(a), num(c)); /* no longer a cycle */
}

TEST(only_tasks_block_tasks) {
  int64_t task = ADD_TASK("Dig a hole"), fact = STORE("Holes are deep");
  REFUSED("conflict", "task", "block", num(task), num(fact));
  REFUSED("conflict", "task", "block", num(fact), num(task));
  REFUSED("conflict", "task", "status", num(fact), "done");
  REFUSED("conflict", "task", "claim", num(fact));
  yyjson_val *e = REFUSED("conflict", "task", "add", "Fill the hole", "--blocked-by", num(fact));
  CHECK(!has(jstr(e, "message"), "constraint"));
  REFUSED("not_found", "task", "block", num(task), "99");
  REFUSED("not_found", "task", "add", "Fill the hole", "--blocked-by", "99");
}

TEST(blockers_follow_a_correction) {
  int64_t dig = ADD_TASK("Dig a hole"), plant = ADD_TASK("Plant the apple tree", "--blocked-by", num(dig));
  int64_t water = ADD_TASK("Water everything", "--blocked-by", num(plant));
  /* If the blocker is superseded, the new version blocks. */
  int64_t deeper = jint(OK("supersede", num(dig), "--reason", "too shallow", "Excavate two metres of soil"), "id");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", plant), -1);
  /* If the blocked task is superseded, the new version is blocked, and blocks in turn. */
  int64_t pear = jint(OK("supersede", num(plant), "--reason", "no apples", "Plant a pear"), "id");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", pear), -1);
  OK("task", "status", num(deeper), "done");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", pear), 0);
  CHECK_INT(jpos(OK("task", "ready"), "tasks", water), -1);
  OK("task", "status", num(pear), "done");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", water), 0);
  CHECK_HEALTHY();
}

/* ---- claims ---- */

TEST(a_task_has_one_claimant) {
  int64_t id = ADD_TASK("Dig a hole");
  yyjson_val *r = OK("task", "claim", num(id), "--by", "alice");
  CHECK_STR(jstr(r, "claimed_by"), "alice");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", id), -1);
  yyjson_val *e = REFUSED("conflict", "task", "claim", num(id), "--by", "bob");
  CHECK(has(jstr(e, "message"), "alice"));
  OK("task", "claim", num(id), "--by", "alice"); /* claiming again changes nothing */
  REFUSED("conflict", "task", "claim", num(id), "--release", "--by", "bob");
  OK("task", "claim", num(id), "--release", "--by", "alice");
  CHECK_INT(jpos(OK("task", "ready"), "tasks", id), 0);
  OK("task", "claim", num(id), "--by", "bob");
  OK("task", "status", num(id), "done");
  REFUSED("conflict", "task", "claim", num(id), "--by", "carol");
}

TEST(a_claim_without_an_id_takes_the_first_ready_task) {
  int64_t low = ADD_TASK("--priority", "low", "Dust the shelves"),
          high = ADD_TASK("--priority", "high", "Stop the leak");
  CHECK_INT(jint(OK("task", "claim", "--by", "a"), "id"), high);
  CHECK_INT(jint(OK("task", "claim", "--by", "b"), "id"), low);
  REFUSED("not_found", "task", "claim", "--by", "c");
}

TEST(a_blocked_task_cannot_be_claimed) {
  int64_t dig = ADD_TASK("Dig a hole"), plant = ADD_TASK("Plant the apple tree", "--blocked-by", num(dig));
  yyjson_val *e = REFUSED("conflict", "task", "claim", num(plant));
  CHECK(has(jstr(e, "message"), num(dig)));
}

enum { RACERS = 8, ROUNDS = 20 };

static struct proc *start_claim(int64_t id, int racer) {
  return proc_start(.argv = ARGS(CAIRN_BIN, "task", "claim", num(id), "--by", textf("racer%d", racer), "--json"),
                    .env = cli_env());
}

TEST(one_of_eight_processes_wins_the_claim, .seconds = 60, .slow = true) {
  for (int round = 0; round < ROUNDS; round++) {
    int64_t id = ADD_TASK(words(textf("round%d", round), 5));
    struct proc *racers[RACERS];
    int winners = 0, winner = -1;
    test_note("round %d", round);
    for (int i = 0; i < RACERS; i++)
      racers[i] = start_claim(id, i);
    for (int i = 0; i < RACERS; i++) {
      struct run r = proc_wait(racers[i]);
      winners += r.exit_code == 0;
      winner = r.exit_code == 0 ? i : winner;
      CHECK(r.exit_code == 0 || r.exit_code == 5);
      CHECK(!has(r.out, "locked"));
    }
    CHECK_INT(winners, 1);
    CHECK_STR(jstr(OK("get", num(id)), "claimed_by"), textf("racer%d", winner));
  }
}

TEST(eight_processes_without_an_id_claim_eight_tasks, .seconds = 40) {
  for (int i = 0; i < RACERS; i++)
    ADD_TASK(words(textf("job%d", i), 5));
  struct proc *racers[RACERS];
  for (int i = 0; i < RACERS; i++)
    racers[i] =
        proc_start(.argv = ARGS(CAIRN_BIN, "task", "claim", "--by", textf("racer%d", i), "--json"), .env = cli_env());
  for (int i = 0; i < RACERS; i++)
    CHECK_INT(proc_wait(racers[i]).exit_code, 0);
  CHECK_INT(sql_number("SELECT count(DISTINCT claimed_by) FROM memory"), RACERS);
  CHECK_INT(jint(OK("task", "ready"), "count"), 0);
}
