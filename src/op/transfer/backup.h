/* backup.h: backups with the transcripts that belong to them: made, checked, brought back. */
#pragma once

#include "op/run/common.h"
#include "transcript/file/pack.h"

/* Writes the store into the file, and its transcripts into an archive beside it; says so in the result. The file has
 * its name when both are complete and on disk. */
NODISCARD enum status backup_write(struct op_call *call, const char *path);

/* The transcripts of a backup. */
struct backup_transcripts {
  bool noted;   /* the backup says what it has */
  bool skipped; /* the caller wants none */
  bool any;     /* there is an archive; it is open and was checked */
  struct tar tar;
  struct unpacking sessions;
};
/* Before anything is changed: the archive must be there, belong to the backup and be whole. The result must stay where
 * it is until the call ends. */
NODISCARD enum status backup_open_transcripts(struct op_call *call, const char *path,
                                              struct backup_transcripts *ret_transcripts);
/* When the store is the one of the backup. */
NODISCARD enum status backup_restore_transcripts(struct op_call *call, const struct backup_transcripts *t);

/* Copies the transcripts of a store to where another one looks for them; says so in the result. */
NODISCARD enum status backup_move_transcripts(struct op_call *call, struct store *from, struct store *to);
