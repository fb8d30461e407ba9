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
/* The processor's time that this thread has used: for work that waits for nothing, measured where others work, too. */
double work_us(void);
void samples_add(struct samples *s, double value);
/* The value that a share q of the samples does not exceed. */
double samples_at(struct samples *s, double q);

/* One row: name, median, tenth and ninetieth percentile, unit; `target` is "" or what the median must reach. */
void report(const char *name, struct samples *s, const char *unit, const char *target);
/* The same with the median, the 95th and the 99th percentile: what a user waits for, and how long at worst. */
void report_tail(const char *name, struct samples *s, const char *unit, const char *target);
/* A row that only informs: a ratio, a size. */
void report_text(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Milliseconds that a command takes from start to exit; ret_kb (may be NULL) is its largest resident size. Fails when
 * the command does. */
double run_command(const char *const *argv, long *ret_kb);

/* Prints what and why, and exits. */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Copies a closed store to `to` and waits until it is on the disk. */
void copy_store(const char *from, const char *to);
/* Removes a store with its side files. */
void remove_store(const char *path);
