/* flush.h: storing memories from a conversation before compaction removes a part of it. */
#pragma once

#include "op/write/write.h"
#include "transcript/op/transcript.h"

/* Parses an agent's answer: a JSON array of texts or of arguments of 'remember', or fenced blocks labelled
 * "memory" with a "## Section" and its items. "[NO_REPLY]" means no memories. */
NODISCARD enum status flush_read_answer(struct op_call *call, struct str answer, struct drafts *ret_list);
/* Makes facts of low trust from labelled sentences. */
void flush_draft_labelled(struct op_call *call, const struct message *list, size_t n, struct drafts *ret_list);
