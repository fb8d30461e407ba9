/* neighbours.h: entries that follow each other: memories of a sequence type that were written in one session. */
#pragma once

#include "store/memories/memories.h"

/* The end of a text, for the embedding of what follows it. */
struct str transcript_tail(struct arena *a, struct str text);

/* The end of the entry before the one with this id (0: before the next one to be written), for an embedder: what an
 * entry is about is often said by the one that it answers. Absent when there is none. */
NODISCARD enum status transcript_before(struct store *st, struct str team, struct str project, struct str session,
                                        int64_t id, struct arena *a, struct str *ret_tail, struct error *err);
/* The same for the first chunk of a memory that is an entry; absent for any other. */
NODISCARD enum status transcript_context(struct store *st, struct str team, int64_t chunk_id, struct arena *a,
                                         struct str *ret_tail, struct error *err);

/* Wipes the vectors that may have been made with the text of this memory before them: of the entries behind it, until
 * one that was there all the time. Maintenance makes them anew. */
NODISCARD enum status transcript_wipe_after(struct txn *txn, const struct memory *m, struct arena *a,
                                            struct error *err);

struct neighbour {
  int64_t memory_id, chunk_id; /* its first chunk; 0: there is none */
};
/* The entries directly before and after a memory, as far as the caller may see them and asks for them. */
NODISCARD enum status transcript_around(struct store *st, const struct scope *scope, const struct filter *f,
                                        const struct memory *m, struct arena *a, struct neighbour *ret_before,
                                        struct neighbour *ret_after, struct error *err);
