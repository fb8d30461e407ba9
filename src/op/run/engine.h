/* engine.h: one open store with its embedders, settings and clock: what every operation works on. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/os/clock.h"
#include "embed/embed.h"
#include "store/store.h"
#include "store/tables/agents.h"

struct pooled;
struct reply_cache;
struct scrubber;
struct secrets;
struct key_ring;
struct telemetry;

struct engine_options {
  const char *path; /* of the store file; NULL: an engine without a store, for operations that open none */
  struct clock clock;
  int busy_ms;                 /* 0: the default, 60 s */
  bool must_exist;             /* do not create the store */
  struct telemetry *telemetry; /* of the process; NULL: nobody counts the calls. It must outlive the engine. */
  /* The agent that the process is bound to, for all calls; "": the local user, who is the administrator. roles.h */
  char agent[AGENT_NAME_MAX + 1];
  bool record_calls; /* calls go into the store's table of them; always so with a telemetry */
  /* What the process was started with; see store/tables/settings.h. NULL: none. It must outlive the engine. */
  const struct settings_given *settings;
  /* Counts the calls that wrote, of all engines that share it; NULL: the engine counts its own. It must outlive them.
   */
  _Atomic uint64_t *writes;
};

struct engine {
  pthread_mutex_t lock; /* one operation at a time on a handle */
  struct store *store;
  struct pooled *embedders;    /* opened when first needed; see embedding.h */
  struct reply_cache *replies; /* of searches; see reply_cache.h */
  struct secrets *secrets;     /* of teams; see op/run/vault_values.h */
  struct scrubber *scrubber;   /* see scrub.h */
  struct key_ring *keys;       /* see op/vault/key.h */
  struct clock clock;
  struct telemetry *telemetry;    /* may be NULL */
  struct engine *next_watched;    /* of its list of engines */
  char agent[AGENT_NAME_MAX + 1]; /* "": the local user */
  const struct settings_given *settings;
  _Atomic uint64_t *writes; /* NULL: nobody counts */
  _Atomic uint64_t own_writes;
  bool record_calls;
  bool crowded; /* others are at work on the remaining cores; see pool.c */
};

/* Where the store is when nobody says: cairn/cairn.db in the user's data folder. Nothing is created. */
NODISCARD enum status engine_default_path(struct arena *a, struct str *ret_path, struct error *err);
NODISCARD enum status engine_open(const struct engine_options *options, struct engine **ret_engine, struct error *err);
/* Writes what is still queued (read events, access counts), closes the store and sets *engine to NULL. */
void engine_close(struct engine **engine);

/* For what needs the store without an operation: one at a time, for a team. engine_let_go() is due whatever came of it,
 * and passes on `s`. */
NODISCARD enum status engine_hold(struct engine *engine, struct str team, struct error *err);
NODISCARD enum status engine_let_go(struct engine *engine, enum status s, struct error *err);
