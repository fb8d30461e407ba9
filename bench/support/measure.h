/* measure.h: samples, their median and spread, and the rows of the report. */
#ifndef CAIRN_BENCH_MEASURE_H
#define CAIRN_BENCH_MEASURE_H

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
void samples_add(struct samples *s, double value);
/* The value that a share q of the samples does not exceed. */
double samples_at(struct samples *s, double q);

/* One row: name, median, tenth and ninetieth percentile, unit; `target` is "" or what the median must reach. */
void report(const char *name, struct samples *s, const char *unit, const char *target);
/* A row that only informs: a ratio, a size. */
void report_text(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints what and why, and exits. */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Copies a closed store to `to` and waits until it is on the disk. */
void copy_store(const char *from, const char *to);
/* Removes a store with its side files. */
void remove_store(const char *path);

#endif
