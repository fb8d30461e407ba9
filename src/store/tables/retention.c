/* retention.c: deletes old reads and refusals from the event log. */
#include <assert.h>

#include "store/search/candidates.h"
#include "store/store_internal.h"
#include "store/tables/events.h"

/* The schema protects all others from being deleted: 0012_retention.sql. */
static const char *const pruned_actions[] = {[EVENTS_READS] = "action IN ('memory:read', 'memory:search')",
                                             [EVENTS_REFUSALS] =
                                                 "action IN ('scope:refused', 'auth:failed', 'auth:locked')"};

enum { PRUNE_ROWS = 1000 };

/* The newest event of the class that is one too many; 0: none. */
static enum status find_surplus(struct store *st, struct str team, const struct event_keep *keep, struct arena *a,
                                int64_t *ret_seq, struct error *err) {
  struct rows r;
  struct sql q = SQL(a);
  sql_addf(&q, "SELECT seq FROM event WHERE %s AND team = ", pruned_actions[keep->class]);
  sql_text(&q, team);
  sql_add(&q, " ORDER BY seq DESC LIMIT 1 OFFSET ");
  sql_int(&q, keep->most);
  db_query_sql(st->db, &r, err, &q);
  *ret_seq = rows_next(&r) ? rows_int(&r, 0) : 0;
  return rows_end(&r);
}

/* The next events to delete after *last, in order. */
static enum status find_old(struct store *st, struct str team, const struct event_keep *keep, int64_t surplus,
                            struct arena *a, struct ids *ret_ids, int64_t *last, struct error *err) {
  struct rows r;
  struct sql q = SQL(a);
  sql_addf(&q, "SELECT seq FROM event WHERE %s AND team = ", pruned_actions[keep->class]);
  sql_text(&q, team);
  sql_add(&q, " AND seq > ");
  sql_int(&q, *last);
  sql_add(&q, " AND (at < ");
  sql_int(&q, keep->since);
  sql_add(&q, " OR seq <= ");
  sql_int(&q, surplus);
  sql_add(&q, ") ORDER BY seq LIMIT ");
  sql_int(&q, PRUNE_ROWS);
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r)) {
    *last = rows_int(&r, 0);
    list_push(a, ret_ids, *last);
  }
  return rows_end(&r);
}

static enum status delete_events(struct store *st, struct str team, const struct ids *ids, struct arena *a,
                                 struct error *err) {
  TRY(db_begin(st->db, team, true, err));
  for (size_t i = 0; i < ids->n; i += SQL_IDS) {
    struct sql q = SQL(a);
    sql_add(&q, "DELETE FROM event WHERE team = ");
    sql_text(&q, team);
    sql_add(&q, " AND seq IN ");
    sql_ids(&q, ids->v + i, ids->n - i < SQL_IDS ? ids->n - i : SQL_IDS);
    TRY(db_exec_sql(st->db, err, &q));
  }
  return db_commit(st->db, err);
}

static enum status prune(struct store *st, struct str team, const struct event_keep *keep, struct arena *a,
                         int64_t *ret_deleted, struct error *err) {
  int64_t surplus = 0, last = 0, deleted = 0;
  struct ids ids = {0};
  TRY(find_surplus(st, team, keep, a, &surplus, err));
  do {
    arena_release(a);
    ids = (struct ids){0};
    TRY(find_old(st, team, keep, surplus, a, &ids, &last, err));
    if (ids.n)
      TRY(delete_events(st, team, &ids, a, err));
    deleted += (int64_t)ids.n;
  } while (ids.n == PRUNE_ROWS);
  *ret_deleted = deleted;
  return STATUS_OK;
}

enum status events_prune(struct store *st, struct str team, const struct event_keep *keep, int64_t *ret_deleted,
                         struct error *err) {
  struct arena a;
  struct store_boundary oom;
  volatile enum status s;
  assert(!db_in_transaction(st->db) && keep->most >= 0);
  arena_init(&a);
  if (STORE_BOUNDARY(st, &a, oom))
    s = error_set(err, STATUS_NOMEM, "out of memory");
  else
    s = prune(st, team, keep, &a, ret_deleted, err);
  if (s != STATUS_OK)
    store_rollback(st);
  arena_release(&a);
  return s;
}
