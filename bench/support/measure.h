/* measure.h: samples, their median and spread, and the rows of the report. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SAMPLES_MAX = 20000 };

struct samples {
  size_t n;
  double v[SAMPLES_MAX];
};

double now_us(void);
/* CPU time of this thread: for work that never waits, unaffected by other load. */
double work_us(void);
void samples_add(struct samples *s, double value);
/* The q-quantile of the samples. */
double samples_at(struct samples *s, double q);

/* Prints one row: name, median, 10th and 90th percentile, unit; `target` is "" or the target of the median. */
void report(const char *name, struct samples *s, const char *unit, const char *target);
/* The same with the median, the 95th and the 99th percentile. */
void report_tail(const char *name, struct samples *s, const char *unit, const char *target);
/* Prints a row without samples, such as a ratio or a size. */
void report_text(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Milliseconds of a command from start to exit; ret_kb (may be NULL) is its maximum resident size. Fails if the
 * command fails. */
double run_command(const char *const *argv, long *ret_kb);

/* Prints the message and exits. */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Copies a closed store to `to` and syncs it to disk. */
void copy_store(const char *from, const char *to);
/* Removes a store with its side files. */
void remove_store(const char *path);
