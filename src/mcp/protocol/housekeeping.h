/* housekeeping.h: background work of an idle stdio server: daily maintenance, pending embeddings. */
#pragma once

#include "op/op.h"
#include "op/run/pool.h"

struct housekeeping;

/* Starts working after the first call. NULL if out of memory; all functions accept that. */
struct housekeeping *housekeeping_new(struct pool *pool, const struct caller *caller);
/* A call begins, and ends. Work in progress stops at its next safe point when a call begins. */
void housekeeping_call_begin(struct housekeeping *keeper);
void housekeeping_call_end(struct housekeeping *keeper);
void housekeeping_stop(struct housekeeping **keeper);
