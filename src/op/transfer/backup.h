/* backup.h: backups of a store with its transcripts: write, check, restore. */
#pragma once

#include "op/run/common.h"
#include "transcript/file/pack.h"

/* Writes the store to `path` and its transcripts to an archive next to it, and fills the result. The files get their
 * names when both are complete and on disk. */
NODISCARD enum status backup_write(struct op_call *call, const char *path);

/* The transcripts of a backup. */
struct backup_transcripts {
  bool noted;   /* the backup has a note about its transcripts */
  bool skipped; /* the caller wants no transcripts */
  bool any;     /* there is an archive; it is open and checked */
  struct tar tar;
  struct unpacking sessions;
};
/* Before anything is changed: opens the archive and checks that it belongs to the backup and is intact.
 * *ret_transcripts must not move until the call ends. */
NODISCARD enum status backup_open_transcripts(struct op_call *call, const char *path,
                                              struct backup_transcripts *ret_transcripts);
/* After the store was restored. */
NODISCARD enum status backup_restore_transcripts(struct op_call *call, const struct backup_transcripts *t);

/* Copies the transcripts of a store to the folder of another, and fills the result. */
NODISCARD enum status backup_move_transcripts(struct op_call *call, struct store *from, struct store *to);
