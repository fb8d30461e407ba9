/* test_proc.c: the program runner that black-box tests rely on. */
#include "support/proc.h"

#include <signal.h>
#include <unistd.h>

#include "support/harness.h"

TEST(run_captures_output_and_exit_code) {
  struct run r = proc_run(.argv = ARGS("sh", "-c", "echo out; echo err >&2; exit 3"));
  CHECK_INT(r.exit_code, 3);
  CHECK_INT(r.signal, 0);
  CHECK(!r.timed_out);
  CHECK_STR(r.out, "out\n");
  CHECK_STR(r.err, "err\n");
}

TEST(run_feeds_input_larger_than_a_pipe) {
  enum { SIZE = 1000 * 1000 };
  static char text[SIZE];
  memset(text, 'x', SIZE);
  struct run r = proc_run(.argv = ARGS("cat"), .input = {text, SIZE});
  CHECK_INT(r.exit_code, 0);
  CHECK_INT(r.out.n, SIZE);
  CHECK(memcmp(r.out.p, text, SIZE) == 0);
}

TEST(run_survives_a_program_that_reads_nothing) {
  static char text[200 * 1000];
  struct run r = proc_run(.argv = ARGS("true"), .input = {text, sizeof(text)});
  CHECK_INT(r.exit_code, 0);
}

TEST(run_sets_environment_and_folder) {
  setenv("PROC_GONE", "1", 1);
  struct run r = proc_run(.argv = ARGS("sh", "-c", "echo $PROC_A-$PROC_GONE; pwd"),
                          .env = ARGS("PROC_A=b c", "PROC_GONE"), .dir = "/");
  CHECK_STR(r.out, "b c-\n/\n");
}

TEST(run_merges_and_reports_signals) {
  struct run r = proc_run(.argv = ARGS("sh", "-c", "echo a; echo b >&2; kill -TERM $$"), .merge = true);
  CHECK_STR(r.out, "a\nb\n");
  CHECK_INT(r.exit_code, -1);
  CHECK_INT(r.signal, SIGTERM);
}

TEST(run_stops_at_the_time_limit) {
  struct run r = proc_run(.argv = ARGS("sleep", "30"), .timeout_ms = 50);
  CHECK(r.timed_out);
  CHECK_INT(r.signal, SIGKILL);
  struct run closed = proc_run(.argv = ARGS("sh", "-c", "exec >&- 2>&-; exec sleep 30"), .timeout_ms = 50);
  CHECK(closed.timed_out);
}

TEST(run_of_a_missing_program) {
  struct run r = proc_run(.argv = ARGS("/nonexistent/program"));
  CHECK_INT(r.exit_code, 127);
}

TEST(dialogue_line_by_line) {
  struct proc *p = proc_start(.argv = ARGS("cat"));
  struct str line;
  CHECK(proc_send(p, STR("one\ntwo\nthr")));
  CHECK(proc_line(p, 5000, &line));
  CHECK_STR(line, "one");
  CHECK(proc_line(p, 5000, &line));
  CHECK_STR(line, "two");
  CHECK(!proc_line(p, 20, &line));
  CHECK(proc_send(p, STR("ee")));
  proc_close(p);
  CHECK(proc_line(p, 5000, &line));
  CHECK_STR(line, "three");
  CHECK(!proc_line(p, 5000, &line));
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(r.out, "one\ntwo\nthree");
}

TEST(kill_ends_a_started_program) {
  struct proc *p = proc_start(.argv = ARGS("sleep", "30"));
  CHECK(kill(proc_pid(p), 0) == 0);
  proc_kill(p, SIGKILL);
  CHECK_INT(proc_wait(p).signal, SIGKILL);
}

TEST(files_round_trip_in_a_private_folder) {
  const char *path = path_join(NULL, "a.txt");
  CHECK(str_starts(str_from(path), str_from(test_dir())));
  file_write(path, (struct str){"x\0y", 3});
  struct str back = file_read(path);
  CHECK_INT(back.n, 3);
  CHECK(memcmp(back.p, "x\0y", 3) == 0);
  file_write(path, STR(""));
  CHECK_STR(file_read(path), "");
}
