/* engine.h: functions that SQLite and PostgreSQL implement differently. The headers of this folder document them;
 * engine.c dispatches each call to sqlite_NAME() or postgres_NAME().
 *
 * Everything else is written once, in SQL that both engines understand. A new engine function is one line here and two
 * definitions. */
#pragma once

#include "store/check.h"
#include "store/copy/copy.h"
#include "store/generation.h"
#include "store/memories/graph.h"
#include "store/search/entities.h"
#include "store/search/lexical.h"
#include "store/store_internal.h"
#include "store/tables/teams.h"
#include "store/vectors/indexes.h"

/* name, parameters, arguments; all return a status, and the first parameter is `st` or `txn` */
#define ENGINE_OF_STORE(X)                                                                                             \
  X(migrate, (struct store * st, int64_t now, struct error *err), (st, now, err))                                      \
  X(store_copy_to, (struct store * st, const char *path, db_progress progress, void *arg, struct error *err),          \
    (st, path, progress, arg, err))                                                                                    \
  X(store_restore,                                                                                                     \
    (struct store * st, const char *path, int64_t now, struct arena *a, struct restored *ret_restored,                 \
     struct error *err),                                                                                               \
    (st, path, now, a, ret_restored, err))                                                                             \
  X(store_generation, (struct store * st, struct str team, struct generation * ret_generation, struct error * err),    \
    (st, team, ret_generation, err))                                                                                   \
  X(lexical_search,                                                                                                    \
    (struct store * st, const struct chunk_query *q, struct arena *a, struct lexical_hits *ret_hits,                   \
     struct error *err),                                                                                               \
    (st, q, a, ret_hits, err))                                                                                         \
  X(lexical_search_all,                                                                                                \
    (struct store * st, const struct chunk_query *q, struct arena *a, struct lexical_hits *ret_hits,                   \
     struct error *err),                                                                                               \
    (st, q, a, ret_hits, err))                                                                                         \
  X(lexical_check, (struct store * st, bool *ret_ok, struct error *err), (st, ret_ok, err))                            \
  X(lexical_rebuild, (struct store * st, struct error * err), (st, err))                                               \
  X(lexical_optimize, (struct store * st, struct error * err), (st, err))                                              \
  X(entity_search,                                                                                                     \
    (struct store * st, const struct chunk_query *q, struct arena *a, struct lexical_hits *ret_hits,                   \
     struct error *err),                                                                                               \
    (st, q, a, ret_hits, err))                                                                                         \
  X(vec_search,                                                                                                        \
    (struct store * st, const struct vec_query *q, struct arena *a, struct vec_hits *ret_hits,                         \
     struct vec_health *ret_health, struct error *err),                                                                \
    (st, q, a, ret_hits, ret_health, err))                                                                             \
  X(vec_fetch,                                                                                                         \
    (struct store * st, const struct vec_model *model, const int64_t *chunk_ids, size_t n, int8_t *ret_vectors,        \
     bool *ret_found, struct error *err),                                                                              \
    (st, model, chunk_ids, n, ret_vectors, ret_found, err))                                                            \
  X(vec_warm, (struct store * st, const struct vec_model *model, struct error *err), (st, model, err))                 \
  X(vec_count,                                                                                                         \
    (struct store * st, const struct vec_model *model, int64_t *ret_done, int64_t *ret_total, struct error *err),      \
    (st, model, ret_done, ret_total, err))                                                                             \
  X(vec_has,                                                                                                           \
    (struct store * st, struct str team, struct str model, int64_t chunk_id, bool *ret_has, struct error *err),        \
    (st, team, model, chunk_id, ret_has, err))                                                                         \
  X(vec_walk,                                                                                                          \
    (struct store * st, struct vec_row * after, size_t limit, struct arena *a, struct vec_rows *ret_rows,              \
     struct error *err),                                                                                               \
    (st, after, limit, a, ret_rows, err))                                                                              \
  X(copy_clear, (struct store * st, struct arena * a, struct error * err), (st, a, err))                               \
  X(copy_number, (struct store * st, const struct store_table *t, int64_t *ret_last, struct error *err),               \
    (st, t, ret_last, err))                                                                                            \
  X(copy_set_number, (struct store * st, const struct store_table *t, int64_t last, struct error *err),                \
    (st, t, last, err))                                                                                                \
  X(copy_prepare, (struct store * st, struct error * err), (st, err))                                                  \
  X(copy_settle, (struct store * st, struct error * err), (st, err))                                                   \
  X(vec_check, (struct store * st, int64_t *ret_faults, struct error *err), (st, ret_faults, err))                     \
  X(vec_repair, (struct store * st, struct error * err), (st, err))                                                    \
  X(graph_entities,                                                                                                    \
    (struct store * st, const struct scope *scope, struct str name, struct arena *a, struct graph_rows *ret_rows,      \
     struct error *err),                                                                                               \
    (st, scope, name, a, ret_rows, err))                                                                               \
  X(graph_matches,                                                                                                     \
    (struct store * st, const struct scope *scope, struct str text, struct arena *a, struct graph_rows *ret_rows,      \
     struct error *err),                                                                                               \
    (st, scope, text, a, ret_rows, err))                                                                               \
  X(graph_relations,                                                                                                   \
    (struct store * st, const struct scope *scope, struct str name, struct arena *a, struct graph_edges *ret_edges,    \
     struct error *err),                                                                                               \
    (st, scope, name, a, ret_edges, err))                                                                              \
  X(graph_all,                                                                                                         \
    (struct store * st, const struct scope *scope, struct arena *a, struct graph_rows *ret_rows,                       \
     struct graph_edges *ret_edges, struct error *err),                                                                \
    (st, scope, a, ret_rows, ret_edges, err))

