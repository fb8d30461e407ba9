/* vectors_postgres.c: to be written. */
#include "store/engine.h"

enum status postgres_vec_search(struct store *st UNUSED, const struct vec_model *model UNUSED,
                                const int8_t *query UNUSED, double min_cosine UNUSED, size_t k UNUSED,
                                struct vec_filter *filter UNUSED, struct arena *a UNUSED,
                                struct vec_hits *ret_hits UNUSED, struct vec_health *ret_health UNUSED,
                                struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_fetch(struct store *st UNUSED, const struct vec_model *model UNUSED,
                               const int64_t *chunk_ids UNUSED, size_t n UNUSED, int8_t *ret_vectors UNUSED,
                               bool *ret_found UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_warm(struct store *st UNUSED, const struct vec_model *model UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_count(struct store *st UNUSED, const struct vec_model *model UNUSED, int64_t *ret_done UNUSED,
                               int64_t *ret_total UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_has(struct store *st UNUSED, struct str team UNUSED, struct str model UNUSED,
                             int64_t chunk_id UNUSED, bool *ret_has UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_check(struct store *st UNUSED, int64_t *ret_faults UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_repair(struct store *st UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_add(struct txn *txn UNUSED, const struct vec_model *model UNUSED, int64_t chunk_id UNUSED,
                             const int8_t *vector UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_add_missing(struct txn *txn UNUSED, const struct vec_model *model UNUSED,
                                     int64_t chunk_id UNUSED, const int8_t *vector UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_remove(struct txn *txn UNUSED, int64_t memory_id UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_drop(struct txn *txn UNUSED, struct str team UNUSED, struct str model UNUSED,
                              bool *ret_more UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_vec_drop_unowned(struct txn *txn UNUSED, int64_t *ret_dropped UNUSED, bool *ret_more UNUSED,
                                      struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}
