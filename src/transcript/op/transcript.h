/* transcript.h: what the operations on transcripts share. */
#pragma once

#include "op/run/common.h"
#include "transcript/file/transcript.h"

/* The folder of the caller's project, and the session that the call is about: its argument, else the caller's own. */
NODISCARD enum status transcript_of_call(struct op_call *call, struct transcripts *ret_folder, struct str *ret_session);

struct transcript_limits {
  int64_t flush, compact; /* tokens; flush is 0 when nobody is asked for memories */
  int64_t keep, results;
};
NODISCARD enum status transcript_limits(struct op_call *call, struct transcript_limits *ret_limits);

/* Whether messages go to the corpus "sessions" (the setting sessions.indexed). */
NODISCARD enum status transcript_is_indexed(struct op_call *call, bool *ret_on);
/* New messages of a session. They are stored already: what goes wrong fails nothing, and comes back as a sentence. */
struct str transcript_index_added(struct op_call *call, const struct transcripts *t, struct str session,
                                  const struct messages *list);
/* All sessions of the folder that have changed since they were indexed, or one of them. */
NODISCARD enum status transcript_index_changed(struct op_call *call, const struct transcripts *t, struct str only,
                                               int64_t *ret_sessions, int64_t *ret_added);
