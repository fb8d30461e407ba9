/* fixture.h: a store in the test's folder, and memories in it without the gate. */
#pragma once

#include "store/memories/memories.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

/* Number of chunks with the word, by the full-text index. */
#define HAS_WORD(word)                                                                                                 \
  (on_postgres() ? "SELECT count(*) FROM chunk_text WHERE tokens @@ '" word "'::tsquery"                               \
                 : "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH '" word "'")

struct fixture {
  struct store *store;
  struct arena arena;
  struct error err;
  struct scope scope;
  int64_t now;
};

struct store *fixture_open(const char *name);
struct fixture fixture_new(void);
void fixture_close(struct fixture *f);
/* Opens a transaction as "test". */
struct txn fixture_begin(struct fixture *f);
void fixture_commit(struct fixture *f, struct txn *txn);
/* A fact with this text; ret_chunk (may be NULL) is its first chunk. */
struct memory fixture_fact(struct fixture *f, struct txn *txn, struct str project, struct str text, int64_t *ret_chunk);
