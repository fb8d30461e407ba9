/* owner.h: the owner of a file or folder that Cairn keeps: "TEAM/PROJECT@STORE", so none belongs to two. Stores that a
 * restore has replaced by this one follow: "@STORE+REPLACED+REPLACED". A mark, as files have it, names one store.
 *
 * MEMORY.md has it in its last line, tasks.json in the member "cairn", a folder in the file ".owner". Files of 0.1.0
 * have no store in it, or no owner at all. */
#pragma once

#include "store/store.h"

#define OWNER_FILE ".owner"

/* The owner of the files of a project. */
NODISCARD enum status owner_find(struct store *st, struct str team, struct str project, struct arena *a,
                                 struct str *ret_owner, struct error *err);
/* The mark that files get. */
struct str owner_mark(struct str owner);
/* True if a file with this mark (absent for none) may be written by `owner`. */
bool owner_may_write(struct str mark, struct str owner);
/* True if the mark names a store other than the owner's, for whatever team and project. */
bool owner_is_foreign(struct str mark, struct str owner);
/* True if they differ in the store only. */
bool owner_is_other_store(struct str mark, struct str owner);
/* Sets STATUS_CONFLICT with both names; the caller adds the fix. */
void owner_refuse(struct str path, struct str mark, struct str owner, struct error *err);

/* The mark of a folder; absent if it has none. */
struct str owner_of_folder(struct arena *a, struct str folder);
/* Creates the folder and marks it. STATUS_CONFLICT if it belongs to another owner. */
NODISCARD enum status owner_claim(struct arena *a, struct str folder, struct str owner, struct error *err);