#define ENGINE_OF_TXN(X)                                                                                               \
  X(lexical_add,                                                                                                       \
    (struct txn * txn, struct arena * a, const struct chunk_text *text, int64_t *ret_id, struct error *err),           \
    (txn, a, text, ret_id, err))                                                                                       \
  X(lexical_update, (struct txn * txn, struct arena * a, const struct chunk_text *text, struct error *err),            \
    (txn, a, text, err))                                                                                               \
  X(lexical_fill, (struct txn * txn, struct arena * a, const struct chunk_text *texts, size_t n, struct error *err),   \
    (txn, a, texts, n, err))                                                                                           \
  X(vec_add_all, (struct txn * txn, struct arena * a, const struct vec_row *rows, size_t n, struct error *err),        \
    (txn, a, rows, n, err))                                                                                            \
  X(lexical_hold, (struct txn * txn, struct error * err), (txn, err))                                                  \
  X(lexical_release, (struct txn * txn, struct error * err), (txn, err))                                               \
  X(vec_add,                                                                                                           \
    (struct txn * txn, const struct vec_model *model, int64_t chunk_id, const int8_t *vector, struct error *err),      \
    (txn, model, chunk_id, vector, err))                                                                               \
  X(vec_add_missing,                                                                                                   \
    (struct txn * txn, const struct vec_model *model, int64_t chunk_id, const int8_t *vector, struct error *err),      \
    (txn, model, chunk_id, vector, err))                                                                               \
  X(vec_prepare, (struct txn * txn, int dims, struct error *err), (txn, dims, err))                                    \
  X(vec_remove, (struct txn * txn, int64_t memory_id, struct error *err), (txn, memory_id, err))                       \
  X(vec_drop_unowned, (struct txn * txn, int64_t *ret_dropped, bool *ret_more, struct error *err),                     \
    (txn, ret_dropped, ret_more, err))                                                                                 \
  X(team_delete_log, (struct txn * txn, struct arena * a, struct error * err), (txn, a, err))

#define X(name, params, args)                                                                                          \
  enum status sqlite_##name params;                                                                                    \
  enum status postgres_##name params;
ENGINE_OF_STORE(X)
ENGINE_OF_TXN(X)
#undef X

/* Checks of doctor; the list ends with name == NULL. */
extern const struct named_check sqlite_checks[], postgres_checks[];
