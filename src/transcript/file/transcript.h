/* transcript.h: transcripts of conversations: "<folder>/<session>.jsonl", a message a line, and what belongs to them.
 *
 *   <session>.jsonl                    the conversation as its agent should have it: a summary, once it was compacted,
 *                                      and the messages behind it
 *   <session>.lock                     locked (flock) by whoever writes the session; holds its entry of the index
 *   <session>.torn                     ends of lines that a crash cut off: nothing is thrown away
 *   sessions.json                      the index: {version, updatedAt, sessions}; made anew when it is lost
 *   archive/<session>.jsonl            a session without a message for sessions.retention_days
 *   archive/originals/<session>.jsonl  the lines that summaries stand for
 *
 * A message that transcript_append() has taken is on disk. No line is ever lost: compaction copies the lines that it
 * takes out before it replaces the file, and the summary says how many bytes of the copy count, so that a compaction
 * that was killed has no effect. Secrets are taken out of all that is written. */
#pragma once

#include "store/store.h"
#include "transcript/file/message.h"

enum { TRANSCRIPT_ID_BYTES = 128, TRANSCRIPT_LINE_BYTES = 8 << 20 };
#define TRANSCRIPT_FILE_BYTES ((size_t)1 << 30)

/* The folder of an agent's transcripts. */
struct transcripts {
  struct str folder;              /* NUL-terminated, without a slash at its end */
  int64_t now;                    /* ms */
  int wait_ms;                    /* for a lock, at most; 0: the usual time */
  const struct redactor *secrets; /* what is taken out of all that is written; NULL: the patterns alone */
  struct str agent; /* of transcripts_all(): the name of the agent's folder; "": one folder for all of them */
  bool index_later; /* appending leaves sessions.json alone: the caller calls transcript_list() when it has finished */
};
/* By the settings; nothing is created. */
NODISCARD enum status transcripts_at(struct store *st, struct str team, struct str project, int64_t now,
                                     struct arena *a, struct transcripts *ret_folder, struct error *err);

/* Those of all agents of the team that have one. */
struct transcripts_list {
  struct transcripts *v;
  size_t n, cap;
};
NODISCARD enum status transcripts_all(struct store *st, struct str team, int64_t now, struct arena *a,
                                      struct transcripts_list *ret_folders, struct error *err);
/* The one of the agent whose folder has this name; where all of them have one folder, that one. */
NODISCARD enum status transcripts_of_agent(struct store *st, struct str team, struct str agent, int64_t now,
                                           struct arena *a, struct transcripts *ret_folder, struct error *err);

/* A session's id is the name of its file: letters, digits, and . _ - inside, 1 to TRANSCRIPT_ID_BYTES bytes. */
bool transcript_id_ok(struct str session);
/* An id of any form as one that is ok: what cannot be in it becomes '-', and a hash keeps ids apart that meet. */
struct str transcript_id_safe(struct arena *a, struct str any);

/* ---- writing ---- */

struct transcript_appended {
  struct str path;
  int64_t added, known, redacted; /* messages; messages that were there already; secrets taken out */
  int64_t bytes, tokens;          /* of what was added */
  int64_t torn;                   /* bytes of a cut-off line that were set aside first; 0: the file was whole */
  int64_t total_messages, total_tokens;
  bool revived; /* it was archived, and is not any more */
};

/* Adds messages at the end, all of them or none, and comes back when they are on disk. Those without an id or a time
 * get one, in the list too. With skip_known, messages that the session has already (by id and role, archived ones
 * included) are left out, of the list too: adding again what an importer has read changes nothing. */
NODISCARD enum status transcript_append(const struct transcripts *t, struct str session, struct messages *list,
                                        bool skip_known, struct arena *a, struct transcript_appended *ret_done,
                                        struct error *err);

/* ---- reading ---- */

struct transcript {
  struct str session, path;
  struct messages list;
  int64_t tokens;
  int64_t size;      /* bytes of the file */
  int64_t damaged;   /* lines that are no messages; they stay where they are */
  int64_t torn;      /* bytes behind the last line end: a crash, or somebody who writes just now */
  int64_t compacted; /* messages that the summary at its beginning stands for */
  int64_t originals; /* bytes of the file of originals that count */
  int64_t compactions;
  bool archived;
};

/* The session as its agent should have it; with `originals`, everything that was ever said, in order, with the
 * summaries where they were made. STATUS_NOT_FOUND when there is none of this id. */
NODISCARD enum status transcript_read(const struct transcripts *t, struct str session, bool originals, struct arena *a,
                                      struct transcript *ret_transcript, struct error *err);
/* Leaves out all but the last `keep` results of tools; their calls stay. Returns how many were left out. */
size_t transcript_prune(struct messages *list, int64_t keep);

struct transcript_info {
  struct str id;
  int64_t created, updated; /* of its first and last message, ms */
  int64_t messages, tokens; /* as an agent has it now */
  int64_t compacted;        /* messages that a summary stands for */
  int64_t compactions;
  int64_t size;    /* bytes: a file of another size has changed behind the index */
  int64_t flushed; /* tokens it had at the last flush of this cycle; 0: none */
  bool answered;   /* that flush got an answer */
  bool archived;
};
struct transcript_infos {
  struct transcript_info *v;
  size_t n, cap;
};
/* All sessions, the one with the newest message first; the index is brought up to date by the files, and written when
 * it was not. *ret_rebuilt: it was lost or damaged. */
NODISCARD enum status transcript_list(const struct transcripts *t, struct arena *a, struct transcript_infos *ret_list,
                                      bool *ret_rebuilt, struct error *err);
/* One of them; STATUS_NOT_FOUND. */
NODISCARD enum status transcript_find(const struct transcripts *t, struct str session, struct arena *a,
                                      struct transcript_info *ret_info, struct error *err);
/* Notes that the agent was asked for memories, or has answered. */
NODISCARD enum status transcript_flushed(const struct transcripts *t, struct str session, bool answered,
                                         struct arena *a, struct error *err);

/* ---- compaction, archive ---- */

/* How many of the first messages leave the context when at least `keep` stay: no call is parted from its result. */
size_t transcript_cut(const struct messages *list, int64_t keep);

struct transcript_compacted {
  struct str path, originals, summary_id;
  int64_t before, after; /* tokens */
  int64_t messages_before, messages_after, taken;
};
/* Replaces the first `count` messages of what transcript_read() gave by a summary; STATUS_CONFLICT when they are not
 * the session's first messages any more. What was added since stays. */
NODISCARD enum status transcript_compact(const struct transcripts *t, const struct transcript *seen, size_t count,
                                         struct str summary, bool extractive, struct arena *a,
                                         struct transcript_compacted *ret_done, struct error *err);

/* Moves sessions whose last message is older than `before` into the archive. */
NODISCARD enum status transcript_archive_old(const struct transcripts *t, int64_t before, bool dry_run, struct arena *a,
                                             struct strs *ret_sessions, struct error *err);
/* The one session, whatever its age. */
NODISCARD enum status transcript_archive(const struct transcripts *t, struct str session, struct arena *a,
                                         struct error *err);
