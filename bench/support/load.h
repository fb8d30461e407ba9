/* load.h: many HTTP connections at once from one thread, each sending its next request when the last is answered. */
#pragma once

#include "support/measure.h"

struct load {
  int port, connections;
  double seconds;
  /* The n-th request, whole, with its headers; valid until the next call. */
  const char *(*request)(void *arg, long n, size_t *ret_size);
  void *arg;
  /* What a good answer holds. */
  const char *expect;

  long answers, errors; /* what came of it */
  struct samples ms;    /* of the first SAMPLES_MAX and then of a part */
};

void load_run(struct load *load);
