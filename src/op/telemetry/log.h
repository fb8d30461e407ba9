/* log.h: log file of calls: one JSON object per line, five rotated files of 5 MB, shared by the processes of a user.
 * For use by one thread; may block on the disk. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { TELEMETRY_LOG_BYTES = 5 * 1024 * 1024, TELEMETRY_LOG_FILES = 5, TELEMETRY_PATH = 4096 };

struct telemetry_log {
  char path[TELEMETRY_PATH]; /* current file; rotated files are PATH.1 to PATH.4 */
  int64_t limit;             /* bytes per file; 0: TELEMETRY_LOG_BYTES */
};

/* The first write creates the directory, accessible only to its owner. */
NODISCARD enum status telemetry_log_init(struct telemetry_log *log, const char *folder, struct error *err);
/* Appends whole lines. Rotates the files if they do not fit, under a lock, so no other process writes to a rotated
 * file. */
NODISCARD enum status telemetry_log_add(struct telemetry_log *log, struct str lines, struct error *err);
