/* flush.h: memories out of a conversation, before a part of it leaves the agent's context. */
#pragma once

#include "op/write/write.h"
#include "transcript/op/transcript.h"

struct kept {
  struct write w;
  struct error err; /* code OK: it can be written */
};
struct kept_list {
  struct kept *v;
  size_t n, cap;
};

/* The memories of an agent's answer: a JSON array of texts or of arguments of 'remember', or fenced blocks marked
 * "memory" with a "## Section" and its items. "[NO_REPLY]" is an answer with none. */
NODISCARD enum status flush_read_answer(struct op_call *call, struct str answer, struct kept_list *ret_list);
/* Marked sentences as facts of low trust. */
void flush_draft_marked(struct op_call *call, const struct message *list, size_t n, struct kept_list *ret_list);
/* Sends them through the gate, all in one transaction; what it refuses is listed with the reason. The result gets
 * `stored`, `skipped`, `refused` and `memories`. */
NODISCARD enum status flush_store(struct op_call *call, struct kept_list *list);
