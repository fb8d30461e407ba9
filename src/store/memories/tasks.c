/* tasks.c: questions about the graph of tasks. */
#include "store/memories/tasks.h"

#include "store/store_internal.h"

/* A blocker counts until it is done; one that was forgotten or pruned waits for nobody. */
#define OPEN_BLOCKER "b.state = 'active' AND b.status <> 'done'"

enum status tasks_ready(struct store *st, const struct scope *scope, int64_t limit, struct arena *a,
                        struct memories *ret_list, struct error *err) {
  struct sql q = memory_select(a);
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.kind = 'task' AND m.status = 'open' AND m.claimed_by IS NULL"
              " AND NOT EXISTS (SELECT 1 FROM link l JOIN memory b ON b.team = l.team AND b.id = l.dst"
              " WHERE l.team = m.team AND l.src = m.id AND l.rel = 'blocked_by' AND " OPEN_BLOCKER
              ") ORDER BY " TASK_ORDER " LIMIT ");
  sql_int(&q, limit);
  return memory_collect(st, &q, a, ret_list, err);
}

enum status task_open_blockers(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_ids,
                               struct error *err) {
  struct buf b = BUF(a);
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT b.id, b.project FROM link l JOIN memory b ON b.team = l.team AND b.id = l.dst"
           " WHERE l.team = ?1 AND l.src = ?2 AND l.rel = 'blocked_by' AND " OPEN_BLOCKER " ORDER BY b.id",
           "si", team, id);
  struct reach reach = store_reach(st);
  while (rows_next(&r))
    if (reach_reads(&reach, rows_text(&r, 1)))
      buf_addf(&b, "%s%lld", b.n ? ", " : "", (long long)rows_int(&r, 0));
  *ret_ids = b.n ? buf_str(&b) : STR_NONE;
  return rows_end(&r);
}
