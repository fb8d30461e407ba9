/* internal.h: definition of struct telemetry, for this directory only. */
#pragma once

#include <pthread.h>

#include "base/histogram.h"
#include "base/id.h"
#include "base/os/clock.h"
#include "op/run/engine.h"
#include "op/telemetry/before_boot.h"
#include "op/telemetry/log.h"
#include "op/telemetry/notify.h"
#include "op/telemetry/telemetry.h"

/* RING: twice TELEMETRY_RECENT, so the thread can fall behind by a burst of calls without losing any. */
enum { RING = 2 * TELEMETRY_RECENT + 24, NAME_SIZE = 65, TEXT_SIZE = 201, BOOTS = 64 };

/* A call; texts are truncated and redacted. */
struct recorded_call {
  int64_t at, duration_us;
  enum status code;
  bool before_boot; /* goes to the buffer file until its session is known */
  char event_id[UUID_SIZE];
  char name[NAME_SIZE], op[NAME_SIZE], team[NAME_SIZE], source[NAME_SIZE], session[NAME_SIZE], client[NAME_SIZE];
  char project[TEXT_SIZE], message[TELEMETRY_MESSAGE_MAX + 1];
};

struct tool {
  char name[NAME_SIZE];
  int64_t errors;
  uint64_t le[TELEMETRY_LES]; /* not cumulative: each call counts in one bucket */
  struct histogram durations;
};

/* A client that has booted. */
struct boot {
  char client[NAME_SIZE], session[NAME_SIZE];
  bool pending; /* its earlier calls have not been moved yet */
};

struct telemetry {
  pthread_mutex_t lock; /* protects all but the engines; never held during I/O */
  pthread_cond_t wake, idle;
  pthread_t thread;
  bool started, stop;
  int64_t began, began_ticks; /* wall clock in ms, ticks */
  int64_t errors, slow, dropped, unrecorded;
  struct tool *tools[TELEMETRY_NAMES + 1]; /* sorted by name; the last one is "other" */
  size_t tool_count;
  int64_t noted;   /* calls so far; the next one is ring[noted % RING] */
  int64_t written; /* calls that the thread has taken from the ring */
  bool writing;    /* the thread is writing a batch */
  struct recorded_call *ring;
  struct telemetry_log log; /* path "": none */
  int notifier;             /* op/telemetry/notify.h; -1: none */
  const char *sandbox;

  struct boot boots[BOOTS];      /* ring of the latest */
  size_t boot_count;             /* total */
  int64_t dirty_at;              /* ticks since when engines may have queued rows; 0: none */
  int64_t buffered_at;           /* ticks of the oldest call of this process in the buffer file; 0: none */
  int64_t buffered_last;         /* ticks of the newest */
  char buffer[BEFORE_BOOT_PATH]; /* path of the buffer file; "" until an engine with a store is open */

  pthread_mutex_t engines_lock; /* taken before an engine's lock, for which only trylock is used */
  struct engine *engines;
};

void telemetry_fill(struct recorded_call *r, const struct telemetry_call *call);
void telemetry_count(struct telemetry *t, const struct recorded_call *r);
void telemetry_push(struct telemetry *t, const struct recorded_call *r);
struct telemetry_entry telemetry_entry_of(const struct recorded_call *r);
struct call_row telemetry_row_of(const struct recorded_call *r);
/* Main function of the thread. */
void *telemetry_run(void *telemetry);
