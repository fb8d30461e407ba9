/* flush.h: storing memories from a conversation before compaction removes a part of it. */
#pragma once

#include "op/write/write.h"
#include "transcript/op/transcript.h"

struct kept {
  struct write w;
  struct error err; /* code STATUS_OK if it can be written */
};
struct kept_list {
  struct kept *v;
  size_t n, cap;
};

/* Parses an agent's answer: a JSON array of texts or of arguments of 'remember', or fenced blocks labelled
 * "memory" with a "## Section" and its items. "[NO_REPLY]" means no memories. */
NODISCARD enum status flush_read_answer(struct op_call *call, struct str answer, struct kept_list *ret_list);
/* Makes facts of low trust from labelled sentences. */
void flush_draft_labelled(struct op_call *call, const struct message *list, size_t n, struct kept_list *ret_list);
/* Writes them through the gate in one transaction; refused ones are listed with the reason. The result gets `stored`,
 * `skipped`, `refused` and `memories`. */
NODISCARD enum status flush_store(struct op_call *call, struct kept_list *list);
