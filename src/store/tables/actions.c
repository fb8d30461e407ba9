/* actions.c: rows of action items. */
#include "store/tables/actions.h"

#include "base/json.h"
#include "store/memories/memories.h"
#include "store/store_internal.h"

#define ITEM_COLUMNS                                                                                                   \
  "SELECT i.id, i.memory_id, i.project, i.text, i.kind, i.status, i.reason, i.source, i.decided_by, i.created_at,"     \
  " i.decided_at FROM action_item i "
/* Pending items of project ?2 of team ?1, or of all its projects; see actions.h. */
#define PENDING                                                                                                        \
  "WHERE i.team = ?1 AND (?3 = 1 OR i.project = '' OR i.project = ?2) AND i.status = 'pending'"                        \
  " AND (i.memory_id IS NULL OR EXISTS (SELECT 1 FROM memory m WHERE m.team = i.team AND m.id = i.memory_id"           \
  " AND m.state = 'active'))"

#define AND_PENDING_QUERY " AND i.id <= ?4 AND (?5 = 1 OR NOT " EXTRACTED ") AND (?6 = 0 OR i.project <> '')"
/* A sentence that was taken from its memory's text, not added by a caller. */
#define EXTRACTED                                                                                                      \
  "EXISTS (SELECT 1 FROM label l WHERE l.team = i.team AND l.memory_id = i.memory_id AND l.field = 'action_items'"     \
  " AND l.value = i.text)"

static struct action_item read_row(const struct rows *r, struct arena *a) {
  return (struct action_item){.id = rows_int(r, 0),
                              .memory_id = rows_int(r, 1),
                              .project = rows_dup(r, 2, a),
                              .text = rows_dup(r, 3, a),
                              .kind = rows_dup(r, 4, a),
                              .status = rows_dup(r, 5, a),
                              .reason = rows_dup(r, 6, a),
                              .source = rows_dup(r, 7, a),
                              .decided_by = rows_dup(r, 8, a),
                              .created_at = rows_int(r, 9),
                              .decided_at = rows_int(r, 10)};
}

static enum status read_one(struct store *st, struct rows *r, struct arena *a, struct action_item *ret_item,
                            bool *ret_found) {
  bool found = rows_next(r);
  struct action_item item = {0};
  if (found)
    item = read_row(r, a);
  TRY(rows_end(r));
  struct reach reach = store_reach(st);
  if (found && !reach_can_read(&reach, item.project)) {
    reach_record(st, "action item of project", item.project);
    found = false;
  }
  *ret_found = found;
  if (found)
    *ret_item = item;
  return STATUS_OK;
}

static enum status read_all(const struct store *st, struct rows *r, struct arena *a, struct action_items *ret_list) {
  struct reach reach = store_reach(st);
  while (rows_next(r))
    if (reach_can_read(&reach, rows_text(r, 2)))
      list_push(a, ret_list, read_row(r, a));
  return rows_end(r);
}

/* ---- reading ---- */

enum status action_find(struct store *st, struct str team, int64_t id, struct arena *a, struct action_item *ret_item,
                        bool *ret_found, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, ITEM_COLUMNS "WHERE i.team = ?1 AND i.id = ?2", "si", team, id);
  return read_one(st, &r, a, ret_item, ret_found);
}

enum status action_find_text(struct store *st, struct str team, const struct action_item *like, bool all_projects,
                             struct arena *a, struct action_item *ret_item, bool *ret_found, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           ITEM_COLUMNS "WHERE i.team = ?1 AND (?5 = 1 OR i.project = '' OR i.project = ?2) AND i.text = ?3"
                        " AND (?4 IS NULL OR i.memory_id = ?4)"
                        " ORDER BY CASE WHEN i.status = 'pending' THEN 0 ELSE 1 END,"
                        " CASE WHEN i.project = '' OR i.project = ?2 THEN 0 ELSE 1 END, i.id DESC LIMIT 1",
           "sssti", team, like->project, like->text, like->memory_id, (int64_t)all_projects);
  return read_one(st, &r, a, ret_item, ret_found);
}

enum status actions_pending(struct store *st, const struct pending_query *q, struct arena *a,
                            struct action_items *ret_list, int64_t *ret_total, struct error *err) {
  struct rows r;
  int64_t total, upto = q->upto > 0 ? q->upto : INT64_MAX;
  TRY(db_int(st->db, &total, NULL, err, "SELECT count(*) FROM action_item i " PENDING AND_PENDING_QUERY, "ssiiii",
             q->team, q->project, (int64_t)q->all_projects, upto, (int64_t)q->extracted, (int64_t)q->no_global));
  db_query(st->db, &r, err, ITEM_COLUMNS PENDING AND_PENDING_QUERY " ORDER BY i.id DESC LIMIT ?7", "ssiiiii", q->team,
           q->project, (int64_t)q->all_projects, upto, (int64_t)q->extracted, (int64_t)q->no_global, q->limit);
  TRY(read_all(st, &r, a, ret_list));
  if (ret_total)
    *ret_total = total;
  return STATUS_OK;
}

enum status actions_all(struct store *st, const struct pending_query *q, struct arena *a, struct action_items *ret_list,
                        struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           ITEM_COLUMNS "WHERE i.team = ?1 AND (?3 = 1 OR i.project = '' OR i.project = ?2)"
                        " ORDER BY i.id DESC LIMIT ?4",
           "ssii", q->team, q->project, (int64_t)q->all_projects, q->limit);
  return read_all(st, &r, a, ret_list);
}

