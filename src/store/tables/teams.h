/* teams.h: listing and deleting the teams of a store, for the operator. */
#pragma once

#include "store/schema/tables.h"
#include "store/store.h"

struct team_info {
  struct str name;
  int64_t memories;
  int64_t changed_at; /* last transaction; 0 if none */
};
struct team_infos {
  struct team_info *v;
  size_t n, cap;
};
/* Teams that have rows in any table except the receipts, by name. */
NODISCARD enum status teams_list(struct store *st, struct arena *a, struct team_infos *ret_list, struct error *err);

/* Row counts of a team, in the order of store_tables, without vectors. */
struct team_rows {
  int64_t of[STORE_TABLES], total;
};
NODISCARD enum status team_count(struct store *st, struct str team, struct arena *a, struct team_rows *ret_rows,
                                 struct error *err);

/* Deletes all rows of the team and adds a receipt in one transaction. ret_rows is counted under the lock. */
NODISCARD enum status team_delete(struct store *st, struct str team, struct str by, int64_t now, struct arena *a,
                                  struct team_rows *ret_rows, struct error *err);
/* The counts as JSON without zeros: {"memory": 12, ...}. */
struct str team_rows_json(struct arena *a, const struct team_rows *rows);

struct team_receipt {
  struct str team, by, counts; /* counts: as team_rows_json() writes it */
  int64_t at;
};
struct team_receipts {
  struct team_receipt *v;
  size_t n, cap;
};
/* Receipts of deleted teams, newest first. */
NODISCARD enum status team_receipts(struct store *st, struct arena *a, struct team_receipts *ret_list,
                                    struct error *err);

/* True if the backup file holds data of the team. */
NODISCARD enum status team_in_backup(const char *path, struct str team, bool *ret_holds, struct error *err);

/* Deletes the team's events and transactions, which the schema protects from other statements. Differs by engine. */
NODISCARD enum status team_delete_log(struct txn *txn, struct arena *a, struct error *err);
