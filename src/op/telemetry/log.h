/* log.h: the log of calls on disk: one JSON object a line, five files of 5 MB, shared by the processes of a
 * user. For one thread; it may wait for the disk. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

enum { TELEMETRY_LOG_BYTES = 5 * 1024 * 1024, TELEMETRY_LOG_FILES = 5, TELEMETRY_PATH = 4096 };

struct telemetry_log {
  char path[TELEMETRY_PATH]; /* of the file that grows; the older ones are PATH.1 to PATH.4 */
  int64_t limit;             /* bytes of a file; 0: TELEMETRY_LOG_BYTES */
};

/* The folder is created, for its owner alone, when the first line is written. */
NODISCARD enum status telemetry_log_init(struct telemetry_log *log, const char *folder, struct error *err);
/* Adds whole lines. Turns the files when there is no room: under a lock, so that another process, which may have the
 * old one open, loses nothing. */
NODISCARD enum status telemetry_log_add(struct telemetry_log *log, struct str lines, struct error *err);
