/* teams.c: deletes the log of a deleted team in PostgreSQL. */
#include "store/engine.h"

/* The triggers that protect the log are disabled inside the transaction only; others never see the log unprotected. */
enum status postgres_team_delete_log(struct txn *txn, struct arena *a UNUSED, struct error *err) {
  struct db *db = txn->store->db;
  TRY(db_script(db, err,
                "/* all teams: the guards of the log */ "
                "ALTER TABLE event DISABLE TRIGGER event_append_only;"
                " ALTER TABLE txn DISABLE TRIGGER txn_append_only"));
  TRY(db_exec(db, err, "DELETE FROM event WHERE team = ?1", "s", txn->team));
  TRY(db_exec(db, err, "DELETE FROM txn WHERE team = ?1", "s", txn->team));
  return db_script(db, err,
                   "/* all teams: the same */ "
                   "ALTER TABLE event ENABLE TRIGGER event_append_only;"
                   " ALTER TABLE txn ENABLE TRIGGER txn_append_only");
}
