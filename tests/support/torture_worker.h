/* torture_worker.h: one worker of the torture test; for torture.c. */
#ifndef CAIRN_TESTS_TORTURE_WORKER_H
#define CAIRN_TESTS_TORTURE_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct worker {
  const char *store, *program;
  char journal[700], complaints[700]; /* files that it appends to */
  int number;
  uint64_t seed;
  time_t until;
};

uint32_t torture_random(uint64_t *seed);
/* Work until the time is over, in a process of their own. */
void worker_library(struct worker *w);
void worker_program(struct worker *w);

#endif
