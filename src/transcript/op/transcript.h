/* transcript.h: shared by the operations on transcripts. */
#pragma once

#include "op/run/common.h"
#include "transcript/file/transcript.h"

/* The folder of the caller's project, and the session: the argument, else the caller's own. */
NODISCARD enum status transcript_of_call(struct op_call *call, struct transcripts *ret_folder, struct str *ret_session);

struct transcript_limits {
  int64_t flush, compact; /* thresholds in tokens; flush is 0 if flushing is disabled */
  int64_t keep, results;
};
NODISCARD enum status transcript_limits(struct op_call *call, struct transcript_limits *ret_limits);

/* True if messages are indexed in the corpus "sessions" (setting sessions.indexed). */
NODISCARD enum status transcript_is_indexed(struct op_call *call, bool *ret_on);
/* Indexes new messages of a session. They are already stored, so a failure is not an error: returns the reason, or an
 * absent text. */
struct str transcript_index_added(struct op_call *call, const struct transcripts *t, struct str session,
                                  const struct messages *list);
/* Indexes all sessions that have changed since they were indexed, or only `only`. */
NODISCARD enum status transcript_index_changed(struct op_call *call, const struct transcripts *t, struct str only,
                                               int64_t *ret_sessions, int64_t *ret_added);
