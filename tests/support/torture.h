/* torture.h: many processes on one store, some of them killed at random moments; then everything is counted.
 *
 * Used by a bounded test of `make test` and, for as long as one likes, by `make torture`. Talks to no network, kills
 * only processes that it started, and stops by itself. */
#pragma once

#include <stdint.h>

struct torture {
  const char *store;   /* a file, or the URL of a database */
  const char *files;   /* the beginning of the names of journals and copies */
  const char *program; /* the cairn program */
  int workers;         /* processes at once */
  int seconds;
  uint64_t seed;
  /* Besides the workers something else is disturbed, every `disturb_ms`; calls may then fail because there is no
   * server, and only what was acknowledged counts. NULL: nothing. */
  void (*disturb)(uint32_t random);
  int disturb_ms;
};

/* What was seen; a broken promise ends the test with a message. */
struct torture_result {
  long acknowledged, killed, claims, keys;
  long disturbed, failed; /* calls that failed for want of a server */
};

/* Writers, correctors, claimers, readers and housekeepers, through the library and through the program. */
struct torture_result torture_run(const struct torture *t);
/* Handles that open, write and close in a process that holds others on the same file, while four processes write. */
void torture_handles(const struct torture *t);
/* A process that holds the lock for a while: readers do not wait for it, writers do. */
void torture_lock(const struct torture *t);
/* Processes that all create the same new store at once, half of them killed; `place` says where the store of a round
 * is. */
void torture_creation(const struct torture *t, int rounds, const char *(*place)(int round));
/* One command after another, killed at a random moment: maintain, purge, backup, restore, export, import. */
void torture_housekeeping(const struct torture *t, int rounds);
