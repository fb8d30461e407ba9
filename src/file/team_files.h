/* team_files.h: the files of a team: everything in "<files.root>/<team>", and what lies elsewhere by its settings. */
#pragma once

#include "store/store.h"

struct team_files {
  struct str folder; /* of the team; nothing outside it is ever removed */
  int64_t files;     /* in it, at any depth */
  struct strs left;  /* pages and folders elsewhere: a person's, or shared with other teams */
};
/* By the settings and notes of the team: to be asked before these are gone. */
NODISCARD enum status team_files_find(struct store *st, struct str team, int64_t now, struct arena *a,
                                      struct team_files *ret_files, struct error *err);
/* Removes the folder with all in it; links are removed, not followed. How many files went. A folder that is not there
 * is no error. */
NODISCARD enum status team_files_remove(const struct team_files *files, int64_t *ret_removed, struct error *err);
