/* corpus.h: which corpora a call looks into, and what a reply says of a document: where it stands, and that it is data.
 */
#pragma once

#include "op/run/common.h"
#include "store/memories/documents.h"

/* The choices of the argument `in`: the corpora, and "all". */
extern const char *const corpus_choices[];

/* Bits for struct scope; memories alone when the argument is missing. */
unsigned call_corpora(struct op_call *call);
static inline bool asks_for_memories(unsigned corpora) { return corpora & (1U << CORPUS_MEMORY); }
/* What is behind an id, whatever it is. */
enum { CORPORA_ALL = (1 << CORPUS_COUNT) - 1 };

/* corpus, file, line, confidence and origin; nothing for a memory. */
void put_place(struct op_call *call, yyjson_mut_val *obj, const struct document_place *place);
/* The same for one that was loaded. */
NODISCARD enum status put_place_of(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);

/* Embeds what waits, for two seconds at most; maintenance does the rest. The result says `embedded`, and `waiting` when
 * some are left. An embedder that is down is told (`degraded`), and fails nothing. */
NODISCARD enum status corpus_embed(struct op_call *call);
