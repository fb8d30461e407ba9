/* pack.h: all transcripts of a store in one file, for backups: a tar archive of what lies in their folders.
 *
 *   <team>/<agent>/<session>.jsonl, archive/<session>.jsonl, archive/originals/<session>.jsonl, <session>.torn
 *   SHA256SUMS                  of all files before it, as sha256sum(1) writes it; the last file
 *
 * The agent is the name of its folder; "@shared" where the settings give all agents of a team one folder. Locks are
 * left out, and so is the index, which is made from the files. */
#pragma once

#include "base/id.h"
#include "transcript/file/tar.h"
#include "transcript/file/transcript.h"

#define TRANSCRIPTS_SHARED "@shared"
/* Whether a folder of this name can be in an archive. */
bool transcripts_agent_ok(struct str agent);

struct transcript_pack {
  int64_t sessions, files, bytes;
  char id[HASH_TEXT_SIZE]; /* SHA-256 of SHA256SUMS: it says which archive this is */
};

/* Writes those of all teams of the store. Each session is taken at one moment, under its lock, up to its last whole
 * line; others may append meanwhile. */
NODISCARD enum status transcripts_pack(struct store *st, struct tar *out, struct arena *a,
                                       struct transcript_pack *ret_pack, struct error *err);

/* Files of one session in an archive; those that it does not have are absent. */
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
/* Reads the whole archive and compares every hash: STATUS_CORRUPT when anything is not as it was written. */
NODISCARD enum status transcripts_check_pack(struct tar *in, struct arena *a, struct unpacking *ret_unpacking,
                                             struct error *err);

/* A session of the archive that goes another way than the one of that name here: both are kept. */
struct diverged {
  struct str team, agent, session, kept_as;
};
struct transcripts_unpacked {
  int64_t restored; /* were not here */
  int64_t extended; /* were here, with fewer messages */
  int64_t kept;     /* are here with all that the archive has, or more */
  struct {
    struct diverged *v;
    size_t n, cap;
  } diverged;
};
/* Brings them back where the settings of the store say. Nothing that is here is removed or shortened: messages that are
 * missing at the end of a session are added. What was done already is done no second time. */
NODISCARD enum status transcripts_unpack(struct store *st, const struct unpacking *from, int64_t now, struct arena *a,
                                         struct transcripts_unpacked *ret_done, struct error *err);
