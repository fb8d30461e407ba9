/* summary.h: extractive summaries of conversations, built from labelled sentences.
 *
 * A sentence gets a label by how it starts ("Decision:", "TODO:", "agreed:") or by a phrase ("we decided", "remember
 * that"). Tool results are ignored: the text of a page or file is not a decision. */
#pragma once

#include "transcript/file/message.h"

enum label { LABEL_NONE, LABEL_DECISION, LABEL_AGREEMENT, LABEL_OPEN, LABEL_NOTE, LABEL_COUNT };
/* The label of a sentence; if several apply, the first of the table of cues. */
enum label sentence_label(struct str sentence);

struct labelled {
  enum label label;
  struct str text;    /* one sentence, on one line */
  struct str message; /* id of its message */
};
struct labelled_list {
  struct labelled *v;
  size_t n, cap;
};
/* Labelled sentences of the messages, in order, without duplicates. Includes those that extractive summaries list. */
void summary_labelled(struct arena *a, const struct message *list, size_t n, struct labelled_list *ret);

/* A summary of at most max_tokens: decisions, agreements and open points first, then earlier summaries by agents,
 * notes, tools used and the user's requests. Counts what did not fit. */
struct str summary_make(struct arena *a, const struct message *list, size_t n, size_t max_tokens);
