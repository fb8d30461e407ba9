/* teams.c: deletes the log of a deleted team in SQLite. */
#include "store/engine.h"

/* The triggers that protect the log are dropped inside the transaction only; others never see the log unprotected. */
static enum status read_guard_triggers(struct db *db, struct arena *a, struct strs *ret_sql, struct error *err) {
  struct rows r;
  db_query(db, &r, err,
           "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name IN ('event_append_only', 'txn_append_only')",
           NULL);
  while (rows_next(&r))
    strs_push(a, ret_sql, rows_dup(&r, 0, a));
  return rows_end(&r);
}

enum status sqlite_team_delete_log(struct txn *txn, struct arena *a, struct error *err) {
  struct db *db = txn->store->db;
  struct strs sql = {0};
  TRY(read_guard_triggers(db, a, &sql, err));
  TRY(db_script(db, err, "DROP TRIGGER event_append_only; DROP TRIGGER txn_append_only"));
  TRY(db_exec(db, err, "DELETE FROM event WHERE team = ?1", "s", txn->team));
  TRY(db_exec(db, err, "DELETE FROM txn WHERE team = ?1", "s", txn->team));
  for (size_t i = 0; i < sql.n; i++)
    TRY(db_script(db, err, sql.v[i].p));
  return STATUS_OK;
}
