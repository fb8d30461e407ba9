/* metrics_text.h: what Prometheus scrapes: the telemetry of a process, its engines and its store, in the text format
 * 0.0.4; and the answers to "are you alive" and "can you work". */
#pragma once

#include "op/run/pool.h"
#include "op/telemetry/telemetry.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Figures that are not the telemetry's; below zero: unknown, and left out. */
struct metrics_figures {
  int64_t engines, engines_open, engines_busy;
  int64_t store_bytes, store_log_bytes, memories, pending_embeddings, last_seq;
};

/* Everything; `t` may be NULL. */
struct str metrics_text(struct arena *a, struct telemetry *t, const struct metrics_figures *figures);
/* The same with the figures of a pool (may be NULL) and of the team's store. Never waits for an engine that is at work:
 * when all are, the figures of the store are left out. */
struct str metrics_page(struct arena *a, struct telemetry *t, struct pool *pool, struct str team);

/* A line of JSON for /healthz: the process answers. */
struct str healthz_json(struct arena *a, struct telemetry *t);
/* For /readyz: the store can be opened and read; false: not, and the JSON says why. A server whose engines are all at
 * work is ready. */
bool readyz_json(struct arena *a, struct pool *pool, struct str *ret_json);
