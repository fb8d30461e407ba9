/* lifecycle.c: queries for memories to expire, fade, archive or prune, and for chunks to embed. */
#include "store/memories/lifecycle.h"

#include <assert.h>

#include "store/store_internal.h"
#include "store/vectors/vectors.h"

#define LAST_USE "coalesce(m.last_accessed, m.created_at)"
#define ON_DEMAND "m.delivery = 'on_demand'" /* memories delivered at boot are always in use */

/* Adds the names of the stored types for which `wanted` is true. */
static void types_where(struct sql *q, bool (*wanted)(const struct mem_type *)) {
  size_t n = 0;
  sql_add(q, " AND m.type IN (");
  for (size_t i = 0; i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if (!t->stored_as && wanted(t))
      sql_addf(q, "%s'%s'", n++ ? ", " : "", t->name);
  }
  assert(n > 0);
  sql_add(q, ")");
}

static bool fades(const struct mem_type *t) { return t->decay == DECAY_FADE; }
static bool archives(const struct mem_type *t) { return t->archives; }

#define STATED                                                                                                         \
  "EXISTS (SELECT 1 FROM event e WHERE e.team = m.team AND e.memory_id = m.id AND e.action = 'memory:skip'"            \
  " AND e.detail LIKE '%" EVENT_LASTS "%')"

/* `asked`: also memories of agents from other systems' tools and imports. */
static void where_ages(struct sql *q, bool asked) {
  sql_add(q, " AND m.trust IN ('agent', 'tool')");
  if (!asked)
    sql_add(q, " AND EXISTS (SELECT 1 FROM event e WHERE e.team = m.team AND e.memory_id = m.id AND e.change = 'insert'"
               " AND e.detail LIKE '%" EVENT_AGES "%') AND NOT " STATED);
}

static struct sql select_one(struct arena *a, const struct memory *m) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT 1 FROM memory m WHERE m.team = ");
  sql_text(&q, m->team);
  sql_add(&q, " AND m.id = ");
  sql_int(&q, m->id);
  return q;
}

static enum status is_found(struct store *st, struct sql *q, bool *ret_found, struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  *ret_found = rows_next(&r);
  return rows_end(&r);
}

enum status lifecycle_ages(struct store *st, const struct memory *m, struct arena *a, bool *ret_ages,
                           struct error *err) {
  struct sql q = select_one(a, m);
  where_ages(&q, false);
  return is_found(st, &q, ret_ages, err);
}

enum status lifecycle_stated(struct store *st, const struct memory *m, struct arena *a, bool *ret_stated,
                             struct error *err) {
  struct sql q = select_one(a, m);
  sql_add(&q, " AND " STATED);
  return is_found(st, &q, ret_stated, err);
}

enum status lifecycle_due(struct store *st, const struct due_query *due, struct arena *a, struct memories *ret_list,
                          struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.state = 'active' AND m.corpus = 'memory' AND m.team = ");
  sql_text(&q, due->team);
  switch (due->step) {
  case LIFE_EXPIRE:
    sql_add(&q, " AND m.expires_at <= ");
    break;
  case LIFE_FADE:
    types_where(&q, fades);
    where_ages(&q, due->asked);
    sql_add(&q, " AND " ON_DEMAND " AND " LAST_USE " < ");
    break;
  case LIFE_ARCHIVE:
    types_where(&q, archives);
    where_ages(&q, due->asked);
    sql_add(&q, " AND " ON_DEMAND " AND " LAST_USE " < ");
    break;
  case LIFE_STALE:
    sql_add(&q, " AND m.status IN ('open', 'blocked') AND m.claimed_by IS NULL AND m.updated_at < ");
    sql_int(&q, due->before);
    where_ages(&q, due->asked);
    sql_add(&q, " AND " LAST_USE " < ");
    break;
  }
  sql_int(&q, due->before);
  sql_add(&q, " ORDER BY m.id LIMIT ");
  sql_int(&q, due->limit);
  return memory_collect(st, &q, a, ret_list, err);
}

static void prune_where(struct sql *q, const struct prune_query *p) {
  const struct scope *scope = p->scope;
  sql_add(q, "m.team = ");
  sql_text(q, scope->team);
  if (!scope->all_projects) {
    sql_add(q, " AND m.project = ");
    sql_text(q, scope->project);
  }
  reach_where(q, &scope->reach, "m.project");
  sql_add(q, " AND m.corpus = 'memory' AND m.kind <> 'rule' AND m.delivery = 'on_demand' AND m.access_count <= ");
  sql_int(q, p->max_access);
  sql_add(q, " AND " LAST_USE " < ");
  sql_int(q, p->before);
  sql_add(q, " AND m.updated_at < ");
  sql_int(q, p->before);
  /* Members of a supersedes chain are history and are not pruned. */
  sql_add(q, " AND ((m.kind = 'fact' AND m.state IN ('active', 'faded', 'expired', 'forgotten'))"
             " OR (m.kind = 'incident' AND m.state = 'archived')"
             " OR (m.kind = 'task' AND m.status IN ('done', 'stale')))"
             " AND NOT EXISTS (SELECT 1 FROM link l WHERE l.team = m.team AND (l.src = m.id OR l.dst = m.id)"
             " AND l.rel = 'supersedes')");
}

enum status prune_candidates(struct store *st, const struct prune_query *p, struct arena *a, struct memories *ret_list,
                             int64_t *ret_total, struct error *err) {
  struct sql count = SQL(a), q = memory_select(a);
  sql_add(&count, "SELECT count(*) FROM memory m WHERE ");
  prune_where(&count, p);
  struct rows r;
  db_query_sql(st->db, &r, err, &count);
  *ret_total = rows_next(&r) ? rows_int(&r, 0) : 0;
  TRY(rows_end(&r));
  prune_where(&q, p);
  sql_add(&q, " ORDER BY " LAST_USE ", m.id LIMIT ");
  sql_int(&q, p->limit);
  return memory_collect(st, &q, a, ret_list, err);
}

#define PENDING(vectors)                                                                                               \
  "SELECT c.id, c.headline, c.body, c.extra FROM chunk c WHERE c.team = ?1 AND c.id > ?3 AND NOT EXISTS"               \
  " (SELECT 1 FROM " vectors " s.chunk_id = c.id AND s.model = ?2) ORDER BY c.id LIMIT ?4"

enum status chunks_pending(struct store *st, const struct vec_model *model, int64_t after, int64_t limit,
                           struct arena *a, struct chunk_rows *ret_rows, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           db_engine(st->db) == DB_SQLITE ? PENDING("vec_slot s WHERE") : PENDING("vec s WHERE s.team = c.team AND"),
           "ssii", model->team, model->model, after, limit);
  while (rows_next(&r))
    list_push(a, ret_rows,
              (struct chunk_row){.id = rows_int(&r, 0),
                                 .headline = rows_dup(&r, 1, a),
                                 .body = rows_dup(&r, 2, a),
                                 .extra = rows_dup(&r, 3, a)});
  return rows_end(&r);
}
