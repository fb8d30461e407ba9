/* mirror_place.h: which file is the MEMORY.md of a project on this machine: noted in the agent's folder. */
#pragma once

#include "base/buf.h"
#include "file/place.h"

struct mirror_place {
  struct str project, path;
};
struct mirror_places {
  struct mirror_place *v;
  size_t n, cap;
};

/* The file that was named last, else the one that the settings say. */
NODISCARD enum status mirror_place_find(struct store *st, struct str team, struct str project, struct arena *a,
                                        struct str *ret_path, struct error *err);
/* Notes the file, so that a server watches it, and a later call finds it. */
NODISCARD enum status mirror_place_keep(struct store *st, struct str team, struct str project, struct str path,
                                        struct arena *a, struct error *err);
/* The folder of the agents' folders, and all files that are noted there. */
NODISCARD enum status mirror_place_root(struct store *st, struct str team, struct arena *a, struct str *ret_root,
                                        struct error *err);
void mirror_place_list(struct arena *a, struct str root, struct mirror_places *ret_places);
