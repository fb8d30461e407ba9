/* telemetry.h: counts, errors and latencies of calls, the latest calls, and their log file. Shared by all engines of a
 * process; thread-safe; a call never waits for the disk or the store.
 *
 * Calls are recorded in memory. A thread, started by the first call, writes the log file, the buffer of calls before
 * boot, and the rows that engines have queued for the store. If it falls behind, log entries are dropped and counted.
 */
#pragma once

#include "base/histogram.h"
#include "base/json.h"

struct telemetry;
struct engine;
struct store;

enum {
  TELEMETRY_RECENT = 500,               /* calls kept in memory */
  TELEMETRY_SLOW_US = 10 * 1000 * 1000, /* calls that take longer are slow */
  TELEMETRY_MESSAGE_MAX = 500,          /* bytes of an error message, after redaction */
  TELEMETRY_NAMES = 200,                /* distinct names; further ones are counted as "other" */
  TELEMETRY_LES = 15,                   /* upper bounds of the Prometheus histogram buckets */
};
extern const int64_t telemetry_le_us[TELEMETRY_LES];

struct telemetry_call {
  struct str name; /* of the tool, or of the operation */
  struct str op;
  struct str team, project, source, session;
  struct str client; /* id of the client, if the interface can tell clients apart; may be absent */
  int64_t at;        /* ms */
  int64_t duration_us;
  const struct error *error; /* NULL: success */
  bool unrecorded;           /* count it, but write it nowhere */
};

/* `folder` is the directory of the log file; NULL: none. */
NODISCARD enum status telemetry_new(const char *folder, struct telemetry **ret_telemetry, struct error *err);
/* Flushes all queues. All engines with this telemetry must be closed. */
void telemetry_close(struct telemetry **telemetry);

/* Records a call; `t` may be NULL. */
void telemetry_note(struct telemetry *t, const struct telemetry_call *call);

/* Shows server errors (I/O, out of memory, ...; not mistakes of callers) as desktop notifications; see notify.h. Call
 * it before threads are started. */
void telemetry_notify(struct telemetry *t);

/* Description of the process's sandbox, which must outlive `t`; NULL: unknown. Set it before threads are started. */
void telemetry_set_sandbox(struct telemetry *t, const char *how);
const char *telemetry_sandbox(const struct telemetry *t);

/* ---- calls in the store ---- */

/* Records a call of an engine whose lock is held, for op_run(). Also queues a row for the table of calls; a call of an
 * agent that has not booted goes to the buffer file (before_boot.h) until its session is known. */
void telemetry_note_in(struct engine *e, const struct telemetry_call *call);
/* Assigns the session to the client's earlier calls and to later ones without a session. The thread does it soon after;
 * without a telemetry it is done at once. The engine's lock must be held. op_run() calls it after "boot". */
void telemetry_flush_before_boot(struct engine *e, struct str client, struct str session);

/* For engine_open() and engine_close(). */
void telemetry_watch(struct telemetry *t, struct engine *e);
void telemetry_unwatch(struct telemetry *t, struct engine *e);

struct call_stat {
  struct str tool;
  int64_t errors;
  struct histogram *durations; /* of all calls, including failed ones; n is their number */
};
struct call_stats {
  struct call_stat *v;
  size_t n, cap;
  int64_t calls, errors;
};

/* Calls per tool of all processes since a time, from the table of calls; the tool with the most calls first. */
NODISCARD enum status call_stats_of(struct store *st, struct str team, int64_t since, struct arena *a,
                                    struct call_stats *ret_stats, struct error *err);

/* ---- calls of this process ---- */

struct telemetry_totals {
  int64_t started; /* ms */
  int64_t uptime_us;
  int64_t calls, errors, slow;
  int64_t dropped; /* log entries */
  struct str log;  /* path of the log file; absent: none */
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
  struct str message; /* of the error; absent: success */
};
struct telemetry_entries {
  struct telemetry_entry *v;
  size_t n, cap;
};

/* These return consistent copies in the arena; zeros for NULL. */
void telemetry_totals(struct telemetry *t, struct arena *a, struct telemetry_totals *ret_totals);
/* Sorted by name. */
void telemetry_list(struct telemetry *t, struct arena *a, struct telemetry_tools *ret_tools);
/* Latest calls, or latest failed calls, newest first. */
void telemetry_recent(struct telemetry *t, struct arena *a, bool errors, size_t most, struct telemetry_entries *ret);

/* Line of the log file. */
struct str telemetry_json(struct arena *a, const struct telemetry_entry *e);
