/* corpus.h: the argument `in`, and documents in replies: corpus, file and line. */
#pragma once

#include "op/run/common.h"
#include "store/memories/documents.h"

/* The choices of the argument `in`: the corpora, and "all". */
extern const char *const corpus_choices[];

/* Bits for struct scope; only memories if the argument is missing. */
unsigned call_corpora(struct op_call *call);
static inline bool asks_for_memories(unsigned corpora) { return corpora & (1U << CORPUS_MEMORY); }
enum { CORPORA_ALL = (1 << CORPUS_COUNT) - 1 };

/* corpus, file, line, confidence and origin; nothing for a memory. */
void put_place(struct op_call *call, yyjson_mut_val *obj, const struct document_place *place);
/* Looks up the place of `m` and calls put_place(). */
NODISCARD enum status load_and_put_place(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);

/* Embeds pending chunks for at most two seconds; maintenance does the rest. Writes `embedded`, and `waiting` if some
 * are still pending. A failing embedder is not an error: the result says `degraded`. */
NODISCARD enum status corpus_embed(struct op_call *call);
