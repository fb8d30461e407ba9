/* graph_postgres.c: to be written. */
#include "store/engine.h"

enum status postgres_graph_entities(struct store *st UNUSED, const struct scope *scope UNUSED, struct str name UNUSED,
                                    struct arena *a UNUSED, struct graph_rows *ret_rows UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_graph_matches(struct store *st UNUSED, const struct scope *scope UNUSED, struct str text UNUSED,
                                   struct arena *a UNUSED, struct graph_rows *ret_rows UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_graph_relations(struct store *st UNUSED, const struct scope *scope UNUSED, struct str name UNUSED,
                                     struct arena *a UNUSED, struct graph_edges *ret_edges UNUSED, struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}

enum status postgres_graph_all(struct store *st UNUSED, const struct scope *scope UNUSED, struct arena *a UNUSED,
                               struct graph_rows *ret_rows UNUSED, struct graph_edges *ret_edges UNUSED,
                               struct error *err) {
  return error_set(err, STATUS_INTERNAL, "not built yet");
}
