/* terms.h: what a full-text index must hold besides words, so that every script and every spelling is found; the words
 * that find nothing. */
#pragma once

#include "base/buf.h"

enum terms_use {
  TERMS_STORED, /* of a text that is indexed */
  TERMS_ASKED,  /* of a query: the fewest that find it */
};

/* Tokens that a tokeniser for spaced scripts does not see, separated by blanks; empty for most texts:
 * - of scripts written without spaces, each character and each pair of neighbours. A query asks for pairs, for a
 *   character only where it stands alone: so one, two and any number of characters are found. (Triples, which need no
 *   more room, cannot find words of one or two characters, and most Chinese words have two.)
 * - of "parse_ttl", "foo.bar/baz.c", "e-mail", "v1.2.3" the joined form, of the whole and of each part of a path, so
 *   that every way to write a name finds every other;
 * - of "parseTtl", "HTTPServer", "ERR404" the parts. */
struct str terms_derive(struct arena *a, struct str text, enum terms_use use);

/* A token that stands for a project and is no word of any language: texts of a few projects are told from the others
 * inside the index. Two projects may share one. */
enum { TERMS_SCOPE_SIZE = 20 };
struct str terms_scope(struct str project, char out[TERMS_SCOPE_SIZE]);

/* The same for the documents of a corpus (store/memories/documents.h): of a project, and of all projects. No memory has
 * one of them. */
struct str terms_scope_of(struct str corpus, struct str project, char out[TERMS_SCOPE_SIZE]);
struct str terms_corpus(struct str corpus, char out[TERMS_SCOPE_SIZE]);

/* What is indexed beside the text of a chunk: the token of its project, and what is derived from the three, which are
 * read as one text. */
struct str terms_of_chunk(struct arena *a, struct str project, struct str headline, struct str body, struct str extra);
/* With the tokens of its corpus; of a memory ("memory" or empty) it is what the above says. */
struct str terms_of_text(struct arena *a, struct str corpus, struct str project, struct str headline, struct str body,
                         struct str extra);

/* English words that are in every second text: they never say which one is meant. Folded to lower case. */
bool terms_is_stop(struct str word);

/* A word that looks like a name in a program: a digit, an underscore, a hump, or a joiner inside it. */
bool terms_is_identifier(struct str word);
/* The next run of letters, digits and joiners (_ . / \ - :) at or after *pos, without joiners at its ends. */
bool terms_next_name(struct str s, size_t *pos, struct str *ret_name);
