/* engine.c: dispatches calls to the engine of the store. */
#include "store/engine.h"

#include <assert.h>

static bool is_sqlite(const struct store *st) { return db_engine(st->db) == DB_SQLITE; }

#define X(name, params, args)                                                                                          \
  enum status name params { return is_sqlite(st) ? sqlite_##name args : postgres_##name args; }
ENGINE_OF_STORE(X)
#undef X

#define X(name, params, args)                                                                                          \
  enum status name params {                                                                                            \
    assert(db_in_transaction(txn->store->db));                                                                         \
    return is_sqlite(txn->store) ? sqlite_##name args : postgres_##name args;                                          \
  }
ENGINE_OF_TXN(X)
#undef X

const struct named_check *store_checks(const struct store *st) {
  return is_sqlite(st) ? sqlite_checks : postgres_checks;
}
