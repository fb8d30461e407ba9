/* copy.c: PostgreSQL parts of copying a whole store: deletion, sequences, statistics, vectors in sequence. */
#include <stdio.h>

#include "store/copy/copy.h"
#include "store/engine.h"
#include "store/postgres/lexemes.h"
#include "store/vectors/postgres.h"

/* The log tables reject deletes, and counters need not be maintained, so those triggers are disabled until everything
 * is deleted. */
#define TRIGGERS(how)                                                                                                  \
  "/* all teams: the guards of the log, and what counts */ ALTER TABLE event " how " TRIGGER USER;"                    \
  " ALTER TABLE txn " how " TRIGGER USER; ALTER TABLE chunk " how " TRIGGER USER;"                                     \
  " ALTER TABLE chunk_text " how " TRIGGER USER; ALTER TABLE vec " how " TRIGGER USER"

static enum status delete_all(struct db *db, struct arena *a, struct error *err) {
  TRY(db_script(db, err,
                "/* all teams: a store is emptied to be filled by a copy */ "
                "DELETE FROM chunk_text; DELETE FROM term_count; DELETE FROM chunk_count;"
                " DELETE FROM vec; DELETE FROM vec_count"));
  for (size_t i = STORE_TABLES - 1; i-- > 0;)
    if (store_tables[i].way != TABLE_VECTORS)
      TRY(db_script(db, err, arena_printf(a, "/* all teams: the same */ DELETE FROM %s", store_tables[i].name).p));
  return STATUS_OK;
}

/* Uses DELETE, not TRUNCATE: a reader with an older snapshot would suddenly find tables empty. Deleted rows stay
 * visible to it until it ends, and it delays no one. */
enum status postgres_copy_clear(struct store *st, struct arena *a, struct error *err) {
  TRY(db_script(st->db, err, TRIGGERS("DISABLE")));
  TRY(delete_all(st->db, a, err));
  return db_script(st->db, err, TRIGGERS("ENABLE"));
}

enum status postgres_copy_number(struct store *st, const struct store_table *t, int64_t *ret_last, struct error *err) {
  return db_int(st->db, ret_last, NULL, err,
                "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence(?1, ?2) AS regclass)), 0)", "ss",
                str_from(t->name), str_from(t->number));
}

/* Sequences are not rolled back, so a number in use could be assigned again. RESTART creates a new sequence state that
 * is transactional. */
static enum status restart_sequence(struct store *st, const struct store_table *t, struct error *err) {
  char sql[160];
  struct rows r;
  struct str name = STR("");
  db_query(st->db, &r, err, "SELECT pg_get_serial_sequence(?1, ?2)", "ss", str_from(t->name), str_from(t->number));
  if (rows_next(&r))
    name = rows_text(&r, 0);
  int n = snprintf(sql, sizeof(sql), "ALTER SEQUENCE %.*s RESTART", STR_ARG(name));
  TRY(rows_end(&r));
  if (n >= (int)sizeof(sql))
    return error_set(err, STATUS_INTERNAL, "the sequence name of table %s is too long", t->name);
  return db_script(st->db, err, sql);
}

enum status postgres_copy_set_number(struct store *st, const struct store_table *t, int64_t last, struct error *err) {
  TRY(restart_sequence(st, t, err));
  return db_exec(st->db, err, "SELECT setval(CAST(pg_get_serial_sequence(?1, ?2) AS regclass), ?3, ?4 > 0)", "ssii",
                 str_from(t->name), str_from(t->number), last > 0 ? last : 1, last);
}

/* Building the vector index at once takes a small part of the time of row-by-row inserts. There are no searches before
 * the end. */
enum status postgres_copy_prepare(struct store *st, struct error *err) {
  return db_script(st->db, err,
                   "DO $$ DECLARE i regclass; BEGIN"
                   " FOR i IN SELECT x.indexrelid FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid"
                   " WHERE x.indrelid = 'vec'::regclass AND starts_with(c.relname, 'vec_hnsw_')"
                   " LOOP EXECUTE format('DROP INDEX %s', i); END LOOP; END $$");
}

