/* teams.h: the teams of a store, and the end of one: for the operator of the store, who stands above all teams. */
#pragma once

#include "store/schema/tables.h"
#include "store/store.h"

struct team_info {
  struct str name;
  int64_t memories;
  int64_t changed_at; /* its last transaction; 0: none */
};
struct team_infos {
  struct team_info *v;
  size_t n, cap;
};
/* Every team that has a row anywhere but among the receipts, by name. */
NODISCARD enum status teams_list(struct store *st, struct arena *a, struct team_infos *ret_list, struct error *err);

/* Rows of a team, in the order of store_tables; vectors, which are made from texts, are not counted. */
struct team_rows {
  int64_t of[STORE_TABLES], total;
};
NODISCARD enum status team_count(struct store *st, struct str team, struct arena *a, struct team_rows *ret_rows,
                                 struct error *err);

/* Removes every row of the team and leaves a receipt, as one transaction. What it removed is counted again, under the
 * lock. */
NODISCARD enum status team_delete(struct store *st, struct str team, struct str by, int64_t now, struct arena *a,
                                  struct team_rows *ret_rows, struct error *err);
/* The rows as JSON: {"memory": 12, ...}, tables without any left out. */
struct str team_rows_json(struct arena *a, const struct team_rows *rows);

struct team_receipt {
  struct str team, by, counts; /* counts: as team_rows_json() writes it */
  int64_t at;
};
struct team_receipts {
  struct team_receipt *v;
  size_t n, cap;
};
/* Of deleted teams, newest first. */
NODISCARD enum status team_receipts(struct store *st, struct arena *a, struct team_receipts *ret_list,
                                    struct error *err);

/* Whether a backup, which is a file, holds anything of the team. */
NODISCARD enum status team_in_backup(const char *path, struct str team, bool *ret_holds, struct error *err);

/* Each engine in its own way: the rows of txn->team in the log and among the transactions, which no other statement can
 * delete. */
NODISCARD enum status team_forget_log(struct txn *txn, struct arena *a, struct error *err);
