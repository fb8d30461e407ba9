/* copy.c: SQLite parts of copying a whole store: deletion, sequences, vectors in sequence. */
#include "store/copy/copy.h"
#include "store/engine.h"
#include "store/vectors/internal.h"

/* ---- deletion ---- */

/* The log tables reject deletes, and counters need not be maintained row by row, so the triggers are dropped meanwhile.
 */
static enum status read_triggers(struct db *db, struct arena *a, struct strs *ret_names, struct strs *ret_sql,
                                 struct error *err) {
  struct rows r;
  db_query(db, &r, err, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name", NULL);
  while (rows_next(&r)) {
    strs_push(a, ret_names, rows_dup(&r, 0, a));
    strs_push(a, ret_sql, rows_dup(&r, 1, a));
  }
  return rows_end(&r);
}

static enum status empty_tables(struct db *db, struct arena *a, struct error *err) {
  TRY(db_script(db, err,
                "/* all teams: a store is emptied to be filled by a copy */ "
                "INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all'); DELETE FROM vec_slot;"
                " DELETE FROM vec_head; DELETE FROM vec_block; DELETE FROM vec_centre;"
                " DELETE FROM chunk_count; DELETE FROM sqlite_sequence"));
  for (size_t i = STORE_TABLES - 1; i-- > 0;)
    if (store_tables[i].way != TABLE_VECTORS)
      TRY(db_script(db, err, arena_printf(a, "/* all teams: the same */ DELETE FROM %s", store_tables[i].name).p));
  return STATUS_OK;
}

enum status sqlite_copy_clear(struct store *st, struct arena *a, struct error *err) {
  struct strs names = {0}, sql = {0};
  TRY(read_triggers(st->db, a, &names, &sql, err));
  for (size_t i = 0; i < names.n; i++)
    TRY(db_script(st->db, err, arena_printf(a, "DROP TRIGGER %.*s", STR_ARG(names.v[i])).p));
  TRY(empty_tables(st->db, a, err));
  for (size_t i = 0; i < sql.n; i++)
    TRY(db_script(st->db, err, sql.v[i].p));
  return STATUS_OK;
}

/* ---- sequences ---- */

enum status sqlite_copy_number(struct store *st, const struct store_table *t, int64_t *ret_last, struct error *err) {
  return db_int(st->db, ret_last, NULL, err, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0)",
                "s", str_from(t->name));
}

/* A table without AUTOINCREMENT has no row there, and gets none. */
enum status sqlite_copy_set_number(struct store *st, const struct store_table *t, int64_t last, struct error *err) {
  if (last <= 0 || strcmp(t->name, "tool_call") == 0)
    return STATUS_OK;
  TRY(db_exec(st->db, err, "DELETE FROM sqlite_sequence WHERE name = ?1", "s", str_from(t->name)));
  return db_exec(st->db, err, "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", "si", str_from(t->name), last);
}

/* Nothing to do: plans use fixed statistics, and indexes are as fast row by row. */
enum status sqlite_copy_prepare(struct store *st UNUSED, struct error *err UNUSED) { return STATUS_OK; }
enum status sqlite_copy_settle(struct store *st UNUSED, struct error *err UNUSED) { return STATUS_OK; }

/* ---- vectors ---- */

enum status sqlite_vec_walk(struct store *st, struct vec_row *after, size_t limit, struct arena *a,
                            struct vec_rows *ret_rows, struct error *err) {
  struct rows r;
  size_t seen = 0;
  db_query(st->db, &r, err,
           "/* all teams: a copy */ "
           "SELECT b.team, s.model, s.chunk_id, b.dims, s.vector FROM vec_slot s JOIN vec_block b ON b.id ="
           " s.place / 1024 WHERE (s.chunk_id, s.model) > (?1, ?2) ORDER BY s.chunk_id, s.model LIMIT ?3",
           "isi", after->chunk_id, after->model, (int64_t)limit);
  for (; rows_next(&r); seen++) {
    *after = (struct vec_row){.team = rows_dup(&r, 0, a),
                              .model = rows_dup(&r, 1, a),
                              .chunk_id = rows_int(&r, 2),
                              .dims = (int)rows_int(&r, 3)};
    bool sane = after->dims > 0 && after->dims <= VEC_MAX_DIMS;
    const int8_t *v = sane ? vector_unpack(rows_text(&r, 4), after->chunk_id, after->dims) : NULL;
    if (v) {
      after->vector = (const int8_t *)arena_dup(a, (struct str){(const char *)v, (size_t)after->dims}).p;
      list_push(a, ret_rows, *after);
    }
  }
  ret_rows->end = seen < limit;
  return rows_end(&r);
}

enum status sqlite_vec_add_all(struct txn *txn, struct arena *a UNUSED, const struct vec_row *rows, size_t n,
                               struct error *err) {
  for (size_t i = 0; i < n; i++) {
    struct vec_model model = {.team = rows[i].team, .model = rows[i].model, .dims = rows[i].dims};
    TRY(sqlite_vec_add(txn, &model, rows[i].chunk_id, rows[i].vector, err));
  }
  return STATUS_OK;
}
