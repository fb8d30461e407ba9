/* harness.h: the test harness: TEST(name) { ... } is all that a test needs.
 *
 * Every test runs in a process of its own, in its own process group, with a time limit; a failed check prints where and
 * what, and ends the test. The option --help of the programs lists the others. */
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
  enum test_only only; /* about one engine itself: not run on the other, and counted apart */
  bool slow;           /* run in only one round of `make test`: release build, stores in files */
  double expected;     /* seconds, for the order */
  double took, cpu;    /* wall and processor seconds, of this run or the last one; cpu includes reaped children */
  struct test *next;
};

void test_register(struct test *t);

/* What the test is doing right now ("input 17"); printed when it fails, even when it crashes or takes too long. */
void test_note(const char *fmt, ...) PRINTF_FMT(1, 2);

/* Ends a test that cannot be run on this machine or with this server. It is neither passed nor failed: the summary
 * names it with what it needs, whatever else is printed. */
enum { UNABLE = 77 };
_Noreturn void test_unable(const char *why);

/* TEST(name) { ... }, or with attributes: TEST(name, .seconds = 60, .only = TEST_ON_SQLITE, .slow = true) { ... }.
 * Sanitizer builds get four (ASan) or ten (TSan) times as long. What is about SQLite's file or driver, or PostgreSQL's
 * server or driver, is for that engine only; everything else holds on both. */
#define TEST(name_, ...)                                                                                               \
  static void test_##name_(void);                                                                                      \
  __attribute__((constructor)) static void test_add_##name_(void) {                                                    \
    static struct test t = {.file = __FILE__, .name = #name_, .fn = test_##name_, __VA_ARGS__};                        \
    test_register(&t);                                                                                                 \
  }                                                                                                                    \
  static void test_##name_(void)

/* Which engine the stores of this run are on: --engine, or CAIRN_TEST_ENGINE. */
bool on_postgres(void);
/* A private folder of the running test, made at the first call and removed, with all in it, when the test is over. */
const char *test_dir(void);
/* Processor time of this process: unlike a clock's, it does not grow while other processes run. */
double test_cpu_seconds(void);
/* How much slower than a release build this one may be: 1, 4 with ASan, 10 with TSan. */
int test_slowness(void);
/* How many times as long as with files in a release build this run may wait for anything. */
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
/* A struct str against a C string; both are printed with their odd bytes escaped. */
#define CHECK_STR(got, want) test_check_str(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_NEAR(got, want, eps) test_check_near(__FILE__, __LINE__, #got, (got), (want), (eps))
/* The call succeeded; if not, its struct error is printed (NULL is allowed). */
#define CHECK_OK(status, err) test_check_status(__FILE__, __LINE__, #status, (status), STATUS_OK, (err))
#define CHECK_STATUS(status, want) test_check_status(__FILE__, __LINE__, #status, (status), (want), NULL)
