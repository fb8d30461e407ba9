/* teams.c: listing teams, and deleting a team with all its rows. */
#include "store/tables/teams.h"

#include <assert.h>

#include "base/json.h"
#include "store/engine.h"

static bool is_receipts(const struct store_table *t) { return strcmp(t->name, "team_removal") == 0; }
static bool is_log(const struct store_table *t) { return strcmp(t->name, "event") == 0 || strcmp(t->name, "txn") == 0; }
static bool has_rows(const struct store_table *t) { return t->way != TABLE_VECTORS && !is_receipts(t); }

static void select_teams(struct sql *q) {
  const char *between = "";
  sql_add(q, "/* all teams: the operator's list */ SELECT u.team,"
             " (SELECT count(*) FROM memory m WHERE m.team = u.team AND m.corpus = 'memory'),"
             " (SELECT coalesce(max(t.at), 0) FROM txn t WHERE t.team = u.team) FROM (");
  for (const struct store_table *t = store_tables; t->name; t++) {
    if (!has_rows(t))
      continue;
    sql_addf(q, "%sSELECT team FROM %s", between, t->name);
    between = " UNION ";
  }
  sql_add(q, ") u ORDER BY u.team");
}

enum status teams_list(struct store *st, struct arena *a, struct team_infos *ret_list, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  select_teams(&q);
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    list_push(a, ret_list, (struct team_info){rows_dup(&r, 0, a), rows_int(&r, 1), rows_int(&r, 2)});
  return rows_end(&r);
}

enum status team_count(struct store *st, struct str team, struct arena *a, struct team_rows *ret_rows,
                       struct error *err) {
  struct team_rows rows = {0};
  for (size_t i = 0; store_tables[i].name; i++) {
    struct sql q = SQL(a);
    assert(i < ARRAY_LEN(rows.of));
    if (!has_rows(&store_tables[i]))
      continue;
    sql_addf(&q, "SELECT count(*) FROM %s WHERE team = ", store_tables[i].name);
    sql_text(&q, team);
    TRY(db_int_sql(st->db, &rows.of[i], NULL, err, &q));
    rows.total += rows.of[i];
  }
  *ret_rows = rows;
  return STATUS_OK;
}

struct str team_rows_json(struct arena *a, const struct team_rows *rows) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  for (size_t i = 0; store_tables[i].name; i++)
    if (rows->of[i])
      json_put_int(doc, obj, store_tables[i].name, rows->of[i]);
  return json_write(a, obj, false);
}

/* ---- deleting a team ---- */

static enum status delete_rows(struct txn *txn, const char *table, struct arena *a, struct error *err) {
  struct sql q = SQL(a);
  sql_addf(&q, "DELETE FROM %s WHERE team = ", table);
  sql_text(&q, txn->team);
  return db_exec_sql(txn->store->db, err, &q);
}

/* Deletes the indexes, then the vectors that no index owns. */
static enum status delete_vectors(struct txn *txn, struct arena *a, struct error *err) {
  bool more = true;
  int64_t dropped;
  TRY(delete_rows(txn, "vec_index", a, err));
  while (more)
    TRY(vec_drop_unowned(txn, &dropped, &more, err));
  return STATUS_OK;
}

/* Deletes in reverse table order, so references go before their targets. Derived rows are deleted with the texts,
 * except the chunk counter and terms that stay in the full-text index until it is merged. */
static enum status delete_all(struct txn *txn, struct arena *a, struct error *err) {
  TRY(delete_vectors(txn, a, err));
  for (size_t i = STORE_TABLES - 1; i-- > 0;)
    if (has_rows(&store_tables[i]) && !is_log(&store_tables[i]))
      TRY(delete_rows(txn, store_tables[i].name, a, err));
  TRY(team_delete_log(txn, a, err));
  TRY(delete_rows(txn, "chunk_count", a, err));
  return lexical_optimize(txn->store, err);
}

/* Receipts of a team have distinct times: a second one in the same millisecond gets the next. */
static enum status add_receipt(struct txn *txn, struct str by, struct str counts, struct error *err) {
  return db_exec(txn->store->db, err,
                 "INSERT INTO team_removal (team, at, by, counts)"
                 " SELECT ?1, CASE WHEN ?2 > coalesce(max(at), 0) THEN ?2 ELSE max(at) + 1 END, ?3, ?4"
                 " FROM team_removal WHERE team = ?1",
                 "siss", txn->team, txn->now, by, counts);
}

static enum status delete_in(struct txn *txn, struct str by, struct arena *a, struct team_rows *ret_rows,
                             struct error *err) {
  TRY(db_begin(txn->store->db, txn->team, false, err));
  TRY(team_count(txn->store, txn->team, a, ret_rows, err));
  TRY(delete_all(txn, a, err));
  TRY(add_receipt(txn, by, team_rows_json(a, ret_rows), err));
  return txn_commit(txn, err);
}

enum status team_delete(struct store *st, struct str team, struct str by, int64_t now, struct arena *a,
                        struct team_rows *ret_rows, struct error *err) {
  struct txn txn = {.store = st, .team = team, .now = now};
  enum status s = delete_in(&txn, by, a, ret_rows, err);
  if (s != STATUS_OK)
    store_rollback(st);
  return s;
}

enum status team_receipts(struct store *st, struct arena *a, struct team_receipts *ret_list, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "/* all teams: the operator's list */ SELECT team, by, counts, at FROM team_removal ORDER BY at DESC, team",
           NULL);
  while (rows_next(&r)) {
    struct team_receipt receipt = {rows_dup(&r, 0, a), rows_dup(&r, 1, a), rows_dup(&r, 2, a), rows_int(&r, 3)};
    list_push(a, ret_list, receipt);
  }
  return rows_end(&r);
}

/* Opens the backup as a plain database, since opening an old one as a store would migrate it. Every write is in the
 * event table. */
enum status team_in_backup(const char *path, struct str team, bool *ret_holds, struct error *err) {
  struct db_options o = {.path = path, .busy_ms = 1000, .must_exist = true, .read_only = true};
  struct db *db = NULL;
  int64_t one;
  enum status s = db_open(&o, &db, err);
  if (s == STATUS_OK)
    s = db_int(db, &one, ret_holds, err, "SELECT 1 FROM event WHERE team = ?1 LIMIT 1", "s", team);
  db_close(&db);
  return s;
}

/* ---- the log of a deleted team ---- */

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
