/* backup.h: where the automatic backups of a store on a server are. */
#pragma once

#include "store/store.h"

/* A file name for a server and database: nothing of the user, or of a password, is in it. */
struct str postgres_backup_name(struct arena *a, const char *url);
/* How their paths begin: in a private folder of the user's state. Nothing is created. */
NODISCARD enum status postgres_backup_base(struct store *st, struct arena *a, struct str *ret_base, struct error *err);
