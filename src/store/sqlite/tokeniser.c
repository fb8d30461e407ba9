/* tokeniser.c: FTS5's tokeniser, of a connection or standalone. */
#include "store/sqlite/tokeniser.h"

#include "base/alloc.h"
#include "store/sqlite/internal.h"

struct tokeniser {
  sqlite3 *own; /* NULL: belongs to a connection */
  fts5_tokenizer methods;
  Fts5Tokenizer *state;
};

fts5_api *sqlite_fts_api(sqlite3 *handle) {
  fts5_api *api = NULL;
  sqlite3_stmt *st = NULL;
  if (sqlite3_prepare_v2(handle, "SELECT fts5(?1)", -1, &st, NULL) != SQLITE_OK)
    return NULL;
  sqlite3_bind_pointer(st, 1, &api, "fts5_api_ptr", NULL);
  sqlite3_step(st);
  sqlite3_finalize(st);
  return api;
}

int sqlite_tokeniser(sqlite3 *handle, struct tokeniser **ret) {
  static const char *options[] = {"unicode61", "remove_diacritics", "2"};
  struct tokeniser *t = mem_zalloc(sizeof(*t));
  if (!t)
    return SQLITE_NOMEM;
  fts5_api *api = sqlite_fts_api(handle);
  void *data = NULL;
  int rc = api ? api->xFindTokenizer(api, "porter", &data, &t->methods) : SQLITE_ERROR;
  if (rc == SQLITE_OK)
    rc = t->methods.xCreate(data, options, ARRAY_LEN(options), &t->state);
  if (rc != SQLITE_OK)
    tokeniser_close(&t);
  else
    *ret = t;
  return rc;
}

enum status tokeniser_open(struct tokeniser **ret_tokeniser, struct error *err) {
  sqlite3 *handle = NULL;
  struct tokeniser *t = NULL;
  int rc = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite_tokeniser(handle, &t);
  if (rc != SQLITE_OK) {
    sqlite3_close(handle);
    return rc == SQLITE_NOMEM ? error_set(err, STATUS_NOMEM, "out of memory")
                              : error_set(err, STATUS_INTERNAL, "SQLite's tokeniser is missing (error %d)", rc);
  }
  t->own = handle;
  *ret_tokeniser = t;
  return STATUS_OK;
}

void tokeniser_close(struct tokeniser **tokeniser) {
  struct tokeniser *t = *tokeniser;
  if (!t)
    return;
  if (t->state)
    t->methods.xDelete(t->state);
  sqlite3_close(t->own);
  mem_free(t);
  *tokeniser = NULL;
}

struct token_list {
  struct arena *a;
  struct fts_tokens *tokens;
};

static int on_token(void *arg, int flags UNUSED, const char *token, int n, int start, int end) {
  struct token_list *list = arg;
  list_push(list->a, list->tokens,
            (struct fts_token){arena_dup(list->a, (struct str){token, (size_t)n}), (size_t)start, (size_t)end});
  return SQLITE_OK;
}

enum status tokenise(struct tokeniser *t, struct str text, struct arena *a, struct fts_tokens *ret_tokens,
                     struct error *err) {
  enum { TEXT_MAX = 1 << 30 };
  struct token_list list = {a, ret_tokens};
  int n = text.n < TEXT_MAX ? (int)text.n : TEXT_MAX;
  int rc = t->methods.xTokenize(t->state, &list, FTS5_TOKENIZE_DOCUMENT, n ? text.p : "", n, on_token);
  if (rc == SQLITE_OK)
    return STATUS_OK;
  return rc == SQLITE_NOMEM ? error_set(err, STATUS_NOMEM, "out of memory")
                            : error_set(err, STATUS_INTERNAL, "the text cannot be tokenised (error %d)", rc);
}
