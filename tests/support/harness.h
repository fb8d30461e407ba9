/* harness.h: the test harness. TEST(name) { ... } defines and registers a test.
 *
 * Every test runs in its own process and process group, with a time limit. A failed check prints its location and
 * values, and ends the test. The test programs list their options with --help. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/status.h"
#include "base/str.h"

enum { TEST_SECONDS = 20 };

enum test_only { TEST_ON_BOTH, TEST_ON_SQLITE, TEST_ON_POSTGRES };

struct test {
  const char *file, *name;
  void (*fn)(void);
  int seconds;         /* time limit; 0: TEST_SECONDS */
  enum test_only only; /* specific to one engine: skipped and counted separately on the other */
  bool slow;           /* run only once in `make test`: release build, SQLite */
  double expected;     /* seconds, to sort by */
  double took, cpu;    /* wall and CPU seconds, of this run or the last one; cpu includes reaped children */
  struct test *next;
};

void test_register(struct test *t);

/* What the test is doing now ("input 17"); printed if it fails, crashes or times out. */
void test_note(const char *fmt, ...) PRINTF_FMT(1, 2);

/* Ends a test that cannot run on this machine or with this server. It is neither passed nor failed: the summary
 * always lists it with what it needs. */
enum { UNABLE = 77 };
_Noreturn void test_unable(const char *why);

/* TEST(name) { ... }, or with attributes: TEST(name, .seconds = 60, .only = TEST_ON_SQLITE, .slow = true) { ... }.
 * Time limits are four (ASan) or ten (TSan) times as long in sanitizer builds. Use `only` for tests of SQLite's file
 * or driver, or of PostgreSQL's server or driver; all other tests must pass on both engines. */
#define TEST(name_, ...)                                                                                               \
  static void test_##name_(void);                                                                                      \
  __attribute__((constructor)) static void test_add_##name_(void) {                                                    \
    static struct test t = {.file = __FILE__, .name = #name_, .fn = test_##name_, __VA_ARGS__};                        \
    test_register(&t);                                                                                                 \
  }                                                                                                                    \
  static void test_##name_(void)

/* The engine of this run: --engine, or CAIRN_TEST_ENGINE. */
bool on_postgres(void);
/* A private directory of the running test, created at the first call and removed with its contents after the test. */
const char *test_dir(void);
/* CPU time of this process: unlike wall time, it does not grow while other processes run. */
double test_cpu_seconds(void);
/* How many times slower than a release build this one may be: 1, 4 with ASan, 10 with TSan. */
int test_slowness(void);
/* Factor for timeouts in this run; 1 for SQLite in a release build. */
int test_patience(void);

/* Prints "file:line: " and the message, and ends the test. */
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)
void test_fail(const char *file, int line, const char *fmt, ...) PRINTF_FMT(3, 4) __attribute__((noreturn));

void test_check_int(const char *file, int line, const char *expr, int64_t got, int64_t want);
void test_check_str(const char *file, int line, const char *expr, struct str got, const char *want);
void test_check_near(const char *file, int line, const char *expr, double got, double want, double eps);
void test_check_status(const char *file, int line, const char *expr, enum status got, enum status want,
                       const struct error *err);

#define CHECK(cond)                                                                                                    \
  do {                                                                                                                 \
    if (!(cond))                                                                                                       \
      test_fail(__FILE__, __LINE__, "CHECK(%s)", #cond);                                                               \
  } while (0)
#define CHECK_INT(got, want) test_check_int(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(want))
/* Compares a struct str with a C string; prints both with special bytes escaped. */
#define CHECK_STR(got, want) test_check_str(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_NEAR(got, want, eps) test_check_near(__FILE__, __LINE__, #got, (got), (want), (eps))
/* The call must succeed; otherwise prints its struct error (NULL is allowed). */
#define CHECK_OK(status, err) test_check_status(__FILE__, __LINE__, #status, (status), STATUS_OK, (err))
#define CHECK_STATUS(status, want) test_check_status(__FILE__, __LINE__, #status, (status), (want), NULL)
