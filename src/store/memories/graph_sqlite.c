/* graph_sqlite.c: knowledge graph queries for SQLite.
 *
 * CROSS JOIN fixes the join order: one entity is found through the label index, the whole graph is read in rowid
 * order. */
#include <assert.h>

#include "store/engine.h"

#define UNTRUSTED "NOT " SQL_TRUSTED

/* ---- one entity ---- */

enum status sqlite_graph_entities(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                  struct graph_rows *ret_rows, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT m.id, t.value, b.text, " UNTRUSTED
              ", m.suspect FROM label n CROSS JOIN memory m ON m.id = n.memory_id"
              " CROSS JOIN body b ON b.memory_id = m.id"
              " LEFT JOIN label t ON t.memory_id = n.memory_id AND t.field = 'entity_type' AND t.pos = 0 WHERE ");
  visible(&q, scope, STATES_GRAPH);
  sql_add(&q, " AND n.field = 'entity' AND n.team = ");
  sql_text(&q, scope->team);
  sql_add(&q, " AND n.value = ");
  sql_text(&q, name);
  sql_add(&q, " ORDER BY m.id");
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r)) {
    struct graph_row row = {.id = rows_int(&r, 0),
                            .name = name,
                            .type = rows_dup(&r, 1, a),
                            .body = rows_dup(&r, 2, a),
                            .untrusted = rows_int(&r, 3) != 0,
                            .suspect = rows_dup(&r, 4, a)};
    row.type = row.type.p ? row.type : STR("");
    list_push(a, ret_rows, row);
  }
  return rows_end(&r);
}

/* ---- the whole graph ---- */

/* True if the graph is at least a quarter of the store: a table scan is then faster than going from label to label. */
static enum status is_most(struct store *st, struct str team, bool *ret_most, struct error *err) {
  int64_t part, all;
  TRY(db_int(st->db, &part, NULL, err, "SELECT count(*) FROM label WHERE team = ?1 AND field = 'entity'", "s", team));
  TRY(db_int(st->db, &all, NULL, err,
             "/* all teams: the table size decides how to read it */ SELECT coalesce(max(memory_id), 0) FROM body",
             NULL));
  *ret_most = part >= all / 4;
  return STATUS_OK;
}

struct labelled {
  int64_t id;
  struct str value;
  bool untrusted; /* set by load_rows() */
};
struct labels {
  struct labelled *v;
  size_t n, cap;
};

static int by_id(const void *x, const void *y) {
  const struct labelled *a = x, *b = y;
  return a->id < b->id ? -1 : a->id > b->id;
}

/* Reads only the label index. Equal values are adjacent there, and each is copied once. */
static enum status load_labels(struct store *st, struct str team, const char *field, struct arena *a,
                               struct labels *ret_labels, struct error *err) {
  struct rows r;
  struct str last = STR_NONE;
  db_query(st->db, &r, err, "SELECT memory_id, value FROM label WHERE team = ?1 AND field = ?2 ORDER BY value", "ss",
           team, str_from(field));
  while (rows_next(&r)) {
    if (!last.p || !str_eq(last, rows_text(&r, 1)))
      last = rows_dup(&r, 1, a);
    list_push(a, ret_labels, (struct labelled){.id = rows_int(&r, 0), .value = last});
  }
  if (ret_labels->n)
    qsort(ret_labels->v, ret_labels->n, sizeof(*ret_labels->v), by_id);
  return rows_end(&r);
}

static const struct labelled *find_label(const struct labels *labels, int64_t id) {
  struct labelled key = {.id = id};
  return labels->n ? bsearch(&key, labels->v, labels->n, sizeof(key), by_id) : NULL;
}

/* The label of a memory. Ids must be ascending: *at only moves forward. */
static struct str label_of(const struct labels *labels, size_t *at, int64_t id) {
  while (*at < labels->n && labels->v[*at].id < id)
    ++*at;
  return *at < labels->n && labels->v[*at].id == id ? labels->v[*at].value : STR_NONE;
}

struct graph_labels {
  struct labels names, types; /* of entities */
  bool most;                  /* see is_most() */
};

