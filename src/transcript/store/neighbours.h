/* neighbours.h: adjacent entries: memories of a sequence type written in one session. */
#pragma once

#include "store/memories/memories.h"

/* The end of a text, as context for embedding the next entry. */
struct str transcript_tail(struct arena *a, struct str text);

/* The end of the entry before m, as context for its embedding: an answer often makes sense only with its question.
 * Absent if there is none. Uses team, corpus, project, session and id (0 for a new one) of m; entries of different
 * corpora are never neighbours. */
NODISCARD enum status transcript_before(struct store *st, const struct memory *m, struct arena *a, struct str *ret_tail,
                                        struct error *err);
/* The same for the first chunk of an entry; absent for any other chunk. */
NODISCARD enum status transcript_context(struct store *st, struct str team, int64_t chunk_id, struct arena *a,
                                         struct str *ret_tail, struct error *err);

/* Deletes vectors of later entries that may have been embedded with the text of this memory. Maintenance embeds them
 * again. */
NODISCARD enum status transcript_delete_vectors_after(struct txn *txn, const struct memory *m, struct arena *a,
                                                      struct error *err);

struct neighbour {
  int64_t memory_id, chunk_id; /* chunk_id: first chunk; both 0 if there is none */
};
struct neighbours {
  struct neighbour before, after;
};
/* The entries directly before and after a memory that are visible and match the filter. */
NODISCARD enum status transcript_around(struct store *st, const struct scope *scope, const struct filter *f,
                                        const struct memory *m, struct arena *a, struct neighbours *ret,
                                        struct error *err);
