/* torture_worker.h: one worker of the torture test; for torture.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { WORKER_OWN = 32 };

struct worker {
  const char *store, *files, *program;
  bool disturbed;                     /* there may be no server for a while */
  char journal[700], complaints[700]; /* files that it appends to */
  int number;
  uint64_t seed;
  time_t until;
  int own_count; /* the newest memories that this process wrote, round and round */
  struct {
    char uid[40], text[200];
  } own[WORKER_OWN];
};

uint32_t torture_random(uint64_t *seed);
/* Lines of the journal, each written when the reply was there:
 *   W UID TEXT   a memory; K the same, with a shared key    C ID NAME   a claimed task    A UID TEXT   a note
 *   p UID        this one is about to be purged             P UID       and now it is
 *   F OP CODE    a call that failed because there was no server
 *
 * Work until the time is over, in a process of their own. */
void worker_library(struct worker *w);
void worker_program(struct worker *w);
/* Opens a handle, does a few operations, closes it. */
void worker_visit(struct worker *w);
