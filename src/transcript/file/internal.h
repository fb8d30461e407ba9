/* internal.h: shared by the files of this folder: paths, locks, file access, index entries. */
#pragma once

#include "transcript/file/transcript.h"

#define TRANSCRIPT_INDEX "sessions.json"

enum place_kind { PLACE_LIVE, PLACE_ARCHIVED, PLACE_ORIGINALS, PLACE_TORN, PLACE_LOCK };
/* NUL-terminated. */
const char *transcript_path(const struct transcripts *t, struct str session, enum place_kind kind, struct arena *a);

/* True if an absolute files.sessions_path has files of 0.1.0 that this owner may use. */
bool transcripts_are_shared(struct arena *a, struct str parent, struct str team, struct str owner);

struct lock {
  int fd; /* -1 if not held */
};
/* Waits for the lock and creates the folder. The lock is released with the arena at the latest. */
NODISCARD enum status transcript_lock(const struct transcripts *t, struct str session, struct arena *a,
                                      struct lock **ret_lock, struct error *err);
NODISCARD enum status transcript_lock_index(const struct transcripts *t, struct arena *a, struct lock **ret_lock,
                                            struct error *err);
void transcript_unlock(struct lock *lock);

/* A file that is closed with its arena at the latest. */
struct open_file {
  int fd;
};
NODISCARD enum status transcript_open(const char *path, int flags, struct arena *a, struct open_file **ret_file,
                                      struct error *err);
void transcript_close(struct open_file *f);
NODISCARD enum status transcript_write_all(int fd, struct str text, const char *path, struct error *err);
/* Syncs the entries of a folder to disk. */
NODISCARD enum status transcript_sync_folder(const char *path, struct error *err);
/* Closes a DIR ** and sets it to NULL; for arena_defer(), since a failed allocation longjmps out of the caller. */
void transcript_close_dir(void *dir);
/* STATUS_NOT_FOUND. */
enum status transcript_missing(struct str session, struct error *err);

/* Offset after the last newline; 0 if there is none. */
NODISCARD enum status transcript_whole_bytes(int fd, int64_t size, struct arena *a, const char *path, int64_t *ret_end,
                                             struct error *err);
/* Moves a session back from the archive. Needs the session's lock. */
NODISCARD enum status transcript_revive(const struct transcripts *t, struct str session, const char *live,
                                        struct arena *a, bool *ret_revived, struct error *err);
/* A file after the repair of its end. */
struct repaired {
  int64_t size; /* bytes */
  int64_t torn; /* bytes moved to the torn file */
};
/* Repairs the end of the file, appends whole lines and returns when they are on disk. Needs the session's lock. */
NODISCARD enum status transcript_write_lines(const struct transcripts *t, struct str session, const char *path,
                                             struct str lines, struct arena *a, struct repaired *ret_before,
                                             struct error *err);

/* Repairs the end of a file after a crash: moves an incomplete line to the torn file, or adds a missing newline to a
 * complete one. Needs the session's lock. */
NODISCARD enum status transcript_repair(const struct transcripts *t, struct str session, int fd, struct arena *a,
                                        struct repaired *ret_repaired, struct error *err);

/* Reads the live file, or the archived one. */
NODISCARD enum status transcript_load(const struct transcripts *t, struct str session, struct arena *a,
                                      struct transcript *ret_transcript, struct error *err);

/* Scans the file of a session and updates its index entry, and the note in the lock file if `lock` is not NULL. */
NODISCARD enum status index_update(const struct transcripts *t, struct str session, struct lock *lock, struct arena *a,
                                   struct transcript_info *ret_info, struct error *err);
/* Updates the entry of session added->id after an append to a file that was `before` bytes long: the session's note at
 * once, the index only if it has not been written for a while. Needs the session's lock. */
NODISCARD enum status index_append(const struct transcripts *t, struct lock *lock, int64_t before,
                                   const struct transcript_info *added, struct arena *a,
                                   struct transcript_info *ret_info, struct error *err);
/* Invalidates the note before the file is replaced. Needs the session's lock. */
void index_invalidate(struct lock *lock);
