/* torture.h: many processes on one store, some of them killed at random moments; then everything is counted.
 *
 * Used by a bounded test of `make test` and, for as long as one likes, by `make torture`. Talks to no network, kills
 * only processes that it started, and stops by itself. */
#ifndef CAIRN_TESTS_TORTURE_H
#define CAIRN_TESTS_TORTURE_H

#include <stdint.h>

struct torture {
  const char *store;   /* the file; its folder also gets the journals */
  const char *program; /* the cairn program */
  int workers;         /* processes at once */
  int seconds;
  uint64_t seed;
};

/* What was seen; a broken promise ends the test with a message. */
struct torture_result {
  long acknowledged, killed, claims, keys;
};

/* Writers, correctors, claimers, readers and housekeepers, through the library and through the program. */
struct torture_result torture_run(const struct torture *t);
/* Handles that open, write and close in a process that holds others on the same file, while four processes write. */
void torture_handles(const struct torture *t);
/* A process that holds the lock for a while: readers do not wait for it, writers do. */
void torture_lock(const struct torture *t);
/* Processes that all create the same new store at once, half of them killed. */
void torture_creation(const struct torture *t, int rounds);
/* One command after another, killed at a random moment: maintain, purge, backup, restore, export, import. */
void torture_housekeeping(const struct torture *t, int rounds);

#endif
