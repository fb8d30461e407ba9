/* internal.h: what the files of transcripts share: names, locks, scans. */
#pragma once

#include "transcript/file/transcript.h"

enum place_kind { PLACE_LIVE, PLACE_ARCHIVED, PLACE_ORIGINALS, PLACE_TORN, PLACE_LOCK };
/* The path of a file of the session, NUL-terminated. */
const char *transcript_path(const struct transcripts *t, struct str session, enum place_kind kind, struct arena *a);

struct lock {
  int fd; /* -1: not held */
};
/* Waits until the lock is ours; the arena gives it back at the latest. Makes the folder. */
NODISCARD enum status transcript_lock(const struct transcripts *t, struct str session, struct arena *a,
                                      struct lock **ret_lock, struct error *err);
NODISCARD enum status transcript_lock_index(const struct transcripts *t, struct arena *a, struct lock **ret_lock,
                                            struct error *err);
void transcript_unlock(struct lock *lock);

/* A file that is closed with its arena. */
struct open_file {
  int fd;
};
NODISCARD enum status transcript_open(const char *path, int flags, struct arena *a, struct open_file **ret_file,
                                      struct error *err);
void transcript_close(struct open_file *f);
NODISCARD enum status transcript_write_all(int fd, struct str text, const char *path, struct error *err);
/* The entries of a folder are on disk. */
NODISCARD enum status transcript_sync_folder(const char *path, struct error *err);

/* Where the last line end is, plus one; 0: there is none. */
NODISCARD enum status transcript_whole(int fd, int64_t size, struct arena *a, const char *path, int64_t *ret_end,
                                       struct error *err);
/* With the session's lock: a session that goes on leaves the archive. */
NODISCARD enum status transcript_revive(const struct transcripts *t, struct str session, const char *live,
                                        struct arena *a, bool *ret_revived, struct error *err);
/* With the session's lock: adds whole lines behind what a crash has left, and comes back when they are on disk. */
NODISCARD enum status transcript_write_lines(const struct transcripts *t, struct str session, const char *path,
                                             struct str lines, struct arena *a, int64_t *ret_before, int64_t *ret_torn,
                                             struct error *err);

/* With the session's lock: a line that a crash cut off goes to the file of torn lines, or gets its line end when it is
 * whole. *ret_torn: bytes that were set aside. */
NODISCARD enum status transcript_mend(const struct transcripts *t, struct str session, int fd, int64_t *ret_size,
                                      int64_t *ret_torn, struct arena *a, struct error *err);

/* Reads one file as it is. */
NODISCARD enum status transcript_load(const struct transcripts *t, struct str session, struct arena *a,
                                      struct transcript *ret_transcript, struct error *err);

/* Reads the file of a session and brings its entry in the index up to date. The lock of the session, where it is held:
 * its note, too. */
NODISCARD enum status index_note(const struct transcripts *t, struct str session, struct lock *lock, struct arena *a,
                                 struct transcript_info *ret_info, struct error *err);
/* With the session's lock: so much has come to a file that was `before` bytes long. The note of the session follows at
 * once, the index when it has not been written for a while. */
NODISCARD enum status index_added(const struct transcripts *t, struct str session, struct lock *lock, int64_t before,
                                  const struct transcript_info *added, struct arena *a,
                                  struct transcript_info *ret_info, struct error *err);
/* With the session's lock, before its file is replaced: what the note says will not be so. */
void index_forget(struct lock *lock);
