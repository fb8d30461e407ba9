/* harness.c: runs the registered tests, each in its own process, and counts the results. */
#include "support/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/pg.h"

#if defined(__SANITIZE_THREAD__)
#define SLOWNESS 10
#elif defined(__SANITIZE_ADDRESS__)
#define SLOWNESS 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SLOWNESS 10
#endif
#endif
#ifndef SLOWNESS
#define SLOWNESS 1
#endif

enum { MAX_JOBS = 64, JOBS_PER_CORE = 4, MAX_WITHOUT = 16, OUTPUT_SHOWN = 16 * 1024, NOTE_SIZE = 1024, SLOWEST = 10 };

/* One running test. */
struct job {
  struct test *test;
  size_t number;
  pid_t pid;
  int output;            /* memfd for its stdout and stderr */
  char *note;            /* shared with the test's process; belongs to the slot */
  double started, spent; /* seconds; `spent` counts against the time limit */
  bool timed_out;
  char dir[512];
};

struct runner {
  bool verbose; /* also show the output of passed tests */
  struct test **tests;
  size_t count, next;
  int apart;  /* skipped, because they are for the other engine */
  int unable; /* ended by test_unable() */
  struct job jobs[MAX_JOBS];
  int slots; /* maximum number of tests at once */
  int cores, running, passed, failed;
  double looked;        /* time of the last call of fair_seconds() */
  char times_path[512]; /* file with the seconds of each test in the last run */
};

static struct test *registered;
static char run_dir[256];   /* parent of the test directories */
static char child_dir[512]; /* directory of the test that this process runs */
static char *child_note;
static bool postgres;
static volatile sig_atomic_t stop_signal; /* set when the runner must stop */

void test_register(struct test *t) {
  t->next = registered;
  registered = t;
}

void test_note(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(child_note, NOTE_SIZE, fmt, ap);
  va_end(ap);
}

void test_unable(const char *why) {
  printf("  it needs %s\n", why);
  fflush(NULL);
  _exit(UNABLE);
}

int test_slowness(void) { return SLOWNESS; }

static double read_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_now(void) { return read_clock(CLOCK_MONOTONIC); }
double test_cpu_seconds(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

bool on_postgres(void) { return postgres; }

/* PostgreSQL needs a connection for each call and a database for each store. */
int test_patience(void) { return SLOWNESS * (postgres ? 3 : 1); }
static int limit_of(const struct test *t) { return t->seconds ? t->seconds : TEST_SECONDS; }
static int seconds_for(const struct test *t) { return limit_of(t) * test_patience(); }

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static _Noreturn void end_failed(void) {
  fflush(NULL);
  /* Not exit(): memory that the test has not freed yet is not a leak. */
  _exit(1);
}

void test_fail(const char *file, int line, const char *fmt, ...) {
  fprintf(stderr, "%s:%d: ", file, line);
  va_list ap;
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fputc('\n', stderr);
  end_failed();
}

static void print_escaped(const char *label, struct str s) {
  fprintf(stderr, "  %s \"", label);
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c == '\n')
      fputs("\\n", stderr);
    else if (c == '"' || c == '\\')
      fprintf(stderr, "\\%c", c);
    else if (c < 32 || c == 127)
      fprintf(stderr, "\\x%02x", c);
    else
      fputc(c, stderr);
  }
  fprintf(stderr, "\" (%zu bytes)\n", s.n);
}

void test_check_int(const char *file, int line, const char *expr, int64_t got, int64_t want) {
  if (got != want)
    test_fail(file, line, "%s is %lld, not %lld", expr, (long long)got, (long long)want);
}

void test_check_str(const char *file, int line, const char *expr, struct str got, const char *want) {
  if (str_eq(got, str_from(want)))
    return;
  fprintf(stderr, "%s:%d: %s\n", file, line, expr);
  print_escaped("got ", got);
  print_escaped("want", str_from(want));
  end_failed();
}

void test_check_near(const char *file, int line, const char *expr, double got, double want, double eps) {
  if (!(fabs(got - want) <= eps)) /* also fails for NaN */
    test_fail(file, line, "%s is %.17g, not %.17g (+-%g)", expr, got, want, eps);
}

