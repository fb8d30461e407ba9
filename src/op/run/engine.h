/* engine.h: an open store with its embedders, caches, settings and clock, on which operations run. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/os/clock.h"
#include "embed/embed.h"
#include "op/run/fair.h"
#include "store/store.h"
#include "store/tables/agents.h"

struct pooled;
struct reply_cache;
struct scrubber;
struct secrets;
struct key_ring;
struct telemetry;
struct refusal_limit;

struct engine_options {
  const char *path; /* file or URL of the store; NULL: an engine without a store, for OP_NO_STORE */
  struct clock clock;
  int busy_ms;                 /* 0: the default, 60 s */
  bool must_exist;             /* do not create the store */
  struct telemetry *telemetry; /* of the process; NULL: calls are not counted. It must outlive the engine. */
  /* The agent that the process is bound to, for all calls; "": the local user, who is the administrator. roles.h */
  char agent[AGENT_NAME_MAX + 1];
  bool record_calls; /* record calls in the store; always true with a telemetry */
  /* Settings from the command line and environment; see store/tables/settings.h. NULL: none. Must outlive the engine.
   */
  const struct settings_given *settings;
  /* Counter of writing calls, shared by several engines; NULL: the engine has its own. Must outlive the engine. */
  _Atomic uint64_t *writes;
  /* Shared by several engines, like `writes`; see roles.h. */
  struct refusal_limit *refusals;
};

struct engine {
  pthread_mutex_t lock; /* one operation at a time per engine */
  struct store *store;
  struct pooled *embedders;    /* opened when first needed; see embedding.h */
  struct reply_cache *replies; /* cached search results; see reply_cache.h */
  struct secrets *secrets;     /* decrypted vault values; see vault_values.h */
  struct scrubber *scrubber;   /* see scrub.h */
  struct key_ring *keys;       /* see op/vault/key.h */
  struct clock clock;
  struct telemetry *telemetry;    /* may be NULL */
  struct engine *next_watched;    /* in the telemetry's list of engines */
  char agent[AGENT_NAME_MAX + 1]; /* "": the local user */
  const struct settings_given *settings;
  _Atomic uint64_t *writes; /* never NULL; &own_writes unless shared */
  _Atomic uint64_t own_writes;
  struct refusal_limit *refusals, *own_refusals; /* made at the first refusal, unless shared */
  bool record_calls;
  bool cores_busy; /* other calls keep the cores busy; see pool.c */
  struct fair_id used_by;
};

/* Default path of the store: cairn/cairn.db in the user's data directory. Creates nothing. */
NODISCARD enum status engine_default_path(struct arena *a, struct str *ret_path, struct error *err);
NODISCARD enum status engine_open(const struct engine_options *options, struct engine **ret_engine, struct error *err);
/* Flushes queued read events and access counts, closes the store and sets *engine to NULL. */
void engine_close(struct engine **engine);

/* Locks the engine and binds its store to a team, for access without an operation. engine_unlock_team() must follow
 * even if it fails; that returns `s`, or its own error if `s` is STATUS_OK. */
NODISCARD enum status engine_lock_team(struct engine *engine, struct str team, struct error *err);
NODISCARD enum status engine_unlock_team(struct engine *engine, enum status s, struct error *err);
