/* backup.h: location of a server store's automatic backups. */
#pragma once

#include "store/store.h"

/* File name for a server and database, without user or password. */
struct str postgres_backup_name(struct arena *a, const char *url);
/* Path prefix of the backups, in a private folder of the user's state. Creates nothing. */
NODISCARD enum status postgres_backup_base(struct store *st, struct arena *a, struct str *ret_base, struct error *err);
