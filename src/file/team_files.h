/* team_files.h: files of a team: "<files.root>/<team>", and files elsewhere that its settings name. */
#pragma once

#include "store/store.h"

struct team_files {
  struct str folder;   /* of the team; only files in it are removed */
  int64_t files;       /* number of files in it, at any depth */
  struct strs foreign; /* names of folders in it that belong to another store */
  struct strs left;    /* files and folders elsewhere, which a person or other teams may use */
};
/* Uses the settings and notes of the team: call it before these are deleted. */
NODISCARD enum status team_files_find(struct store *st, struct str team, int64_t now, struct arena *a,
                                      struct team_files *ret_files, struct error *err);
/* Removes the folder and its contents; does not follow links. Counts the files. A missing folder is not an error. */
NODISCARD enum status team_files_remove(const struct team_files *files, int64_t *ret_removed, struct error *err);
