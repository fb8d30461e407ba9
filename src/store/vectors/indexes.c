/* indexes.c: rows of a team's vector indexes. */
#include "store/vectors/indexes.h"

#include <assert.h>

#include "store/store_internal.h"

const char *const vec_state_names[VEC_STATES] = {"active", "building", "previous"};

/* `counted` has a row for an index only if the index has vectors. */
#define INDEXES(counted)                                                                                               \
  "SELECT i.model, i.dims, i.state, i.config, i.started_at, i.flipped_at, CASE WHEN EXISTS (SELECT 1 FROM " counted    \
  " b WHERE b.team = i.team AND b.model = i.model) THEN 1 ELSE 0 END FROM vec_index i WHERE i.team = ?1"

enum status vec_indexes_of(struct store *st, struct str team, struct arena *a, struct vec_indexes *ret,
                           struct error *err) {
  struct rows r;
  *ret = (struct vec_indexes){0};
  db_query(st->db, &r, err, db_engine(st->db) == DB_SQLITE ? INDEXES("vec_block") : INDEXES("vec_count"), "s", team);
  while (rows_next(&r))
    for (int i = 0; i < VEC_STATES; i++)
      if (str_is(rows_text(&r, 2), vec_state_names[i]) && (i != VEC_ACTIVE || rows_int(&r, 6)))
        ret->of[i] = (struct vec_index){.model = rows_dup(&r, 0, a),
                                        .dims = (int)rows_int(&r, 1),
                                        .config = rows_dup(&r, 3, a),
                                        .started_at = rows_int(&r, 4),
                                        .flipped_at = rows_int(&r, 5)};
  return rows_end(&r);
}

enum status vec_index_forget(struct txn *txn, enum vec_state state, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert((unsigned)state < VEC_STATES);
  return db_exec(txn->store->db, err, "DELETE FROM vec_index WHERE team = ?1 AND state = ?2", "ss", txn->team,
                 str_from(vec_state_names[state]));
}

enum status vec_index_set(struct txn *txn, const struct vec_index *index, enum vec_state state, struct error *err) {
  assert((unsigned)state < VEC_STATES && index->model.n > 0);
  TRY(vec_prepare(txn, index->dims, err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM vec_index WHERE team = ?1 AND state = ?2 AND model <> ?3", "sss",
              txn->team, str_from(vec_state_names[state]), index->model));
  return db_exec(txn->store->db, err,
                 "INSERT INTO vec_index (team, model, dims, state, config, started_at, flipped_at)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL) ON CONFLICT (team, model) DO UPDATE SET"
                 " flipped_at = CASE WHEN vec_index.state = excluded.state THEN vec_index.flipped_at"
                 " ELSE excluded.started_at END,"
                 " dims = excluded.dims, state = excluded.state, config = excluded.config",
                 "ssissi", txn->team, index->model, (int64_t)index->dims, str_from(vec_state_names[state]),
                 index->config, txn->now);
}

enum status vec_index_flip(struct txn *txn, const struct vec_index *index, struct error *err) {
  struct db *db = txn->store->db;
  /* Clear the state of the new index first: each state has at most one owner. */
  TRY(db_exec(db, err, "DELETE FROM vec_index WHERE team = ?1 AND (model = ?2 OR state = 'previous')", "ss", txn->team,
              index->model));
  TRY(db_exec(db, err, "UPDATE vec_index SET state = 'previous', flipped_at = ?2 WHERE team = ?1 AND state = 'active'",
              "si", txn->team, txn->now));
  TRY(vec_index_set(txn, index, VEC_ACTIVE, err));
  return db_exec(db, err, "UPDATE vec_index SET started_at = ?3, flipped_at = ?4 WHERE team = ?1 AND model = ?2",
                 "ssii", txn->team, index->model, index->started_at ? index->started_at : txn->now, txn->now);
}

enum status chunk_last_id(struct store *st, struct str team, int64_t *ret_id, struct error *err) {
  bool found;
  TRY(db_int(st->db, ret_id, &found, err, "SELECT id FROM chunk WHERE team = ?1 ORDER BY id DESC LIMIT 1", "s", team));
  if (!found)
    *ret_id = 0;
  return STATUS_OK;
}