enum status actions_newest(struct store *st, struct str team, int64_t *ret_id, struct error *err) {
  *ret_id = 0;
  return db_int(st->db, ret_id, NULL, err, "SELECT coalesce(max(id), 0) FROM action_item WHERE team = ?1", "s", team);
}

/* ---- changes ---- */

/* The event has no text: purging the memory that the item came from would not remove it from the log. */
static enum status add_event(struct txn *txn, struct arena *a, const struct action_item *item, const char *action,
                             struct str decision, struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put_int(doc, detail, "item", item->id);
  json_put_opt(doc, detail, "decision", decision);
  struct event e = {.action = str_from(action),
                    .memory_id = item->memory_id,
                    .project = item->project,
                    .detail = json_write(a, detail, false)};
  return event_add(txn, &e, err);
}

enum status action_add(struct txn *txn, struct arena *a, struct action_item *item, bool *ret_added, struct error *err) {
  struct db *db = txn->store->db;
  TRY(reach_check_write(txn->store, item->project, "an action item in", err));
  TRY(db_exec(db, err,
              "INSERT INTO action_item (team, project, memory_id, text, kind, source, created_at)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
              "sstsssi", txn->team, item->project, item->memory_id, item->text, item->kind, txn->source, txn->now));
  bool found, added = db_changes(db) > 0;
  struct rows r;
  db_query(db, &r, err, ITEM_COLUMNS "WHERE i.team = ?1 AND i.project = ?2 AND i.text = ?3", "sss", txn->team,
           item->project, item->text);
  TRY(read_one(txn->store, &r, a, item, &found));
  if (added)
    TRY(add_event(txn, a, item, "action:add", STR_NONE, err));
  *ret_added = added;
  return STATUS_OK;
}

enum status action_adopt(struct txn *txn, struct action_item *item, struct error *err) {
  struct db *db = txn->store->db;
  TRY(db_exec(db, err,
              "UPDATE action_item AS i SET memory_id = NULL WHERE i.team = ?1 AND i.id = ?2 AND i.status = 'pending'"
              " AND " EXTRACTED,
              "si", txn->team, item->id));
  if (db_changes(db) > 0)
    item->memory_id = 0;
  return STATUS_OK;
}

/* Texts that somebody has made an action item of, or has decided about. Two spellings of the same condition on alias p.
 */
#define NOT_SETTLED                                                                                                    \
  " AND NOT EXISTS (SELECT 1 FROM action_item i WHERE i.team = m.team AND (i.project = '' OR i.project = m.project)"   \
  " AND i.text = l.value AND ((i.status = 'pending' AND i.memory_id IS NULL) OR (i.status <> 'pending'"                \
  " AND NOT EXISTS (SELECT 1 FROM action_item p WHERE p.team = m.team AND (p.project = '' OR p.project = m.project)"   \
  " AND p.text = l.value AND p.status = 'pending'))))"

enum status actions_extracted(struct store *st, const struct scope *scope, bool by_agents, struct arena *a,
                              struct action_items *ret_list, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id, m.project, l.value FROM memory m JOIN label l ON l.team = m.team AND l.memory_id = m.id"
              " AND l.field = 'action_items' WHERE ");
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.kind <> 'rule' AND m.kind <> 'task' AND m.delivery <> 'pinned'"
              " AND " SQL_TRUSTED " AND length(l.value) <= 2000");
  sql_add(&q, by_agents ? " AND m.trust = 'agent'" : NOT_SETTLED);
  sql_add(&q, " AND m.created_at > ");
  sql_int(&q, scope->now - ACTION_DAYS * MS_PER_DAY);
  sql_addf(&q, " ORDER BY m.created_at DESC, m.id DESC, l.pos LIMIT %d", ACTION_CAP);
  struct rows r;
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    list_push(a, ret_list,
              (struct action_item){.memory_id = rows_int(&r, 0),
                                   .project = rows_dup(&r, 1, a),
                                   .text = rows_dup(&r, 2, a),
                                   .kind = STR("task")});
  return rows_end(&r);
}

enum status actions_collect(struct txn *txn, const struct scope *scope, struct arena *a, int64_t *ret_added,
                            struct error *err) {
  struct action_items newest = {0}, found = {0};
  int64_t pending, count = 0;
  struct pending_query q = {.team = scope->team, .project = scope->project, .limit = 1, .extracted = true};
  TRY(actions_pending(txn->store, &q, a, &newest, &pending, err));
  TRY(actions_extracted(txn->store, scope, true, a, &found, err));
  struct reach reach = store_reach(txn->store);
  for (size_t i = 0; i < found.n && pending + count < ACTION_CAP; i++) {
    bool added = false;
    if (!reach_owns(&reach, found.v[i].project))
      continue;
    TRY(action_add(txn, a, &found.v[i], &added, err));
    count += added;
  }
  *ret_added = count;
  return STATUS_OK;
}

enum status action_decide(struct txn *txn, struct arena *a, const struct action_item *item, struct str decision,
                          struct str reason, struct error *err) {
  TRY(reach_check_write(txn->store, item->project, "answer an action item of", err));
  TRY(db_exec(txn->store->db, err,
              "UPDATE action_item SET status = ?1, reason = ?2, decided_by = ?3, decided_session = ?4,"
              " decided_at = ?5 WHERE team = ?6 AND id = ?7 AND status = 'pending'",
              "ssssisi", decision, reason, txn->source, txn->session, txn->now, txn->team, item->id));
  return add_event(txn, a, item, "action:ack", decision, err);
}
