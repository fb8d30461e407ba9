/* internal.h: the inside of struct telemetry, for this folder only. */
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

/* RING: twice what is shown, so that the thread may fall behind by a burst of calls without losing any. */
enum { RING = 2 * TELEMETRY_RECENT + 24, KEPT_NAME = 65, KEPT_TEXT = 201, BOOTS = 64 };

/* A call, its texts cut to fit and free of secrets. */
struct kept {
  int64_t at, duration_us;
  enum status code;
  bool before_boot; /* waits for its session in the file */
  char event_id[UUID_SIZE];
  char name[KEPT_NAME], op[KEPT_NAME], team[KEPT_NAME], source[KEPT_NAME], session[KEPT_NAME], client[KEPT_NAME];
  char project[KEPT_TEXT], message[TELEMETRY_MESSAGE_MAX + 1];
};

struct tool {
  char name[KEPT_NAME];
  int64_t errors;
  uint64_t le[TELEMETRY_LES]; /* each call once, at the first limit that it is not over */
  struct histogram durations;
};

/* A client that has booted. */
struct boot {
  char client[KEPT_NAME], session[KEPT_NAME];
  bool pending; /* its earlier calls have not been moved yet */
};

struct telemetry {
  pthread_mutex_t lock; /* of all but the engines; never held while anything is written */
  pthread_cond_t wake, idle;
  pthread_t thread;
  bool started, stop;
  int64_t began, began_ticks; /* wall clock in ms, ticks */
  int64_t errors, slow, dropped;
  struct tool *tools[TELEMETRY_NAMES + 1]; /* by name, the last place is "other" */
  size_t tool_count;
  int64_t noted;   /* entries so far; the next one is ring[noted % RING] */
  int64_t written; /* of them, what the thread has taken */
  bool writing;    /* the thread has taken some, and is not done with them */
  struct kept *ring;
  struct telemetry_log log; /* path "": there is none */
  int notifier;             /* op/telemetry/notify.h; -1: nobody is told */
  const char *sandbox;

  struct boot boots[BOOTS];      /* the last ones */
  size_t boot_count;             /* ever */
  int64_t dirty_at;              /* ticks: since when engines may have something queued; 0: they have not */
  int64_t buffered_at;           /* ticks: since when calls wait in the file; 0: none of this process do */
  int64_t buffered_last;         /* ticks of the last of them */
  char buffer[BEFORE_BOOT_PATH]; /* that file; "" until there is an engine with a store */

  pthread_mutex_t engines_lock; /* taken before an engine's own, which is only tried */
  struct engine *engines;
};

void telemetry_fill(struct kept *k, const struct telemetry_call *call);
void telemetry_push(struct telemetry *t, const struct kept *k);
struct telemetry_entry telemetry_entry_of(const struct kept *k);
struct call_row telemetry_row_of(const struct kept *k);
/* The thread. */
void *telemetry_run(void *telemetry);
