/* text.h: words, sentences and normalization of plain text in any script.
 *
 * All functions take linear time and accept any bytes; invalid UTF-8 is read as U+FFFD. */
#pragma once

#include "base/arena.h"

/* Reads the next word at or after *pos and moves *pos after it; false at the end. A word is a run of letters, combining
 * marks and digits with single ' - . (and any _) inside it: "don't", "v1.2", "foo_bar". In scripts written without
 * spaces, each character is a word. */
bool text_next_word(struct str s, size_t *pos, struct str *ret_word);

/* Word count of the write gate: parts between white space; each character of a script without spaces counts as a word.
 */
size_t text_count_words(struct str s);
/* Longest prefix of at most max_words words, counted as above, and max_bytes bytes, without trailing white space. It
 * ends between words unless the first word exceeds max_bytes. */
struct str text_cut(struct str s, size_t max_words, size_t max_bytes);

/* Reads the next sentence at or after *pos, trimmed, and moves *pos after it; false at the end. Sentences cover all
 * text except white space. A line break ends a sentence unless the line was wrapped. Known abbreviations, numbers,
 * versions, file names and an ellipsis do not end a sentence. */
bool text_next_sentence(struct str s, size_t *pos, struct str *ret_sentence);

/* True for an ASCII control character. */
bool text_has_control(struct str s);
/* True if the word is in the list, ignoring ASCII case. */
bool text_is_one_of(struct str word, const char *const *list, size_t n);

bool text_has_letter(struct str s);
/* Offset of the first letter; s.n if there is none. */
size_t text_first_letter(struct str s);

/* Trims, and folds white space to single blanks. The result is valid UTF-8. */
struct str text_collapse(struct arena *a, struct str s);
/* Normal form for comparing texts: folded case, no punctuation around words, single blanks. Significant symbols stay:
 * "C++" is not "C#", "-5" is not "5", ".env" is not "env". */
struct str text_normal(struct arena *a, struct str s);
