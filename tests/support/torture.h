/* torture.h: many processes on one store, some of them killed at random moments; then the store is checked.
 *
 * Used by a short test in `make test` and, with any duration, by `make torture`. Uses no network, kills only
 * processes that it started, and stops by itself. */
#pragma once

#include <stdint.h>

struct torture {
  const char *store;   /* a file, or the URL of a database */
  const char *files;   /* prefix of the names of journals and copies */
  const char *program; /* the cairn program */
  int workers;         /* number of parallel processes */
  int seconds;
  uint64_t seed;
  /* Called every `disturb_ms` to disturb something besides the workers; calls may then fail because the server is
   * down, and only acknowledged writes count. NULL: none. */
  void (*disturb)(uint32_t random);
  int disturb_ms;
};

/* Counts of a run; a lost or wrong write fails the test with a message. */
struct torture_result {
  long acknowledged, killed, claims, keys;
  long disturbed, failed; /* calls that failed because the server was down */
};

/* Writers, correctors, claimers, readers and maintenance, through the library and the program. */
struct torture_result torture_run(const struct torture *t);
/* Handles that open, write and close in a process with other handles on the same file, while four processes write. */
void torture_handles(const struct torture *t);
/* A process holds the lock for a while: readers do not wait for it, writers do. */
void torture_lock(const struct torture *t);
/* Processes that all create the same new store at once, half of them killed; `place` returns the store of a round. */
void torture_creation(const struct torture *t, int rounds, const char *(*place)(int round));
/* One command after the other, killed at a random moment: maintain, purge, backup, restore, export, import. */
void torture_housekeeping(const struct torture *t, int rounds);
