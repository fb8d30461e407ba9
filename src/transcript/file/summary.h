/* summary.h: what a conversation has come to, by rule: marked sentences, and a summary made of them.
 *
 * Pure. A sentence is marked by what it begins with ("Decision:", "TODO:", "agreed:") or says ("we decided", "remember
 * that"). Results of tools are not looked at: what a page or a file says is nobody's decision. */
#pragma once

#include "transcript/file/message.h"

enum mark { MARK_NONE, MARK_DECISION, MARK_AGREEMENT, MARK_OPEN, MARK_NOTE, MARK_COUNT };
/* What a sentence is, by its words; the first of the list where it is several. */
enum mark sentence_mark(struct str sentence);

struct marked {
  enum mark mark;
  struct str text;    /* one sentence, on one line */
  struct str message; /* id of the message that says it */
};
struct marked_list {
  struct marked *v;
  size_t n, cap;
};
/* The marked sentences of messages, in order, each once; of a summary that was made here, those that it lists. */
void summary_marked(struct arena *a, const struct message *list, size_t n, struct marked_list *ret);

/* A summary of at most so many tokens: all decisions, agreements and open points first, then notes, what the user asked
 * and which tools ran; the text of a summary that came before and was written by somebody is carried along. What did
 * not fit is counted. */
struct str summary_make(struct arena *a, const struct message *list, size_t n, size_t max_tokens);
