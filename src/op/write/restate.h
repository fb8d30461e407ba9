/* restate.h: a write whose text is already stored: fields that the caller gave are changed, all others are kept. */
#pragma once

#include "op/write/replace.h"

/* Records which fields the caller gave. */
void restate_note_given(struct write *w, yyjson_val *args);
/* Before the gate: if the text is stored already, fields that the caller left out default to the stored ones. */
NODISCARD enum status restate_defaults(struct op_call *call, struct write *w);
/* For a text that supersedes a less detailed one: keeps all fields of the old memory that the caller left out, and its
 * ratings and count of reads, but not what describes the shorter text, such as its headline. */
NODISCARD enum status restate_keep(struct op_call *call, struct write *w, const struct memory *old);
/* Keeps the existing memory m instead of the draft. `same_text`: restate_apply() may change its fields. */
void restate_skip(struct op_call *call, struct write *w, const struct memory *m, bool same_text);
/* True if the caller gave another key to the text of m, and may change m. */
bool restate_renames(const struct write *w, const struct memory *m);
/* For a skipped write, if given fields differ from the stored ones: changes them in the memory (WRITE_UPDATED), or
 * makes the write a new version of it, because some fields never change after a memory was written. */
NODISCARD enum status restate_apply(struct op_call *call, struct txn *txn, struct write *w, struct replacement *rep);
/* A restatement keeps the notes on the memory that it supersedes: it says the same. */
NODISCARD enum status restate_keep_notes(struct op_call *call, struct txn *txn, const struct write *w,
                                         const struct memory *old);
