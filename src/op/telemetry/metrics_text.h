/* metrics_text.h: metrics of the process, its engines and its store in the Prometheus text format 0.0.4; and the
 * liveness and readiness checks. */
#pragma once

#include "op/run/pool.h"
#include "op/telemetry/telemetry.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Gauges of the engines and the store; negative: unknown, omitted. */
struct metrics_figures {
  int64_t engines, engines_open, engines_busy;
  int64_t store_bytes, store_log_bytes, memories, pending_embeddings, last_seq;
};

/* `t` may be NULL. */
struct str metrics_text(struct arena *a, struct telemetry *t, const struct metrics_figures *figures);
/* Also gathers the gauges of a pool (may be NULL) and of the team's store. Never waits for a busy engine: omits the
 * gauges of the store if all are busy. */
struct str metrics_page(struct arena *a, struct telemetry *t, struct pool *pool, struct str team);

/* Body of /healthz, one line. `details`: version, pid and uptime. */
struct str healthz_json(struct arena *a, struct telemetry *t, bool details);
/* For /readyz: true if the store can be opened and read; otherwise the JSON has the error. A server whose engines are
 * all busy is ready. `details`: paths in full. */
bool readyz_json(struct arena *a, struct pool *pool, bool details, struct str *ret_json);
