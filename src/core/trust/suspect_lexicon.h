/* suspect_lexicon.h: classes of words, for the prompt injection detector. */
#pragma once

#include "base/str.h"
#include "core/trust/suspect_words.h"

enum { SPELLED_LEAST = 4 }; /* single letters in a row that are read as one word */

/* Call before the other functions. Thread-safe. */
void lexicon_prepare(void);
/* Meaning of a word: all 0 if it is unknown. */
struct lexeme {
  suspect_classes classes;
  uint64_t topics;
};
/* Meaning of a word in folded text. */
struct lexeme lexicon_find(struct str word);
/* Topics that follow from classes. */
uint64_t lexicon_topics(suspect_classes classes);
/* Length of the longest word of the lexicon at the start of s, of more than SPELLED_LEAST bytes; 0 if there is none. */
size_t lexicon_long_word(struct str s);

/* Classes that the word pos..end, of the classes `own`, gets from the characters around it: an address, a file with
 * secrets, a command whose output is run. */
suspect_classes suspect_signs(struct str s, size_t pos, size_t end, suspect_classes own);
