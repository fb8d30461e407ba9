/* tokeniser.h: tokeniser for full text, the same in every engine: FTS5's "porter unicode61 remove_diacritics 2". An
 * SQLite store uses that of its connection; others open a standalone one. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct fts_token {
  struct str text;   /* as indexed: folded, stemmed */
  size_t start, end; /* position in the text */
};
struct fts_tokens {
  struct fts_token *v;
  size_t n, cap;
};

struct tokeniser;

/* Opens a standalone tokeniser with an in-memory SQLite. */
NODISCARD enum status tokeniser_open(struct tokeniser **ret_tokeniser, struct error *err);
void tokeniser_close(struct tokeniser **tokeniser);
/* Appends to ret_tokens; not thread-safe. */
NODISCARD enum status tokenise(struct tokeniser *tokeniser, struct str text, struct arena *a,
                               struct fts_tokens *ret_tokens, struct error *err);
