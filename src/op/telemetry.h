/* telemetry.h: what a process knows of the calls it has run: counts, errors, latencies, the last entries, and the log
 * file. Shared by all engines of a process; safe from any thread; never waits for the disk or the store in a call. */
#ifndef CAIRN_OP_TELEMETRY_H
#define CAIRN_OP_TELEMETRY_H

#include "base/json.h"

struct telemetry;

struct telemetry_call {
  struct str name; /* of the tool, else of the operation */
  struct str op;
  struct str team, project, source, session;
  int64_t at; /* ms */
  int64_t duration_us;
  const struct error *error; /* NULL: it succeeded */
};

/* One for the process, with a folder for its log (NULL: no file). */
NODISCARD enum status telemetry_new(const char *folder, struct telemetry **ret_telemetry, struct error *err);
void telemetry_close(struct telemetry **telemetry);

/* op_run() calls it; a NULL telemetry is fine. */
void telemetry_note(struct telemetry *t, const struct telemetry_call *call);

#endif
