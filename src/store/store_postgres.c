/* store_postgres.c: to be written. */
#include "store/engine.h"

enum status postgres_migrate(struct store *st UNUSED, int64_t now UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_store_copy_to(struct store *st UNUSED, const char *path UNUSED, db_progress progress UNUSED,
                                   void *arg UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_store_restore(struct store *st UNUSED, const char *path UNUSED, int64_t now UNUSED,
                                   struct arena *a UNUSED, struct str *ret_safety UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_store_generation(struct store *st UNUSED, struct str team UNUSED,
                                      struct generation *ret_generation UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}