/* Also removes the names of memories that the scope cannot see; the others stay, in any state. */
static enum status load_rows(struct store *st, const struct scope *scope, struct graph_labels *labels, struct arena *a,
                             struct graph_rows *ret_rows, struct error *err) {
  struct labels *names = &labels->names;
  const struct labels *types = &labels->types;
  struct sql q = SQL(a);
  struct rows r;
  size_t name_at = 0, type_at = 0, seen = 0;
  sql_add(&q, "SELECT m.id, CASE WHEN m.state IN (" STATES_GRAPH ") THEN b.text END, " UNTRUSTED ", m.suspect FROM ");
  sql_add(&q, labels->most ? "memory m NOT INDEXED" : "label n CROSS JOIN memory m ON m.id = n.memory_id");
  sql_add(&q, " CROSS JOIN body b ON b.memory_id = m.id WHERE ");
  visible(&q, scope, STATES_ANY);
  if (!labels->most) {
    sql_add(&q, " AND n.field = 'entity' AND n.team = ");
    sql_text(&q, scope->team);
  }
  sql_add(&q, " ORDER BY m.id");
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r)) {
    int64_t id = rows_int(&r, 0);
    struct str name = label_of(names, &name_at, id);
    if (!name.p)
      continue;
    bool untrusted = rows_int(&r, 2) != 0;
    names->v[seen++] = (struct labelled){id, name, untrusted};
    if (rows_null(&r, 1))
      continue;
    struct str type = label_of(types, &type_at, id);
    list_push(a, ret_rows,
              (struct graph_row){.id = id,
                                 .name = name,
                                 .type = type.p ? type : STR(""),
                                 .body = rows_dup(&r, 1, a),
                                 .untrusted = untrusted,
                                 .suspect = rows_dup(&r, 3, a)});
  }
  assert(seen <= names->n);
  names->n = seen;
  return rows_end(&r);
}

static enum status load_edges(struct store *st, struct str team, const struct labels *names, struct arena *a,
                              struct graph_edges *ret_edges, struct error *err) {
  struct rows r;
  db_query(
      st->db, &r, err,
      "SELECT src, dst, at, reason FROM link NOT INDEXED WHERE rel = 'relates' AND team = ?1 ORDER BY at, src, dst",
      "s", team);
  while (rows_next(&r)) {
    const struct labelled *from = find_label(names, rows_int(&r, 0)), *to = find_label(names, rows_int(&r, 1));
    if (!from || !to)
      continue;
    struct graph_edge e = {.src = from->id,
                           .dst = to->id,
                           .at = rows_int(&r, 2),
                           .from = from->value,
                           .to = to->value,
                           .types = rows_dup(&r, 3, a),
                           .untrusted = from->untrusted || to->untrusted};
    list_push(a, ret_edges, e);
  }
  return rows_end(&r);
}

enum status sqlite_graph_all(struct store *st, const struct scope *scope, struct arena *a, struct graph_rows *ret_rows,
                             struct graph_edges *ret_edges, struct error *err) {
  struct graph_labels labels = {0};
  TRY(is_most(st, scope->team, &labels.most, err));
  TRY(load_labels(st, scope->team, "entity", a, &labels.names, err));
  TRY(load_labels(st, scope->team, "entity_type", a, &labels.types, err));
  TRY(load_rows(st, scope, &labels, a, ret_rows, err));
  return load_edges(st, scope->team, &labels.names, a, ret_edges, err);
}

/* ---- text search ----
 *
 * unlikely() makes SQLite test the pattern first and read the memory only for matches. */

/* "%text%" with the text's own wildcards escaped. */
static struct str pattern_of(struct arena *a, struct str text) {
  struct buf b = BUF(a);
  buf_addc(&b, '%');
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == '%' || text.p[i] == '_' || text.p[i] == '\\')
      buf_addc(&b, '\\');
    buf_addc(&b, text.p[i]);
  }
  buf_addc(&b, '%');
  return buf_str(&b);
}

static enum status collect_names(struct store *st, const struct sql *q, struct arena *a, struct graph_rows *ret_rows,
                                 struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r))
    list_push(a, ret_rows, (struct graph_row){.id = rows_int(&r, 0), .name = rows_dup(&r, 1, a)});
  return rows_end(&r);
}

