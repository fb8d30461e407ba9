/* terms.h: derived tokens for the full-text index (scripts without spaces, identifiers, scopes), and stop words. */
#pragma once

#include "base/buf.h"

enum terms_use {
  TERMS_FOR_INDEX, /* for a text that is indexed */
  TERMS_FOR_QUERY, /* for a query: as few as possible */
};

/* Tokens that a tokenizer for scripts with spaces does not produce, separated by blanks; empty for most texts:
 * - for scripts written without spaces, each character and each pair of adjacent characters. A query uses pairs, and a
 *   single character only if it has no neighbor, so any number of characters is found. (Triples take no more space, but
 *   cannot find words of one or two characters, and most Chinese words have two.)
 * - for "parse_ttl", "foo.bar/baz.c", "e-mail", "v1.2.3", the form without separators, of the whole and of each path
 *   component, so every spelling of a name finds the others;
 * - for "parseTtl", "HTTPServer", "ERR404", the parts. */
struct str terms_derive(struct arena *a, struct str text, enum terms_use use);

/* Token for a project, which is not a word of any language: lets the index filter by project. Two projects may share a
 * token. */
enum { TERMS_SCOPE_SIZE = 20 };
struct str terms_scope(struct str project, char out[TERMS_SCOPE_SIZE]);

/* Tokens for the documents of a corpus (store/memories/documents.h): of one project, and of all projects. Memories
 * never have them. */
struct str terms_scope_of(struct str corpus, struct str project, char out[TERMS_SCOPE_SIZE]);
struct str terms_corpus(struct str corpus, char out[TERMS_SCOPE_SIZE]);

/* Tokens indexed with a chunk: the token of its project, and the tokens derived from headline, body and extra. */
struct str terms_of_chunk(struct arena *a, struct str project, struct str headline, struct str body, struct str extra);
/* Also adds the tokens of the corpus, unless it is "memory" or empty. */
struct str terms_of_text(struct arena *a, struct str corpus, struct str project, struct str headline, struct str body,
                         struct str extra);

/* True for an English stop word, in lower case. */
bool terms_is_stop_word(struct str word);

/* True for a word that looks like an identifier: it has a digit, an underscore, camel case, or a separator inside. */
bool terms_is_identifier(struct str word);
/* Reads the next run of letters, digits and inner separators (_ . / \ - :) at or after *pos. */
bool terms_next_name(struct str s, size_t *pos, struct str *ret_name);
