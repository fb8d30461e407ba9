/* counts.c: counts of a team's memories by kind, type, state, delivery and project, and counts of recent ones. */
#include <assert.h>

#include "store/check.h"
#include "store/engine.h"

struct count {
  struct str name;
  int64_t n;
};
struct counts {
  struct count *v;
  size_t n, cap;
};

enum { BY_KIND, BY_TYPE, BY_STATE, BY_DELIVERY, COLUMNS };

/* Keeps the list sorted by name. */
static void add(struct arena *a, struct counts *list, struct str name, int64_t n) {
  size_t at = 0;
  while (at < list->n && str_cmp(list->v[at].name, name) < 0)
    at++;
  if (at < list->n && str_eq(list->v[at].name, name)) {
    list->v[at].n += n;
    return;
  }
  list_push(a, list, ((struct count){0}));
  memmove(&list->v[at + 1], &list->v[at], (list->n - 1 - at) * sizeof(list->v[0]));
  list->v[at] = (struct count){arena_dup(a, name), n};
  assert(at == 0 || str_cmp(list->v[at - 1].name, name) < 0);
}

static void put_counts(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *member, const struct counts *list) {
  yyjson_mut_val *to = json_put_obj(doc, obj, member);
  for (size_t i = 0; i < list->n; i++)
    yyjson_mut_obj_add(to, yyjson_mut_strncpy(doc, list->v[i].name.p, list->v[i].name.n),
                       yyjson_mut_sint(doc, list->v[i].n));
}

/* One scan counts all columns. Only active memories count, except by state. */
static enum status count_columns(struct store *st, struct str team, struct arena *a, struct counts by[COLUMNS],
                                 struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT kind, type, state, delivery, count(*) FROM memory WHERE team = ?1 AND corpus = 'memory'"
           " GROUP BY kind, type, state, delivery",
           "s", team);
  while (rows_next(&r)) {
    bool active = str_is(rows_text(&r, BY_STATE), "active");
    for (int i = 0; i < COLUMNS; i++)
      if (active || i == BY_STATE)
        add(a, &by[i], rows_text(&r, i), rows_int(&r, COLUMNS));
  }
  return rows_end(&r);
}

/* A separate query: there may be many projects, and an index covers it. */
static enum status count_projects(struct store *st, struct str team, struct arena *a, struct counts *list,
                                  struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT project, count(*) FROM memory WHERE team = ?1 AND corpus = 'memory' AND state = 'active'"
           " GROUP BY project ORDER BY project",
           "s", team);
  while (rows_next(&r))
    list_push(a, list, ((struct count){arena_dup(a, rows_text(&r, 0)), rows_int(&r, 1)}));
  return rows_end(&r);
}

enum status count_groups(struct store *st, struct str team, struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *obj,
                         struct error *err) {
  struct counts by[COLUMNS] = {0}, by_project = {0};
  TRY(reach_check_admin(st, "the figures", err));
  TRY(count_columns(st, team, a, by, err));
  TRY(count_projects(st, team, a, &by_project, err));
  put_counts(doc, obj, "by_kind", &by[BY_KIND]);
  put_counts(doc, obj, "by_type", &by[BY_TYPE]);
  put_counts(doc, obj, "by_state", &by[BY_STATE]);
  put_counts(doc, obj, "by_project", &by_project);
  put_counts(doc, obj, "by_delivery", &by[BY_DELIVERY]);
  return STATUS_OK;
}

enum status count_recent(struct store *st, struct str team, int64_t since, int64_t later,
                         struct counts_since *ret_counts, struct error *err) {
  struct rows r;
  struct counts_since found = {0};
  TRY(reach_check_admin(st, "the figures", err));
  db_query(st->db, &r, err,
           "SELECT count(*), coalesce(sum(CASE WHEN created_at >= ?2 THEN 1 ELSE 0 END), 0),"
           " coalesce(sum(CASE WHEN created_at >= ?3 THEN 1 ELSE 0 END), 0)"
           " FROM memory WHERE team = ?1 AND corpus = 'memory'",
           "sii", team, since, later);
  if (rows_next(&r))
    found = (struct counts_since){rows_int(&r, 0), rows_int(&r, 1), rows_int(&r, 2)};
  TRY(rows_end(&r));
  *ret_counts = found;
  return STATUS_OK;
}
