/* graph_postgres.c: knowledge graph queries for PostgreSQL.
 *
 * The planner chooses the join order from its statistics. Every join names the team, so it reads one partition. */
#include "store/engine.h"

/* 0 or 1, as SQLite returns booleans. */
#define UNTRUSTED(m) "CASE WHEN " SQL_TRUSTED_AS(m) " THEN 0 ELSE 1 END"
#define ENTITY_OF(label, team, memory)                                                                                 \
  " JOIN label " label " ON " label ".team = " team " AND " label ".memory_id = " memory " AND " label                 \
  ".field = 'entity'"
#define WITH_TYPE                                                                                                      \
  " LEFT JOIN label t ON t.team = m.team AND t.memory_id = m.id AND t.field = 'entity_type' AND t.pos = 0"

static void where_entity(struct sql *q, const struct scope *scope, const char *label) {
  sql_addf(q, " AND %s.field = 'entity' AND %s.team = ", label, label);
  sql_text(q, scope->team);
}

/* id, name, type, body, untrusted, suspect */
static enum status collect_rows(struct store *st, const struct sql *q, struct arena *a, struct graph_rows *ret_rows,
                                struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r)) {
    struct graph_row row = {.id = rows_int(&r, 0),
                            .name = rows_dup(&r, 1, a),
                            .type = rows_null(&r, 2) ? STR("") : rows_dup(&r, 2, a),
                            .body = rows_dup(&r, 3, a),
                            .untrusted = rows_int(&r, 4) != 0,
                            .suspect = rows_dup(&r, 5, a)};
    list_push(a, ret_rows, row);
  }
  return rows_end(&r);
}

/* src, dst, at, from, to, types, untrusted ends */
static enum status collect_edges(struct store *st, const struct sql *q, struct arena *a, struct graph_edges *ret_edges,
                                 struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r))
    list_push(a, ret_edges, graph_edge_row(&r, a));
  return rows_end(&r);
}

/* ---- entities ---- */

static struct sql select_entities(struct arena *a, const struct scope *scope) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id, n.value, t.value, b.text, " UNTRUSTED(
                  "m") ", m.suspect FROM label n JOIN memory m ON m.team = n.team AND m.id = "
                       "n.memory_id JOIN body b ON b.team = m.team AND b.memory_id = m.id" WITH_TYPE " WHERE ");
  visible(&q, scope, STATES_GRAPH);
  where_entity(&q, scope, "n");
  return q;
}

enum status postgres_graph_entities(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                    struct graph_rows *ret_rows, struct error *err) {
  struct sql q = select_entities(a, scope);
  sql_add(&q, " AND n.value = ");
  sql_text(&q, name);
  sql_add(&q, " ORDER BY m.id");
  return collect_rows(st, &q, a, ret_rows, err);
}

/* ---- relations ---- */

/* Links between two visible memories of entities, in any state. */
static struct sql select_edges(struct arena *a, const struct scope *scope) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT l.src, l.dst, l.at, s.value, d.value, l.reason, " UNTRUSTED("m") " + " UNTRUSTED(
                  "o") " FROM link l" ENTITY_OF("s", "l.team", "l.src")
                  ENTITY_OF("d", "l.team", "l.dst") " JOIN memory m ON m.team = l.team AND m.id = l.src"
                                                    " JOIN memory o ON o.team = l.team AND o.id = l.dst WHERE ");
  visible(&q, scope, STATES_ANY);
  sql_add(&q, " AND l.rel = 'relates' AND l.team = ");
  sql_text(&q, scope->team);
  if (!scope->all_projects) {
    sql_add(&q, " AND o.project IN ('', ");
    sql_text(&q, scope->project);
    sql_add(&q, ")");
  }
  reach_where(&q, &scope->reach, "o.project");
  return q;
}

static enum status edges(struct store *st, const struct scope *scope, const char *end, struct str name, struct arena *a,
                         struct graph_edges *ret_edges, struct error *err) {
  struct sql q = select_edges(a, scope);
  sql_addf(&q, " AND %s.value = ", end);
  sql_text(&q, name);
  sql_add(&q, " ORDER BY l.at, l.src, l.dst");
  return collect_edges(st, &q, a, ret_edges, err);
}

enum status postgres_graph_relations(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                     struct graph_edges *ret_edges, struct error *err) {
  TRY(edges(st, scope, "s", name, a, ret_edges, err));
  return edges(st, scope, "d", name, a, ret_edges, err);
}

enum status postgres_graph_all(struct store *st, const struct scope *scope, struct arena *a,
                               struct graph_rows *ret_rows, struct graph_edges *ret_edges, struct error *err) {
  struct sql rows = select_entities(a, scope), q = select_edges(a, scope);
  sql_add(&rows, " ORDER BY m.id");
  sql_add(&q, " ORDER BY l.at, l.src, l.dst");
  TRY(collect_rows(st, &rows, a, ret_rows, err));
  return collect_edges(st, &q, a, ret_edges, err);
}

/* ---- text search ---- */

/* COLLATE "C" makes lower() change only ASCII letters. */
static struct sql select_matches(struct arena *a, const struct scope *scope, const char *from, const char *column,
                                 struct str text) {
  struct sql q = SQL(a);
  sql_addf(&q, "SELECT m.id, n.value FROM label n JOIN memory m ON m.team = n.team AND m.id = n.memory_id %s WHERE ",
           from);
  visible(&q, scope, STATES_GRAPH);
  where_entity(&q, scope, "n");
  sql_addf(&q, " AND strpos(lower(%s COLLATE \"C\"), ", column);
  sql_text(&q, arena_lower(a, text));
  sql_add(&q, ") > 0");
  return q;
}

static enum status collect_names(struct store *st, const struct sql *q, struct arena *a, struct graph_rows *ret_rows,
                                 struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r))
    list_push(a, ret_rows, (struct graph_row){.id = rows_int(&r, 0), .name = rows_dup(&r, 1, a)});
  return rows_end(&r);
}

enum status postgres_graph_matches(struct store *st, const struct scope *scope, struct str text, struct arena *a,
                                   struct graph_rows *ret_rows, struct error *err) {
  if (text.n > GRAPH_PATTERN_MAX)
    return STATUS_OK;
  struct sql q = select_matches(a, scope, "JOIN body b ON b.team = m.team AND b.memory_id = m.id", "b.text", text);
  TRY(collect_names(st, &q, a, ret_rows, err));
  q = select_matches(a, scope, "JOIN label t ON t.team = m.team AND t.memory_id = m.id AND t.field = 'entity_type'",
                     "t.value", text);
  return collect_names(st, &q, a, ret_rows, err);
}
