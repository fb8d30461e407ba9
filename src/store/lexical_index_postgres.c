/* lexical_index_postgres.c: to be written. */
#include "store/engine.h"

enum status postgres_lexical_check(struct store *st UNUSED, bool *ret_ok UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_rebuild(struct store *st UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_optimize(struct store *st UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_add(struct txn *txn UNUSED, struct arena *a UNUSED, const struct chunk_text *text UNUSED,
                                 int64_t *ret_id UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_change(struct txn *txn UNUSED, struct arena *a UNUSED,
                                    const struct chunk_text *text UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_hold(struct txn *txn UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_release(struct txn *txn UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}
