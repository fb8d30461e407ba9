/* load.h: many parallel HTTP connections from one thread; each sends its next request after the last response. */
#pragma once

#include "support/measure.h"

struct load {
  int port, connections;
  double seconds;
  /* The n-th request, including headers; valid until the next call. */
  const char *(*request)(void *arg, long n, size_t *ret_size);
  void *arg;
  /* Text that every good response contains. */
  const char *expect;

  long answers, errors; /* results */
  struct samples ms;    /* of the first SAMPLES_MAX responses, then of a sample */
};

void load_run(struct load *load);
