/* tokeniser.h: the words of a text as full text knows them, the same in every engine: FTS5's "porter unicode61
 * remove_diacritics 2". An SQLite store has it with its connection; any other has one of its own. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct fts_token {
  struct str text;   /* as it is indexed: folded, stemmed */
  size_t start, end; /* where it stands in the text */
};
struct fts_tokens {
  struct fts_token *v;
  size_t n, cap;
};

struct tokeniser;

/* With an SQLite of its own, which has no file. */
NODISCARD enum status tokeniser_open(struct tokeniser **ret_tokeniser, struct error *err);
void tokeniser_close(struct tokeniser **tokeniser);
/* Adds to ret_tokens; used by one thread at a time. */
NODISCARD enum status tokenise(struct tokeniser *tokeniser, struct str text, struct arena *a,
                               struct fts_tokens *ret_tokens, struct error *err);