static enum status match_texts(struct store *st, const struct scope *scope, struct str pattern, struct arena *a,
                               struct graph_rows *ret_rows, struct error *err) {
  bool most = false;
  TRY(is_most(st, scope->team, &most, err));
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id, n.value FROM ");
  sql_add(&q, most ? "body b NOT INDEXED CROSS JOIN label n ON n.memory_id = b.memory_id AND n.field = 'entity'"
                   : "label n CROSS JOIN body b ON b.memory_id = n.memory_id");
  sql_add(&q, " CROSS JOIN memory m ON m.id = n.memory_id WHERE unlikely(b.text LIKE ");
  sql_text(&q, pattern);
  sql_add(&q, " ESCAPE '\\') AND n.field = 'entity' AND n.team = ");
  sql_text(&q, scope->team);
  sql_add(&q, " AND ");
  visible(&q, scope, STATES_GRAPH);
  return collect_names(st, &q, a, ret_rows, err);
}

/* There are few distinct types: a recursive query skips from each to the next in the index. */
static enum status match_types(struct store *st, const struct scope *scope, struct str pattern, struct arena *a,
                               struct graph_rows *ret_rows, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "WITH RECURSIVE v (x) AS (SELECT min(value) FROM label WHERE field = 'entity_type' AND team = ");
  sql_text(&q, scope->team);
  sql_add(&q,
          " UNION ALL SELECT (SELECT min(value) FROM label WHERE field = 'entity_type' AND value > v.x AND team = ");
  sql_text(&q, scope->team);
  sql_add(&q, ") FROM v WHERE v.x IS NOT NULL)"
              " SELECT m.id, n.value FROM v CROSS JOIN label t ON t.value = v.x"
              " CROSS JOIN label n ON n.memory_id = t.memory_id AND n.field = 'entity'"
              " CROSS JOIN memory m ON m.id = n.memory_id WHERE unlikely(v.x LIKE ");
  sql_text(&q, pattern);
  sql_add(&q, " ESCAPE '\\') AND t.field = 'entity_type' AND t.team = ");
  sql_text(&q, scope->team);
  sql_add(&q, " AND ");
  visible(&q, scope, STATES_GRAPH);
  return collect_names(st, &q, a, ret_rows, err);
}

enum status sqlite_graph_matches(struct store *st, const struct scope *scope, struct str text, struct arena *a,
                                 struct graph_rows *ret_rows, struct error *err) {
  struct str pattern = pattern_of(a, text);
  if (pattern.n > GRAPH_PATTERN_MAX)
    return STATUS_OK;
  TRY(match_texts(st, scope, pattern, a, ret_rows, err));
  return match_types(st, scope, pattern, a, ret_rows, err);
}

/* ---- relations of one entity ---- */

static enum status edges(struct store *st, const struct scope *scope, const char *end, struct str name, struct arena *a,
                         struct graph_edges *ret_edges, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_addf(&q,
           "SELECT l.src, l.dst, l.at, s.value, d.value, l.reason, " UNTRUSTED " OR NOT " SQL_TRUSTED_AS(
               "o") " FROM label e CROSS JOIN link l ON l.%s = e.memory_id"
                    " CROSS JOIN label s ON s.memory_id = l.src AND s.field = 'entity'"
                    " CROSS JOIN label d ON d.memory_id = l.dst AND d.field = 'entity'"
                    " CROSS JOIN memory m ON m.id = l.src CROSS JOIN memory o ON o.id = l.dst WHERE ",
           end);
  visible(&q, scope, STATES_ANY);
  if (!scope->all_projects) {
    sql_add(&q, " AND o.project IN ('', ");
    sql_text(&q, scope->project);
    sql_add(&q, ")");
  }
  reach_where(&q, &scope->reach, "o.project");
  sql_add(&q, " AND l.rel = 'relates' AND e.field = 'entity' AND e.team = ");
  sql_text(&q, scope->team);
  sql_add(&q, " AND e.value = ");
  sql_text(&q, name);
  sql_add(&q, " ORDER BY l.at, l.src, l.dst");
  db_query_sql(st->db, &r, err, &q);
  while (rows_next(&r))
    list_push(a, ret_edges, graph_edge_row(&r, a));
  return rows_end(&r);
}

enum status sqlite_graph_relations(struct store *st, const struct scope *scope, struct str name, struct arena *a,
                                   struct graph_edges *ret_edges, struct error *err) {
  TRY(edges(st, scope, "src", name, a, ret_edges, err));
  return edges(st, scope, "dst", name, a, ret_edges, err);
}
