/* test_process.c: states of real processes: alive, stopped, killed, zombie, reused pid. */
#include "base/os/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "support/harness.h"

static struct arena a; /* of the running test */

/* A child that sleeps until it is killed. */
static pid_t child(void) {
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    for (;;)
      pause();
  return pid;
}

static void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

static enum process_state look(pid_t pid, int64_t started) {
  struct str here = process_host(&a);
  return process_check(here, here, pid, started);
}

/* Waits for the state, because a signal takes a moment. */
static bool becomes(pid_t pid, int64_t started, enum process_state want) {
  for (int i = 0; i < 500; i++) {
    if (look(pid, started) == want)
      return true;
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  }
  return false;
}

TEST(the_host_is_in_lower_case) {
  arena_init(&a);
  struct str host = process_host(&a);
  CHECK(host.n > 0);
  for (size_t i = 0; i < host.n; i++)
    CHECK(!ascii_upper(host.p[i]));
  arena_release(&a);
}

TEST(start_time_of_a_process) {
  arena_init(&a);
  struct clock clock = {0};
  int64_t before = clock_now(&clock), started = 0;
  pid_t pid = child();
  CHECK(process_started(pid, &started));
  CHECK(started >= before - 2000 && started <= clock_now(&clock) + 2000);
  int64_t again = 0;
  CHECK(process_started(pid, &again));
  CHECK(again - started < 20 && started - again < 20);
  end(pid);
  CHECK(!process_started(pid, &started));
  CHECK(!process_started(0, &started) && !process_started(-1, &started));
  arena_release(&a);
}

TEST(killed_stopped_and_reused_are_told_apart) {
  arena_init(&a);
  int64_t started = 0;
  pid_t pid = child();
  CHECK(process_started(pid, &started));
  CHECK_INT(look(pid, started), PROCESS_ALIVE);
  CHECK_INT(look(pid, 0), PROCESS_ALIVE); /* unknown start time */
  kill(pid, SIGSTOP);
  CHECK(becomes(pid, started, PROCESS_STOPPED));
  kill(pid, SIGCONT);
  CHECK(becomes(pid, started, PROCESS_ALIVE));
  /* The same pid, but the process started an hour after the expected one. */
  CHECK_INT(look(pid, started - 3600 * 1000), PROCESS_REUSED);
  CHECK_INT(look(pid, started + 3600 * 1000), PROCESS_REUSED);
  kill(pid, SIGKILL);
  CHECK(becomes(pid, started, PROCESS_DEAD)); /* a zombie */
  waitpid(pid, NULL, 0);
  CHECK_INT(look(pid, started), PROCESS_DEAD);
  arena_release(&a);
}

TEST(processes_of_other_hosts_are_unknown) {
  arena_init(&a);
  struct str here = process_host(&a);
  CHECK_INT(process_check(here, STR("another-host"), getpid(), 0), PROCESS_UNKNOWN);
  CHECK_INT(process_check(here, STR_NONE, getpid(), 0), PROCESS_UNKNOWN);
  CHECK_INT(process_check(STR_NONE, here, getpid(), 0), PROCESS_UNKNOWN);
  CHECK_INT(process_check(here, here, 0, 0), PROCESS_UNKNOWN);
  CHECK_INT(process_check(here, here, INT64_C(1) << 40, 0), PROCESS_DEAD); /* no machine has such a pid */
  arena_release(&a);
}

TEST(a_process_name_cannot_forge_its_state) {
#define FIELDS " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
  char state = 0;
  int64_t ticks = 0;
  CHECK(process_parse_stat(STR("42 (sh) S" FIELDS "777 0 0"), &state, &ticks));
  CHECK_INT(state, 'S');
  CHECK_INT(ticks, 777);
  CHECK(process_parse_stat(STR("42 (x) Z 1) R) T" FIELDS "888 0 0"), &state, &ticks));
  CHECK_INT(state, 'T');
  CHECK_INT(ticks, 888);
  static const struct str bad[] = {STR_INIT(""),
                                   STR_INIT("42"),
                                   STR_INIT("42 (sh)"),
                                   STR_INIT("42 (sh) "),
                                   STR_INIT("42 (sh) S"),
                                   STR_INIT("42 (sh) S 1 2 3"),
                                   STR_INIT("42 (sh) S" FIELDS "soon 0"),
                                   STR_INIT(")")};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("line %zu", i);
    CHECK(!process_parse_stat(bad[i], &state, &ticks));
  }
}
