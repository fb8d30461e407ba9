/* config.h: the configuration of a process: cairn.toml, and the assignments of its command line. */
#pragma once

#include "base/buf.h"
#include "store/tables/settings.h"

enum { CONFIG_BYTES = 64 * 1024 };

/* What the caller names; all may be empty. */
struct config_source {
  struct str file;         /* absent: the variable CAIRN_CONFIG, else cairn/cairn.toml in the user's folder for
                              configuration, which need not be there */
  struct strs assignments; /* "NAME=VALUE", the last one counts */
  const char *option;      /* what messages call an assignment: "--set" */
};

/* Reads and checks all of it: a key that is unknown, or a value that will not do, is an error that names the line. */
NODISCARD enum status config_load(struct arena *a, const struct config_source *source,
                                  const struct settings_given **ret_given, struct error *err);

/* The parts: the text of a file, and one assignment. */
NODISCARD enum status config_parse(struct arena *a, struct str text, struct str path, struct settings_given *given,
                                   struct error *err);
NODISCARD enum status config_assign(struct arena *a, struct str assignment, const char *option,
                                    struct settings_given *given, struct error *err);
