/* teams.c: how the log of a deleted team goes on a server. */
#include "store/engine.h"

/* The triggers that keep the log stand aside within the transaction: nobody ever sees the log without them. */
enum status postgres_team_forget_log(struct txn *txn, struct arena *a UNUSED, struct error *err) {
  struct db *db = txn->store->db;
  enum status s = db_script(db, err,
                            "/* all teams: the guards of the log */ "
                            "ALTER TABLE event DISABLE TRIGGER event_append_only;"
                            " ALTER TABLE txn DISABLE TRIGGER txn_append_only");
  if (s == STATUS_OK)
    s = db_exec(db, err, "DELETE FROM event WHERE team = ?1", "s", txn->team);
  if (s == STATUS_OK)
    s = db_exec(db, err, "DELETE FROM txn WHERE team = ?1", "s", txn->team);
  return s != STATUS_OK ? s
                        : db_script(db, err,
                                    "/* all teams: the same */ "
                                    "ALTER TABLE event ENABLE TRIGGER event_append_only;"
                                    " ALTER TABLE txn ENABLE TRIGGER txn_append_only");
}
