/* settings.h: the settings that a team can change: one table with defaults, checks and help.
 *
 * A value comes from the command line, else from the environment, else from the configuration file, else from the
 * store, else from the default. What is nearest to a call counts most; the store's values are shared by all who use it.
 * A new setting is one line in the table of settings.c. */
#pragma once

#include "store/store.h"

enum setting_id {
  SET_GATE_MODE,
  SET_SECRETS_MODE,
  SET_EMBEDDER, /* from here to SET_EMBEDDER_LAST: what an embedder is opened with */
  SET_EMBEDDER_URL,
  SET_EMBEDDER_MODEL,
  SET_EMBEDDER_DIMS,
  SET_EMBEDDER_FILE,
  SET_EMBEDDER_KEY_ENV,
  SET_EMBEDDER_QUERY_PREFIX,
  SET_EMBEDDER_TEXT_PREFIX,
  SET_EMBEDDER_TIMEOUT_MS,
  SET_VECTOR_WEIGHT,
  SET_DECAY_HALF_LIFE,
  SET_FACT_HALF_LIFE,
  SET_FACT_FADE_BELOW,
  SET_ARCHIVE_DAYS,
  SET_STALE_DAYS,
  SET_MAINTAIN_HOURS,
  SET_BOOT_BUDGET,
  SET_NOTIFY_ERRORS,
  SET_FILES_ROOT, /* from here to SET_TOOL_RESULTS: the files of an agent */
  SET_MEMORY_PATH,
  SET_MEMORY_MAX_CHARS,
  SET_SESSIONS_PATH,
  SET_SESSION_RETENTION_DAYS,
  SET_SESSIONS_INDEXED,
  SET_SOURCES_WATCH,
  SET_COMPACTION_THRESHOLD,
  SET_COMPACTION_KEEP_RECENT,
  SET_FLUSH_ENABLED,
  SET_FLUSH_THRESHOLD,
  SET_SEARCH_PROVIDER,
  SET_TOOL_RESULTS,
  SET_SERVE_REQUIRE_TOKEN, /* from here to SET_OAUTH_CLAIM_PREFIX: who may reach 'cairn serve' */
  SET_SERVE_RATE,
  SET_SERVE_BURST,
  SET_OAUTH_ISSUER,
  SET_OAUTH_AUDIENCE,
  SET_OAUTH_JWKS,
  SET_OAUTH_CLAIM_PREFIX,
  SET_SANDBOX,
  SET_SANDBOX_PATHS,
  SET_COUNT
};
#define SET_EMBEDDER_LAST SET_EMBEDDER_TIMEOUT_MS

struct setting {
  const char *name, *fallback;
  const char *const *choices; /* NULL: a number, or a text */
  double low, high;
  const char *help;
  /* For a text: NULL when the value will do, else what a value is like. */
  const char *(*check)(struct str value);
  bool secretive; /* what is given by mistake may be a secret: errors do not repeat it */
  /* Of the machine, not of a team: the store neither takes nor gives it. Whoever may change a team's store must not
   * thereby open the machine to others. */
  bool machine;
  bool guarded; /* names places or servers: a person sets it in the store, no agent */
};
extern const struct setting setting_table[SET_COUNT];

struct setting_value {
  struct str value;
  const char *origin; /* "default", "store", "file", "environment", "flag" */
  double number;      /* when it is one */
  struct str file;    /* the configuration file, of origin "file", ... */
  int line;           /* ... and where in it; else 0 */
};

/* Values that a process was started with, checked; the file's as well as the command line's. */
struct setting_given {
  struct str value; /* absent: not given */
  int line;
};
struct settings_given {
  struct setting_given flag[SET_COUNT], file[SET_COUNT];
  struct str path; /* of the file; absent: there is none */
};

/* -1 when there is none of this name. */
int setting_find(struct str name);
/* CAIRN_GATE_MODE for gate.mode. */
struct str setting_env_name(struct arena *a, enum setting_id id);
/* Without a store: as far as the process was started with it, else the default. */
NODISCARD enum status setting_outside(const struct settings_given *given, enum setting_id id, struct arena *a,
                                      struct setting_value *ret_value, struct error *err);
NODISCARD enum status setting_get(struct store *st, struct str team, enum setting_id id, struct arena *a,
                                  struct setting_value *ret_value, struct error *err);
NODISCARD enum status setting_number(struct store *st, struct str team, enum setting_id id, struct arena *a,
                                     double *ret_value, struct error *err);
/* The settings first to last at once, into ret_values[last - first + 1]. */
NODISCARD enum status settings_get(struct store *st, struct str team, enum setting_id first, enum setting_id last,
                                   struct arena *a, struct setting_value *ret_values, struct error *err);
/* Sets it, or brings the default back when value is absent; with an event. */
NODISCARD enum status setting_set(struct txn *txn, struct arena *a, enum setting_id id, struct str value,
                                  struct error *err);
/* What decides instead of the store: "--set", the name of a variable, "FILE:LINE"; absent: nothing. */
struct str setting_overridden_by(const struct setting_value *v, enum setting_id id, struct arena *a);
/* Is the setting a number, or one of "on" and "off"? Else it is a text. */
bool setting_is_number(enum setting_id id);
bool setting_is_switch(enum setting_id id);
NODISCARD enum status setting_check(enum setting_id id, struct str value, struct error *err);
