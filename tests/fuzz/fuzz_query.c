/* fuzz_query.c: whatever the query, its full-text expression is one that FTS5 accepts. */
#include <sqlite3.h>

#include "store/lexical.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static sqlite3 *db;
  static sqlite3_stmt *st;
  if (!db) {
    FUZZ_CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
    FUZZ_CHECK(sqlite3_exec(db,
                            "CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61 remove_diacritics 2');"
                            "INSERT INTO t VALUES ('some words to search in')",
                            NULL, NULL, NULL) == SQLITE_OK);
    FUZZ_CHECK(sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ?1", -1, &st, NULL) == SQLITE_OK);
  }
  struct arena a;
  arena_init(&a);
  struct str expression = lexical_expression(&a, (struct str){(const char *)data, size});
  if (!str_empty(expression)) {
    sqlite3_bind_text64(st, 1, expression.p, expression.n, SQLITE_STATIC, SQLITE_UTF8);
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW)
      continue;
    FUZZ_CHECK(rc == SQLITE_DONE);
    sqlite3_reset(st);
  }
  arena_release(&a);
  return 0;
}
