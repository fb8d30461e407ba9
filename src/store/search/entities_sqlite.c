/* entities_sqlite.c: entity search in SQLite: labels, keys and the full-text index. */
#include "base/utf8.h"
#include "store/engine.h"
#include "store/search/entities.h"
#include "store/search/query_entities.h"
#include "store/sqlite/fts.h"
#include "store/store_internal.h"

struct entities {
  struct store *st;
  const struct scope *scope;
  struct arena *a;
  struct error *err;
  struct fts_totals totals;
  size_t entity_count;
  struct entity_rows found;
};

/* ---- lookup ---- */

/* Adds the chunks that the query returns; with more than `most` rows it is too common to be an entity. */
static enum status add_rows(struct entities *e, struct rows *r, double most) {
  LIST(int64_t) ids = {0};
  while ((double)ids.n <= most && rows_next(r))
    list_push(e->a, &ids, rows_int(r, 0));
  TRY(rows_end(r));
  if (ids.n == 0 || (double)ids.n > most)
    return STATUS_OK;
  double weight = bm25_idf(e->totals.rows, (double)ids.n);
  for (size_t i = 0; i < ids.n; i++)
    list_push(e->a, &e->found, (struct entity_row){ids.v[i], 0, weight});
  e->entity_count++;
  return STATUS_OK;
}

static enum status add_text(struct entities *e, const struct query_entity *entity) {
  struct buf b = BUF(e->a);
  fts_quote(&b, entity->value);
  if (!str_empty(entity->joined)) {
    buf_adds(&b, " OR ");
    fts_quote(&b, entity->joined);
  }
  buf_adds(&b, entity->prefix ? " *" : "");
  struct rows r;
  db_query(e->st->db, &r, e->err, "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?1 ORDER BY rowid", "s",
           buf_str(&b));
  return add_rows(e, &r, entity->most);
}

static enum status add_label(struct entities *e, const struct query_entity *entity) {
  struct rows r;
  db_query(e->st->db, &r, e->err,
           "SELECT DISTINCT c.id FROM label l JOIN chunk c ON c.memory_id = l.memory_id AND c.seq = 0"
           " WHERE l.team = ?1 AND l.field = ?2 AND l.value IN (?3, ?4) LIMIT ?5",
           "ssssi", e->scope->team, str_from(entity->field), entity->value, arena_lower(e->a, entity->value),
           (int64_t)ENTITY_ROWS + 1);
  return add_rows(e, &r, ENTITY_ROWS);
}

static enum status add_key(struct entities *e, const struct query_entity *entity) {
  struct rows r;
  db_query(e->st->db, &r, e->err,
           "SELECT c.id FROM memory m JOIN chunk c ON c.memory_id = m.id AND c.seq = 0"
           " WHERE m.team = ?1 AND m.key = ?2 LIMIT ?3",
           "ssi", e->scope->team, entity->value, (int64_t)ENTITY_ROWS + 1);
  return add_rows(e, &r, ENTITY_ROWS);
}

static enum status find_entities(struct entities *e, struct str text, const struct query_terms *terms) {
  struct query_terms own = {0};
  struct query_entities entities = {0};
  struct fts_counted counted = {e->st->db, &e->totals};
  struct term_source source = fts_source(&counted);
  TRY(fts_totals(e->st->db, &e->totals, e->err));
  if (!terms)
    TRY(query_terms(&source, text, NULL, e->a, &own, e->err));
  TRY(query_entities(&source, text, terms ? terms : &own, e->a, &entities, e->err));
  for (size_t i = 0; i < entities.n && e->entity_count < ENTITY_MAX; i++) {
    const struct query_entity *t = &entities.v[i];
    TRY(t->kind == ENTITY_TEXT ? add_text(e, t) : t->kind == ENTITY_KEY ? add_key(e, t) : add_label(e, t));
  }
  return STATUS_OK;
}

/* ---- results ---- */

static enum status accept(struct entities *e, const struct filter *f, size_t limit, struct lexical_hits *ret) {
  struct sql sql = SQL(e->a);
  sql_add(&sql, "SELECT m.id FROM chunk c JOIN memory m ON m.id = c.memory_id WHERE ");
  visible(&sql, e->scope, f->states ? f->states : STATES_SEARCHED);
  filter_where(&sql, f);
  sql_add(&sql, " AND c.id = ");
  sql_int(&sql, 0);
  for (size_t i = 0; i < e->found.n && ret->n < limit; i++) {
    struct rows r;
    sql.v[sql.n - 1].i = e->found.v[i].chunk_id;
    db_query_sql(e->st->db, &r, e->err, &sql);
    if (rows_next(&r))
      list_push(e->a, ret, (struct lexical_hit){e->found.v[i].chunk_id, rows_int(&r, 0), e->found.v[i].score, NULL});
    TRY(rows_end(&r));
  }
  return STATUS_OK;
}

enum status sqlite_entity_search(struct store *st, const struct chunk_query *q, struct arena *a,
                                 struct lexical_hits *ret_hits, struct error *err) {
  struct entities e = {.st = st, .scope = q->scope, .a = a, .err = err};
  struct lexical_hits hits = {0};
  bool began = false;
  if (q->limit == 0)
    return STATUS_OK;
  enum status s = db_snapshot(st->db, &began, err);
  if (s == STATUS_OK)
    s = find_entities(&e, utf8_cut(q->text, ENTITY_BYTES), q->terms);
  if (fts_is_damage(s)) {
    hits.damaged = true;
    s = STATUS_OK;
  } else if (s == STATUS_OK) {
    entity_rows_merge(&e.found);
    s = accept(&e, q->filter, q->limit, &hits);
  }
  s = db_snapshot_end(st->db, began, s, err);
  if (s == STATUS_OK)
    *ret_hits = hits;
  return s;
}
