/* differ_value.h: comparison of two values: numbers, dates, versions, names. Each is a token of a tokenized text. */
#pragma once

#include "core/gate/differ.h"
#include "core/gate/differ_token.h"

/* True if one is the other with less detail: "March 3" and "2026-03-03", "1.2" and "v1.2.4", "5" and "$5". */
bool values_compatible(const struct tokens *ta, const struct token *a, const struct tokens *tb, const struct token *b);
/* The difference if b replaces a. */
enum differ value_conflict(const struct tokens *ta, const struct token *a, const struct tokens *tb,
                           const struct token *b);
/* True if the letters are the initials of the content words: "UN" for "United Nations". */
bool is_initialism(const struct tokens *ts, size_t from, size_t to, struct str letters);
/* True if one is a path and the other its last components. */
bool is_same_path(struct str a, struct str b);

/* The difference between two sentences that are equal except for one value after the same word: "we use yarn", "the
 * review is on Tuesday". */
struct difference differ_replacement(struct arena *arena, struct str a, struct str b);
