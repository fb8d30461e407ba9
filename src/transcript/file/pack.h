/* pack.h: tar archive of all transcripts of a store, for backups.
 *
 *   <team>/<agent>/<session>.jsonl, archive/<session>.jsonl, archive/originals/<session>.jsonl, <session>.torn
 *   SHA256SUMS                  of all files before it, in the format of sha256sum(1); the last file
 *
 * <agent> is the name of the agent's folder, or "@shared" if all agents of a team share one. Locks and the index are
 * omitted; the index is rebuilt from the files. */
#pragma once

#include "base/id.h"
#include "transcript/file/tar.h"
#include "transcript/file/transcript.h"

#define TRANSCRIPTS_SHARED "@shared"
/* True if a folder of this name can be stored in an archive. */
bool transcripts_agent_ok(struct str agent);

struct transcript_pack {
  int64_t sessions, files, bytes;
  char id[HASH_TEXT_SIZE]; /* SHA-256 of SHA256SUMS; identifies the archive */
};

/* Writes the transcripts of all teams. Each session is read under its lock, up to its last whole line; other sessions
 * may be appended to meanwhile. */
NODISCARD enum status transcripts_pack(struct store *st, struct tar *out, struct arena *a,
                                       struct transcript_pack *ret_pack, struct error *err);

/* Files of one session in an archive; missing ones are absent. */
struct packed_session {
  struct str team, agent, session;
  struct tar_file live, archived, originals, torn;
};
struct packed_sessions {
  struct packed_session *v;
  size_t n, cap;
};
struct unpacking {
  struct tar *tar; /* must outlive this */
  struct packed_sessions sessions;
  char id[HASH_TEXT_SIZE];
};
/* Reads the whole archive and verifies all hashes; STATUS_CORRUPT if anything differs. */
NODISCARD enum status transcripts_check_pack(struct tar *in, struct arena *a, struct unpacking *ret_unpacking,
                                             struct error *err);

/* A session whose messages differ in the archive and here; both are kept. */
struct diverged {
  struct str team, agent, session, kept_as;
};
struct transcripts_unpacked {
  int64_t restored; /* did not exist here */
  int64_t extended; /* had fewer messages here */
  int64_t kept;     /* have all messages of the archive, or more */
  struct {
    struct diverged *v;
    size_t n, cap;
  } diverged;
};
/* Restores the sessions to the folders that the store's settings name. Never removes or truncates existing sessions;
 * adds messages missing at their end. Idempotent. */
NODISCARD enum status transcripts_unpack(struct store *st, const struct unpacking *from, int64_t now, struct arena *a,
                                         struct transcripts_unpacked *ret_done, struct error *err);
