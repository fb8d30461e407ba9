/* text.h: words, sentences and normal forms of plain text in any script.
 *
 * Everything here is linear in its input and takes any bytes; what is not valid UTF-8 is read as U+FFFD. */
#pragma once

#include "base/arena.h"

/* The next word at or after *pos, and *pos moved behind it; false at the end. A word is a run of letters, marks and
 * digits with single ' - . (and any _) inside it: "don't", "v1.2", "foo_bar". In scripts that are written without
 * spaces each character is a word. */
bool text_next_word(struct str s, size_t *pos, struct str *ret_word);

/* How many words the write gate sees: parts between white space, each character of an unspaced script being a word of
 * its own. Equal to a split on white space wherever there is no such script. */
size_t text_count_words(struct str s);
/* The longest prefix of at most max_words words by the same count, and at most max_bytes bytes. It ends between words
 * unless its first word alone is over max_bytes. No white space at its end. */
struct str text_cut(struct str s, size_t max_words, size_t max_bytes);

/* The next sentence at or after *pos, without white space at its ends, and *pos moved behind it; false at the end.
 * Sentences cover all text that is not white space. A line break ends a sentence unless the line was merely wrapped.
 * Known abbreviations, numbers, versions, file names and an ellipsis do not end one. */
bool text_next_sentence(struct str s, size_t *pos, struct str *ret_sentence);

bool text_has_letter(struct str s);
/* The offset of the first letter; s.n when there is none. */
size_t text_first_letter(struct str s);

/* White space folded to single blanks, and none at the ends. The result is valid UTF-8. */
struct str text_collapse(struct arena *a, struct str s);
/* The form in which two texts are the same text: folded case, no punctuation at the edges of words, single blanks.
 * Symbols that carry meaning stay: "C++" is not "C#", "-5" is not "5", ".env" is not "env". */
struct str text_normal(struct arena *a, struct str s);
