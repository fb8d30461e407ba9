/* torture_worker.h: one worker of the torture test; for torture.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { WORKER_OWN = 32 };

struct worker {
  const char *store, *files, *program;
  bool disturbed;                     /* the server may be down for a while */
  char journal[700], complaints[700]; /* files that it appends to */
  int number;
  uint64_t seed;
  time_t until;
  int own_count; /* memories that this process wrote; `own` is a ring of the newest */
  struct {
    char uid[40], text[200];
  } own[WORKER_OWN];
};

uint32_t torture_random(uint64_t *seed);
/* Lines of the journal, each written after the reply:
 *   W UID TEXT   a memory; K the same, with a shared key    C ID NAME   a claimed task    A UID TEXT   a note
 *   p UID        about to be purged                         P UID       purged
 *   F OP CODE    a call that failed because the server was down
 *
 * Both run until the time is over, each in its own process. */
void worker_library(struct worker *w);
void worker_program(struct worker *w);
/* Opens a handle, runs a few operations, closes it. */
void worker_visit(struct worker *w);
