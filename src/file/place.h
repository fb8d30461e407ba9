/* place.h: paths of an agent's files, and of its MEMORY.md on this machine. */
#pragma once

#include "base/buf.h"
#include "store/tables/settings.h"

/* The folder of an agent: "<files.root>/<team>/<agent>". <agent> is the project's name, escaped as a file name, or
 * "admin" without a project. A folder that 0.1.0 made, with another name, is used if it exists. Creates nothing. */
NODISCARD enum status agent_folder(struct store *st, struct str team, struct str project, struct arena *a,
                                   struct str *ret_folder, struct error *err);
/* The same below another folder than files.root. */
NODISCARD enum status agent_folder_in(struct store *st, struct str parent, struct str team, struct str project,
                                      struct arena *a, struct str *ret_folder, struct error *err);
/* Creates the folder of an agent and marks it as its own; STATUS_CONFLICT if it belongs to another. */
NODISCARD enum status agent_claim(struct store *st, struct str team, struct str project, struct arena *a,
                                  struct error *err);
/* The path in a setting, with "<agent>" replaced by that folder; relative paths are below it. */
NODISCARD enum status agent_path(struct store *st, struct str team, struct str project, enum setting_id id,
                                 struct arena *a, struct str *ret_path, struct error *err);

/* ---- MEMORY.md: each agent's folder has a note with its path ---- */

struct mirror_place {
  struct str project, path;
};
struct mirror_places {
  struct mirror_place *v;
  size_t n, cap;
};

/* The noted file, else the path in the settings. */
NODISCARD enum status mirror_place_find(struct store *st, struct str team, struct str project, struct arena *a,
                                        struct str *ret_path, struct error *err);
/* Notes the file, so servers watch it and later calls find it. */
NODISCARD enum status mirror_place_save(struct store *st, struct str team, struct str project, struct str path,
                                        struct arena *a, struct error *err);
/* The parent of the agents' folders, and all files noted there. */
NODISCARD enum status mirror_place_parent(struct store *st, struct str team, struct arena *a, struct str *ret_root,
                                          struct error *err);
void mirror_place_list(struct arena *a, struct str root, struct mirror_places *ret_places);
