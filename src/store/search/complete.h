/* complete.h: words of visible texts that begin with a prefix. */
#pragma once

#include "store/search/lexical.h"

enum { COMPLETIONS = 8 };

/* The last word of a text and what is before it; false if the word is too short to be completed. */
bool complete_split(struct str text, struct str *ret_before, struct str *ret_word);
/* Up to COMPLETIONS words, folded, that begin with `word` in texts that the query may find, the most frequent first. */
NODISCARD enum status complete_word(struct store *st, const struct chunk_query *q, struct str word, struct arena *a,
                                    struct strs *ret_words, struct error *err);