void test_check_status(const char *file, int line, const char *expr, enum status got, enum status want,
                       const struct error *err) {
  if (got == want)
    return;
  fprintf(stderr, "%s:%d: %s is %s, not %s\n", file, line, expr, status_name(got), status_name(want));
  if (err && got != STATUS_OK)
    fprintf(stderr, "  error: %s: %s\n  fix: %s\n", err->step ? err->step : "-", err->message, err->fix);
  end_failed();
}

const char *test_dir(void) {
  if (mkdir(child_dir, 0700) != 0 && errno != EEXIST)
    test_fail(__FILE__, __LINE__, "mkdir %s: %s", child_dir, strerror(errno));
  return child_dir;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static int remove_entry(const char *path, const struct stat *st UNUSED, int type UNUSED, struct FTW *ftw UNUSED) {
  return remove(path);
}

static void remove_tree(const char *path) {
  /* A test may have removed its own permissions on a directory. */
  if (access(path, F_OK) == 0 && nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
    fprintf(stderr, "harness: cannot remove %s: %s\n", path, strerror(errno));
}

static const char *short_file(const char *file) {
  const char *at = strstr(file, "tests/");
  return at ? at : file;
}

/* Tests in these files query a store across teams with their own SQL on its handle, or make allocations fail. The
 * statement check does not support that. */
static bool checks_statements(const char *file) {
  static const char *const outside[] = {
      "lib/test_nomem.c",         "op/test_before_boot.c",  "op/test_corpus.c",         "op/test_embedding.c",
      "op/test_import.c",         "op/test_reply_cache.c",  "op/test_session.c",        "store/test_calls.c",
      "store/test_concurrency.c", "store/test_documents.c", "store/test_embed_cache.c", "store/test_events.c",
      "store/test_hold.c",        "store/test_sessions.c",  "store/test_sqlite.c",      "transcript/test_neighbours.c",
      "store/test_vec_index.c",   "store/test_vectors.c"};
  for (size_t i = 0; i < ARRAY_LEN(outside); i++)
    if (strstr(file, outside[i]))
      return false;
  return strstr(file, "tests/unit/") != NULL;
}

static _Noreturn void run_child(const struct job *job) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* kill the test with its runner */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  int null = open("/dev/null", O_RDONLY);
  if (null < 0 || dup2(null, 0) < 0 || dup2(job->output, 1) < 0 || dup2(job->output, 2) < 0)
    _exit(126);
  close(null);
  close(job->output);
  setvbuf(stdout, NULL, _IOLBF, 0);
  memcpy(child_dir, job->dir, sizeof(child_dir));
  child_note = job->note;
  snprintf(child_dir + strlen(child_dir), sizeof(child_dir) - strlen(child_dir), "/state");
  setenv("XDG_STATE_HOME", child_dir, 1); /* local files of a store on a server */
  memcpy(child_dir, job->dir, sizeof(child_dir));
  snprintf(child_dir + strlen(child_dir), sizeof(child_dir) - strlen(child_dir), "/config");
  setenv("XDG_CONFIG_HOME", child_dir, 1); /* not the user's configuration */
  unsetenv("CAIRN_CONFIG");
  if (!postgres && checks_statements(job->test->file))
    setenv("CAIRN_CHECK_STATEMENTS", "1", 1); /* see tests/program/statement_check.h */
  memcpy(child_dir, job->dir, sizeof(child_dir));
  if (postgres)
    pg_enter(job->number);
  job->test->fn();
  fflush(NULL);
  exit(0); /* run exit handlers: the leak check is one */
}

static _Noreturn void die(const char *what) {
  fprintf(stderr, "harness: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void start(struct runner *r, struct job *job) {
  size_t number = r->next++;
  *job = (struct job){.test = r->tests[number], .number = number, .note = job->note};
  if (!job->note)
    job->note = mmap(NULL, NOTE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (job->note == MAP_FAILED)
    die("mmap");
  job->note[0] = 0;
  snprintf(job->dir, sizeof(job->dir), "%s/%zu", run_dir, number);
  job->output = memfd_create("test-output", MFD_CLOEXEC);
  job->started = seconds_now();
  fflush(NULL);
  job->pid = fork();
  if (job->pid == 0)
    run_child(job);
  if (job->output < 0 || job->pid < 0)
    die("cannot start a test");
  setpgid(job->pid, job->pid); /* in both parent and child, because either may run first */
  r->running++;
}

static void show_output(const struct job *job) {
  off_t size = lseek(job->output, 0, SEEK_END);
  off_t from = size > OUTPUT_SHOWN ? size - OUTPUT_SHOWN : 0;
  if (from)
    printf("    ... (%lld bytes left out)\n", (long long)from);
  char text[4096];
  ssize_t n;
  while ((n = pread(job->output, text, sizeof(text), from)) > 0) {
    fwrite(text, 1, (size_t)n, stdout);
    from += n;
  }
}

static void finish(struct runner *r, struct job *job, int status) {
  bool ok = !job->timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!job->timed_out && WIFEXITED(status) && WEXITSTATUS(status) == UNABLE) {
    r->unable++;
    printf("NOT RUN %s:%s\n", short_file(job->test->file), job->test->name);
    show_output(job);
  } else if (ok) {
    r->passed++;
    if (r->verbose)
      show_output(job);
  } else {
    r->failed++;
    printf("FAIL %s:%s", short_file(job->test->file), job->test->name);
    if (job->timed_out)
      printf(" (stopped after %d s)\n", seconds_for(job->test));
    else if (WIFSIGNALED(status))
      printf(" (%s)\n", strsignal(WTERMSIG(status)));
    else
      printf(" (exit %d)\n", WEXITSTATUS(status));
    show_output(job);
    if (job->note[0])
      printf("  at: %.*s\n", NOTE_SIZE - 1, job->note);
  }
  close(job->output);
  remove_tree(job->dir);
  if (postgres)
    pg_done(job->number);
  job->test = NULL;
  r->running--;
}

/* Number of runnable processes besides this one; 0 if unknown. */
static int runnable_count(void) {
  char line[128] = ""; /* "0.61 0.40 0.32 RUNNABLE/ALL PID" */
  FILE *f = fopen("/proc/loadavg", "re");
  const char *at = f && fgets(line, sizeof(line), f) ? strchr(line, '/') : NULL;
  while (at && at > line && at[-1] != ' ')
    at--;
  if (f)
    fclose(f);
  return at ? (int)strtol(at, NULL, 10) - 1 : 0;
}

/* Seconds since the last call, scaled down while more processes are runnable than there are cores: a test's time limit
 * does not depend on the load of the machine. */
static double fair_seconds(struct runner *r) {
  double now = seconds_now(), passed = now - r->looked;
  int runnable = runnable_count();
  r->looked = now;
  return runnable > r->cores ? passed * r->cores / runnable : passed;
}

/* Collects every test that has ended. Kills the process group before reaping its leader: until then its number
 * cannot be reused. */
static void reap(struct runner *r) {
  double passed = fair_seconds(r);
  for (int i = 0; i < r->slots; i++) {
    struct job *job = &r->jobs[i];
    if (!job->test)
      continue;
    if (!job->timed_out && (job->spent += passed) > seconds_for(job->test)) {
      job->timed_out = true;
      kill(-job->pid, SIGKILL);
    }
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      continue;
    kill(-job->pid, SIGKILL);
    int status = 0;
    struct rusage used = {0};
    wait4(job->pid, &status, 0, &used);
    job->test->took = seconds_now() - job->started;
    job->test->cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    finish(r, job, status);
  }
}

static void wait_for_event(const sigset_t *chld) {
  struct timespec pause = {.tv_nsec = 50000000};
  sigtimedwait(chld, NULL, &pause);
}

static struct job *free_slot(struct runner *r) {
  struct job *job = r->jobs;
  while (job->test)
    job++;
  return job;
}

static void run_all(struct runner *r) {
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  sigprocmask(SIG_BLOCK, &chld, NULL);
  r->looked = seconds_now();
  while ((r->next < r->count || r->running) && !stop_signal) {
    while (r->next < r->count && r->running < r->cores)
      start(r, free_slot(r));
    if (r->next < r->count && r->running < r->slots && runnable_count() < r->cores) /* let running tests finish first */
      start(r, free_slot(r));
    wait_for_event(&chld);
    reap(r);
  }
  for (int i = 0; i < r->slots; i++)
    if (r->jobs[i].test)
      kill(-r->jobs[i].pid, SIGKILL);
}

/* ---- command line ---------------------------------------------------------------------------------------------- */

/* Selection of tests. */
struct choice {
  const char *without[MAX_WITHOUT];
  int withouts;
  char **filters;
  int n;
  const char *engine;
  bool list;
  bool slow, no_slow; /* only slow tests; only other tests */
};

static bool selected(const struct test *t, const struct choice *c) {
  char name[512];
  snprintf(name, sizeof(name), "%s:%s", short_file(t->file), t->name);
  if (t->slow ? c->no_slow : c->slow)
    return false;
  for (int i = 0; i < c->withouts; i++)
    if (strstr(name, c->without[i]))
      return false;
  for (int i = 0; i < c->n; i++)
    if (strstr(name, c->filters[i]))
      return true;
  return c->n == 0;
}

static int by_name(const void *a, const void *b) {
  const struct test *const *x = a, *const *y = b;
  int c = strcmp((*x)->file, (*y)->file);
  return c ? c : strcmp((*x)->name, (*y)->name);
}

static int by_expected(const void *a, const void *b) {
  const struct test *const *x = a, *const *y = b;
  return (*x)->expected > (*y)->expected ? -1 : (*x)->expected < (*y)->expected ? 1 : by_name(a, b);
}

static int by_took(const void *a, const void *b) {
  const struct test *const *x = a, *const *y = b;
  return (*x)->took > (*y)->took ? -1 : (*x)->took < (*y)->took ? 1 : by_name(a, b);
}

static void select_tests(struct runner *r, const struct choice *c) {
  size_t all = 0;
  for (struct test *t = registered; t; t = t->next)
    all++;
  r->tests = calloc(all + 1, sizeof(*r->tests));
  if (!r->tests)
    abort();
  for (struct test *t = registered; t; t = t->next) {
    if (!selected(t, c))
      continue;
    if (t->only == (postgres ? TEST_ON_SQLITE : TEST_ON_POSTGRES))
      r->apart++;
    else
      r->tests[r->count++] = t;
  }
  qsort(r->tests, r->count, sizeof(struct test *), by_name);
}

/* ---- times ----------------------------------------------------------------------------------------------------- */

/* The test of a line "FILE:NAME\n", or NULL. */
static struct test *find_test(const char *line) {
  size_t file = strcspn(line, ":"), end = strcspn(line, "\n");
  for (struct test *t = registered; file < end && t; t = t->next)
    if (strlen(t->name) == end - file - 1 && strncmp(t->name, line + file + 1, end - file - 1) == 0 &&
        strncmp(short_file(t->file), line, file) == 0)
      return t;
  return NULL;
}

/* Sorts longest first, so no core waits for a long test at the end: by the times of the last run, or by time
 * limit for new tests. */
static void order_by_time(struct runner *r, const char *program) {
  snprintf(r->times_path, sizeof(r->times_path), "%s.%s.times", program, postgres ? "postgres" : "sqlite");
  for (size_t i = 0; i < r->count; i++)
    r->tests[i]->expected = limit_of(r->tests[i]) / (double)TEST_SECONDS;
  FILE *f = fopen(r->times_path, "re");
  char line[512], *end;
  while (f && fgets(line, sizeof(line), f)) {
    double took = strtod(line, &end), cpu = strtod(end, &end);
    struct test *t = find_test(end + strspn(end, " "));
    if (t)
      t->expected = t->took = took, t->cpu = cpu;
  }
  if (f)
    fclose(f);
  qsort(r->tests, r->count, sizeof(*r->tests), by_expected);
}

/* One line per test: seconds, CPU seconds, name. */
static void save_times(const struct runner *r) {
  FILE *f = fopen(r->times_path, "we");
  for (struct test *t = registered; f && t; t = t->next)
    if (t->took > 0)
      fprintf(f, "%.3f %.3f %s:%s\n", t->took, t->cpu, short_file(t->file), t->name);
  if (f)
    fclose(f);
}

static void print_slowest(struct runner *r) {
  qsort(r->tests, r->count, sizeof(*r->tests), by_took);
  printf("slowest:");
  for (size_t i = 0; i < r->count && i < SLOWEST; i++)
    printf("\n  %6.1f s  %s:%s", r->tests[i]->took, short_file(r->tests[i]->file), r->tests[i]->name);
  printf("\n");
}

static void on_signal(int number) { stop_signal = number; }

static int usage(const char *program) {
  fprintf(stderr,
          "usage: %s [OPTION...] [FILTER...]\n"
          "Runs the tests whose \"FILE:NAME\" contains one of the filters; all without a filter.\n"
          "  -x TEXT                   leave out tests whose \"FILE:NAME\" contains the text; up to %d times\n"
          "  --slow | --no-slow        only slow tests | all others\n"
          "  --engine sqlite|postgres  where the stores are; postgres needs CAIRN_TEST_PG (see scripts/pg)\n"
          "  -j N                      run at most N tests at once\n"
          "  -v                        also show the output of tests that pass\n"
          "  --list                    list the tests and run none\n",
          program, MAX_WITHOUT);
  return 2;
}

static bool read_arguments(int argc, char **argv, struct runner *r, struct choice *c) {
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; at++) {
    const char *value = at + 1 < argc ? argv[at + 1] : NULL;
    if (strcmp(argv[at], "--list") == 0)
      c->list = true;
    else if (strcmp(argv[at], "--slow") == 0)
      c->slow = true;
    else if (strcmp(argv[at], "--no-slow") == 0)
      c->no_slow = true;
    else if (strcmp(argv[at], "-v") == 0)
      r->verbose = true;
    else if (value && strcmp(argv[at], "-x") == 0 && c->withouts < MAX_WITHOUT)
      c->without[c->withouts++] = argv[++at];
    else if (value && strcmp(argv[at], "--engine") == 0)
      c->engine = argv[++at];
    else if (value && strcmp(argv[at], "-j") == 0)
      r->slots = (int)strtol(argv[++at], NULL, 10);
    else
      return false;
  }
  c->filters = argv + at;
  c->n = argc - at;
  postgres = strcmp(c->engine, "postgres") == 0;
  return postgres || strcmp(c->engine, "sqlite") == 0;
}

static void list_tests(const struct runner *r) {
  for (size_t i = 0; i < r->count; i++)
    printf("%s:%s\n", short_file(r->tests[i]->file), r->tests[i]->name);
}

static bool run_selected(struct runner *r) {
  setenv("CAIRN_EMBEDDER", "hash-v1", 0); /* fast, and the same in a build without a model */
  const char *tmp = getenv("TMPDIR");
  snprintf(run_dir, sizeof(run_dir), "%s/cairn-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(run_dir)) {
    fprintf(stderr, "harness: mkdtemp %s: %s\n", run_dir, strerror(errno));
    return false;
  }
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  bool ok = !postgres || r->count == 0 || pg_prepare();
  if (ok) {
    run_all(r);
    ok = !postgres || r->count == 0 || pg_finish();
  }
  remove_tree(run_dir);
  return ok;
}

int main(int argc, char **argv) {
  static struct runner r;
  struct choice c = {.engine = getenv("CAIRN_TEST_ENGINE")};
  c.engine = c.engine && *c.engine ? c.engine : "sqlite";
  r.cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
  r.slots = r.cores * JOBS_PER_CORE;
  if (!read_arguments(argc, argv, &r, &c))
    return usage(argv[0]);
  r.slots = r.slots < 1 ? 1 : r.slots > MAX_JOBS ? MAX_JOBS : r.slots;
  r.cores = r.cores > r.slots ? r.slots : r.cores;
  select_tests(&r, &c);
  if (c.list) {
    list_tests(&r);
    return 0;
  }
  order_by_time(&r, argv[0]);
  if (!run_selected(&r))
    r.failed++;
  save_times(&r);
  if (r.count > SLOWEST)
    print_slowest(&r);
  free(r.tests);
  if (r.count == 0)
    printf("no test was selected\n");
  if (r.unable)
    printf("%d tests were NOT RUN: see above what they need\n", r.unable);
  if (r.apart)
    printf("%d tests are about %s itself and were not run on %s\n", r.apart, postgres ? "SQLite" : "PostgreSQL",
           postgres ? "PostgreSQL" : "SQLite");
  printf("%d passed, %d failed\n", r.passed, r.failed + (stop_signal ? 1 : 0));
  return r.failed || r.count == 0 || stop_signal ? 1 : 0;
}
