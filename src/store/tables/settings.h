/* settings.h: settings of a team or machine: one table with defaults, checks and help.
 *
 * A value comes from, in this order: the command line, the environment, the configuration file, the store, the default.
 * Values in the store are shared by all its users. A new setting is one row in setting_rows.h. */
#pragma once

#include "store/store.h"

enum setting_id {
#define SETTING(id, ...) id,
#include "store/tables/setting_rows.h"
#undef SETTING
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
  bool agents;    /* agents may set it in the store, too; the others only a person */
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
NODISCARD enum status setting_get_without_store(const struct settings_given *given, enum setting_id id, struct arena *a,
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
