/* lexical_postgres.c: to be written. */
#include "store/engine.h"

enum status postgres_lexical_search(struct store *st UNUSED, const struct scope *scope UNUSED,
                                    const struct filter *f UNUSED, struct str query UNUSED, int64_t limit UNUSED,
                                    struct arena *a UNUSED, struct lexical_hits *ret_hits UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_lexical_search_all(struct store *st UNUSED, const struct scope *scope UNUSED,
                                        const struct filter *f UNUSED, struct str query UNUSED, int64_t limit UNUSED,
                                        struct arena *a UNUSED, struct lexical_hits *ret_hits UNUSED,
                                        struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}