/* No parallel workers: they would allocate all their shared memory at once, and many servers have little of it. */
enum status postgres_copy_settle(struct store *st, struct error *err) {
  return db_script(st->db, err,
                   "/* all teams: an index of vectors serves all */ "
                   "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_maintenance_workers = 0;"
                   " SET LOCAL maintenance_work_mem = '1GB'; SET LOCAL client_min_messages = warning;"
                   " DO $$ DECLARE d integer; BEGIN"
                   " FOREACH d IN ARRAY ARRAY(SELECT 256 UNION SELECT DISTINCT dims FROM vec WHERE dims <= 4000)"
                   " LOOP EXECUTE format('CREATE INDEX IF NOT EXISTS vec_hnsw_%s ON vec USING hnsw"
                   " ((v::halfvec(%s)) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64) WHERE dims = %s',"
                   " d, d, d); END LOOP; END $$; ANALYZE");
}

/* A row that is not a valid vector is skipped like a damaged one. */
enum status postgres_vec_walk(struct store *st, struct vec_row *after, size_t limit, struct arena *a,
                              struct vec_rows *ret_rows, struct error *err) {
  struct rows r;
  size_t seen = 0;
  db_query(st->db, &r, err,
           "/* all teams: a copy */ "
           "SELECT team, model, chunk_id, dims, v FROM vec WHERE (team, model, chunk_id) > (?1, ?2, ?3)"
           " ORDER BY team, model, chunk_id LIMIT ?4",
           "ssii", after->team, after->model, after->chunk_id, (int64_t)limit);
  for (; rows_next(&r); seen++) {
    *after = (struct vec_row){.team = rows_dup(&r, 0, a),
                              .model = rows_dup(&r, 1, a),
                              .chunk_id = rows_int(&r, 2),
                              .dims = (int)rows_int(&r, 3)};
    if (after->dims < 1 || after->dims > VEC_MAX_DIMS)
      continue;
    int8_t *v = arena_array(a, int8_t, (size_t)after->dims);
    after->vector = v;
    if (halfvec_read(rows_text(&r, 4), after->dims, v))
      list_push(a, ret_rows, *after);
  }
  ret_rows->end = seen < limit;
  return rows_end(&r);
}

enum { VECTORS_AT_ONCE = 500 };

static void add_number(struct buf *b, int64_t n, bool first) { buf_addf(b, "%s%lld", first ? "{" : ",", (long long)n); }

/* Columns are sent as arrays: one statement for any number of rows. */
static enum status add_some(struct txn *txn, struct arena *a, const struct vec_row *rows, size_t n, struct error *err) {
  struct buf teams = BUF(a), models = BUF(a), chunks = BUF(a), dims = BUF(a), vectors = BUF(a);
  struct buf *quoted[] = {&teams, &models, &vectors};
  char text[HALFVEC_TEXT];
  for (size_t i = 0; i < ARRAY_LEN(quoted); i++)
    buf_addc(quoted[i], '{');
  for (size_t i = 0; i < n; i++) {
    words_element(&teams, rows[i].team);
    words_element(&models, rows[i].model);
    words_element(&vectors, halfvec_write(rows[i].vector, rows[i].dims, text));
    add_number(&chunks, rows[i].chunk_id, i == 0);
    add_number(&dims, rows[i].dims, i == 0);
  }
  struct buf *all[] = {&teams, &models, &chunks, &dims, &vectors};
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    buf_addc(all[i], '}');
  return db_exec(txn->store->db, err,
                 "INSERT INTO vec (team, model, chunk_id, dims, v) SELECT u.team, u.model, u.chunk, u.dims,"
                 " CAST(u.v AS halfvec) FROM unnest(CAST(?1 AS text[]), CAST(?2 AS text[]), CAST(?3 AS bigint[]),"
                 " CAST(?4 AS integer[]), CAST(?5 AS text[])) AS u (team, model, chunk, dims, v)",
                 "sssss", buf_str(&teams), buf_str(&models), buf_str(&chunks), buf_str(&dims), buf_str(&vectors));
}

enum status postgres_vec_add_all(struct txn *txn, struct arena *a, const struct vec_row *rows, size_t n,
                                 struct error *err) {
  for (size_t i = 0; i < n; i += VECTORS_AT_ONCE)
    TRY(add_some(txn, a, rows + i, n - i < VECTORS_AT_ONCE ? n - i : VECTORS_AT_ONCE, err));
  return STATUS_OK;
}
