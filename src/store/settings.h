/* settings.h: the settings that a team can change: one table with defaults, checks and help.
 *
 * A value comes from the environment, else from the store, else from the default. A new setting is one line in the
 * table of settings.c. */
#ifndef CAIRN_STORE_SETTINGS_H
#define CAIRN_STORE_SETTINGS_H

#include "store/store.h"

enum setting_id {
  SET_GATE_MODE,
  SET_SECRETS_MODE,
  SET_EMBEDDER,
  SET_DECAY_HALF_LIFE,
  SET_FACT_HALF_LIFE,
  SET_FACT_FADE_BELOW,
  SET_ARCHIVE_DAYS,
  SET_STALE_DAYS,
  SET_MAINTAIN_HOURS,
  SET_BOOT_BUDGET,
  SET_COUNT
};

struct setting {
  const char *name, *fallback;
  const char *const *choices; /* NULL: a number */
  double low, high;
  const char *help;
};
extern const struct setting setting_table[SET_COUNT];

struct setting_value {
  struct str value;
  const char *origin; /* "default", "store", "environment" */
  double number;      /* when it is one */
};

/* -1 when there is none of this name. */
int setting_find(struct str name);
/* CAIRN_GATE_MODE for gate.mode. */
struct str setting_env_name(struct arena *a, enum setting_id id);
NODISCARD enum status setting_get(struct store *st, struct str team, enum setting_id id, struct arena *a,
                                  struct setting_value *ret_value, struct error *err);
NODISCARD enum status setting_number(struct store *st, struct str team, enum setting_id id, struct arena *a,
                                     double *ret_value, struct error *err);
/* Sets it, or brings the default back when value is absent; with an event. */
NODISCARD enum status setting_set(struct txn *txn, struct arena *a, enum setting_id id, struct str value,
                                  struct error *err);
NODISCARD enum status setting_check(enum setting_id id, struct str value, struct error *err);

#endif
