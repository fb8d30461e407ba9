/* config.h: configuration of a process: cairn.toml and --set assignments. */
#pragma once

#include "base/buf.h"
#include "store/tables/settings.h"

enum { CONFIG_BYTES = 64 * 1024 };

/* All members may be empty. */
struct config_source {
  struct str file; /* absent: CAIRN_CONFIG, else cairn/cairn.toml in the XDG configuration folder, if it exists */
  struct strs assignments; /* "NAME=VALUE"; the last one wins */
  const char *option;      /* name of assignments in messages: "--set" */
};

/* Reads and checks the file and the assignments. Errors name the line. */
NODISCARD enum status config_load(struct arena *a, const struct config_source *source,
                                  const struct settings_given **ret_given, struct error *err);

/* The steps: the text of a file, and one assignment. */
NODISCARD enum status config_parse(struct arena *a, struct str text, struct str path, struct settings_given *given,
                                   struct error *err);
NODISCARD enum status config_assign(struct arena *a, struct str assignment, const char *option,
                                    struct settings_given *given, struct error *err);
