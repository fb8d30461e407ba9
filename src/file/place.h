/* place.h: where the files of an agent are. */
#pragma once

#include "store/tables/settings.h"

/* The folder of an agent: "<files.root>/<team>/<agent>", where the agent of a project has the project's name, made safe
 * for a file name without two projects meeting, and the one of no project is "admin". Nothing is created. */
NODISCARD enum status place_agent(struct store *st, struct str team, struct str project, struct arena *a,
                                  struct str *ret_folder, struct error *err);
/* A setting that is a path, with "<agent>" replaced by that folder; relative ones are below it. */
NODISCARD enum status place_of(struct store *st, struct str team, struct str project, enum setting_id id,
                               struct arena *a, struct str *ret_path, struct error *err);
