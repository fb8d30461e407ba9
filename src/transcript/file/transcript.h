/* transcript.h: transcripts of sessions: "<folder>/<session>.jsonl", one message per line, and related files.
 *
 *   <session>.jsonl                    the session as its agent should see it: a summary, if it was compacted, and the
 *                                      messages after it
 *   <session>.lock                     locked (flock) by writers; contains the session's index entry
 *   <session>.torn                     incomplete lines left by crashes
 *   sessions.json                      the index: {version, updatedAt, sessions}; rebuilt if it is lost
 *   archive/<session>.jsonl            a session without messages for sessions.retention_days
 *   archive/originals/<session>.jsonl  the lines that summaries replace
 *
 * transcript_append() returns when the messages are on disk. No line is ever lost: compaction copies the lines it
 * removes before it replaces the file, and the summary records how many bytes of the copy are valid, so a killed
 * compaction has no effect. Secrets are redacted from everything written. */
#pragma once

#include "store/store.h"
#include "transcript/file/message.h"

enum { TRANSCRIPT_ID_BYTES = 128, TRANSCRIPT_LINE_BYTES = 8 << 20 };
#define TRANSCRIPT_FILE_BYTES ((size_t)1 << 30)

/* The folder of an agent's transcripts. */
struct transcripts {
  struct str folder;              /* NUL-terminated, without a trailing slash */
  int64_t now;                    /* ms */
  int wait_ms;                    /* timeout for locks; 0 for the default */
  const struct redactor *secrets; /* secrets to redact; NULL for the built-in patterns only */
  struct str home;                /* folder that its owner claims before it writes; absent if nobody does */
  struct str owner;               /* of `home`: see file/owner.h */
  struct str agent;               /* set by transcripts_all(): name of the agent's folder, "" if all agents share one */
  bool index_later;               /* appending does not update sessions.json: the caller does at the end */
};
/* The folder according to the settings; creates nothing. An absolute files.sessions_path has a folder for each team and
 * project. 0.1.0 used it for all of them: a project of the team "default" without a folder of its own uses those files,
 * until another one claims them by writing. */
NODISCARD enum status transcripts_at(struct store *st, struct str team, struct str project, int64_t now,
                                     struct arena *a, struct transcripts *ret_folder, struct error *err);

/* The existing folders of all agents of the team. */
struct transcripts_list {
  struct transcripts *v;
  size_t n, cap;
};
NODISCARD enum status transcripts_all(struct store *st, struct str team, int64_t now, struct arena *a,
                                      struct transcripts_list *ret_folders, struct error *err);
/* The folder of the agent with this folder name, or the one that all agents share. */
NODISCARD enum status transcripts_of_agent(struct store *st, struct str team, struct str agent, int64_t now,
                                           struct arena *a, struct transcripts *ret_folder, struct error *err);

/* A session id is a file name: letters, digits, and . _ - except at the start, 1 to TRANSCRIPT_ID_BYTES bytes. */
bool transcript_id_ok(struct str session);
/* Makes any id valid: replaces other characters by '-' and appends a hash to keep it unique. */
struct str transcript_id_safe(struct arena *a, struct str any);

/* ---- writing ---- */

struct transcript_appended {
  struct str path;
  int64_t added, known, redacted; /* messages added, messages skipped as known, secrets redacted */
  int64_t bytes, tokens;          /* of the added messages */
  int64_t torn;                   /* bytes of an incomplete line moved to the torn file first; 0 if none */
  int64_t total_messages, total_tokens;
  bool revived; /* the session was archived and is live again */
};

/* Appends all messages or none, and returns when they are on disk. Sets missing ids and times, also in the list. With
 * skip_known, messages that the session has already (by id and role, including originals) are removed from the list and
 * not added, which makes imports idempotent. */
NODISCARD enum status transcript_append(const struct transcripts *t, struct str session, struct messages *list,
                                        bool skip_known, struct arena *a, struct transcript_appended *ret_done,
                                        struct error *err);

/* ---- reading ---- */

struct transcript {
  struct str session, path;
  struct messages list;
  int64_t tokens;
  int64_t size;      /* bytes of the file */
  int64_t damaged;   /* lines that are not messages; they are left in place */
  int64_t torn;      /* bytes after the last newline: a crash, or a write in progress */
  int64_t compacted; /* messages replaced by the summary at the start */
  int64_t originals; /* valid bytes of the file of originals */
  int64_t compactions;
  bool archived;
};

/* Reads the session as its agent should see it. With `originals`: all messages ever written, in order, with summaries
 * where they were made. STATUS_NOT_FOUND if there is no such session. */
NODISCARD enum status transcript_read(const struct transcripts *t, struct str session, bool originals, struct arena *a,
                                      struct transcript *ret_transcript, struct error *err);
/* Removes all but the last `keep` tool results; calls stay. Returns the number removed. */
size_t transcript_prune(struct messages *list, int64_t keep);

struct transcript_info {
  struct str id;
  int64_t created, updated; /* time of the first and last message, ms */
  int64_t messages, tokens; /* of the live file */
  int64_t compacted;        /* messages replaced by a summary */
  int64_t compactions;
  int64_t size;    /* bytes; if the file's size differs, the entry is out of date */
  int64_t flushed; /* tokens at the last flush since the last compaction; 0 if none */
  bool answered;   /* the agent has answered that flush */
  bool archived;
};
struct transcript_infos {
  struct transcript_info *v;
  size_t n, cap;
};
/* All sessions, most recently updated first. Updates the index from the files if needed. *ret_rebuilt: it was lost or
 * damaged. */
NODISCARD enum status transcript_list(const struct transcripts *t, struct arena *a, struct transcript_infos *ret_list,
                                      bool *ret_rebuilt, struct error *err);
/* Updates sessions.json if it was not written for a while. A failure is ignored: the next reader updates it. */
void transcript_refresh_index(const struct transcripts *t, struct arena *a);
/* One session, or STATUS_NOT_FOUND. */
NODISCARD enum status transcript_find(const struct transcripts *t, struct str session, struct arena *a,
                                      struct transcript_info *ret_info, struct error *err);
/* Records that the agent was asked for memories, or has answered. */
NODISCARD enum status transcript_set_flushed(const struct transcripts *t, struct str session, bool answered,
                                             struct arena *a, struct error *err);

/* ---- compaction, archive ---- */

/* Number of messages to remove from the start so that at least `keep` stay and no call is separated from its result. */
size_t transcript_cut(const struct messages *list, int64_t keep);

struct compaction {
  const struct transcript *seen; /* as returned by transcript_read() */
  size_t count;                  /* messages to replace, from the start */
  struct str summary;
  bool extractive; /* the summary was made by summary_make() */
};
struct transcript_compacted {
  struct str path, originals, summary_id;
  int64_t before, after; /* tokens */
  int64_t messages_before, messages_after, taken;
};
/* Replaces the first messages of a session with a summary. STATUS_CONFLICT if they are no longer its first messages.
 * Messages added since are kept. */
NODISCARD enum status transcript_compact(const struct transcripts *t, const struct compaction *c, struct arena *a,
                                         struct transcript_compacted *ret_done, struct error *err);

/* Archives sessions whose last message is older than `before`. */
NODISCARD enum status transcript_archive_old(const struct transcripts *t, int64_t before, bool dry_run, struct arena *a,
                                             struct strs *ret_sessions, struct error *err);
/* Archives one session of any age. */
NODISCARD enum status transcript_archive(const struct transcripts *t, struct str session, struct arena *a,
                                         struct error *err);
