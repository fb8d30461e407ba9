/* check.c: counts and health checks over a whole store. */
#include "store/check.h"

#include "store/engine.h"

enum status count_documents(struct store *st, struct str team, yyjson_mut_doc *doc, yyjson_mut_val *obj,
                            struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "the figures", err));
  db_query(st->db, &r, err,
           "SELECT corpus, count(*) FROM memory WHERE team = ?1 AND corpus <> 'memory' GROUP BY corpus ORDER BY corpus",
           "s", team);
  while (rows_next(&r)) {
    struct str name = rows_text(&r, 0);
    yyjson_mut_val *key = yyjson_mut_strncpy(doc, name.p, name.n);
    yyjson_mut_obj_add(obj, key, yyjson_mut_sint(doc, rows_int(&r, 1)));
  }
  return rows_end(&r);
}

enum status count_since(struct store *st, struct str team, int64_t since, int64_t *ret_count, struct error *err) {
  TRY(reach_check_admin(st, "the figures", err));
  return db_int(st->db, ret_count, NULL, err,
                "SELECT count(*) FROM memory WHERE team = ?1 AND corpus = 'memory' AND created_at >= ?2", "si", team,
                since);
}

enum status most_corrected(struct store *st, struct str team, yyjson_mut_doc *doc, yyjson_mut_val *arr,
                           struct error *err) {
  TRY(reach_check_admin(st, "the figures", err));
  struct rows r;
  db_query(st->db, &r, err,
           "WITH RECURSIVE chain (head, id, depth) AS ("
           " SELECT m.id, m.id, 1 FROM memory m WHERE m.team = ?1"
           " AND EXISTS (SELECT 1 FROM link l WHERE l.team = m.team AND l.src = m.id AND l.rel = 'supersedes')"
           " AND NOT EXISTS (SELECT 1 FROM link l WHERE l.team = m.team AND l.dst = m.id AND l.rel = 'supersedes')"
           " UNION ALL SELECT c.head, l.dst, c.depth + 1 FROM chain c JOIN link l ON l.src = c.id"
           " WHERE l.team = ?1 AND l.rel = 'supersedes')"
           " SELECT c.head, m.headline, max(c.depth), max(CASE WHEN " SQL_TRUSTED
           " THEN 0 ELSE 1 END), m.kind, m.project FROM chain c JOIN memory m ON m.team = ?1 AND m.id = c.head"
           " GROUP BY c.head, m.headline, m.kind, m.project ORDER BY 3 DESC, 1 LIMIT 10",
           "s", team);
  while (rows_next(&r)) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
    json_put_int(doc, v, "id", rows_int(&r, 0));
    json_put(doc, v, "headline", rows_text(&r, 1));
    json_put_int(doc, v, "versions", rows_int(&r, 2));
    json_put(doc, v, "kind", rows_text(&r, 4));
    json_put(doc, v, "project", rows_text(&r, 5));
    if (rows_int(&r, 3))
      json_put_bool(doc, v, "untrusted", true);
  }
  return rows_end(&r);
}

/* ---- checks shared by all engines ---- */

enum status check_full_text(struct store *st, struct arena *a UNUSED, struct str *ret_fault, struct error *err) {
  if (db_read_only(st->db)) {
    *ret_fault = STR("");
    return STATUS_OK;
  }
  bool ok = true;
  enum status s = db_team(st->db, STR_NONE, err);
  if (s == STATUS_OK)
    s = lexical_check(st, &ok, err);
  *ret_fault = ok ? STR("") : STR("the full-text index does not match the texts");
  return s;
}

enum status check_vectors(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  int64_t faults;
  TRY(db_team(st->db, STR_NONE, err));
  TRY(vec_check(st, &faults, err));
  *ret_fault =
      faults ? arena_printf(a, "the vector index is damaged in %lld place%s", (long long)faults, faults == 1 ? "" : "s")
             : STR("");
  return STATUS_OK;
}

/* Runs a counting query over all teams; `what` describes the rows it counts. */
enum status check_count(struct store *st, const char *sql, const char *what, struct arena *a, struct str *ret_fault,
                        struct error *err) {
  int64_t n;
  TRY(db_team(st->db, STR_NONE, err));
  TRY(db_int(st->db, &n, NULL, err, sql, NULL));
  *ret_fault = n ? arena_printf(a, "%lld %s", (long long)n, what) : STR("");
  return STATUS_OK;
}

enum status check_chunks(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  return check_count(st,
                     "/* all teams: doctor */ "
                     "SELECT count(*) FROM memory m WHERE NOT EXISTS (SELECT 1 FROM chunk c WHERE c.team = m.team"
                     " AND c.memory_id = m.id) OR NOT EXISTS (SELECT 1 FROM body b WHERE b.team = m.team"
                     " AND b.memory_id = m.id)",
                     "memories have no text", a, ret_fault, err);
}

/* A superseded memory has a successor, unless that was purged or pruned. An active memory has none. */
enum status check_chains(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  return check_count(st,
                     "/* all teams: doctor */ "
                     "SELECT count(*) FROM memory m JOIN link l ON l.team = m.team AND l.dst = m.id"
                     " AND l.rel = 'supersedes' WHERE m.state = 'active'",
                     "memories are both active and superseded", a, ret_fault, err);
}
