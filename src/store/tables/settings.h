/* settings.h: settings of a team or machine: one table with defaults, checks and help.
 *
 * A value comes from, in this order: the command line, the environment, the configuration file, the store, the default.
 * Values in the store are shared by all its users. A new setting is one line in the table of settings.c. */
#pragma once

#include "store/store.h"

enum setting_id {
  SET_GATE_MODE,
  SET_SECRETS_MODE,
  SET_EMBEDDER, /* from here to SET_EMBEDDER_LAST: parameters of the embedder */
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
  SET_FILES_ROOT, /* from here to SET_TOOL_RESULTS: an agent's files */
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
  SET_SERVE_REQUIRE_TOKEN, /* from here to SET_OAUTH_CLAIM_PREFIX: access to 'cairn serve' */
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
  const char *const *choices; /* NULL for a number or text */
  double low, high;
  const char *help;
  /* For a text: returns NULL if the value is valid, else a description of valid values. */
  const char *(*check)(struct str value);
  bool secretive; /* errors do not repeat the value: it may be a secret given by mistake */
  bool machine;   /* never kept in the store: write access to it must not open the machine to others */
  bool guarded;   /* names paths or servers: only a person may set it in the store, not an agent */
};
extern const struct setting setting_table[SET_COUNT];

struct setting_value {
  struct str value;
  const char *origin; /* "default", "store", "file", "environment", "flag" */
  double number;      /* 0 unless the value is a number */
  struct str file;    /* configuration file, if origin is "file" */
  int line;           /* line in it, else 0 */
};

/* Values from the command line and the configuration file, checked. */
struct setting_given {
  struct str value; /* absent if not given */
  int line;
};
struct settings_given {
  struct setting_given flag[SET_COUNT], file[SET_COUNT];
  struct str path; /* of the file; absent if there is none */
};

/* -1 if there is no such setting. */
int setting_find(struct str name);
/* CAIRN_GATE_MODE for gate.mode. */
struct str setting_env_name(struct arena *a, enum setting_id id);
/* The value without a store: an override, else the default. */
NODISCARD enum status setting_outside(const struct settings_given *given, enum setting_id id, struct arena *a,
                                      struct setting_value *ret_value, struct error *err);
NODISCARD enum status setting_get(struct store *st, struct str team, enum setting_id id, struct arena *a,
                                  struct setting_value *ret_value, struct error *err);
NODISCARD enum status setting_number(struct store *st, struct str team, enum setting_id id, struct arena *a,
                                     double *ret_value, struct error *err);
/* All settings from first to last, into ret_values[last - first + 1]. */
NODISCARD enum status settings_get(struct store *st, struct str team, enum setting_id first, enum setting_id last,
                                   struct arena *a, struct setting_value *ret_values, struct error *err);
/* Sets the value, or resets it to the default if `value` is absent; with an event. */
NODISCARD enum status setting_set(struct txn *txn, struct arena *a, enum setting_id id, struct str value,
                                  struct error *err);
/* The origin that overrides the store: "--set", the name of a variable, or "FILE:LINE"; absent if none does. */
struct str setting_overridden_by(const struct setting_value *v, enum setting_id id, struct arena *a);
/* True for a number, or for "on" and "off". Other settings are texts. */
bool setting_is_number(enum setting_id id);
bool setting_is_switch(enum setting_id id);
NODISCARD enum status setting_check(enum setting_id id, struct str value, struct error *err);
