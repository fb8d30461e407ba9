/* telemetry.h: what a process knows of the calls it has run: counts, errors, latencies, the last entries, and the log
 * file. Shared by all engines of a process; safe from any thread; never waits for the disk or the store in a call.
 *
 * A call is noted in memory. A thread that begins with the first one writes the log, the calls before boot, and what
 * the engines have queued for the store, shortly after; when it cannot follow, entries of the log are dropped and
 * counted.
 */
#pragma once

#include "base/json.h"

struct telemetry;
struct engine;

enum {
  TELEMETRY_RECENT = 500,               /* entries that are kept in memory */
  TELEMETRY_SLOW_US = 10 * 1000 * 1000, /* a call that took longer is marked */
  TELEMETRY_MESSAGE_MAX = 500,          /* bytes of an error's message that are kept, its secrets replaced */
  TELEMETRY_NAMES = 200,                /* names that are counted apart; the others are counted as "other" */
  TELEMETRY_LES = 15,                   /* limits of the buckets of a Prometheus histogram */
};
extern const int64_t telemetry_le_us[TELEMETRY_LES];

struct telemetry_call {
  struct str name; /* of the tool, else of the operation */
  struct str op;
  struct str team, project, source, session;
  struct str client; /* who calls, as far as the door can tell clients apart; absent: it cannot */
  int64_t at;        /* ms */
  int64_t duration_us;
  const struct error *error; /* NULL: it succeeded */
};

/* One for the process, with a folder for its log (NULL: no file). */
NODISCARD enum status telemetry_new(const char *folder, struct telemetry **ret_telemetry, struct error *err);
/* Writes what is still queued. All engines that know it must have been closed. */
void telemetry_close(struct telemetry **telemetry);

/* A NULL telemetry is fine. */
void telemetry_note(struct telemetry *t, const struct telemetry_call *call);

/* From now on, errors that are the program's own (it could not read, write, open, allocate; not those of a caller) are
 * shown on the desktop, where there is one: op/telemetry/notify.h. Before there are threads. */
void telemetry_notify(struct telemetry *t);

/* How the process is fenced in, in words, which must outlive it; NULL: that was not said. Set before there are threads.
 */
void telemetry_set_sandbox(struct telemetry *t, const char *how);
const char *telemetry_sandbox(const struct telemetry *t);

/* ---- calls in the store ---- */

/* The same for an engine whose lock is held: op_run() calls it. The call also goes into the store's table of calls, by
 * the engine's queue; that of an agent that has not booted yet waits for its session in a file beside the store. */
void telemetry_note_in(struct engine *e, const struct telemetry_call *call);
/* A client has booted: its calls before that, and those to come that name no session, belong to this one. Done shortly
 * after, by the thread; without a telemetry at once. The engine's lock is held. op_run() calls it after "boot". */
void telemetry_flush_before_boot(struct engine *e, struct str client, struct str session);

/* engine_open() and engine_close() call them. */
void telemetry_watch(struct telemetry *t, struct engine *e);
void telemetry_unwatch(struct telemetry *t, struct engine *e);

/* ---- what it knows ---- */

struct telemetry_totals {
  int64_t started; /* ms */
  int64_t uptime_us;
  int64_t calls, errors, slow;
  int64_t dropped; /* entries that the log did not get */
  struct str log;  /* its path; absent: there is none */
};

struct telemetry_tool {
  struct str name;
  int64_t calls, errors, sum_us, max_us;
  int64_t p50_us, p95_us, p99_us; /* within 1.6 %: base/histogram.h */
  uint64_t le[TELEMETRY_LES];     /* calls that took at most telemetry_le_us[i] */
};
struct telemetry_tools {
  struct telemetry_tool *v;
  size_t n, cap;
};

struct telemetry_entry {
  int64_t at, duration_us;
  enum status code;
  bool slow;
  struct str name, op, team, project, source, session;
  struct str message; /* of the error; absent: it succeeded */
};
struct telemetry_entries {
  struct telemetry_entry *v;
  size_t n, cap;
};

/* Copies in the arena, as of one moment. NULL is a telemetry that has seen nothing. */
void telemetry_totals(struct telemetry *t, struct arena *a, struct telemetry_totals *ret_totals);
/* By name. */
void telemetry_list(struct telemetry *t, struct arena *a, struct telemetry_tools *ret_tools);
/* The last entries, newest first; those of errors alone when asked for. */
void telemetry_recent(struct telemetry *t, struct arena *a, bool errors, size_t most, struct telemetry_entries *ret);

/* An entry as one line of JSON, as the log has it. */
struct str telemetry_json(struct arena *a, const struct telemetry_entry *e);
